/** What clients hold open of the gateway: their connections and the bodies they send, bounded and counted. */

import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Family, sample, scalar } from '../../core/meter/exposition.js';
import type { Log } from '../shared/log.js';
import type { Certificate } from './certificate.js';
import type { InboundSettings } from './config-inbound.js';
import { BodiesHeld } from './request-body.js';

/** Dropped connections are said in the log at most once in this time, milliseconds. */
const DROPS_LINE_MS = 10_000;

/**
 * `nothing`: they are understood; `another`: the answer to another request, for which, or for a part of which, they would
 * be taken; `closing`: an answer that is the connection's last.
 */
export type Meets = 'nothing' | 'another' | 'closing';

/** Why a connection did not come to speak TLS. `left`: its client went, as the check of a load balancer does. */
const UNSHAKEN = ['plain_http', 'too_slow', 'left', 'failed'] as const;
type Unshaken = (typeof UNSHAKEN)[number];

export class Inbound {
  readonly bodies = new BodiesHeld();
  readonly #log: Log;
  /** The requests of a connection that have no whole answer yet. */
  readonly #open = new WeakMap<Socket, Set<ServerResponse>>();
  readonly #closing = new WeakSet<Socket>();
  /** Of TCP, those included that do not speak TLS yet. */
  readonly #connections = new Set<Socket>();
  readonly #unshaken: Record<Unshaken, number> = { plain_http: 0, too_slow: 0, left: 0, failed: 0 };
  #certificate: Certificate | undefined;
  #overrun = 0;
  #dropped = 0;
  #unsaid = 0;
  #saying: NodeJS.Timeout | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Counts the connections of `server`, which drops those beyond its bound. */
  count(server: Server): void {
    server.on('connection', (socket: Socket) => {
      this.#connections.add(socket);
      socket.once('close', () => this.#connections.delete(socket));
    });
    server.on('drop', () => {
      this.#dropped += 1;
      this.#unsaid += 1;
      if (this.#saying === undefined) this.#say();
    });
  }

  /** This is what clients see of the gateway from now on. */
  certified(certificate: Certificate): void {
    this.#certificate = certificate;
  }

  /** A connection that was to speak TLS does not: there is nothing to say on it that its client would understand. */
  unshaken(error: Error, socket: Socket): void {
    this.#unshaken[unshakenBy(error)] += 1;
    socket.destroy();
  }

  /** Ends every connection, in whatever state it is. */
  hangUp(): void {
    for (const socket of this.#connections) socket.destroy();
  }

  /** A request has come whose answer will be `response`; false: one too many on its connection, which has ended. */
  follow(socket: Socket, response: ServerResponse, most: number): boolean {
    const open = this.#open.get(socket) ?? new Set();
    // What came in one piece with the last of them is still read after the end.
    if (socket.destroyed) return false;
    if (open.size >= most) {
      this.#overrun += 1;
      socket.destroy();
      return false;
    }
    this.#open.set(socket, open.add(response));
    response.once('close', () => {
      open.delete(response);
      if (!response.shouldKeepAlive) this.#closing.add(socket);
    });
    return true;
  }

  /** What words on the bare connection would meet, with which a request is to be answered that is none. */
  meets(socket: Socket): Meets {
    const open = [...(this.#open.get(socket) ?? [])];
    const last = open.at(-1);
    if (this.#closing.has(socket) || (last?.writableEnded === true && !last.shouldKeepAlive))
      return 'closing';
    if (last === undefined) return 'nothing';
    // A body that turns out to be none belongs to the request that waits for its answer.
    return open.length > 1 || last.headersSent || last.req.complete ? 'another' : 'nothing';
  }

  /** Puts the settings in force that may change while running. */
  static tune(server: Server, settings: InboundSettings): void {
    server.maxConnections = settings.connections;
    // Node would drop the fields beyond its own bound in silence; here such a request is refused.
    server.maxHeadersCount = 0;
  }

  families(): readonly Family[] {
    return [
      scalar('holdfast_connections_open', 'gauge', 'Connections of clients.', this.#connections.size),
      scalar(
        'holdfast_connections_dropped_total',
        'counter',
        'Connections of clients that were closed at once, because inbound.connections were open.',
        this.#dropped,
      ),
      scalar(
        'holdfast_request_body_bytes',
        'gauge',
        'Request bodies of calls that are still being read, in bytes.',
        this.bodies.bytes,
      ),
      scalar(
        'holdfast_connections_overrun_total',
        'counter',
        'Connections of clients that were ended, because inbound.pipelined requests on them had no answer yet and another came.',
        this.#overrun,
      ),
      ...this.#tlsFamilies(),
    ];
  }

  #tlsFamilies(): readonly Family[] {
    const failed = 'holdfast_tls_handshakes_failed_total';
    return [
      {
        name: failed,
        type: 'counter',
        help: 'Connections of clients that ended before they spoke TLS. plain_http: its client spoke HTTP; too_slow: tls.handshake was over; left: the client went; failed: the two could not agree.',
        samples: UNSHAKEN.map((failure) => sample(failed, this.#unshaken[failure], { failure })),
      },
      scalar(
        'holdfast_tls_certificate_expires_timestamp_seconds',
        'gauge',
        'When the certificate that clients see ends, in seconds since the Unix epoch; 0 without TLS.',
        (this.#certificate?.expiresAt ?? 0) / 1_000,
      ),
    ];
  }

  close(): void {
    clearTimeout(this.#saying);
  }

  #say(): void {
    if (this.#unsaid === 0) {
      this.#saying = undefined;
      return;
    }
    this.#log.warn('connections were dropped: inbound.connections are open', { count: this.#unsaid });
    this.#unsaid = 0;
    this.#saying = setTimeout(() => this.#say(), DROPS_LINE_MS).unref();
  }
}

function unshakenBy(error: Error): Unshaken {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'ERR_SSL_HTTP_REQUEST') return 'plain_http';
  if (code === 'ERR_TLS_HANDSHAKE_TIMEOUT') return 'too_slow';
  return code === 'ECONNRESET' || code === 'EPIPE' ? 'left' : 'failed';
}
