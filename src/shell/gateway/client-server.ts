/** The server that clients connect to: HTTP, or HTTPS where it has a certificate, with every bound of a connection. */

import { createServer, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type ListenWords, listenError } from '../shared/errors.js';
import type { Certificate } from './certificate.js';
import type { InboundSettings } from './config-inbound.js';
import type { TlsSettings } from './config-tls.js';

/** How often connections are asked whether their time is up, milliseconds. */
const CHECK_MS = 500;
/** After this without a word, TCP asks whether the client's machine is still there. */
const TCP_KEEP_ALIVE_MS = 30_000;

export interface ClientServerParts {
  readonly inbound: InboundSettings;
  readonly tls: TlsSettings;
  /** With it the server speaks TLS and nothing else. */
  readonly certificate: Certificate | undefined;
  /** A client is there: the connection that HTTP will be spoken on, before anything is. */
  readonly connected: (socket: Socket) => void;
}

/** A server that does not listen yet. */
export function clientServer({ inbound, tls, certificate, connected }: ClientServerParts): Server {
  const options = httpOptions(inbound);
  if (certificate === undefined) {
    const server = createServer(options);
    // Before the server's own listener, so that a departure is seen before the server acts on it.
    server.prependListener('connection', connected);
    return server;
  }
  const server = createTlsServer({
    ...options,
    // As it is without TLS: what becomes of a client that closes its side is decided in one place.
    allowHalfOpen: true,
    handshakeTimeout: tls.handshakeMs,
    ...secureOptions(certificate, tls),
  } as ServerOptions);
  server.prependListener('secureConnection', (socket: TLSSocket) => connected(socket));
  return server;
}

/** From now on new connections see this certificate; those that are there stay as they are. */
export function renew(server: Server, certificate: Certificate, tls: TlsSettings): void {
  (server as unknown as TlsServer).setSecureContext(secureOptions(certificate, tls));
}

/** Resolves with the port once `server` listens; rejects with a `UserError` when it cannot. */
export function listen(server: Server, host: string, port: number, words?: ListenWords): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error): void => {
      const error = listenError(cause, host, port, words);
      reject(error instanceof Error ? error : cause);
    };
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function httpOptions({ headerBytes, headersMs, bodyMs, keepAliveMs }: InboundSettings): ServerOptions {
  return {
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: headerBytes,
    // Asked for by the gateway itself, so that the refusal is like every other.
    requireHostHeader: false,
    headersTimeout: headersMs,
    // Behind the bound of the body itself, which has its own ending.
    requestTimeout: headersMs + bodyMs + CHECK_MS,
    connectionsCheckingInterval: CHECK_MS,
  };
}

function secureOptions({ cert, key }: Certificate, { minVersion }: TlsSettings): SecureOptions {
  return { cert, key, minVersion: minVersion === 'tlsv1.3' ? 'TLSv1.3' : 'TLSv1.2' };
}

interface SecureOptions {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
}

/** The address at which a server that listens there is asked. */
export function urlOf(host: string, port: number, scheme = 'http'): string {
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
