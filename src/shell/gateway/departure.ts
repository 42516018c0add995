/**
 * Sees a client leave, at once. A closed connection before the last byte is a departure. After it, a client that
 * has read everything closes with a FIN, and one that had already gone answers our last bytes with a reset, often
 * behind a FIN of its own. To tell them apart, a connection is kept half-open for a moment after the last byte.
 */

import type { Socket } from 'node:net';
import type { Cancel, Clock } from '../../core/time/clock.js';

/** Parts of the moment after which a connection that said FIN is asked again whether it has been reset since. */
const PROBES = [0.01, 0.05, 0.2, 0.5, 0.9] as const;
const NOTHING = Buffer.alloc(0);
/** How long a connection that we close is still read from, milliseconds. */
const LINGER_MS = 1_000;

/** One answer that a client waits for. */
export interface Watch {
  /** The last byte has been handed to the connection: from now on only a reset is a departure. */
  handed(): void;
  /** Nobody waits for this answer any more. */
  over(): void;
}

type State = 'waiting' | 'handed' | 'over';

const NO_TIMERS: readonly Cancel[] = [];

/** The connection of one client, with the answers it still waits for. */
export class Connection {
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #momentMs: number;
  readonly #watches = new Set<Watched>();
  readonly #end: Socket['end'];
  #finished = false;
  #reset = false;
  #sweeps = false;
  #put: (() => void) | undefined;

  /** To be made before the HTTP server sees the socket, whose closing it takes over for the moment. */
  constructor(socket: Socket, clock: Clock, momentMs: number) {
    this.#socket = socket;
    this.#clock = clock;
    this.#momentMs = momentMs;
    this.#end = socket.end.bind(socket);
    socket.end = ((...args: Parameters<Socket['end']>) => {
      this.#close(() => this.#end(...args));
      return socket;
    }) as Socket['end'];
    socket.destroySoon = () => {
      this.#close(() => this.#hangUp());
    };
    socket.on('end', () => this.#onEnd());
    socket.on('error', () => {
      this.#reset = true;
    });
    socket.on('close', () => this.#onClose());
  }

  /** Watches over one answer; `left` is called at most once, when its client has gone without it. */
  watch(left: () => void): Watch {
    // A client that asks anew on its connection has read what came before.
    for (const each of this.#watches) if (each.state === 'handed') this.#settle(each);
    const watched = new Watched(this, left);
    this.#watches.add(watched);
    if (this.#finished || !this.#socket.writable) {
      process.nextTick(() => {
        if (watched.state === 'waiting') this.#leave(watched);
      });
    }
    return watched;
  }

  /** The last byte of that answer has been handed over. */
  handed(watched: Watched): void {
    if (watched.state !== 'waiting') return;
    watched.state = 'handed';
    watched.until = this.#clock.now() + this.#momentMs;
    this.#sweepAt(watched.until);
    if (this.#finished) this.#probe(watched);
  }

  /** Nobody waits for that answer any more. */
  over(watched: Watched): void {
    this.#settle(watched);
  }

  /** One timer for all answers of a connection, which would else have one each. */
  #sweepAt(moment: number): void {
    if (this.#sweeps) return;
    this.#sweeps = true;
    this.#clock.after(Math.max(0, moment - this.#clock.now()), () => {
      this.#sweeps = false;
      const now = this.#clock.now();
      let next = Number.POSITIVE_INFINITY;
      for (const each of this.#watches) {
        if (each.state !== 'handed') continue;
        if (each.until <= now) this.#settle(each);
        else next = Math.min(next, each.until);
      }
      if (next < Number.POSITIVE_INFINITY) this.#sweepAt(next);
    });
  }

  #settle(watched: Watched): void {
    watched.state = 'over';
    for (const cancel of watched.timers) cancel();
    watched.timers = NO_TIMERS;
    this.#watches.delete(watched);
    if (this.#watches.size > 0) return;
    const put = this.#put;
    this.#put = undefined;
    if (!this.#socket.destroyed) put?.();
  }

  #leave(watched: Watched): void {
    this.#settle(watched);
    watched.left();
  }

  #onEnd(): void {
    this.#finished = true;
    for (const watched of this.#watches) {
      if (watched.state === 'waiting') this.#leave(watched);
      else this.#probe(watched);
    }
  }

  /** Nothing reads from a connection after its FIN, so a reset shows only when something is written. */
  #probe(watched: Watched): void {
    const ask = (): void => {
      if (!this.#socket.destroyed && this.#socket.writable) this.#socket.write(NOTHING);
    };
    ask();
    watched.timers = PROBES.map((part) => this.#clock.after(part * this.#momentMs, ask));
  }

  #onClose(): void {
    for (const watched of this.#watches) {
      if (watched.state === 'waiting' || this.#reset) this.#leave(watched);
      else this.#settle(watched);
    }
  }

  /** Closes the connection when what has been written is out, reading on so that no reset overtakes it. */
  #hangUp(): void {
    const socket = this.#socket;
    this.#end();
    socket.resume();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(timer));
  }

  /** Closes now, or when the moment after the last byte is over. */
  #close(put: () => void): void {
    if (this.#watches.size > 0 && !this.#socket.destroyed) this.#put ??= put;
    else put();
  }
}

class Watched implements Watch {
  readonly #connection: Connection;
  readonly left: () => void;
  state: State = 'waiting';
  /** When the moment after its last byte is over. */
  until = Number.POSITIVE_INFINITY;
  timers = NO_TIMERS;

  constructor(connection: Connection, left: () => void) {
    this.#connection = connection;
    this.left = left;
  }

  handed(): void {
    this.#connection.handed(this);
  }

  over(): void {
    this.#connection.over(this);
  }
}
