/** The engines: one pool of connections each, the least busy one for the next request, every failure named. */

import { Pool } from 'undici';
import { assert } from '../../core/assert.js';
import type { Failure } from '../../core/control/words.js';
import type { Clock } from '../../core/time/clock.js';
import type { UpstreamTimeouts } from './config.js';
import { fieldsOf, type HeaderFields } from './headers.js';

/** Below the 5 s after which vLLM's server closes an idle connection, so that none is used while it goes. */
const KEEP_ALIVE_MS = 4_000;

/** How long an engine that could not be reached is asked last, doubling with every time in a row, milliseconds. */
const FIRST_REST_MS = 500;
const LONGEST_REST_MS = 10_000;

export interface EngineRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Names and values, flat. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** What comes back of one request. Exactly one of `onEnd` and `onFailure` ends it, unless it was let go. */
export interface Exchange {
  /** The request is on its way over a connection to the engine at `url`. */
  onReached(url: string): void;
  /** `headers` as they came, those of the connection included. */
  onHead(status: number, headers: HeaderFields): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  /** `refused`, `reset` and `malformed` as they look from the connection, whatever had arrived before. */
  onFailure(failure: Extract<Failure, 'refused' | 'reset' | 'malformed'>, error: Error): void;
}

/** Destroys the connection of a request; nothing is called afterwards. */
export type LetGo = () => void;

/** One engine: its connections, and how it has been doing. */
export interface Engine {
  readonly url: string;
  readonly pool: Pool;
  /** What stands before every path. */
  readonly prefix: string;
  live: number;
  /** How often in a row it could not be reached, and until when others are asked first. */
  refusals: number;
  restsUntil: number;
}

export class Upstream {
  readonly #engines: readonly Engine[];
  readonly #clock: Clock;
  readonly #unreachable: (url: string, error: unknown) => void;

  /** `unreachable` is told once a rest that an engine could not be reached, and why. */
  constructor(
    urls: readonly string[],
    timeouts: UpstreamTimeouts,
    clock: Clock,
    unreachable: (url: string, error: unknown) => void = () => {},
  ) {
    assert(urls.length > 0, 'a gateway needs an engine');
    this.#clock = clock;
    this.#unreachable = unreachable;
    this.#engines = urls.map((text) => engineAt(new URL(text), timeouts));
  }

  /**
   * Sends a request to the engine with the fewest live ones. An engine that cannot be reached has done nothing for
   * it, so the next one is asked, each at most once.
   */
  send(request: EngineRequest, exchange: Exchange): LetGo {
    const tried = new Set<Engine>();
    let letGo: LetGo = () => {};
    const next = (): void => {
      const engine = this.choose(tried);
      tried.add(engine);
      letGo = this.#dispatch(engine, request, exchange, () => {
        if (tried.size === this.#engines.length) return false;
        next();
        return true;
      });
    };
    next();
    return () => letGo();
  }

  /** The engine for a request: one that can be reached before one that could not, then the least busy. */
  choose(tried: ReadonlySet<Engine> = new Set()): Engine {
    const now = this.#clock.now();
    const rests = (engine: Engine): boolean => engine.restsUntil > now;
    const better = (a: Engine, b: Engine): boolean => (rests(a) === rests(b) ? a.live < b.live : rests(b));
    const open = this.#engines.filter((engine) => !tried.has(engine));
    return open.reduce((best, engine) => (better(engine, best) ? engine : best));
  }

  /**
   * For whoever speaks to an engine's pool directly; with `again`, the next engine is asked when one cannot be
   * reached, each at most once.
   */
  async reach<T>(ask: (engine: Engine) => Promise<T>, again: boolean): Promise<T> {
    const tried = new Set<Engine>();
    for (;;) {
      const engine = this.choose(tried);
      tried.add(engine);
      try {
        return await ask(engine);
      } catch (error) {
        if (failureOf(error) !== 'refused') throw error;
        this.#rest(engine, error);
        if (!again || tried.size === this.#engines.length) throw error;
      }
    }
  }

  /** `elsewhere` is asked when the engine cannot be reached: true when it has taken the request over. */
  #dispatch(engine: Engine, request: EngineRequest, exchange: Exchange, elsewhere: () => boolean): LetGo {
    let connected = false;
    let over = false;
    let destroy: (() => void) | undefined;
    const finish = (): boolean => {
      if (over) return false;
      over = true;
      engine.live -= 1;
      return true;
    };
    const fail = (error: Error): void => {
      if (!connected) this.#rest(engine, error);
      if (connected || !elsewhere()) exchange.onFailure(connected ? broken(error) : 'refused', error);
    };
    engine.live += 1;
    const { target, method, headers, body } = request;
    engine.pool.dispatch(
      { path: engine.prefix + target, method, headers: [...headers], body },
      {
        onRequestStart(controller) {
          connected = true;
          engine.refusals = 0;
          engine.restsUntil = 0;
          destroy = () => controller.abort(new Error('let go'));
          if (over) destroy();
          else guarded(() => exchange.onReached(engine.url));
        },
        onResponseStart({ rawHeaders }, status) {
          const fields = fieldsOf(Array.isArray(rawHeaders) ? rawHeaders : []);
          if (!over && status >= 200) guarded(() => exchange.onHead(status, fields));
        },
        onResponseData(_controller, chunk) {
          if (!over) guarded(() => exchange.onData(chunk));
        },
        onResponseEnd() {
          if (finish()) guarded(() => exchange.onEnd());
        },
        onResponseError(_controller, error) {
          if (finish()) guarded(() => fail(error));
        },
      },
    );
    return () => {
      if (finish()) destroy?.();
    };
  }

  #rest(engine: Engine, error: unknown): void {
    if (engine.restsUntil <= this.#clock.now()) this.#unreachable(engine.url, error);
    const restMs = Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** engine.refusals);
    engine.restsUntil = this.#clock.now() + restMs;
    engine.refusals += 1;
  }

  /** Closes every connection, busy or idle. */
  async close(): Promise<void> {
    await Promise.all(this.#engines.map(({ pool }) => pool.destroy()));
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
  const prefix = url.pathname.replace(/\/+$/, '');
  return { url: url.origin + prefix, pool, prefix, live: 0, refusals: 0, restsUntil: 0 };
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
