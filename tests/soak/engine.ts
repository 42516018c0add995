/** The engine of a soak: it does what the request says, and says back whose request it was. */

import { type EngineCall, event, FakeEngine, json, openStream } from '../support/fake-engine.js';

/** How the engine fails a request, if it does. */
export const FAULTS = [
  'none',
  'busy',
  'bad_request',
  'reset',
  'truncate',
  'garbage',
  'error_event',
  'redirect',
  'hang',
] as const;
export type Fault = (typeof FAULTS)[number];

/** What a request asks of the engine, in its body. */
export interface Wish {
  readonly fault: Fault;
  /** Before the first byte, milliseconds. */
  readonly waitMs: number;
  /** Pieces of the answer, `gapMs` apart. */
  readonly pieces: number;
  readonly gapMs: number;
  readonly pieceBytes: number;
}

interface Asked {
  readonly nonce: string;
  readonly stream?: boolean;
  readonly wish: Wish;
}

/** Says the nonce of the request in an answer, so that a client knows its own. */
export function sign(nonce: string): string {
  return `nonce-${nonce}`;
}

export async function startEngine(): Promise<FakeEngine> {
  const engine = await FakeEngine.start(answer);
  // Half an hour of requests is more than one would keep.
  engine.calls.push = () => {};
  return engine;
}

function answer(call: EngineCall): void {
  call.response.on('error', () => {});
  call.socket.on('error', () => {});
  if (call.request.url !== '/v1/chat/completions') {
    json({ data: [{ id: 'soak' }] })(call);
    return;
  }
  const asked = JSON.parse(call.body) as Asked;
  later(call, asked.wish.waitMs, () => fulfil(call, asked));
}

function fulfil(call: EngineCall, { nonce, stream = false, wish }: Asked): void {
  const { response, socket } = call;
  switch (wish.fault) {
    case 'none':
      if (stream) speak(call, nonce, wish);
      else json(whole(nonce, wish))(call);
      return;
    case 'busy':
      json({ error: { message: 'busy' } }, 503)(call);
      return;
    case 'bad_request':
      json({ error: { message: 'no' } }, 400)(call);
      return;
    case 'redirect':
      json({}, 307, { location: '/else' })(call);
      return;
    case 'reset':
      socket.resetAndDestroy();
      return;
    case 'garbage':
      socket.end('no HTTP at all\r\n\r\n');
      return;
    case 'truncate':
      openStream(call);
      response.write(event({ id: sign(nonce) }), () => socket.destroy());
      return;
    case 'error_event':
      openStream(call);
      response.end(event({ error: { message: 'full', code: 500 } }));
      return;
    case 'hang':
      return;
  }
}

function whole(nonce: string, { pieces, pieceBytes }: Wish): unknown {
  const usage = { prompt_tokens: 10, completion_tokens: pieces, total_tokens: 10 + pieces };
  return { id: sign(nonce), choices: [{ message: { content: 'x'.repeat(pieces * pieceBytes) } }], usage };
}

function speak(call: EngineCall, nonce: string, wish: Wish): void {
  const { response } = call;
  openStream(call);
  const piece = event({ choices: [{ delta: { content: 'x'.repeat(wish.pieceBytes) } }] });
  let left = wish.pieces;
  const next = (): void => {
    left -= 1;
    if (left < 0) {
      const usage = { prompt_tokens: 10, completion_tokens: wish.pieces, total_tokens: 10 + wish.pieces };
      response.end(event({ choices: [], usage }) + event('[DONE]'));
      return;
    }
    // An engine waits for its reader as well.
    if (response.write(piece)) later(call, wish.gapMs, next);
    else response.once('drain', () => later(call, wish.gapMs, next));
  };
  response.write(event({ id: sign(nonce) }));
  next();
}

/** Calls `then` unless the connection has gone by then. */
function later({ socket }: EngineCall, ms: number, then: () => void): void {
  const timer = setTimeout(() => {
    socket.off('close', stop);
    if (!socket.destroyed) then();
  }, ms);
  const stop = (): void => clearTimeout(timer);
  socket.once('close', stop);
}
