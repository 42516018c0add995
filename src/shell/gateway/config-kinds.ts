/** The kinds of values that only a gateway's settings have: hosts, headers, paths, addresses of engines. */

import { isIPv6 } from 'node:net';
import type { Kind } from '../shared/settings/kind.js';
import { textOf } from '../shared/settings/kinds.js';
import { readNetwork } from './client-address.js';

const LONGEST_NAME = 256;
const short = (raw: string, form: RegExp): string | undefined =>
  raw.length <= LONGEST_NAME && form.test(raw) ? raw : undefined;

export const host: Kind<string> = textOf(
  'a host name or an address without a port, such as 127.0.0.1 or ::1',
  (raw) => (isIPv6(raw) ? raw : short(raw, /^[\w.-]+$/)),
  { pattern: String.raw`^[A-Za-z0-9_.:-]+$`, hint: hostHint },
);

/** Read in lower case, since the names of headers have none. */
export const header: Kind<string> = textOf('the name of a header, such as x-tenant', readHeader, {
  pattern: String.raw`^[!#$%&'*+.^${'`'}|~A-Za-z0-9_-]+$`,
  hint: headerHint,
});

export const engineName: Kind<string> = textOf(
  'a name of letters, digits and . _ : / -, such as h100-a',
  (raw) => short(raw, /^[\w.:/-]+$/),
  { pattern: String.raw`^[A-Za-z0-9_.:/-]+$` },
);

/** Read in lower case, as the words of requests are. */
export const className: Kind<string> = textOf(
  'the name of a class of calls, of letters, digits and . _ -, such as interactive',
  (raw) => (/^[\w.-]{1,64}$/.test(raw) ? raw.toLowerCase() : undefined),
  { pattern: String.raw`^[A-Za-z0-9_.-]{1,64}$` },
);

export const bearer: Kind<string> = textOf(
  'a key without spaces, and without the word Bearer before it',
  (raw) => (/^[\x21-\x7e]{1,4096}$/.test(raw) ? raw : undefined),
  { pattern: String.raw`^[!-~]{1,4096}$` },
);

/** So that no key has to stand in the file. */
export const keyHash: Kind<string> = textOf(
  'sha256: and the 64 hexadecimal digits of a key’s SHA-256',
  (raw) => (/^sha256:[\da-f]{64}$/i.test(raw) ? raw.toLowerCase() : undefined),
  { pattern: '^[sS][hH][aA]256:[0-9a-fA-F]{64}$' },
);

export const modelName: Kind<string> = textOf(
  'the name of a model as requests have it, such as Qwen/Qwen3-14B',
  (raw) => short(raw, /^\S(?:.*\S)?$/),
  { pattern: String.raw`^\S(.*\S)?$` },
);

export const path: Kind<string> = textOf(
  'a path that begins with a slash, without query, such as /v1/score',
  (raw) => short(raw, /^\/[^\s?#]*$/),
  { pattern: String.raw`^/[^\s?#]*$`, hint: pathHint },
);

export const upstreamUrl: Kind<string> = textOf(
  'http(s)://host:port without credentials, query or /v1',
  readUpstreamUrl,
  { pattern: String.raw`^[Hh][Tt][Tt][Pp][Ss]?://(?![^/?#]*@)(?![^?#]*/v1/*$)[^\s?#]+$`, hint: urlHint },
);

/** What a prefix must not end in: the beginning of the paths that requests bring. */
const TWICE = /(?:^|\/)v1(?:\/(?:chat\/completions|completions|responses|messages|embeddings|models))?$/;

function readHeader(raw: string): string | undefined {
  return short(raw, /^[!#$%&'*+.^`|~\w-]+$/)?.toLowerCase();
}

function headerHint(raw: unknown): string | undefined {
  const name = typeof raw === 'string' ? raw.replace(/:.*$/, '').trim().replaceAll(' ', '-') : '';
  const meant = readHeader(name);
  return meant === undefined ? undefined : `did you mean ${meant}?`;
}

function hostHint(raw: unknown): string | undefined {
  if (typeof raw !== 'string') return undefined;
  const [, found = '', port] = /^(?:\w+:\/\/)?([\w.-]+|\[[\da-f:]+\])(?::(\d+))?\/?$/i.exec(raw) ?? [];
  const bare = found.replaceAll(/[[\]]/g, '');
  if (bare === '') return undefined;
  return port === undefined
    ? `did you mean ${bare}?`
    : `the port has a key of its own: host: ${bare}, port: ${port}`;
}

function pathHint(raw: unknown): string | undefined {
  if (typeof raw !== 'string') return undefined;
  const bare = raw.replace(/^https?:\/\/[^/]*/i, '').replace(/[?#].*$/, '');
  const meant = short(bare.startsWith('/') ? bare : `/${bare}`, /^\/[^\s?#]+$/);
  return meant === undefined ? undefined : `did you mean ${meant}?`;
}

/** The address of an engine without its last slash; undefined when it is none that requests can follow. */
export function readUpstreamUrl(raw: unknown): string | undefined {
  if (typeof raw !== 'string' || !URL.canParse(raw)) return undefined;
  const parsed = new URL(raw);
  const plain =
    parsed.username === '' && parsed.password === '' && parsed.search === '' && parsed.hash === '';
  if (!plain || !/^https?:$/.test(parsed.protocol)) return undefined;
  // The paths of requests begin with /v1 themselves: with it here, the engine would see it twice.
  const prefix = parsed.pathname.replace(/\/+$/, '');
  return TWICE.test(prefix) ? undefined : parsed.origin + prefix;
}

/** What would make an address that was refused one that is taken. */
function urlHint(raw: unknown): string | undefined {
  if (typeof raw !== 'string') return undefined;
  if (/^[\w.-]+(?::\d+)?(?:\/|$)/.test(raw) && !raw.includes('@')) {
    const meant = readUpstreamUrl(`http://${raw.replace(/\/v1(?:\/.*)?$/, '')}`);
    return meant === undefined ? undefined : `did you mean ${meant}?`;
  }
  const shorter = readUpstreamUrl(raw.replace(/\/v1(?:\/.*)?$/, ''));
  return shorter === undefined || shorter === raw
    ? undefined
    : `clients bring the /v1 themselves: ${shorter}`;
}

/** Where a file is; whether it can be read shows when it is. */
export const filePath: Kind<string> = textOf(
  'the path of a file',
  (raw) => (raw.trim() !== '' && raw.length <= 4096 && !raw.includes('\0') ? raw : undefined),
  { pattern: String.raw`\S` },
);

export const network: Kind<string> = textOf(
  'an address or a network such as 10.0.0.0/8 or ::1',
  (raw) => readNetwork(raw),
  { pattern: String.raw`^\s*[\dA-Fa-f.:]+(/\d{1,3})?\s*$` },
);
