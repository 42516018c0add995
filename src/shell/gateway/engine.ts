/** One engine as the gateway reaches it: its pool of connections, its key, its time limits, whom it trusts. */

import { Pool } from 'undici';
import { UserError } from '../shared/errors.js';
import { readWithin } from '../shared/text-file.js';
import type { Upstream as UpstreamSettings, UpstreamTimeouts } from './config.js';
import { type PriorityPlace, prioritised, type Sent } from './engine-priority.js';
import { CREDENTIALS } from './headers.js';

/** Below the 5 s after which vLLM's server closes an idle connection, so that none is used while it goes. */
const KEEP_ALIVE_MS = 4_000;
/** A file larger than this holds no certificates. */
const MOST_CA_BYTES = 1024 * 1024;

export class Engine {
  readonly name: string;
  readonly url: string;
  readonly pool: Pool;
  /** What stands before every path. */
  readonly prefix: string;
  /** What it serves, as far as it is configured. */
  readonly models: readonly string[] | undefined;
  /** Requests of both kinds that are under way. */
  live = 0;
  readonly #credential: string | undefined;
  readonly #priority: PriorityPlace;
  readonly #timeouts: Partial<UpstreamTimeouts>;

  /** A {@link UserError} says what is wrong with its file of certificates. */
  constructor(name: string, settings: UpstreamSettings, timeouts: UpstreamTimeouts) {
    const {
      connectMs = timeouts.connectMs,
      firstByteMs,
      idleMs,
      caFile,
      serverName,
      verify = true,
    } = settings;
    const url = new URL(settings.url);
    this.name = name;
    this.prefix = url.pathname.replace(/\/+$/, '');
    this.url = url.origin + this.prefix;
    this.models = settings.models;
    this.#credential = settings.credential;
    this.#priority = settings.priority ?? 'off';
    this.#timeouts = {
      ...(firstByteMs === undefined ? {} : { firstByteMs }),
      ...(idleMs === undefined ? {} : { idleMs }),
    };
    this.pool = new Pool(url.origin, {
      connections: null,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      connect: {
        timeout: connectMs,
        rejectUnauthorized: verify,
        ...(caFile === undefined ? {} : { ca: certificatesIn(caFile) }),
        ...(serverName === undefined ? {} : { servername: serverName }),
      },
    });
  }

  /** Its own time limits, and those of all engines where it has none. */
  timeouts(all: UpstreamTimeouts): UpstreamTimeouts {
    return { ...all, ...this.#timeouts };
  }

  /** Headers and body of a request as this engine is told how urgent it is. */
  prioritised(request: Sent, priority: number | undefined): Sent {
    return priority === undefined ? request : prioritised(request, this.#priority, priority);
  }

  /** Headers, names and values in turn, with the engine's key in place of the client's, where it has one. */
  withCredential(headers: readonly string[]): string[] {
    if (this.#credential === undefined) return [...headers];
    const kept: string[] = [];
    for (let at = 0; at + 1 < headers.length; at += 2) {
      const name = headers[at] as string;
      if (!CREDENTIALS.includes(name.toLowerCase())) kept.push(name, headers[at + 1] as string);
    }
    kept.push('authorization', `Bearer ${this.#credential}`);
    return kept;
  }
}

function certificatesIn(path: string): Buffer {
  const what = 'the certificates of an engine';
  const bytes = readWithin({ path, what, largestBytes: MOST_CA_BYTES, code: 'config_unreadable' });
  if (bytes.includes('-----BEGIN CERTIFICATE-----')) return bytes;
  throw new UserError('config_invalid', `${path}: holds no certificates in PEM`);
}
