/** The engines: one pool of connections each, the least busy one for the next request, every failure named. */

import { Pool } from 'undici';
import { assert } from '../../core/assert.js';
import type { Failure } from '../../core/control/words.js';
import type { UpstreamTimeouts } from './config.js';

/** Below the 5 s after which vLLM's server closes an idle connection, so that none is used while it goes. */
const KEEP_ALIVE_MS = 4_000;

export interface EngineRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Names and values, flat. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** What comes back of one request. Exactly one of `onEnd` and `onFailure` ends it, unless it was let go. */
export interface Exchange {
  onHead(status: number, headers: Headers): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  /** `refused`, `reset` and `malformed` as they look from the connection, whatever had arrived before. */
  onFailure(failure: Extract<Failure, 'refused' | 'reset' | 'malformed'>, error: Error): void;
}

/** Destroys the connection of a request; nothing is called afterwards. */
export type LetGo = () => void;

interface Engine {
  readonly pool: Pool;
  /** What stands before every path. */
  readonly prefix: string;
  live: number;
}

export class Upstream {
  readonly #engines: readonly Engine[];

  constructor(urls: readonly string[], timeouts: UpstreamTimeouts) {
    assert(urls.length > 0, 'a gateway needs an engine');
    this.#engines = urls.map((text) => engineAt(new URL(text), timeouts));
  }

  /** Sends a request to the engine with the fewest live ones. */
  send(request: EngineRequest, exchange: Exchange): LetGo {
    const engine = this.leastBusy();
    const end = this.#enter(engine);
    let connected = false;
    let over = false;
    let destroy: (() => void) | undefined;
    const finish = (): boolean => {
      if (over) return false;
      over = true;
      end();
      return true;
    };
    engine.pool.dispatch(
      {
        path: engine.prefix + request.target,
        method: request.method,
        headers: [...request.headers],
        body: request.body,
      },
      {
        onRequestStart(controller) {
          connected = true;
          destroy = () => controller.abort(new Error('let go'));
          if (over) destroy();
        },
        onResponseStart(_controller, status, headers) {
          if (!over && status >= 200) guarded(() => exchange.onHead(status, headers));
        },
        onResponseData(_controller, chunk) {
          if (!over) guarded(() => exchange.onData(chunk));
        },
        onResponseEnd() {
          if (finish()) guarded(() => exchange.onEnd());
        },
        onResponseError(_controller, error) {
          const failure = connected ? broken(error) : 'refused';
          if (finish()) guarded(() => exchange.onFailure(failure, error));
        },
      },
    );
    return () => {
      if (finish()) destroy?.();
    };
  }

  /** The engine with the fewest live requests, for whoever speaks to its pool directly. */
  leastBusy(): Engine {
    return this.#engines.reduce((least, engine) => (engine.live < least.live ? engine : least));
  }

  /** Closes every connection, busy or idle. */
  async close(): Promise<void> {
    await Promise.all(this.#engines.map(({ pool }) => pool.destroy()));
  }

  #enter(engine: Engine): () => void {
    engine.live += 1;
    return () => {
      engine.live -= 1;
    };
  }
}

function engineAt(url: URL, timeouts: UpstreamTimeouts): Engine {
  const pool = new Pool(url.origin, {
    connections: null,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connect: { timeout: timeouts.connectMs },
  });
  return { pool, prefix: url.pathname.replace(/\/+$/, ''), live: 0 };
}

const NOT_CONNECTED = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const OUT_OF_TIME = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** The failure that an error of a request stands for which had no answer yet. */
export function failureOf(error: unknown): Extract<Failure, 'refused' | 'reset' | 'malformed' | 'timeout'> {
  if (!(error instanceof Error)) return 'reset';
  const code = 'code' in error ? String(error.code) : '';
  if (NOT_CONNECTED.has(code)) return 'refused';
  return OUT_OF_TIME.has(code) ? 'timeout' : broken(error);
}

/** An error of ours must not be taken for one of the connection's, which is what undici makes of it. */
function guarded(handle: () => void): void {
  try {
    handle();
  } catch (error) {
    process.nextTick(() => {
      throw error;
    });
  }
}

function broken(error: Error): 'reset' | 'malformed' {
  const code = 'code' in error ? error.code : undefined;
  return error.name === 'HTTPParserError' || code === 'UND_ERR_HEADERS_OVERFLOW' ? 'malformed' : 'reset';
}
