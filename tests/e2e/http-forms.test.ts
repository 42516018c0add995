/** Every form that HTTP gives a request reaches the engine as one and the same request. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { json } from '../support/fake-engine.js';
import { type Rig, startRig } from '../support/gateway-rig.js';
import { answerIn, RawClient } from '../support/raw-client.js';

let running: Rig | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

const BODY = '{"model":"tiny"}';
const PLAIN = `content-length: ${BODY.length}\r\n\r\n${BODY}`;

function head(more: string, version = '1.1'): string {
  return `POST /v1/completions HTTP/${version}\r\nhost: g\r\nauthorization: Bearer raw\r\n${more}`;
}

test('chunks, HTTP/1.0, a promise to wait and a whole URL: the engine sees plain bytes and their length', async () => {
  const rig = await startRig(json({ ok: true }));
  running = rig;
  const chunks = `connection: close\r\ntransfer-encoding: chunked\r\n\r\n7;x=y\r\n${BODY.slice(0, 7)}\r\n9\r\n${BODY.slice(7)}\r\n0\r\nx-trailer: z\r\n\r\n`;
  const forms = [
    head(chunks),
    head(PLAIN, '1.0'),
    head(`connection: close\r\n${PLAIN}`).replace(' /', ' http://elsewhere:1/'),
  ];
  for (const [at, bytes] of forms.entries()) {
    const client = await RawClient.open(rig.gateway.port);
    client.send(bytes);
    equal(answerIn(await client.rest()).status, 200, bytes);
    const { body, request } = await rig.engine.calls.next('the execution', () => true, at + 1);
    deepEqual(
      [body, request.url, request.headers['content-length'], request.headers['transfer-encoding']],
      [BODY, '/v1/completions', String(BODY.length), undefined],
    );
    equal(request.headers['x-trailer'], undefined);
  }
});

test('a client that promises to wait is told to go on, and is answered then', async () => {
  const rig = await startRig(json({ ok: true }));
  running = rig;
  const client = await RawClient.open(rig.gateway.port);
  client.send(head(`expect: 100-continue\r\nconnection: close\r\ncontent-length: ${BODY.length}\r\n\r\n`));
  await client.until('100 Continue\r\n\r\n');
  equal(rig.engine.calls.items.length, 0);
  client.send(BODY);
  const text = await client.rest();
  equal(answerIn(text.slice(text.indexOf('\r\n\r\n') + 4)).status, 200);
});

test('requests that follow each other without waiting are answered in their order, whichever is done first', async () => {
  const rig = await startRig(() => {});
  running = rig;
  const client = await RawClient.open(rig.gateway.port);
  const bodies = ['{"at":1}', '{"at":2}', '{"at":3}'];
  for (const body of bodies) client.send(head(`content-length: ${body.length}\r\n\r\n${body}`));
  const calls = await Promise.all(
    bodies.map((body) => rig.engine.calls.next(body, (call) => call.body === body)),
  );
  for (const call of calls.toReversed()) json({ answers: call.body })(call);
  const text = await client.until('{"answers":"{\\"at\\":3}"}');
  const places = bodies.map((body) => text.indexOf(JSON.stringify(body)));
  ok(places.every((place, at) => place > (places[at - 1] ?? 0)));
});
