/** What the control decides, as data; the shell (or the trial) carries each out, in the order given. */

import type { AttemptFacts, Usage } from './event.js';
import type { Basis } from './patience.js';
import type { Tier } from './tiers.js';
import type {
  AttemptEnding,
  CallEnding,
  CancelEnding,
  Decision,
  EntryEnding,
  Evidence,
  ExecutionEnding,
  Failure,
  Outcome,
  RefusalReason,
} from './words.js';

/** Where a call stood when it was started. */
export interface Standing {
  /** Absent: it did not wait, or the order knows no tiers. */
  readonly tier?: Tier | undefined;
  /** Absent: there are no classes. */
  readonly class?: string | undefined;
  /** Its first attempt has ended: it cannot be on time any more. */
  readonly late: boolean;
  /** What was known of its first attempt's deadline. */
  readonly basis: Basis;
  /** From now until its first attempt and its last one are expected to end, milliseconds; below 0: they have. */
  readonly deadlineInMs: number;
  readonly giveUpInMs: number;
}

export type Verdict =
  /** The trace of one recognition: what was decided and on what evidence. */
  | {
      readonly kind: 'decided';
      readonly attempt: string;
      readonly call: string;
      readonly decision: Decision;
      readonly evidence: readonly Evidence[];
      /** How many predecessors were considered. */
      readonly candidates: number;
    }
  /** A new entry: keep the attempt's request body until `start` or `drop` names this call. */
  | { readonly kind: 'queue'; readonly call: string; readonly attempt: string; readonly facts: AttemptFacts }
  /**
   * The engine has done nothing for `execution`, and its call is back at its place in line: keep its request, which
   * is that of `attempt`, until `start` or `drop` names the call. Whoever listens goes on waiting, and hears nothing.
   */
  | { readonly kind: 'return'; readonly call: string; readonly execution: string; readonly attempt: string }
  /** The entry left the line without starting: forget its request body. */
  | { readonly kind: 'drop'; readonly call: string; readonly ending: EntryEnding }
  /**
   * Send the call's request to `engine` now, with `execution` as its X-Request-Id. The request is the one kept at
   * `queue` or `return`, or that of `attempt` when the call never waited. Listeners are named by `attach`.
   */
  | {
      readonly kind: 'start';
      readonly call: string;
      readonly execution: string;
      readonly engine: string;
      readonly attempt: string;
      /** Time in line, milliseconds. */
      readonly waitedMs: number;
      /** How many executions this call had before. */
      readonly earlier: number;
      /** What the order went by. */
      readonly standing?: Standing | undefined;
    }
  /**
   * From now on `attempt` listens to the call: from the first byte of its execution's answer (or of the entry's
   * coming execution), then live. `execution` is absent while the call waits in line. Also said for the attempt
   * that made the call.
   */
  | {
      readonly kind: 'attach';
      readonly attempt: string;
      readonly call: string;
      readonly execution?: string | undefined;
      readonly outcome: Outcome;
      /** Number of this attempt within its call, from 0. */
      readonly ordinal: number;
    }
  /** Shed: answer with a refusal in the shape of the API called. */
  | {
      readonly kind: 'refuse';
      readonly attempt: string;
      readonly reason: RefusalReason;
      /** Number of this attempt within its call, from 0. */
      readonly ordinal: number;
      /** Milliseconds, 1,000–59,000, jittered. */
      readonly retryAfterMs: number;
      /** False when no later attempt could make it. */
      readonly mayRetry: boolean;
    }
  /** The listener's answer ends here, not delivered: answer with the engine's error, or cut the connection. */
  | {
      readonly kind: 'end';
      readonly attempt: string;
      readonly ending: AttemptEnding;
      /** When it may be worth while to come back, milliseconds; absent: the client's own back-off will do. */
      readonly retryAfterMs?: number | undefined;
    }
  /** Destroy the engine connection. */
  | { readonly kind: 'cancel'; readonly execution: string; readonly ending: CancelEnding }
  /** The answer is not replayable any more: keep only what a connected reader still has to get. */
  | { readonly kind: 'seal'; readonly execution: string }
  /** Nobody may read this answer any more: wipe it. */
  | { readonly kind: 'forget'; readonly execution: string }
  /** One line of the log an attempt. */
  | {
      readonly kind: 'attempt-ended';
      readonly attempt: string;
      readonly call?: string | undefined;
      readonly execution?: string | undefined;
      readonly outcome?: Outcome | undefined;
      readonly ordinal: number;
      readonly ending: AttemptEnding;
      readonly ageMs: number;
      readonly tenant?: string | undefined;
    }
  /** One line of the log an execution. */
  | {
      readonly kind: 'execution-ended';
      readonly execution: string;
      readonly call: string;
      readonly tenant: string;
      readonly ending: ExecutionEnding;
      readonly ageMs: number;
      readonly bytes: number;
      readonly status?: number | undefined;
      readonly usage?: Usage | undefined;
    }
  /** The call's last word. `reached`: some listener got a whole answer. */
  | {
      readonly kind: 'call-ended';
      readonly call: string;
      readonly tenant: string;
      readonly ending: CallEnding;
      readonly attempts: number;
      readonly executions: number;
    }
  /** The usage of an execution whose answer reached nobody; said once an execution, when that is certain. */
  | {
      readonly kind: 'wasted';
      readonly execution: string;
      readonly tenant: string;
      readonly usage?: Usage | undefined;
      readonly bytes: number;
    }
  /** Nothing is started on the engine for so many milliseconds, and then one execution to see whether it is back. */
  | { readonly kind: 'rest'; readonly engine: string; readonly failure: Failure; readonly restMs: number }
  /** The engine works again. */
  | { readonly kind: 'back'; readonly engine: string }
  /** Something an operator should look at. */
  | {
      readonly kind: 'warn';
      readonly warning: Warning;
      readonly attempt?: string | undefined;
      readonly engine?: string | undefined;
    };

export type Warning =
  | 'listener_taken_over'
  | 'key_on_overlapping_attempts'
  /** An attempt asks for a class that there is not, and has the one of those that ask for none. */
  | 'unknown_class'
  /** Room `engine` without the gauges that it follows: they cannot be read, or cannot be true. */
  | 'engine_gauges_absent'
  | 'engine_gauges_wrong';
