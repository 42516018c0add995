/** Whatever is no attempt of a call goes through as it is, both ways, and dies with its client. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { json, type Script } from '../support/fake-engine.js';
import { type Rig, startRig } from '../support/gateway-rig.js';
import { within } from '../support/promised.js';
import { answerIn, RawClient, requestText } from '../support/raw-client.js';

let running: Rig | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

async function start(script: Script): Promise<Rig> {
  running = await startRig(script);
  return running;
}

describe('what is no attempt of a call', () => {
  test('reaches the engine with its method, path, query, headers and body, and its answer comes back', async () => {
    const rig = await start(json({ count: 5 }, 202, { 'x-engine': 'yes' }));
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const body = method === 'GET' || method === 'OPTIONS' ? null : '{"prompt":"hello"}';
      const answer = await fetch(`${rig.gateway.url}/tokenize?x=1&y=%20`, {
        method,
        body,
        headers: { 'x-mine': 'a', 'x-request-id': 'b' },
      });
      equal(answer.status, 202);
      equal(answer.headers.get('x-engine'), 'yes');
      deepEqual(await answer.json(), { count: 5 });
      const { request, body: received } = await rig.engine.calls.next(
        method,
        ({ request: one }) => one.method === method,
      );
      deepEqual(
        [request.url, request.headers['x-mine'], request.headers['x-request-id'], received],
        ['/tokenize?x=1&y=%20', 'a', 'b', body ?? ''],
      );
    }
    ok(rig.events.items.every(({ kind }) => kind === 'gauges'));
  });

  test('a GET of a call route is none, nor is a longer path', async () => {
    const rig = await start(json([]));
    await (await fetch(`${rig.gateway.url}/v1/chat/completions`)).text();
    await (await fetch(`${rig.gateway.url}/v1/messages/count_tokens`, { method: 'POST', body: '{}' })).text();
    equal(rig.engine.calls.items.length, 2);
    ok(rig.events.items.every(({ kind }) => kind === 'gauges'));
  });

  test('keeps the length that its client stated, and bytes in headers that are no ASCII', async () => {
    const rig = await start(({ socket }) => {
      socket.write(
        'HTTP/1.1 200 OK\r\nx-name: caf\xc3\xa9 \xe2\x82\xac \xff\r\nset-cookie: a\r\nset-cookie: b\r\ncontent-length: 0\r\n\r\n',
        'latin1',
      );
    });
    for (const path of ['/v1/files', '/v1/chat/completions']) {
      const client = await RawClient.ask(rig.gateway.port, { path, headers: { 'x-mine': '\xe2\x82\xac' } });
      const text = await client.until('\r\n\r\n');
      equal(answerIn(text).headers['x-name'], 'caf\xc3\xa9 \xe2\x82\xac \xff');
      equal(text.match(/set-cookie: /g)?.length, 2);
    }
    for (const { request, body } of rig.engine.calls.items) {
      equal(request.headers['content-length'], String(body.length));
      equal(request.headers['transfer-encoding'], undefined);
      equal(request.headers['x-mine'], '\xe2\x82\xac');
    }
  });

  test('a path in other letters for the same bytes does not lead around the gateway', async () => {
    const rig = await start(json({}));
    await RawClient.ask(rig.gateway.port, { path: '/v1/ch%61t/completions' });
    await rig.verdict('call-ended');
    await RawClient.ask(rig.gateway.port, { path: 'http://gateway/v1/chat/completions?x=1' });
    await rig.verdict('call-ended', 2);
    deepEqual(
      rig.engine.calls.items.map(({ request }) => request.url),
      ['/v1/ch%61t/completions', '/v1/chat/completions?x=1'],
    );
  });

  test('a HEAD has headers and no body', async () => {
    const rig = await start(({ response }) => response.writeHead(200, { 'content-length': '77' }).end());
    const answer = await fetch(`${rig.gateway.url}/v1/models`, { method: 'HEAD' });
    equal(answer.headers.get('content-length'), '77');
  });

  test('both bodies are streams: each side hears the other before either is done', async () => {
    const rig = await start(() => {});
    rig.engine.onRequest = ({ request, response }) => {
      response.writeHead(200);
      request.pipe(response);
    };
    const client = await RawClient.ask(rig.gateway.port, {
      path: '/echo',
      headers: { 'content-length': '8' },
      body: 'half',
    });
    await client.until('half');
    client.send('rest');
    await client.until('rest');
  });

  test('headers of one connection only are dropped, in both directions', async () => {
    const rig = await start(({ response }) => {
      response.writeHead(200, {
        connection: 'x-local',
        'x-local': '1',
        'x-far': '2',
        'keep-alive': 'timeout=3',
        'content-length': '0',
      });
      response.end();
    });
    const client = await RawClient.ask(rig.gateway.port, {
      path: '/v1/files',
      headers: { connection: 'keep-alive, x-near', 'x-near': '1', te: 'trailers', 'x-mine': '2' },
    });
    const { headers } = answerIn(await client.until('\r\n\r\n'));
    deepEqual([headers['x-local'], headers['x-far']], [undefined, '2']);
    const { request } = await rig.engine.calls.next('the request');
    deepEqual(
      [request.headers['x-near'], request.headers['x-mine'], request.headers.te],
      [undefined, '2', undefined],
    );
  });

  test('Expect: 100-continue is answered by the gateway', async () => {
    const rig = await start(json({}));
    const client = await RawClient.ask(rig.gateway.port, {
      path: '/v1/files',
      headers: { expect: '100-continue', 'content-length': '4' },
      body: '',
    });
    await client.until('HTTP/1.1 100 Continue');
    client.send('data');
    await client.until('HTTP/1.1 200');
    const { request, body } = await rig.engine.calls.next('the request');
    deepEqual([request.headers.expect, body], [undefined, 'data']);
  });

  test('however large it is: only the bodies of calls are bounded', async () => {
    running = await startRig(json({}), { requestBytes: 100 });
    const client = await RawClient.ask(running.gateway.port, {
      path: '/v1/files',
      headers: { expect: '100-continue', 'content-length': '200' },
      body: '',
    });
    await client.until('HTTP/1.1 100 Continue');
    client.send('x'.repeat(200));
    await client.until('HTTP/1.1 200');
  });

  test('a file name beyond ASCII crosses byte for byte', async () => {
    const rig = await start(({ socket }) => {
      const name = Buffer.from('attachment; filename="日本.txt"');
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\ncontent-disposition: ');
      socket.write(Buffer.concat([name, Buffer.from('\r\n\r\ndata')]));
    });
    const client = await RawClient.ask(rig.gateway.port, { method: 'GET', path: '/v1/files/1', body: '' });
    const text = Buffer.from(await client.until('data'), 'latin1').toString('utf8');
    ok(text.includes('filename="日本.txt"'), text);
  });

  test('a request to the server as such is refused here, since the engine is not that server', async () => {
    const rig = await start(json({}));
    const client = await RawClient.ask(rig.gateway.port, { method: 'OPTIONS', path: '*', body: '' });
    const { status, headers } = answerIn(await client.until('\r\n\r\n'));
    deepEqual([status, headers['x-holdfast-reason']], [400, 'rejected_malformed']);
    equal(rig.engine.calls.items.length, 0);
  });

  test('a client that leaves takes its work along, before headers and in the answer', async () => {
    for (const speaks of [false, true]) {
      const rig = await start(({ response }) => {
        if (speaks) response.write('some');
      });
      const client = await RawClient.ask(rig.gateway.port, { path: '/v1/audio' });
      const call = await rig.engine.calls.next('the request');
      if (speaks) await client.until('some');
      client.socket.destroy();
      await call.closed;
      await rig.stop();
    }
  });

  test('so does one whose answer still waits behind that of an earlier request', async () => {
    const rig = await start(({ request, response }) => {
      if (request.url === '/second') response.write(Buffer.alloc(4 * 1024 * 1024));
    });
    const client = await RawClient.ask(rig.gateway.port, { path: '/first' });
    client.send(requestText({ path: '/second' }));
    const call = await rig.engine.calls.next('the second', ({ request }) => request.url === '/second');
    client.socket.destroy();
    await within('the end of its work', call.closed, 5_000);
    await within('the end of the gateway', rig.gateway.drain(), 5_000);
  });

  test('an answer that breaks off breaks off', async () => {
    const rig = await start(({ response }) => response.write('some'));
    const client = await RawClient.ask(rig.gateway.port, { path: '/v1/audio' });
    await client.until('some');
    (await rig.engine.calls.next('the request')).socket.destroy();
    ok(!(await client.rest()).endsWith('0\r\n\r\n'));
  });

  test('with a reset where there are no chunks to tell', async () => {
    const rig = await start(({ response }) => response.write('some'));
    const client = await RawClient.ask(rig.gateway.port, { path: '/v1/audio', version: '1.0' });
    await client.until('some');
    (await rig.engine.calls.next('the request')).socket.destroy();
    await client.rest();
    equal(client.error, 'ECONNRESET');
  });

  test("an engine that closes the connection: 502, in the gateway's own words", async () => {
    const rig = await start(({ socket }) => socket.destroy());
    const answer = await fetch(`${rig.gateway.url}/v1/models`);
    deepEqual([answer.status, answer.headers.get('x-holdfast-reason')], [502, 'upstream_reset']);
    ok(rig.metrics.text().includes('holdfast_passthrough_total{status="5xx"} 1'));
  });
});

describe('what the gateway says of itself', () => {
  test('never asks the engine', async () => {
    const rig = await start(json({}));
    for (const path of ['/health', '/livez', '/readyz', '/metrics', '/metrics?x=1']) {
      const answer = await fetch(rig.gateway.url + path);
      equal(answer.status, 200, path);
      ok((await answer.text()).length > 0, path);
      equal((await fetch(rig.gateway.url + path, { method: 'HEAD' })).status, 200, path);
    }
    equal(rig.engine.calls.items.length, 0);
  });
});
