/** Equal calls that are only ever shed: each is owed its execution, so the budget has nothing to refuse. */

import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../../src/core/chance/random.js';
import { Driver } from '../../src/core/control/driver.js';
import type { AttemptFacts } from '../../src/core/control/event.js';
import type { ControlSettings } from '../../src/core/control/options.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import { VirtualClock } from '../../src/core/time/virtual-clock.js';
import { AGENTS, facts } from '../support/facts.js';
import { forEachSeed } from '../support/seeds.js';
import { control } from '../support/subject.js';

const CLIENTS = 12;
const SERVICE_MS = 700;
/** Nothing is ever granted: whoever is not owed an execution is refused as long as others wait. */
const SETTINGS: ControlSettings = {
  room: 1,
  budget: { ratio: 0, floor: 0 },
  bounds: { lineEntries: 2, lineWaitMs: 3_600_000 },
};

/** A kind of client: what its n-th try says, and how long it waits before it, told to wait `toldMs`. */
interface Manner {
  readonly says: (attempt: number) => Partial<AttemptFacts>;
  readonly waitMs: (attempt: number, toldMs: number, chance: Random) => number;
}

const within = (least: number, most: number, chance: Random): number =>
  least + (most - least) * chance.uniform();

const MANNERS: Readonly<Record<string, Manner>> = {
  'counts, and obeys Retry-After': {
    says: (attempt) => ({ userAgent: AGENTS.python, retryCount: attempt }),
    waitMs: (_attempt, toldMs) => toldMs,
  },
  'says nothing, and obeys Retry-After': {
    says: () => ({ userAgent: AGENTS.aiSdk }),
    waitMs: (_attempt, toldMs) => toldMs,
  },
  'counts from 0 each time, on its own clock': {
    says: () => ({ userAgent: AGENTS.langchain, retryCount: 0 }),
    waitMs: (attempt, _toldMs, chance) => within(1_000, 2_000, chance) * 2 ** Math.min(attempt - 1, 5),
  },
  'says nothing, on its own clock': {
    says: () => ({ userAgent: AGENTS.codex }),
    waitMs: (attempt, _toldMs, chance) => within(180, 220, chance) * 2 ** Math.min(attempt - 1, 4),
  },
  'is not known': {
    says: () => ({ userAgent: AGENTS.plain }),
    waitMs: (_attempt, _toldMs, chance) => within(250, 3_000, chance),
  },
};

interface Outcome {
  delivered: number;
  executions: number;
  shed: number;
  refusedByBudget: number;
}

/** Lets all clients ask for the same within `withinMs`, until each has its answer or an hour has passed. */
function play({ says, waitMs }: Manner, withinMs: number, seed: number): Outcome {
  const clock = new VirtualClock();
  const chance = new Random(seed, 'clients');
  const tries = new Map<string, { readonly client: number; readonly attempt: number }>();
  const outcome: Outcome = { delivered: 0, executions: 0, shed: 0, refusedByBudget: 0 };
  const ask = (client: number, attempt: number): void => {
    const id = `client-${client}-${attempt}`;
    tries.set(id, { client, attempt });
    driver.send({ kind: 'arrive', attempt: id, facts: facts(says(attempt)) });
  };
  const listening = new Map<string, string>();
  const carry = (verdict: Verdict): void => {
    if (verdict.kind === 'attach') listening.set(verdict.call, verdict.attempt);
    else if (verdict.kind === 'start') {
      const { execution, call } = verdict;
      outcome.executions += 1;
      clock.after(SERVICE_MS, () => {
        driver.send({ kind: 'chunk', execution, bytes: 1 });
        driver.send({ kind: 'finish', execution });
        driver.send({ kind: 'handed', attempt: listening.get(call) ?? '' });
      });
    } else if (verdict.kind === 'refuse') {
      const { client, attempt } = tries.get(verdict.attempt) ?? { client: 0, attempt: 0 };
      outcome.shed += 1;
      if (verdict.reason === 'refused_budget') outcome.refusedByBudget += 1;
      clock.after(waitMs(attempt + 1, verdict.retryAfterMs, chance), () => ask(client, attempt + 1));
    } else if (verdict.kind === 'attempt-ended' && verdict.ending === 'delivered') outcome.delivered += 1;
  };
  const driver = new Driver(control(SETTINGS), clock, carry);
  for (let client = 0; client < CLIENTS; client += 1)
    clock.after(withinMs * chance.uniform(), () => ask(client, 0));
  clock.runUntil(3_600_000);
  return outcome;
}

for (const [name, manner] of Object.entries(MANNERS)) {
  for (const withinMs of [0, 50, 2_000]) {
    test(`nobody pays for the equals shed beside it: a client that ${name}, all within ${withinMs} ms`, () => {
      forEachSeed(20, (seed) => {
        const { shed, ...outcome } = play(manner, withinMs, seed);
        deepEqual(
          { ...outcome, shed: shed > 0 },
          { delivered: CLIENTS, executions: CLIENTS, refusedByBudget: 0, shed: true },
        );
      });
    });
  }
}
