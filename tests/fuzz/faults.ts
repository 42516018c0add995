/** How the engine of a fuzz run answers: well, badly, late, or not at all. */

import type { Random } from '../../src/core/chance/random.js';
import { type EngineCall, event, json, openStream, type Script } from '../support/fake-engine.js';

const CLOSE = { connection: 'close' };
const TOKEN = event({ choices: [{ delta: { content: 'a' } }] });
const DONE = event('[DONE]') + event({ type: 'message_stop' });

const ANSWERS: readonly Script[] = [
  json({ ok: true }, 200, CLOSE),
  json({ error: { message: 'no' } }, 400, CLOSE),
  json({ error: { message: 'busy' } }, 503, CLOSE),
  json({}, 307, { ...CLOSE, location: '/else' }),
  streamed((call) => call.response.end(TOKEN + DONE)),
  streamed((call) => call.response.end(event({ error: { message: 'full', code: 503 } }))),
  streamed((call) => call.response.end(TOKEN)),
  streamed((call) => {
    call.response.write(TOKEN);
    call.socket.resetAndDestroy();
  }),
  streamed((call) => call.response.end(event('x'.repeat(200_000)) + DONE)),
  streamed(drip),
  () => {},
  ({ socket }) => socket.destroy(),
  ({ socket }) => socket.resetAndDestroy(),
  ({ socket }) => socket.end('garbage\r\n\r\n'),
  ({ socket }) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"cut"'),
  ({ socket }) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'),
  ({ socket }) => socket.end('HTTP/1.1 204 No Content\r\n\r\n'),
];

function streamed(then: Script): Script {
  return (call) => {
    call.response.setHeader('connection', 'close');
    openStream(call);
    then(call);
  };
}

function drip({ response }: EngineCall): void {
  const text = TOKEN + DONE;
  let at = 0;
  const timer = setInterval(() => {
    response.write(text.slice(at, at + 5));
    at += 5;
    if (at >= text.length) response.end();
    if (at >= text.length || response.destroyed) clearInterval(timer);
  }, 3);
}

/** One of the answers for each request, at once or after a while. */
export function faulty(random: Random): Script {
  return (call) => {
    call.response.on('error', () => {});
    call.socket.on('error', () => {});
    const answer = ANSWERS[random.integer(0, ANSWERS.length - 1)] as Script;
    const waitMs = random.uniform() < 0.5 ? 0 : random.integer(1, 150);
    setTimeout(() => {
      if (!call.socket.destroyed) answer(call);
    }, waitMs);
  };
}
