/** What watches a gateway at work, log and meter alike: it sees all that the control hears and says, and decides nothing. */

import type { ControlEvent } from '../../core/control/event.js';
import type { Verdict } from '../../core/control/verdict.js';

/**
 * An engine's own gauges were read for the first time; or it answers and has `none`, which is as good as any; or what
 * it has or should have was `missed`, said of the first of several in a row. `why` is for the log.
 */
export type GaugeWord =
  | { readonly kind: 'found' }
  | { readonly kind: 'none'; readonly why: string }
  | { readonly kind: 'missed'; readonly why: string };

export interface Observer {
  /** Called with each event, before the control hears it. `now` is the gateway's clock, in milliseconds. */
  event(event: ControlEvent, now: number): void;
  /** Called with each verdict, before it is carried out. */
  verdict(verdict: Verdict, now: number): void;
  /** A status line went out to this attempt: the engine's, or the gateway's own refusal. */
  answered(attempt: string, status: number): void;
  /** This execution's request is on its way over a connection to the engine at `url`. */
  reached(execution: string, url: string): void;
  /** The engine at `url` could not be reached, and is asked last for a while. */
  unreachable(url: string, error: unknown): void;
  /** Something is new about an engine's own gauges. */
  gauges(engine: string, word: GaugeWord): void;
  /** A request that is no call was passed through; `status` is 0 when its client left before an answer. */
  passedThrough(status: number): void;
}

/** One observer that tells many; `first` hears events and verdicts alone, before the others. */
export function observers(
  all: readonly Observer[],
  first?: { event(event: ControlEvent): void; verdict(verdict: Verdict): void },
): Observer {
  return {
    event: (event, now) => {
      first?.event(event);
      for (const each of all) each.event(event, now);
    },
    verdict: (verdict, now) => {
      first?.verdict(verdict);
      for (const each of all) each.verdict(verdict, now);
    },
    answered: (attempt, status) => {
      for (const each of all) each.answered(attempt, status);
    },
    reached: (execution, url) => {
      for (const each of all) each.reached(execution, url);
    },
    unreachable: (url, error) => {
      for (const each of all) each.unreachable(url, error);
    },
    gauges: (engine, word) => {
      for (const each of all) each.gauges(engine, word);
    },
    passedThrough: (status) => {
      for (const each of all) each.passedThrough(status);
    },
  };
}
