/** How each kind of client is told that its attempt was turned away, so that it does what is meant. */

import { unreachable } from '../../core/assert.js';
import { type Family, MANNERS } from '../../core/control/family.js';
import type { AttemptEnding } from '../../core/control/words.js';

/** An ending that the gateway answers in its own words. */
export type OwnEnding = Exclude<
  AttemptEnding,
  'delivered' | `left_${string}` | `upstream_status_${string}` | 'upstream_error_event'
>;

export interface Refusal {
  readonly status: number;
  /** For the body, where clients look for what they know. */
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly message: string;
}

interface Wording {
  readonly status: number;
  /** What the API itself calls it; the ending when absent. */
  readonly code?: string;
  readonly message: string;
}

/** 429 is for contention, 503 for no capacity, 504 for a time limit; never 408, 409 or 529, which SDKs retry. */
const WORDINGS: Readonly<Record<OwnEnding, Wording>> = {
  refused_budget: { status: 429, message: 'Too many retries reach the engine at the moment.' },
  refused_guard: { status: 429, message: 'Retries ask the engine for more than it can do at the moment.' },
  refused_line_full: { status: 429, message: 'Too many calls are waiting for the engine.' },
  refused_line_bytes: { status: 429, message: 'Too many bytes of waiting calls are held for the engine.' },
  refused_listeners: { status: 429, message: 'Too many attempts already wait for this answer.' },
  refused_calls: { status: 503, message: 'The gateway follows as many calls as it can.' },
  refused_model: {
    status: 404,
    code: 'model_not_found',
    message: 'No engine of this gateway serves the model.',
  },
  refused_draining: { status: 503, message: 'The gateway is stopping; ask again.' },
  gave_up: { status: 504, message: 'The call waited in line as long as it may.' },
  taken_over: { status: 503, message: 'A later attempt of the same call took this answer over.' },
  slow_reader: { status: 503, message: 'The answer was not read fast enough.' },
  upstream_refused: { status: 503, message: 'The engine cannot be reached.' },
  upstream_unavailable: { status: 503, message: 'The engine has no capacity at the moment.' },
  upstream_reset: { status: 502, message: 'The engine closed the connection before it answered.' },
  upstream_truncated: { status: 502, message: 'The engine broke its answer off.' },
  upstream_timeout: { status: 504, message: 'The engine did not answer within its time limit.' },
  upstream_malformed: { status: 502, message: 'The engine did not answer in HTTP.' },
  drained: { status: 503, message: 'The gateway has stopped; ask again.' },
  rejected_too_large: { status: 413, message: 'The request body is larger than the gateway takes.' },
  rejected_malformed: { status: 400, message: 'The request could not be read.' },
  rejected_bodies_full: { status: 429, message: 'Too many bytes of requests are being read.' },
  rejected_tenant_full: { status: 429, message: 'Too many requests of this tenant are under way.' },
  rejected_tenant_bytes: { status: 429, message: 'Too many bytes of requests of this tenant are held.' },
  rejected_key: { status: 401, message: 'The key of the request is none that the gateway knows.' },
  rejected_too_slow: { status: 400, message: 'The request took too long to arrive.' },
};

export interface RefusalTerms {
  /** Milliseconds on the client's clock; absent: the client's own back-off will do. */
  readonly retryAfterMs?: number | undefined;
  /** False when no later attempt could make it. */
  readonly mayRetry: boolean;
}

/** The status, headers and words for an attempt of a client of `family` that ends in `ending`. */
export function refusal(ending: OwnEnding, family: Family, terms: RefusalTerms): Refusal {
  const { status, message, code = ending } = WORDINGS[ending];
  const silent = !terms.mayRetry && meansRetry(status);
  const headers: Record<string, string> = { 'x-holdfast-reason': ending };
  if (silent) headers['x-should-retry'] = 'false';
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  // A 429 ends these clients' turn; with a Retry-After some of them would come back all the same.
  if (MANNERS[family].stopsOn429) {
    if (silent) return { status: 429, code, headers, message };
    Object.assign(headers, retryAfter(terms.retryAfterMs));
    return { status: status === 429 ? 503 : status, code, headers, message };
  }
  return { status, code, headers: { ...headers, ...retryAfter(terms.retryAfterMs) }, message };
}

function meansRetry(status: number): boolean {
  return status === 429 || status >= 500;
}

/** Whole seconds from 1 to 59, since several SDKs ignore more; and the same wait to the millisecond. */
function retryAfter(ms: number | undefined): Record<string, string> {
  if (ms === undefined) return {};
  const clipped = Math.min(59_000, Math.max(1, Math.round(ms)));
  return { 'retry-after': String(Math.ceil(clipped / 1_000)), 'retry-after-ms': String(clipped) };
}

/** Whether an attempt with this ending is answered in the gateway's own words, if nothing has been answered yet. */
export function isOwnEnding(ending: AttemptEnding): ending is OwnEnding {
  switch (ending) {
    case 'delivered':
    case 'left_before_first_byte':
    case 'left_mid_answer':
    case 'left_unconfirmed':
    case 'upstream_status_3xx':
    case 'upstream_status_4xx':
    case 'upstream_status_5xx':
    case 'upstream_error_event':
      return false;
    case 'refused_budget':
    case 'refused_guard':
    case 'refused_line_full':
    case 'refused_line_bytes':
    case 'refused_listeners':
    case 'refused_calls':
    case 'refused_draining':
    case 'refused_model':
    case 'gave_up':
    case 'taken_over':
    case 'slow_reader':
    case 'upstream_refused':
    case 'upstream_unavailable':
    case 'upstream_reset':
    case 'upstream_truncated':
    case 'upstream_timeout':
    case 'upstream_malformed':
    case 'drained':
    case 'rejected_too_large':
    case 'rejected_malformed':
    case 'rejected_bodies_full':
    case 'rejected_too_slow':
    case 'rejected_key':
    case 'rejected_tenant_full':
    case 'rejected_tenant_bytes':
      return true;
    default:
      return unreachable(ending);
  }
}
