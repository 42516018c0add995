/** Who asks, and which call a request says it belongs to. */

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { clientAddress, type ProxySettings } from './client-address.js';
import type { Anonymous } from './config.js';
import { veil } from './fingerprint.js';
import { CREDENTIALS, textOf, valuesOf } from './headers.js';

export interface IdentitySettings extends ProxySettings {
  readonly anonymous: Anonymous;
  readonly tenantHeaders: readonly string[];
  readonly endUserHeader?: string | undefined;
  readonly keyHeaders: readonly string[];
  readonly sessionHeaders: readonly string[];
}

export interface Identity {
  readonly tenant: string;
  readonly shareable: boolean;
  readonly key?: string | undefined;
  readonly traceparent?: string | undefined;
  readonly retryCount?: number | undefined;
  readonly session?: string | undefined;
  readonly userAgent: string;
  readonly address: string;
}

/** An empty header, or a scheme without a token, tells nobody from anybody. */
const NO_CREDENTIAL = /^\s*(?:bearer|basic|token)?\s*$/i;
const LONGEST_USER_AGENT = 256;
const COUNT = /^\d{1,4}$/;
/** A version, a trace id, a span id and flags; ids of zeros alone name nothing. */
const TRACEPARENT = /^[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-.{0,64})?$/;
/** The structured-field string of the Idempotency-Key draft. */
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;

/** Reads a request's identity. Whatever is secret or unbounded is veiled under `secret`. */
export function identityOf(request: IncomingMessage, settings: IdentitySettings, secret: string): Identity {
  const address = clientAddress(request, settings);
  const session = firstOf(request, settings.sessionHeaders);
  const key = firstOf(request, settings.keyHeaders);
  const traceparent = textOf(request, 'traceparent')?.toLowerCase();
  return {
    ...scopeOf(request, settings, secret, address),
    key: key === undefined ? undefined : veil(secret, 'key', ...key.slice(0, 1), unquoted(key[1])),
    traceparent: traceparent !== undefined && TRACEPARENT.test(traceparent) ? traceparent : undefined,
    retryCount: retryCountOf(request),
    session: session === undefined ? undefined : veil(secret, 'session', ...session),
    userAgent: (textOf(request, 'user-agent') ?? '').slice(0, LONGEST_USER_AGENT),
    address,
  };
}

/** Whose request it is, before its body is read: the tenant that {@link identityOf} will name. */
export function tenantOf(request: IncomingMessage, settings: IdentitySettings, secret: string): string {
  return scopeOf(request, settings, secret, clientAddress(request, settings)).tenant;
}

function scopeOf(
  request: IncomingMessage,
  settings: IdentitySettings,
  secret: string,
  address: string,
): Pick<Identity, 'tenant' | 'shareable'> {
  const parts: string[] = [];
  let credentials = 0;
  for (const name of CREDENTIALS) {
    const values = valuesOf(request, name).filter((value) => !NO_CREDENTIAL.test(value));
    credentials += values.length;
    for (const value of values) parts.push(name, value);
  }
  let shareable = true;
  if (credentials === 0) {
    parts.push('anonymous', settings.anonymous === 'shared' ? '' : address);
    shareable = settings.anonymous !== 'none';
  }
  for (const name of settings.tenantHeaders) parts.push(name, ...valuesOf(request, name), '');
  if (settings.endUserHeader !== undefined) {
    const user = textOf(request, settings.endUserHeader);
    if (user === undefined) shareable = false;
    parts.push('end user', user ?? '');
  }
  return { tenant: veiled(request.socket, secret, parts), shareable };
}

/** What the latest request of a connection was, which the next one mostly is too. */
const latest = new WeakMap<Socket, { readonly text: string; readonly tenant: string }>();

function veiled(connection: Socket, secret: string, parts: readonly string[]): string {
  // No header has a line feed in it.
  const text = parts.join('\n');
  const known = latest.get(connection);
  if (known?.text === text) return known.tenant;
  const tenant = veil(secret, 'tenant', ...parts);
  latest.set(connection, { text, tenant });
  return tenant;
}

/** The first of these headers that the request has: its name and value. */
function firstOf(request: IncomingMessage, names: readonly string[]): readonly [string, string] | undefined {
  for (const name of names) {
    const value = textOf(request, name);
    if (value !== undefined) return [name, value];
  }
  return undefined;
}

/** The text of a structured-field string, or the text as it is. */
export function unquoted(value: string): string {
  const [, inner] = QUOTED.exec(value) ?? [];
  return inner === undefined ? value : inner.replace(/\\(["\\])/g, '$1');
}

function retryCountOf(request: IncomingMessage): number | undefined {
  const text = textOf(request, 'x-stainless-retry-count');
  return text !== undefined && COUNT.test(text) ? Number(text) : undefined;
}
