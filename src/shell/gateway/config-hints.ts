/** What somebody meant by a key that is none of ours: one in another place, or one of another gateway, router or proxy. */

import { listed } from '../shared/options.js';
import type { Path } from '../shared/settings/kind.js';
import { leavesOf } from '../shared/settings/table.js';
import { knownKeys, SETTINGS } from './config.js';

/** Where people know the keys from, the keys, and what to use instead. */
const PEERS: readonly (readonly [whose: string, keys: string, instead: string])[] = [
  [
    'LiteLLM and Portkey',
    'num_retries max_retries retries retry retry_policy retry_after',
    'the gateway makes no retries of its own, its clients do; how many of theirs may become work is control.budget',
  ],
  [
    'LiteLLM',
    'model_list router_settings litellm_settings litellm_params general_settings model_name',
    'there is no list of models; the engines are listed under upstreams, as url: http://host:port',
  ],
  ['LiteLLM', 'api_base base_url custom_host', 'an engine is an entry of upstreams: url: http://host:port'],
  [
    'vllm-router and nginx',
    'worker_urls workers backends backend targets proxy_pass upstream backendrefs',
    'the engines are listed under upstreams, as url: http://host:port',
  ],
  [
    'LiteLLM',
    'request_timeout timeout stream_timeout request_timeout_secs proxy_read_timeout per_try_timeout timeouts',
    'limits on the engine are upstream_timeouts.connect, first_byte and idle; how long a silent client is assumed to wait is control.default_deadline',
  ],
  [
    'LiteLLM and Envoy',
    'allowed_fails cooldown_time circuit_breaker circuit_breakers outlier_detection cb_failure_threshold health_check_interval_secs',
    'there is no circuit breaker to set; an engine that cannot be reached is left alone for a moment by itself',
  ],
  [
    'LiteLLM and Portkey',
    'cache cache_params caching max_age proxy_cache',
    'answers are not cached; one that reached nobody is kept for its own retry, for as long as control.retain says',
  ],
  [
    'LiteLLM',
    'rpm tpm rpm_limit tpm_limit rate_limit rate_limits rate_limit_tokens_per_second',
    'there are no rates by the minute; the work at the engine is bounded by control.room, that of retries by control.budget',
  ],
  [
    'vllm-router and Envoy',
    'max_concurrent_requests max_parallel_requests max_requests max_concurrency concurrency global_max_parallel_requests max_num_seqs',
    'how many executions an engine may hold at once is control.room',
  ],
  [
    'vllm-router and Envoy',
    'queue_size max_pending_requests max_queue max_queue_size max_num_queued_reqs queue',
    'how many calls may wait in line is control.bounds.line_entries',
  ],
  [
    'vllm-router and llm-d',
    'queue_timeout_secs queue_timeout default_request_ttl',
    'the longest wait in line is control.bounds.line_wait',
  ],
  ['llm-d', 'max_bytes', 'how many bytes may wait in line is control.bounds.line_bytes'],
  [
    'Envoy and Gateway API',
    'retry_budget budget_percent percent retry_constraint',
    'the share of retries that may become work is control.budget.ratio (0.2 for 20 %), of the first attempts in control.budget.window',
  ],
  [
    'Envoy',
    'min_retry_concurrency min_retry_rate',
    'what the retry budget grants in any case is control.budget.floor, in one window',
  ],
  [
    'LiteLLM and Portkey',
    'fallbacks context_window_fallbacks default_fallbacks strategy weight',
    'no request is sent to another model when one fails; upstreams lists engines that serve the same models',
  ],
  [
    'LiteLLM and vllm-router',
    'routing_strategy policy lb_policy load_balancing cache_threshold balance_abs_threshold',
    'there is no policy to choose; list the engines under upstreams',
  ],
  [
    'other gateways',
    'cancel_on_disconnect abort_on_disconnect',
    'what happens to the work of a client that has left is control.grace: now, never or a duration',
  ],
  [
    'LiteLLM and Portkey',
    'api_key api_keys master_key virtual_key virtual_keys provider database_url',
    'no credential is kept here: it goes to the engine as the client sent it, and tells tenants apart (see tenant_headers)',
  ],
  [
    'nginx',
    'client_max_body_size max_request_size max_body_size',
    'the largest request body is request_bytes',
  ],
  ['nginx', 'proxy_buffering proxy_buffer_size', 'an answer is kept up to control.bounds.replay_bytes'],
  ['nginx and Envoy', 'listen address bind listeners', 'the address to listen on is host, the port is port'],
  ['other gateways', 'log_level set_verbose verbose debug', 'how much is logged is log.level'],
  [
    'other gateways',
    'prometheus_port prometheus metrics metrics_port',
    'metrics are at /metrics of the same port, or of admin.port',
  ],
  ['other gateways', 'priority scheduling_policy', 'who leaves the line first is control.order'],
  [
    'nginx, uvicorn and vllm',
    'ssl_certificate ssl_certfile ssl_cert certfile tls_cert_path tls_certificates',
    'the certificate that clients see is tls.cert_file, its key tls.key_file',
  ],
  [
    'nginx, uvicorn and vllm',
    'ssl_certificate_key ssl_keyfile ssl_key keyfile tls_key_path',
    'the key of the certificate is tls.key_file, the certificate tls.cert_file',
  ],
  [
    'other gateways',
    'allowed_origins allow_origins cors_origins cors_allow_origin cors_allowed_origins',
    'whose pages a browser lets read answers is cors.origins',
  ],
  ['nginx', 'ssl_protocols', 'the oldest version of TLS that is spoken is tls.min_version'],
  ['nginx', 'keepalive_timeout', 'how long an idle client connection is kept is inbound.keep_alive'],
  [
    'Envoy and uvicorn',
    'drain_time drain_timeout timeout_graceful_shutdown graceful_shutdown terminationGracePeriodSeconds',
    'how long a stopping gateway waits for what is under way is drain',
  ],
  ['other gateways', 'idempotency_key idempotency_header', 'headers that name a call are key_headers'],
];

/** Peers spell one key in several ways: `num_retries`, `numRetries`, `num-retries`. */
const plain = (key: string): string => key.toLowerCase().replaceAll(/[-_]/g, '');

const MEANT: ReadonlyMap<string, string> = new Map(
  PEERS.flatMap(([whose, keys, instead]) =>
    keys.split(' ').map((key) => [plain(key), `you may know it from ${whose}: ${instead}`] as const),
  ),
);

/** Every key that has an answer of its own; for tests. */
export const PEER_KEYS: readonly string[] = PEERS.flatMap(([, keys]) => keys.split(' '));

/** What to do about a key that is no setting at `at`; undefined when the nearest one there is the best guess. */
export function keyHint(at: Path, key: string): string | undefined {
  const letters = plain(key.slice(0, 128));
  const known = knownKeys(at.filter((step) => typeof step === 'string'));
  if (known.some((each) => plain(each) === letters)) return undefined;
  return elsewhere(letters) ?? MEANT.get(letters) ?? withoutUnit(letters, known);
}

/** Peers say the unit in the key. */
function withoutUnit(letters: string, known: readonly string[]): string | undefined {
  const [, word] = /^(.+?)(?:ms|secs?|seconds?|mins?|minutes?|hours?)$/.exec(letters) ?? [];
  const meant = known.find((each) => plain(each) === word);
  return meant === undefined ? undefined : `did you mean ${meant}? The unit stands in its value, such as 60s`;
}

/** The same word is a setting in another place. */
function elsewhere(letters: string): string | undefined {
  const places = leavesOf(SETTINGS)
    .filter(({ keys }) => plain(keys.at(-1) ?? '') === letters)
    .map(({ key }) => key);
  if (places.length === 0 || places.length > 3) return undefined;
  return `did you mean ${listed(places)}?`;
}
