/** A user's call and the client that makes it: it waits so long, gives up, asks again, reads fast or slowly, or stops. */

import type { Random } from '../../src/core/chance/random.js';
import type { AttemptFacts, ControlEvent } from '../../src/core/control/event.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import { type Cancel, type Clock, RANK } from '../../src/core/time/clock.js';
import { AGENTS, facts } from '../support/facts.js';
import type { Engine } from './workload-engine.js';

/** How a family of clients behaves. */
export interface Kind {
  readonly userAgent: string;
  /** What it brings that ties its attempts together. */
  readonly brings: 'key' | 'count' | 'zero' | 'nothing';
  readonly attempts: number;
  readonly deadlineMs: number;
  readonly announces: boolean;
  readonly gapMs: readonly [number, number];
  readonly stream: boolean;
  /** Equal calls made at once. */
  readonly samples: number;
  /** Chances: to stop for good, to be seen leaving late, to read slowly, to hang up right after the last byte. */
  readonly stops: number;
  readonly seenLate: number;
  readonly slow: number;
  readonly hangsUp: number;
}

const PLAIN: Kind = {
  userAgent: AGENTS.plain,
  brings: 'nothing',
  attempts: 4,
  deadlineMs: 12_000,
  announces: false,
  gapMs: [1_000, 8_000],
  stream: false,
  samples: 1,
  stops: 0.02,
  seenLate: 0.05,
  slow: 0.02,
  hangsUp: 0.3,
};

export const KINDS: readonly Kind[] = [
  PLAIN,
  { ...PLAIN, stream: true, stops: 0.1 },
  { ...PLAIN, samples: 4, stops: 0 },
  {
    ...PLAIN,
    userAgent: AGENTS.python,
    brings: 'count',
    attempts: 3,
    announces: true,
    gapMs: [375, 1_000],
    hangsUp: 0,
  },
  {
    ...PLAIN,
    userAgent: AGENTS.python,
    brings: 'count',
    announces: true,
    gapMs: [375, 1_000],
    samples: 8,
    hangsUp: 0,
  },
  { ...PLAIN, userAgent: AGENTS.node, brings: 'key', announces: true, gapMs: [250, 3_000], hangsUp: 0 },
  { ...PLAIN, userAgent: AGENTS.langchain, brings: 'zero', attempts: 7, gapMs: [1_000, 30_000] },
  { ...PLAIN, userAgent: AGENTS.codex, stream: true, attempts: 8, gapMs: [200, 3_500] },
];

export interface ClientParts {
  readonly name: string;
  readonly kind: Kind;
  readonly tenant: string;
  readonly body: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly send: (event: ControlEvent) => void;
  readonly worded: (facts: AttemptFacts) => AttemptFacts;
}

export class Client {
  readonly #parts: ClientParts;
  #made = 0;
  #attempt: string | undefined;
  #deadline: Cancel | undefined;
  #settled = false;

  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  begin(): void {
    if (this.#settled) return;
    const { name, kind, clock, random } = this.#parts;
    const attempt = `${name}.${this.#made}`;
    const stops = random.uniform() < kind.stops;
    const waitsMs = stops ? random.between(0, kind.deadlineMs) : kind.deadlineMs;
    this.#attempt = attempt;
    this.#deadline = clock.after(waitsMs, () => this.#leave(attempt, stops), RANK.deadline);
    const said = this.#facts();
    this.#made += 1;
    this.#parts.send({ kind: 'arrive', attempt, facts: said });
  }

  refused({ attempt, retryAfterMs, reason }: Extract<Verdict, { kind: 'refuse' }>): void {
    if (attempt === this.#attempt) this.#again(retryAfterMs, reason !== 'gave_up');
  }

  ended({ attempt, ending, retryAfterMs = 0 }: Extract<Verdict, { kind: 'end' }>): void {
    if (attempt === this.#attempt)
      this.#again(retryAfterMs, ending !== 'upstream_status_4xx' && ending !== 'upstream_status_3xx');
  }

  #facts(): AttemptFacts {
    const { kind, name, tenant, body } = this.#parts;
    const retryCount = { count: this.#made, zero: 0, key: undefined, nothing: undefined }[kind.brings];
    return this.#parts.worded(
      facts({
        tenant,
        fingerprint: `${body}-${kind.stream ? 'stream' : 'whole'}`,
        stream: kind.stream,
        userAgent: kind.userAgent,
        bodyBytes: 1_000,
        key: kind.brings === 'key' ? `key-${name}` : undefined,
        retryCount,
        announcedDeadlineMs: kind.announces ? kind.deadlineMs : undefined,
      }),
    );
  }

  /** Tells the client which execution its attempt gets its answer from, once there is one. */
  listen(attempt: string, execution: string | undefined, engine: Engine): void {
    if (execution === undefined) return;
    const { kind, random, clock } = this.#parts;
    engine.follow(
      execution,
      () => {
        // A streaming client waits for the first byte only.
        if (kind.stream && attempt === this.#attempt) this.#deadline?.();
      },
      () => {
        if (attempt !== this.#attempt) return;
        this.#deadline?.();
        const slow = random.uniform() < kind.slow;
        const readMs = slow ? random.between(1_000, 5_000) : random.between(1, 50);
        if (slow && random.uniform() < 0.3) clock.after(readMs / 2, () => this.#lag(attempt));
        clock.after(readMs, () => this.#read(attempt));
      },
    );
  }

  #read(attempt: string): void {
    if (attempt !== this.#attempt) return;
    const { kind, random, clock, send } = this.#parts;
    this.#settled = true;
    send({ kind: 'handed', attempt });
    if (random.uniform() < kind.hangsUp)
      clock.after(random.between(0, 20), () => send({ kind: 'leave', attempt }));
  }

  #lag(attempt: string): void {
    if (attempt === this.#attempt && !this.#settled) this.#parts.send({ kind: 'lag', attempt });
  }

  #leave(attempt: string, forGood: boolean): void {
    if (attempt !== this.#attempt || this.#settled) return;
    const { kind, random, clock, send } = this.#parts;
    const lateMs = random.uniform() < kind.seenLate ? random.between(0, 900) : 0;
    this.#attempt = undefined;
    clock.after(lateMs, () => send({ kind: 'leave', attempt }));
    if (forGood) this.#settled = true;
    this.#again(0, !forGood);
  }

  #again(afterMs: number, mayRetry: boolean): void {
    const { kind, random, clock } = this.#parts;
    this.#deadline?.();
    this.#attempt = undefined;
    if (!mayRetry || this.#made >= kind.attempts) this.#settled = true;
    if (this.#settled) return;
    clock.after(Math.max(afterMs, random.between(...kind.gapMs)), () => this.begin(), RANK.retry);
  }
}
