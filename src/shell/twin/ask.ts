/** What a request asks of the engine once its body has been read, whichever API it came through. */

/** A refusal with a status, in vLLM's terms; each API has its own shape for it. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly type: string;
  readonly param: string | null;

  constructor(status: number, type: string, param: string | null, message: string) {
    super(message);
    this.status = status;
    this.type = type;
    this.param = param;
  }
}

/** The value is of the wrong kind or missing: vLLM's schema check. */
export function malformed(param: string | null, message: string): ApiError {
  return new ApiError(400, 'Bad Request', param, message);
}

/** The value is well-formed but not allowed. */
export function unacceptable(param: string | null, message: string): ApiError {
  return new ApiError(400, 'BadRequestError', param, message);
}

export type Fields = Readonly<Record<string, unknown>>;

/** What the server is: the bounds a request is checked against. */
export interface Limits {
  readonly model: string;
  readonly maxModelLen: number;
  readonly vocabularySize: number;
}

export interface Ask {
  /** Token ids; each prompt makes `n` executions. */
  readonly prompts: readonly ArrayLike<number>[];
  readonly n: number;
  readonly maxTokens: number;
  readonly minTokens: number;
  readonly ignoreEos: boolean;
  /** Seeds the text in place of the execution's id. */
  readonly seed: number | undefined;
  readonly priority: number;
  readonly cacheSalt: string | undefined;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly continuousUsage: boolean;
  readonly returnTokenIds: boolean;
  /** Alternatives wanted beside each token's log probability; undefined when none is asked for. */
  readonly logprobs: number | undefined;
  /** Completions only: the prompt's own text precedes the answer. */
  readonly echo: boolean;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Unknown or absent is fine, the served model is fine, another is not found. */
export function checkModel(body: Fields, limits: Limits): void {
  const model = body['model'];
  if (model === undefined || model === null || model === limits.model) return;
  throw new ApiError(404, 'NotFoundError', 'model', `The model ${JSON.stringify(model)} is not served here.`);
}

/** A number of `body`, or `otherwise` when it is absent; `bounds` are inclusive. */
export function numberOf(
  body: Fields,
  name: string,
  otherwise: number,
  bounds: readonly [number, number] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
): number {
  const value = body[name] ?? otherwise;
  if (typeof value !== 'number') throw malformed(`body.${name}`, `${name} must be a number.`);
  const [low, high] = bounds;
  if (value >= low && value <= high) return value;
  throw unacceptable(name, `${name} must be from ${low} to ${high}, not ${value}.`);
}

export function flagOf(body: Fields, name: string): boolean {
  return body[name] === true;
}

/** What every API but its prompt and length names alike. */
export function commonAsk(
  body: Fields,
  limits: Limits,
  prompts: readonly ArrayLike<number>[],
  maxTokens: number | undefined,
): Ask {
  checkSampling(body);
  const longest = Math.max(...prompts.map(({ length }) => length));
  const room = limits.maxModelLen - longest;
  if (room < 1 || (maxTokens !== undefined && maxTokens > room)) {
    throw unacceptable(
      'input_tokens',
      `The model holds ${limits.maxModelLen} tokens; the prompt has ${longest} and ${maxTokens ?? 1} more are asked for.`,
    );
  }
  const streamOptions = isFields(body['stream_options']) ? body['stream_options'] : undefined;
  const stream = flagOf(body, 'stream');
  if (streamOptions !== undefined && !stream) {
    throw unacceptable('stream_options', 'stream_options needs stream to be set.');
  }
  const includeUsage = streamOptions?.['include_usage'] === true;
  return {
    prompts,
    n: bodyN(body),
    maxTokens: maxTokens ?? room,
    minTokens: numberOf(body, 'min_tokens', 0, [0, maxTokens ?? room]),
    ignoreEos: flagOf(body, 'ignore_eos'),
    seed: typeof body['seed'] === 'number' ? body['seed'] : undefined,
    priority: numberOf(body, 'priority', 0),
    cacheSalt: typeof body['cache_salt'] === 'string' ? body['cache_salt'] : undefined,
    stream,
    includeUsage,
    continuousUsage: includeUsage && streamOptions?.['continuous_usage_stats'] === true,
    returnTokenIds: flagOf(body, 'return_token_ids'),
    logprobs: logprobsOf(body),
    echo: flagOf(body, 'echo'),
  };
}

/** The asked length under any of `names`; undefined when none is given. */
export function lengthOf(body: Fields, limits: Limits, ...names: string[]): number | undefined {
  const name = names.find((each) => body[each] !== undefined && body[each] !== null);
  if (name === undefined) return undefined;
  return numberOf(body, name, 0, [1, limits.maxModelLen]);
}

function bodyN(body: Fields): number {
  const n = numberOf(body, 'n', 1);
  if (!Number.isInteger(n) || n < 1) throw unacceptable(null, `n must be a whole number from 1, not ${n}.`);
  return n;
}

/** A completion names a number, a chat a flag and a number. */
function logprobsOf(body: Fields): number | undefined {
  const { logprobs, top_logprobs: top } = body;
  if (typeof logprobs === 'number') return logprobs;
  if (logprobs !== true) return undefined;
  return typeof top === 'number' ? top : 0;
}

function checkSampling(body: Fields): void {
  numberOf(body, 'temperature', 1, [0, 2]);
  const topP = numberOf(body, 'top_p', 1, [0, 1]);
  if (topP === 0) throw unacceptable('top_p', 'top_p must be above 0.');
  const logprobs = body['top_logprobs'] ?? body['logprobs'];
  if (typeof logprobs === 'number' && logprobs > 20) {
    throw unacceptable('logprobs', `At most 20 log probabilities can be asked for, not ${logprobs}.`);
  }
}
