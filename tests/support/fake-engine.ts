/** An engine whose every answer a test writes by hand, on a real socket. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Stream } from './promised.js';

/** One request that reached the engine. */
export interface EngineCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly socket: Socket;
  readonly body: string;
  /** Resolves when the connection is gone. */
  readonly closed: Promise<void>;
}

export type Script = (call: EngineCall) => void;

/** What answers calls, and what looks at the engine's meter, which are none. */
export interface Scripts {
  readonly calls: Script;
  readonly meter: Script;
}

const METER = '/metrics';
const noMeter: Script = ({ response }) => void response.writeHead(404).end();

export class FakeEngine {
  readonly calls = new Stream<EngineCall>();
  readonly #server: Server;
  script: Script;
  /** Called when the head of a request is there, before its body; the script is not called then. */
  onRequest: ((call: Pick<EngineCall, 'request' | 'response'>) => void) | undefined;

  private constructor({ calls, meter }: Scripts) {
    this.script = calls;
    this.#server = createServer({ maxHeaderSize: 65_536 }, (request, response) => {
      request.socket.setMaxListeners(0);
      if (this.onRequest !== undefined && request.url !== METER) {
        this.onRequest({ request, response });
        return;
      }
      const pieces: Buffer[] = [];
      const closed = new Promise<void>((resolve) => {
        request.socket.once('close', () => resolve());
      });
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('error', () => {});
      request.on('end', () => {
        const body = Buffer.concat(pieces).toString('utf8');
        const call = { request, response, socket: request.socket, body, closed };
        if (request.url === METER) return meter(call);
        this.calls.push(call);
        this.script(call);
      });
    });
    this.#server.maxHeadersCount = 0;
  }

  /** Without a script of its own for it, it has no meter. */
  static async start(script: Script | Scripts = () => {}): Promise<FakeEngine> {
    const engine = new FakeEngine(typeof script === 'function' ? { calls: script, meter: noMeter } : script);
    await new Promise<void>((resolve) => {
      engine.#server.listen(0, '127.0.0.1', resolve);
    });
    return engine;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }
}

/** Answers with a JSON document. */
export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Script {
  return ({ response }) => {
    const body = JSON.stringify(value);
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...headers,
    });
    response.end(body);
  };
}

/** Sends status and headers of a stream of events. */
export function openStream({ response }: EngineCall): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.flushHeaders();
}

/** One event of a stream in the manner of OpenAI. */
export function event(value: unknown): string {
  return `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
}
