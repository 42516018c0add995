/** What the world tells the control. Each event is applied at one moment and answered with verdicts. */

import type { EngineLoad } from './engine-load.js';
import type { ControlOptions } from './options.js';
import type { Failure, RejectReason } from './words.js';

/** What one HTTP request says about itself, after its body has been read. */
export interface AttemptFacts {
  /** The scope of everything: a hash of the credential and of the configured tenant headers. */
  readonly tenant: string;
  /** The recognised route, e.g. `/v1/chat/completions`. */
  readonly route: string;
  /** Hash over method, path, version headers and canonical body. */
  readonly fingerprint: string;
  readonly model: string;
  readonly stream: boolean;
  /** Request body bytes, held until the execution starts. */
  readonly bodyBytes: number;
  /** An explicit call key (`Idempotency-Key` or a configured header). */
  readonly key?: string | undefined;
  /** The whole `traceparent`; only an exact repeat says anything. */
  readonly traceparent?: string | undefined;
  /** `x-stainless-retry-count`; 0 and absence prove nothing. */
  readonly retryCount?: number | undefined;
  /** Its tenant's share of the line relative to others', > 0; 1 when absent. */
  readonly weight?: number | undefined;
  /** The class that it asks for, by name, and the highest that its tenant may have where something is said of it. */
  readonly class?: string | undefined;
  readonly maxClass?: string | undefined;
  readonly session?: string | undefined;
  /** What stands for the long beginning of its prompt, where affinity goes by that. */
  readonly prefix?: string | undefined;
  readonly userAgent: string;
  readonly address: string;
  /** False: nothing may be attached to it, and it attaches to nothing. */
  readonly shareable: boolean;
  /** The engine keeps state for it (`store`, `previous_response_id`, …): only proof may adopt it. */
  readonly stateful: boolean;
  /** `Cache-Control: no-store`: nothing is kept past delivery. */
  readonly noStore: boolean;
  /** `x-holdfast-cancel-on-leave: true`: whoever leaves will not come back. */
  readonly cancelOnLeave: boolean;
  /** A deadline in so many words, milliseconds from arrival. */
  readonly explicitDeadlineMs?: number | undefined;
  /** The SDK's announced timeout in milliseconds. */
  readonly announcedDeadlineMs?: number | undefined;
}

/** Tokens as the engine's own `usage` reports them. */
export interface Usage {
  readonly promptTokens: number;
  readonly cachedPromptTokens: number;
  readonly completionTokens: number;
}

export type ControlEvent =
  /** A request of a recognised route. `attempt` is fresh and names it from here on. */
  | { readonly kind: 'arrive'; readonly attempt: string; readonly facts: AttemptFacts }
  /** A request of a recognised route that was turned away before it could be recognised. */
  | { readonly kind: 'reject'; readonly attempt: string; readonly reason: RejectReason }
  /** The client closed its connection. Unknown or ended attempts are ignored. */
  | { readonly kind: 'leave'; readonly attempt: string }
  /** The last byte of the answer was handed to the client's connection. */
  | { readonly kind: 'handed'; readonly attempt: string }
  /** The reader is further behind than the replay bound. */
  | { readonly kind: 'lag'; readonly attempt: string }
  /** The engine's first body byte (not an SSE comment) of a 2xx answer. */
  | {
      readonly kind: 'first-byte';
      readonly execution: string;
      /** The answer is a stream of events, whatever the request looked like. */
      readonly stream?: boolean | undefined;
    }
  /** Answer bytes that entered the replay buffer. */
  | { readonly kind: 'chunk'; readonly execution: string; readonly bytes: number }
  /** A complete 2xx answer. */
  | { readonly kind: 'finish'; readonly execution: string; readonly usage?: Usage | undefined }
  /** Anything else than a complete 2xx answer. `status` as the engine said it. */
  | {
      readonly kind: 'fail';
      readonly execution: string;
      readonly failure: Failure;
      readonly status?: number | undefined;
      /** When the engine said that it will be back, milliseconds from now. */
      readonly retryAfterMs?: number | undefined;
      /** False: the request is not there any more and cannot be sent to another engine, or again. */
      readonly repeatable?: boolean | undefined;
      readonly usage?: Usage | undefined;
    }
  /** An engine's own gauges were read: absent when they could not be. Of no use to rooms that do not follow them. */
  | { readonly kind: 'gauges'; readonly engine: string; readonly load?: EngineLoad | undefined }
  /** Other settings from now on, checked; those that are read once stay as they are. */
  | { readonly kind: 'reconfigure'; readonly options: ControlOptions }
  /** Take no new attempts; finish what is there. */
  | { readonly kind: 'drain' }
  /** End everything now. */
  | { readonly kind: 'stop' }
  /** Nothing happened but time. */
  | { readonly kind: 'time' };
