/** What is asked and what has to come back, so that every answer can be told to be whole and its own request's. */

export const WORKLOADS = ['1 kB', '48 kB', 'stream'] as const;
export type WorkloadName = (typeof WORKLOADS)[number];

/** `hold` is a stream that falls silent after its first event. */
export type AnswerKind = 'json' | 'stream' | 'hold';

export interface Workload {
  readonly name: WorkloadName;
  readonly about: string;
  readonly answer: AnswerKind;
  /** Length of the request's body, bytes. */
  readonly bodyBytes: number;
  /** Connections of the closed loop. */
  readonly connections: number;
}

export const EVENTS = 300;
/** Words of an answer that comes in one piece. */
export const JSON_WORDS = 40;

export const WORKLOAD: Readonly<Record<WorkloadName, Workload>> = {
  '1 kB': { name: '1 kB', about: '1 kB prompt, JSON', answer: 'json', bodyBytes: 1_024, connections: 32 },
  '48 kB': { name: '48 kB', about: '48 kB prompt, JSON', answer: 'json', bodyBytes: 49_152, connections: 32 },
  stream: {
    name: 'stream',
    about: `1 kB prompt, stream of ${EVENTS} events`,
    answer: 'stream',
    bodyBytes: 1_024,
    connections: 32,
  },
};

/** Everybody's credential, strong enough for those that insist on it. */
export const KEY = 'sk-holdfast-bench-4f7a1c9e2d';

/** Of every request, beside `host` and `content-length`. */
export const HEADERS = {
  authorization: `Bearer ${KEY}`,
  'content-type': 'application/json',
  accept: '*/*',
  'user-agent': 'holdfast-bench',
} as const;

const KIND_LETTER: Readonly<Record<AnswerKind, string>> = { json: 'j', stream: 's', hold: 'h' };
const MARKER = 'holdfast-bench-';
const NUMBER_DIGITS = 10;
const MARKER_BYTES = MARKER.length + 1 + NUMBER_DIGITS;
/** Begins every word of an answer, and is nowhere else in one. */
const WORD = 0x7e;

/** The name of one request, in its prompt and in its answer; the answer's kind is part of it. */
export function markerOf(kind: AnswerKind, number: number): string {
  return `${MARKER}${KIND_LETTER[kind]}${String(number).padStart(NUMBER_DIGITS, '0')}`;
}

/** The marker in a request's body, and the kind of answer it asks for; undefined while it has not come. */
export function findMarker(body: Buffer): { readonly marker: string; readonly kind: AnswerKind } | undefined {
  const at = body.indexOf(MARKER);
  if (at === -1 || at + MARKER_BYTES > body.length) return undefined;
  const marker = body.toString('latin1', at, at + MARKER_BYTES);
  const letter = marker[MARKER.length];
  if (letter === KIND_LETTER.stream) return { marker, kind: 'stream' };
  return { marker, kind: letter === KIND_LETTER.hold ? 'hold' : 'json' };
}

export interface RequestText {
  readonly before: string;
  /** What follows the marker. */
  readonly after: string;
}

const SENTENCES =
  'The harbour master wrote down each ship that came in, \\"her name and her cargo\\", and what the tide did to her.\\nNobody had asked for the list. ';

/** A chat request of a stated length, ASCII, to be cut around its marker, which comes before the long text. */
export function requestText(kind: AnswerKind, bodyBytes: number): RequestText {
  const stream = kind === 'json' ? '' : '"stream":true,';
  const before = `{"model":"m",${stream}"max_tokens":300,"temperature":0.7,"messages":[{"role":"system","content":"You answer briefly."},{"role":"user","content":"`;
  const close = '"}]}';
  const room = bodyBytes - before.length - MARKER_BYTES - close.length - 1;
  if (room < 0) throw new RangeError(`bodyBytes must be at least ${bodyBytes - room}, not ${bodyBytes}`);
  const whole = SENTENCES.repeat(Math.floor(room / SENTENCES.length));
  return { before, after: ` ${whole}${'.'.repeat(room - whole.length)}${close}` };
}

/** A JSON answer in the form of vLLM's, cut around its marker. */
export function jsonAnswer(): RequestText {
  const words = Array.from({ length: JSON_WORDS }, (_, at) => ` ~w${at}`).join('');
  const before =
    '{"id":"chatcmpl-7d1c1e0f5a5b4d0e9d3c","object":"chat.completion","created":1790000000,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"';
  const after = `${words}","refusal":null,"annotations":null,"audio":null,"function_call":null,"tool_calls":[],"reasoning":null},"logprobs":null,"finish_reason":"stop","stop_reason":null,"token_ids":null}],"service_tier":null,"system_fingerprint":null,"usage":{"prompt_tokens":250,"total_tokens":290,"completion_tokens":40,"prompt_tokens_details":null},"prompt_logprobs":null,"prompt_token_ids":null,"kv_transfer_params":null}`;
  return { before, after };
}

/** One event of a stream in the form of vLLM's, with the `at`-th of its words. */
export function streamEvent(at: number, content: string): string {
  const delta = at === 0 ? `"role":"assistant","content":"${content}"` : `"content":"${content}"`;
  const finish = at === EVENTS - 1 ? '"stop"' : 'null';
  return `data: {"id":"chatcmpl-7d1c1e0f5a5b4d0e9d3c","object":"chat.completion.chunk","created":1790000000,"model":"m","choices":[{"index":0,"delta":{${delta}},"logprobs":null,"finish_reason":${finish},"token_ids":null}]}\n\n`;
}

export const STREAM_END = 'data: [DONE]\n\n';

/** How many words a whole answer has. */
export function wordsDue(kind: AnswerKind): number {
  return kind === 'json' ? JSON_WORDS : EVENTS;
}

/** Undefined for a whole answer to the request named `marker`; else what is wrong with it. */
export function fault(kind: AnswerKind, marker: string, answer: Buffer, words: number): string | undefined {
  if (!answer.includes(marker)) return `not the answer to ${marker}`;
  const due = wordsDue(kind);
  if (words !== due) return `${words} words of ${due}`;
  if (!answer.includes('"stop"')) return 'no finish reason';
  if (kind === 'json') return answer.includes('"usage"') ? undefined : 'no usage';
  return answer.includes('[DONE]') ? undefined : 'no [DONE]';
}

/** How many words of an answer are in these bytes. */
export function wordsIn(bytes: Buffer): number {
  let words = 0;
  for (let at = bytes.indexOf(WORD); at !== -1; at = bytes.indexOf(WORD, at + 1)) words += 1;
  return words;
}
