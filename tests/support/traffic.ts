/** Random traffic through a control: clients that come, leave and come back, an engine that answers and fails. */

import { Random } from '../../src/core/chance/random.js';
import { Control } from '../../src/core/control/control.js';
import type { AttemptFacts, ControlEvent } from '../../src/core/control/event.js';
import { type ControlSettings, controlOptions } from '../../src/core/control/options.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import type { Failure } from '../../src/core/control/words.js';

/** Hears everything that happens, in order: an event before the control does, then its verdicts. */
export interface Witness {
  event(event: ControlEvent, now: number): void;
  verdict(verdict: Verdict, now: number): void;
}

export interface Traffic {
  readonly seed: number;
  readonly events: number;
  readonly settings?: ControlSettings;
  /** What the requests say of themselves, on top of the plain facts. */
  readonly facts?: (random: Random) => Partial<AttemptFacts>;
  readonly witnesses: readonly Witness[];
  /** Called between two events, with the control at rest. */
  readonly between?: (control: Control) => void;
}

const FAILURES: readonly Failure[] = [
  'refused',
  'reset',
  'truncated',
  'timeout',
  'status_3xx',
  'status_4xx',
  'status_5xx',
  'error_event',
  'malformed',
];
const USAGE = { promptTokens: 100, cachedPromptTokens: 10, completionTokens: 7 };

/** Runs `events` random events through a fresh control, stops it at the end, and hands it back. */
export function runTraffic({ seed, events, settings = {}, facts, witnesses, between }: Traffic): Control {
  const random = new Random(seed).stream('traffic');
  let made = 0;
  const control = new Control({
    options: controlOptions(settings),
    makeId: (of) => `${of}-${(made += 1)}`,
    uniform: () => random.uniform(),
  });
  const attempts = new Set<string>();
  const executions = new Set<string>();
  const pick = (from: ReadonlySet<string>): string | undefined => [...from][random.integer(0, from.size - 1)];
  let now = 0;

  const send = (event: ControlEvent): void => {
    for (const witness of witnesses) witness.event(event, now);
    for (const verdict of control.step(now, event)) {
      for (const witness of witnesses) witness.verdict(verdict, now);
      if (verdict.kind === 'attempt-ended') attempts.delete(verdict.attempt);
      if (verdict.kind === 'start') executions.add(verdict.execution);
      if (verdict.kind === 'execution-ended') executions.delete(verdict.execution);
    }
    between?.(control);
  };

  const next = (count: number): ControlEvent => {
    const attempt = pick(attempts);
    const execution = pick(executions);
    const dice = random.uniform();
    if (dice < 0.35) {
      const id = `attempt-${count}`;
      attempts.add(id);
      if (dice < 0.01) return { kind: 'reject', attempt: id, reason: 'rejected_malformed' };
      return { kind: 'arrive', attempt: id, facts: plainFacts(random, facts?.(random)) };
    }
    if (attempt !== undefined && dice < 0.55) return { kind: 'leave', attempt };
    if (attempt !== undefined && dice < 0.65) return { kind: 'handed', attempt };
    if (attempt !== undefined && dice < 0.66) return { kind: 'lag', attempt };
    if (execution === undefined) return { kind: 'time' };
    if (dice < 0.75) return { kind: 'first-byte', execution };
    if (dice < 0.8) return { kind: 'chunk', execution, bytes: random.integer(1, 50_000) };
    if (dice < 0.93)
      return { kind: 'finish', execution, ...(random.uniform() < 0.7 ? { usage: USAGE } : {}) };
    const failure = FAILURES[random.integer(0, FAILURES.length - 1)] as Failure;
    return { kind: 'fail', execution, failure, status: failure === 'status_4xx' ? 404 : 500 };
  };

  for (let count = 0; count < events; count += 1) {
    now += random.uniform() < 0.05 ? random.uniform() * 60_000 : random.uniform() * 300;
    send(next(count));
  }
  send({ kind: 'drain' });
  send({ kind: 'stop' });
  return control;
}

function plainFacts(random: Random, more: Partial<AttemptFacts> = {}): AttemptFacts {
  return {
    tenant: `tenant-${random.integer(1, 3)}`,
    route: '/v1/chat/completions',
    fingerprint: `print-${random.integer(1, 4)}`,
    model: 'm',
    stream: random.uniform() < 0.5,
    bodyBytes: random.integer(0, 2_000),
    ...(random.uniform() < 0.3 ? { key: `key-${random.integer(1, 3)}` } : {}),
    ...(random.uniform() < 0.3 ? { retryCount: random.integer(0, 2) } : {}),
    userAgent: 'OpenAI/JS 7.59.0',
    address: '192.0.2.1',
    shareable: random.uniform() < 0.95,
    stateful: random.uniform() < 0.05,
    noStore: random.uniform() < 0.05,
    cancelOnLeave: random.uniform() < 0.05,
    ...more,
  };
}
