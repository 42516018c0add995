/** The connections to the engines: one pool each, every failure named. */

import { assert } from '../../core/assert.js';
import type { EngineGauges } from '../../core/control/fleet.js';
import type { Failure } from '../../core/control/words.js';
import type { GatewayConfig, UpstreamTimeouts } from './config.js';
import { Engine } from './engine.js';
import { engineNames } from './engines.js';
import { fieldsOf, type HeaderFields } from './headers.js';

export interface EngineRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Names and values, flat. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** How urgent it is to an engine that is told so; smaller is sooner. */
  readonly priority?: number | undefined;
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

/** How the control sees an engine. */
export type Standing = Pick<EngineGauges, 'name' | 'away'>;

export class Upstream {
  readonly #engines: ReadonlyMap<string, Engine>;
  readonly #standings: () => readonly Standing[];
  readonly #unreachable: (url: string, error: unknown) => void;

  /** `unreachable` is told whenever an engine could not be reached, and why. */
  constructor(
    config: Pick<GatewayConfig, 'upstreams' | 'upstreamTimeouts'>,
    standings: () => readonly Standing[] = () => [],
    unreachable: (url: string, error: unknown) => void = () => {},
  ) {
    assert(config.upstreams.length > 0, 'a gateway needs an engine');
    this.#standings = standings;
    this.#unreachable = unreachable;
    const names = engineNames(config);
    const engines = config.upstreams.map(
      (upstream, index) => new Engine(names[index] as string, upstream, config.upstreamTimeouts),
    );
    this.#engines = new Map(engines.map((engine) => [engine.name, engine]));
  }

  get several(): boolean {
    return this.#engines.size > 1;
  }

  /** Sends an execution's request to the engine of that name. */
  send(name: string, request: EngineRequest, exchange: Exchange): LetGo {
    return this.#dispatch(this.#engine(name), request, exchange);
  }

  /** The time limits on that engine: its own, and where it has none, those of `all`. */
  timeouts(name: string, all: UpstreamTimeouts): UpstreamTimeouts {
    return this.#engine(name).timeouts(all);
  }

  #engine(name: string): Engine {
    const engine = this.#engines.get(name);
    assert(engine !== undefined, `no engine is called ${name}`);
    return engine;
  }

  /** The engines in the order to ask them in: those that work before those that rest, then the least busy. */
  inOrder(): Engine[] {
    const away = new Set(this.#standings().flatMap((one) => (one.away ? [one.name] : [])));
    const rank = ({ name, live }: Engine): number => (away.has(name) ? Number.MAX_SAFE_INTEGER : 0) + live;
    return [...this.#engines.values()].toSorted((a, b) => rank(a) - rank(b));
  }

  /**
   * For whoever speaks to an engine's pool directly; with `again`, the next engine is asked when one cannot be
   * reached, each at most once.
   */
  async reach<T>(ask: (engine: Engine) => Promise<T>, again: boolean): Promise<T> {
    const engines = this.inOrder();
    for (;;) {
      const engine = engines.shift();
      assert(engine !== undefined, 'no engine is left to ask');
      engine.live += 1;
      try {
        return await ask(engine);
      } catch (error) {
        if (failureOf(error) !== 'refused') throw error;
        this.#unreachable(engine.url, error);
        if (!again || engines.length === 0) throw error;
      } finally {
        engine.live -= 1;
      }
    }
  }

  #dispatch(engine: Engine, request: EngineRequest, exchange: Exchange): LetGo {
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
      if (!connected) this.#unreachable(engine.url, error);
      exchange.onFailure(connected ? broken(error) : 'refused', error);
    };
    engine.live += 1;
    const { target, method } = request;
    const { headers, body } = engine.prioritised(request, request.priority);
    engine.pool.dispatch(
      { path: engine.prefix + target, method, headers: engine.withCredential(headers), body },
      {
        onRequestStart(controller) {
          connected = true;
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

  /** Closes every connection, busy or idle. */
  async close(): Promise<void> {
    await Promise.all([...this.#engines.values()].map(({ pool }) => pool.destroy()));
  }
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
