/** A departure is told from a clean close by what the connection says within a moment of the last byte. */

import { deepEqual, equal } from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, test } from 'node:test';
import { SystemClock } from '../shared/system-clock.js';
import { Connection, type Watch } from './departure.js';

const MOMENT_MS = 80;
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

interface Scene {
  readonly client: Socket;
  readonly response: ServerResponse;
  readonly watch: Watch;
  readonly server: Socket;
  /** What the watch said, in order. */
  readonly said: string[];
  /** Resolves when the server's side of the connection is closed. */
  readonly closed: Promise<void>;
}

/** One request that waits for its answer, whose client and server are both in the test's hands. */
async function scene(headers = ''): Promise<Scene> {
  const server = createServer({ keepAliveTimeout: 60_000 });
  closers.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  const connections = new Map<Socket, Connection>();
  server.prependListener('connection', (socket: Socket) => {
    connections.set(socket, new Connection(socket, new SystemClock(), MOMENT_MS));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const asked = new Promise<Omit<Scene, 'client'>>((resolve) => {
    server.on('request', (request, response) => {
      const said: string[] = [];
      const closed = new Promise<void>((done) => {
        request.socket.once('close', () => done());
      });
      const watch = connections.get(request.socket)?.watch(() => said.push('left'));
      if (watch !== undefined) resolve({ response, watch, server: request.socket, said, closed });
    });
  });
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  client.on('error', () => {});
  closers.push(() => client.destroy());
  client.write(`GET / HTTP/1.1\r\nhost: a\r\n${headers}\r\n`);
  return { client, ...(await asked) };
}

function answer({ response, watch, said }: Scene, bytes = 10): Promise<void> {
  return new Promise((resolve) => {
    response.end(Buffer.alloc(bytes, 'a'), () => {
      said.push('handed');
      watch.handed();
      resolve();
    });
  });
}

for (const headers of ['', 'connection: close\r\n']) {
  const kind = headers === '' ? 'kept' : 'closing';

  test(`${kind}: a close that the server has not seen when it answers is a departure`, async () => {
    const it = await scene(headers);
    it.client.destroy();
    await answer(it);
    await it.closed;
    deepEqual(it.said, ['handed', 'left']);
  });

  test(`${kind}: so it is under an answer that does not fit the system's buffers`, async () => {
    const it = await scene(headers);
    it.client.destroy();
    void answer(it, 20_000_000);
    await it.closed;
    equal(it.said.at(-1), 'left');
    equal(it.said.filter((word) => word === 'left').length, 1);
  });

  test(`${kind}: a close after everything was read is none, and the connection is closed within the moment`, async () => {
    const it = await scene(headers);
    it.client.on('data', () => it.client.end());
    await answer(it);
    await it.closed;
    deepEqual(it.said, ['handed']);
  });

  test(`${kind}: a reset within the moment is one`, async () => {
    const it = await scene(headers);
    it.client.once('data', () => it.client.resetAndDestroy());
    await answer(it);
    await it.closed;
    deepEqual(it.said, ['handed', 'left']);
  });
}

test('a reset after the moment is none', async () => {
  const it = await scene();
  const moment = new Promise<void>((resolve) => {
    new SystemClock().after(MOMENT_MS * 2, resolve);
  });
  const held = setTimeout(() => {}, 10_000);
  await answer(it);
  await moment;
  clearTimeout(held);
  it.client.resetAndDestroy();
  await it.closed;
  deepEqual(it.said, ['handed']);
});

test('an answer that nobody waits for any more says nothing', async () => {
  const it = await scene();
  it.watch.over();
  it.client.resetAndDestroy();
  await it.closed;
  deepEqual(it.said, []);
});

test('a watch on a connection that has gone says so, after its maker has had time to listen', async () => {
  const it = await scene();
  it.client.destroy();
  await it.closed;
  deepEqual(it.said, ['left']);
});
