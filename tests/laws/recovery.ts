/** Law 8: once the offered load is below capacity, waits are back at their base in a time that the backlog explains. */

import type { ControlSettings } from '../../src/core/control/options.js';
import type { MakeSubject, Subject } from '../support/subject.js';
import { type Breach, type Moment, Witness } from './moment.js';
import { Workload, type WorkloadOptions } from './workload.js';
import { KINDS, type Kind } from './workload-client.js';

const PLACES = 8;
const SERVICE_MS = 2_000;
const CAPACITY = (PLACES * 1_000) / SERVICE_MS;
const BASE_MS = 60_000;
const PULSE_MS = 40_000;
const HOLD_MS = 400_000;
const DEADLINE_MS = 30_000;

/** What the pulse left and how long it took: recovered is the first moment after it when the line is empty. */
export interface Recovery {
  readonly backlog: number;
  readonly tookMs: number;
  readonly boundMs: number;
  readonly calls: number;
}

/** Clients that wait 30 s, ask eight times and do nothing else. */
export function patient(brings: Kind['brings'], gapMs: Kind['gapMs']): Kind {
  const plain = KINDS[0] as Kind;
  const quiet = { stops: 0, seenLate: 0, slow: 0, hangsUp: 0 };
  return { ...plain, ...quiet, brings, gapMs, deadlineMs: DEADLINE_MS, attempts: 8 };
}

export function recovery(
  seed: number,
  kind: Kind,
  settings: ControlSettings,
  make: MakeSubject,
  changes: WorkloadOptions['changes'] = [],
): Recovery {
  const rate = 0.6 * CAPACITY;
  const options = {
    seed,
    settings: { room: PLACES, ...settings },
    changes,
    phases: [
      { forMs: BASE_MS, rate },
      { forMs: PULSE_MS, rate: 2.7 * CAPACITY },
      { forMs: HOLD_MS, rate },
    ],
    engine: { places: PLACES, serviceMs: SERVICE_MS, spread: 0.2, failures: 0, answerBytes: 100 },
    sharedBodies: { share: 0.1, bodies: 3 },
    kinds: [kind],
  };
  const pulseEnd = BASE_MS + PULSE_MS;
  let backlog = 0;
  let recoveredAt = Number.POSITIVE_INFINITY;
  let waiting = new Set<string>();
  const see = ({ at, verdicts }: Moment): void => {
    for (const verdict of verdicts) {
      if (verdict.kind === 'queue') waiting.add(verdict.call);
      else if (verdict.kind === 'drop' || verdict.kind === 'start') waiting.delete(verdict.call);
    }
    if (at < pulseEnd) backlog = waiting.size;
    else if (waiting.size === 0) recoveredAt = Math.min(recoveredAt, at);
  };
  const wrap = (subject: Subject): Subject => new Witness(subject, see);
  const ran = new Workload(options, make, wrap).run();
  waiting = new Set();
  const spare = CAPACITY - rate;
  const boundMs = 1.25 * ((backlog / spare) * 1_000) + DEADLINE_MS;
  return { backlog, tookMs: recoveredAt - pulseEnd, boundMs, calls: ran.calls };
}

/** The law's breach, if it is one. */
export function lateRecovery({ backlog, tookMs, boundMs }: Recovery): Breach[] {
  if (tookMs <= boundMs) return [];
  const what = `a backlog of ${backlog} calls took ${tookMs} ms, more than ${boundMs}`;
  return [{ law: 8, at: BASE_MS + PULSE_MS + boundMs, what }];
}
