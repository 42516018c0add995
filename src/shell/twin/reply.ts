/** Writes one answer to its socket, through whatever fault is in force. */

import type { ServerResponse } from 'node:http';
import type { Fault } from './faults.js';
import { frame } from './wire.js';

const COMMON = { vary: 'Origin' };
const GARBAGE = '\u0000\u0001not an answer\u0000';

export class Reply {
  readonly #response: ServerResponse;
  readonly #fault: Fault | undefined;
  #events = 0;
  /** Writes held back while the answer stalls; undefined when it does not. */
  #held: (() => void)[] | undefined;
  #over = false;

  constructor(response: ServerResponse, fault?: Fault) {
    this.#response = response;
    this.#fault = fault;
    response.on('error', () => {
      this.#over = true;
    });
    if (fault?.kind === 'slow') this.#hold(fault.ms);
  }

  /** A whole answer. */
  json(status: number, body: object | undefined, headers: Readonly<Record<string, string>> = {}): void {
    this.#do(() => {
      const text = body === undefined ? '' : JSON.stringify(body);
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      const all = { ...COMMON, ...type, ...headers, 'content-length': String(Buffer.byteLength(text)) };
      if (this.#strikes(0) || (this.#fault?.afterEvents ?? 0) > 0) this.#spoil(status, text, all);
      else this.#response.writeHead(status, all).end(text);
    });
  }

  text(status: number, body: string, contentType: string): void {
    this.#response.writeHead(status, { ...COMMON, 'content-type': contentType }).end(body);
  }

  /** Status and headers of a stream, at once. */
  open(): void {
    this.#do(() => {
      if (this.#fault?.kind === 'reset' && this.#fault.afterEvents === 0) {
        this.#destroy();
        return;
      }
      const type = { ...COMMON, 'content-type': 'text/event-stream; charset=utf-8' };
      this.#response.writeHead(200, type).flushHeaders();
    });
  }

  frames(frames: readonly string[]): void {
    for (const each of frames) this.#do(() => this.#event(each));
  }

  end(): void {
    this.#do(() => {
      this.#over = true;
      this.#response.end();
    });
  }

  /** Ends a stream that has begun with the frames of an error; without any, breaks it. */
  fail(frames: readonly string[] | undefined): void {
    if (frames === undefined) this.#do(() => this.#destroy());
    else {
      this.frames(frames);
      this.end();
    }
  }

  #event(text: string): void {
    const strikes = this.#strikes(this.#events);
    this.#events += 1;
    if (strikes) this.#strike();
    this.#do(() => this.#response.write(text));
  }

  #strikes(events: number): boolean {
    return this.#fault !== undefined && this.#fault.afterEvents === events;
  }

  #strike(): void {
    const fault = this.#fault;
    if (fault?.kind === 'reset') this.#destroy();
    else if (fault?.kind === 'stall') this.#hold(fault.ms);
    else if (fault?.kind === 'garbage') this.#finish(GARBAGE);
    else if (fault?.kind === 'truncate') this.#finish('');
    else if (fault?.kind === 'error') this.#finish(`${frame(failure())}${frame('[DONE]')}`);
  }

  /** A whole answer under a fault. */
  #spoil(status: number, text: string, headers: Readonly<Record<string, string>>): void {
    const fault = this.#fault;
    const half = fault !== undefined && fault.afterEvents > 0 ? text.slice(0, text.length / 2) : '';
    const response = this.#response;
    switch (fault?.kind) {
      case 'reset':
      case 'truncate':
        if (half === '') this.#destroy();
        else response.writeHead(status, headers).write(half, () => this.#destroy());
        return;
      case 'stall':
        response.writeHead(status, headers).write(half);
        this.#hold(fault.ms);
        this.#do(() => response.end(text.slice(half.length)));
        return;
      case 'garbage':
        response.writeHead(200, { ...COMMON, 'content-type': 'application/json' }).end(GARBAGE);
        return;
      case 'error':
        response
          .writeHead(500, { ...COMMON, 'content-type': 'application/json' })
          .end(JSON.stringify(failure()));
        return;
      case undefined:
      case 'hang':
      case 'refuse':
      case 'slow':
      case 'die':
        response.writeHead(status, headers).end(text);
    }
  }

  #do(write: () => void): void {
    if (this.#over || this.#response.destroyed) return;
    if (this.#held === undefined) write();
    else this.#held.push(write);
  }

  #hold(ms: number): void {
    this.#held ??= [];
    const release = (): void => {
      const held = this.#held ?? [];
      this.#held = undefined;
      for (const write of held) this.#do(write);
    };
    const timer = setTimeout(release, ms);
    this.#response.on('close', () => clearTimeout(timer));
  }

  #finish(text: string): void {
    this.#over = true;
    this.#response.end(text);
  }

  #destroy(): void {
    this.#over = true;
    this.#response.destroy();
  }
}

function failure(): object {
  return { error: { message: 'The engine failed.', type: 'InternalServerError', param: null, code: 500 } };
}
