/** A connection that is reset is reset, and leaves no handle behind in whatever state it was. */

import { equal } from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { reset } from './reset.js';

const sockets = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;

async function pair(use: (server: Socket) => void): Promise<string | undefined> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let code: string | undefined;
  client.on('error', (error: NodeJS.ErrnoException) => {
    code = error.code;
  });
  const [[there]] = (await Promise.all([once(server, 'connection'), once(client, 'connect')])) as [
    [Socket],
    unknown,
  ];
  there.on('error', () => {});
  const closed = new Promise((resolve) => client.once('close', resolve));
  client.resume();
  use(there);
  await closed;
  server.close();
  return code;
}

test('the other side sees a reset', async () => {
  equal(await pair(reset), 'ECONNRESET');
});

test('one whose own end is on its way is given up without a handle that stays', async () => {
  const before = sockets();
  await pair((socket) => {
    socket.end('last');
    reset(socket);
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  equal(sockets(), before);
});
