/**
 * The engine of the comparison, in a process of its own: answers at once, as cheaply as Node can. A stream's events
 * are an HTTP chunk each and one turn of the event loop apart, so that they come singly and not in one lump.
 */

import { type AddressInfo, createServer, type Socket } from 'node:net';
import { MessageReader } from './message-reader.js';
import { EVENTS, findMarker, jsonAnswer, STREAM_END, streamEvent } from './workload.js';

const MODELS =
  '{"object":"list","data":[{"id":"m","object":"model","created":1790000000,"owned_by":"vllm"}]}';

const { before, after } = jsonAnswer();
const [first, last] = [streamEvent(0, '\0').split('\0'), chunk(STREAM_END)];
const events = Array.from({ length: EVENTS }, (_, at) => chunk(streamEvent(at, ` ~w${at}`)));
const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n';

interface Streaming {
  readonly socket: Socket;
  at: number;
}

let streaming: Streaming[] = [];

function chunk(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}

/** Writes the next event of every stream that is under way, and comes again while there are any. */
function turn(): void {
  let ended = false;
  for (const each of streaming) {
    const event = events[each.at];
    each.at += 1;
    if (event !== undefined && !each.socket.destroyed) each.socket.write(event);
    else {
      if (!each.socket.destroyed) each.socket.write(`${last.toString('latin1')}0\r\n\r\n`, 'latin1');
      each.at = Number.POSITIVE_INFINITY;
      ended = true;
    }
  }
  if (ended) streaming = streaming.filter(({ at }) => Number.isFinite(at));
  if (streaming.length > 0) setImmediate(turn);
}

function answerJson(socket: Socket, body: string): void {
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  socket.write(head + body, 'latin1');
}

function answer(socket: Socket, head: string, body: Buffer): void {
  const found = findMarker(body);
  if (head.startsWith('GET /v1/models')) answerJson(socket, MODELS);
  else if (found === undefined) answerJson(socket, '{}');
  else if (found.kind === 'json') answerJson(socket, before + found.marker + after);
  else {
    const text = `${first[0]}${found.marker} ~w0${first[1]}`;
    socket.write(`${STREAM_HEAD}${text.length.toString(16)}\r\n${text}\r\n`, 'latin1');
    if (found.kind === 'hold') return;
    streaming.push({ socket, at: 1 });
    if (streaming.length === 1) setImmediate(turn);
  }
}

const server = createServer({ noDelay: true }, (socket) => {
  let head = '';
  let body: Buffer = Buffer.alloc(0);
  let found = false;
  const reader = new MessageReader('request', {
    head: (text) => {
      head = text;
      body = Buffer.alloc(0);
      found = false;
      if (/\r\nexpect: *100-continue/i.test(text)) socket.write('HTTP/1.1 100 Continue\r\n\r\n');
    },
    piece: (bytes) => {
      if (found) return;
      body = body.length === 0 ? bytes : Buffer.concat([body, bytes]);
      found = findMarker(body) !== undefined;
      if (!found) body = Buffer.from(body);
    },
    end: () => answer(socket, head, body),
  });
  socket.on('data', (bytes) => reader.read(bytes));
  socket.on('error', () => socket.destroy());
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`);
});
process.on('disconnect', () => process.exit(0));
