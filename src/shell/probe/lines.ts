/** Connections of a drill's clients: one an attempt, without a cap, used again only after a whole exchange. */

import { buildConnector, Client } from 'undici';

/** A kept connection that nobody uses is closed after this long, below the 5 s of vLLM's server. */
const KEEP_ALIVE_MS = 4_000;
const CONNECT_MS = 600_000;
/** Unused connections that are kept; further ones are closed. */
const MOST_IDLE = 1_024;

/** One connection, for one attempt at a time. */
export interface Line {
  readonly client: Client;
  /** Milliseconds of the machine's time that the latest connect took; 0 for a connection that was kept. */
  connectMs: number;
}

export class Lines {
  readonly #origin: string;
  readonly #idle: Line[] = [];
  readonly #busy = new Set<Line>();
  readonly #connect = buildConnector({ timeout: CONNECT_MS });

  /** `origin`: `http://host:port`. */
  constructor(origin: string) {
    this.#origin = origin;
  }

  take(): Line {
    const line = this.#idle.pop() ?? this.#open();
    line.connectMs = 0;
    this.#busy.add(line);
    return line;
  }

  /** Connections that an attempt uses. */
  get busy(): number {
    return this.#busy.size;
  }

  /** After a whole exchange; never after a client left. */
  giveBack(line: Line): void {
    this.#busy.delete(line);
    if (this.#idle.length < MOST_IDLE) this.#idle.push(line);
    else this.leave(line);
  }

  /** Destroys the connection, whatever it is doing. */
  leave(line: Line): void {
    this.#busy.delete(line);
    line.client.destroy().catch(() => {
      // There is nobody left to tell.
    });
  }

  /** Closes all, used or not. */
  close(): void {
    for (const line of [...this.#busy, ...this.#idle.splice(0)]) this.leave(line);
  }

  #open(): Line {
    // A client's own deadline bounds the attempt; no timer of the library may end it sooner.
    const client = new Client(this.#origin, {
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      connect: (options, done) => {
        const startedAt = performance.now();
        this.#connect(options, (...result) => {
          line.connectMs = performance.now() - startedAt;
          done(...result);
        });
      },
    });
    const line: Line = { client, connectMs: 0 };
    return line;
  }
}
