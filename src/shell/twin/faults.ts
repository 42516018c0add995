/** Switches that make the twin misbehave as real engines do, one at a time. */

import { type Fields, malformed, numberOf, unacceptable } from './ask.js';

/**
 * What goes wrong with an answer. `hang`: time in the engine stands still while /health stays 200. `refuse`: 503
 * before any work. `reset`: the connection is destroyed. `error`: an error event inside the 200 stream, or a 500.
 * `stall`: nothing more for `ms`. `garbage`: bytes that are no answer. `truncate`: the body ends early and in order,
 * without [DONE]. `slow`: the answer starts `ms` late. `die`: the engine's process is gone while its front end stays.
 */
export const FAULT_KINDS = [
  'hang',
  'refuse',
  'reset',
  'error',
  'stall',
  'garbage',
  'truncate',
  'slow',
  'die',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export interface Fault {
  readonly kind: FaultKind;
  /** Events of a stream that go out before it strikes; a body that does not stream is cut in the middle if > 0. */
  readonly afterEvents: number;
  /** For `stall` and `slow`: real milliseconds. */
  readonly ms: number;
  /** Answers it strikes before it is over. */
  readonly times: number;
}

/** The fault in a posted body: `{"kind": …, "afterEvents"?, "ms"?, "times"?}`; undefined for `"none"`. */
export function faultOf(body: Fields): Fault | undefined {
  if (body['kind'] === 'none') return undefined;
  const kind = FAULT_KINDS.find((each) => each === body['kind']);
  if (kind === undefined)
    throw malformed('body.kind', `kind must be none or one of ${FAULT_KINDS.join(', ')}.`);
  const times = numberOf(body, 'times', Number.MAX_SAFE_INTEGER, [1, Number.MAX_SAFE_INTEGER]);
  const ms = numberOf(body, 'ms', 1_000, [0, 3_600_000]);
  const afterEvents = numberOf(
    body,
    'afterEvents',
    kind === 'stall' || kind === 'truncate' ? 1 : 0,
    [0, 1e9],
  );
  if (!Number.isInteger(afterEvents))
    throw unacceptable('afterEvents', 'afterEvents must be a whole number.');
  return { kind, afterEvents, ms, times };
}

/** The fault in force, if any. */
export class Faults {
  #fault: Fault | undefined;
  #left = 0;

  set(fault: Fault | undefined): void {
    this.#fault = fault;
    this.#left = fault?.times ?? 0;
  }

  get current(): Fault | undefined {
    return this.#fault;
  }

  /** Whether the engine has died; only another fault, or none, brings it back. */
  get dead(): boolean {
    return this.#fault?.kind === 'die';
  }

  /** The fault that strikes the next answer; counts down its times. */
  next(): Fault | undefined {
    const fault = this.#fault;
    if (fault === undefined) return undefined;
    // These two are of the engine, not of an answer.
    if (fault.kind === 'hang' || fault.kind === 'die') return fault;
    this.#left -= 1;
    if (this.#left <= 0) this.#fault = undefined;
    return fault;
  }
}
