/** Which headers cross the gateway, and which belong to one connection only. */

import type { IncomingMessage } from 'node:http';

/** Header names in lower case with their values; several values of one name are a list. */
export type HeaderFields = Readonly<Record<string, string | readonly string[]>>;

/** Where clients of the APIs put their keys. */
export const CREDENTIALS = ['authorization', 'x-api-key', 'api-key'];

/** RFC 9110 §7.6.1, and the two older names that still turn up. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The gateway's own besides: `host` follows from where it sends, `expect` is answered here. */
const NEVER_FORWARDED: ReadonlySet<string> = new Set([...HOP_BY_HOP, 'host', 'expect']);

/**
 * Of an attempt: the engine gets an id an execution, plain bytes, the length of what is sent, and none of the words
 * meant for the gateway.
 */
const NOT_FOR_THE_ENGINE = new Set([
  'accept-encoding',
  'content-length',
  'x-request-id',
  'x-holdfast-cancel-on-leave',
  'x-holdfast-class',
]);

const NONE: ReadonlySet<string> = new Set();

/** The names that a `Connection` header declares hop-by-hop, in lower case. */
function declared(connection: string | undefined): ReadonlySet<string> {
  if (connection === undefined || connection === 'keep-alive') return NONE;
  const names = connection.split(',').map((name) => name.trim().toLowerCase());
  return new Set(names.filter((name) => name !== ''));
}

/** The request's headers as it may be sent on, as a flat list of names and values in their order. */
export function forwarded(request: IncomingMessage, dropped: ReadonlySet<string>): string[] {
  const local = declared(request.headers.connection);
  const raw = request.rawHeaders;
  const kept: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] as string;
    const lower = name.toLowerCase();
    if (NEVER_FORWARDED.has(lower) || dropped.has(lower) || local.has(lower)) continue;
    kept.push(name, raw[at + 1] as string);
  }
  return kept;
}

/** The same where the body goes on unpacked. */
const NOT_OF_PLAIN_BYTES = new Set([...NOT_FOR_THE_ENGINE, 'content-encoding']);

/**
 * Headers for the engine of an execution's request, whose body is still `packed` as its client sent it, or plain. Its
 * `X-Request-Id` is added when the execution starts.
 */
export function forwardedToEngine(request: IncomingMessage, packed: boolean): string[] {
  const dropped = packed ? NOT_FOR_THE_ENGINE : NOT_OF_PLAIN_BYTES;
  const kept = forwarded(request, dropped);
  kept.push('accept-encoding', 'identity');
  return kept;
}

/** Headers as they came over the wire, names and values in turn; every byte of a value is kept. */
export function fieldsOf(raw: readonly (string | Buffer)[]): HeaderFields {
  const fields: Record<string, string | string[]> = {};
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = textIn(raw[at]).toLowerCase();
    const value = textIn(raw[at + 1]);
    const before = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (before === undefined) fields[name] = value;
    else if (typeof before === 'string') fields[name] = [before, value];
    else before.push(value);
  }
  return fields;
}

function textIn(bytes: string | Buffer | undefined): string {
  return typeof bytes === 'string' ? bytes : (bytes?.toString('latin1') ?? '');
}

/** By these a client tells what the gateway said from what the engine did, so no engine may say them. */
const OWN_PREFIX = 'x-holdfast-';
/** Whose pages may read is the gateway's to say: an answer may be another's than the one it was made for. */
const CORS_PREFIX = 'access-control-';

/** The headers of an engine's answer that may go to a client. */
export function answerHeaders(headers: HeaderFields): HeaderFields {
  const { connection } = headers;
  const local = declared(typeof connection === 'string' ? connection : connection?.join(','));
  const kept: Record<string, string | readonly string[]> = {};
  for (const name of Object.keys(headers)) {
    if (HOP_BY_HOP.has(name) || local.has(name)) continue;
    if (name.startsWith(OWN_PREFIX) || name.startsWith(CORS_PREFIX)) continue;
    kept[name] = headers[name] as string | readonly string[];
  }
  return kept;
}

/**
 * Headers as a flat list of names and values, in the order in which Node's server is to write them, with `further`, a
 * list of that kind, among them. The length stands last: once Node has seen it, it reads a `Content-Disposition` as
 * UTF-8, and throws on any byte beyond ASCII.
 */
export function writable(headers: HeaderFields, further: readonly string[] = []): (string | string[])[] {
  const all: (string | string[])[] = [];
  for (const name of Object.keys(headers)) {
    if (name !== 'content-length') all.push(name, headers[name] as string | string[]);
  }
  all.push(...further);
  const length = headers['content-length'];
  if (length !== undefined) all.push('content-length', length as string | string[]);
  return all;
}

/** All values a request gives for a header name (lower case), in their order; Node's merged view drops some. */
export function valuesOf({ headers, rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  // Node has made that view already, and most headers that are asked for are not there.
  if (headers[name] === undefined) return values;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (isNamed(rawHeaders[at] as string, name)) values.push(rawHeaders[at + 1] as string);
  }
  return values;
}

/** The first value of a header, unless it is absent or blank. */
export function textOf({ headers, rawHeaders }: IncomingMessage, name: string): string | undefined {
  if (headers[name] === undefined) return undefined;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (!isNamed(rawHeaders[at] as string, name)) continue;
    const value = (rawHeaders[at + 1] as string).trim();
    return value === '' ? undefined : value;
  }
  return undefined;
}

function isNamed(given: string, name: string): boolean {
  return given.length === name.length && (given === name || given.toLowerCase() === name);
}

/** `Content-Type` without its parameters, in lower case. */
export function mediaType(value: string | readonly string[] | undefined): string {
  const text = typeof value === 'string' ? value : (value?.[0] ?? '');
  return (text.split(';', 1)[0] ?? '').trim().toLowerCase();
}
