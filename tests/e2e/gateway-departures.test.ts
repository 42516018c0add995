/** Every way a client can leave, on bare sockets: which of them is a departure, and when it is seen. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import type { GatewaySettings } from '../../src/shell/gateway/config.js';
import { type EngineCall, event, json, openStream, type Script } from '../support/fake-engine.js';
import { type Rig, startRig } from '../support/gateway-rig.js';
import { answerIn, RawClient, type RawRequest, requestText } from '../support/raw-client.js';

let running: Rig | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

async function start(script: Script, settings?: GatewaySettings): Promise<Rig> {
  running = await startRig(script, settings);
  return running;
}

const ANSWER = { id: 'chatcmpl-1', choices: [] };
const TOKEN = event({ choices: [{ delta: { content: 'a' } }] });
const STREAM: RawRequest = { body: '{"model":"tiny","stream":true,"messages":[]}' };

const inFull = json(ANSWER);
const inChunks: Script = (call) => {
  openStream(call);
  call.response.end(TOKEN + event('[DONE]'));
};

/** How the first attempt ended. */
async function endingOf({ verdict }: Rig): Promise<string> {
  return (await verdict('attempt-ended')).ending;
}

describe('a client that has read everything has received it, however politely it closes', () => {
  const shapes: [string, Script, RawRequest, string][] = [
    ['a body with a length', inFull, {}, JSON.stringify(ANSWER)],
    [
      'a body with a length, on a connection of its own',
      inFull,
      { headers: { connection: 'close' } },
      JSON.stringify(ANSWER),
    ],
    ['a stream', inChunks, STREAM, '0\r\n\r\n'],
    [
      'a stream, on a connection of its own',
      inChunks,
      { ...STREAM, headers: { connection: 'close' } },
      '0\r\n\r\n',
    ],
    ['a body for a client of HTTP/1.0', inFull, { version: '1.0' }, JSON.stringify(ANSWER)],
  ];
  for (const [name, script, request, last] of shapes) {
    test(`${name}: all read, then closed`, async () => {
      const rig = await start(script);
      const client = await RawClient.ask(rig.gateway.port, request);
      await client.until(last);
      client.socket.destroy();
      equal(await endingOf(rig), 'delivered');
    });

    test(`${name}: all read, then closed in one direction only`, async () => {
      const rig = await start(script);
      const client = await RawClient.ask(rig.gateway.port, request);
      await client.until(last);
      client.socket.end();
      equal(await endingOf(rig), 'delivered');
      await client.rest();
    });

    test(`${name}: closed with bytes unread is a departure`, async () => {
      const rig = await start(script);
      const client = await RawClient.ask(rig.gateway.port, request);
      client.socket.pause();
      await rig.heard('handed');
      client.socket.destroy();
      equal(await endingOf(rig), 'left_unconfirmed');
    });

    test(`${name}: reset at the last byte is a departure`, async () => {
      const rig = await start(script);
      const client = await RawClient.ask(rig.gateway.port, request);
      await client.until(last);
      client.socket.resetAndDestroy();
      equal(await endingOf(rig), 'left_unconfirmed');
    });

    test(`${name}: a client that closed just before the answer has not received it, and its retry does`, async () => {
      const rig = await start(() => {});
      const client = await RawClient.ask(rig.gateway.port, request);
      const call = await rig.engine.calls.next('the execution');
      client.socket.destroy();
      script(call);
      const ending = await endingOf(rig);
      ok(
        ending === 'left_unconfirmed' || ending === 'left_before_first_byte' || ending === 'left_mid_answer',
        ending,
      );
      if (ending === 'left_mid_answer') return;
      const again = await RawClient.ask(rig.gateway.port, request);
      const { headers } = answerIn(await again.until(last));
      ok(
        ['replayed', 'attached'].includes(headers['x-holdfast-outcome'] ?? ''),
        headers['x-holdfast-outcome'],
      );
      equal(rig.engine.calls.items.length, 1);
    });
  }

  test('a stream whose engine never ends its connection is delivered with its closing event', async () => {
    const rig = await start((call) => {
      openStream(call);
      call.response.write(TOKEN + event('[DONE]'));
    });
    const client = await RawClient.ask(rig.gateway.port, STREAM);
    await client.until('[DONE]');
    client.socket.destroy();
    equal(await endingOf(rig), 'delivered');
  });
});

describe('before the last byte', () => {
  test('a closed connection is seen at once, before headers and in a stream', async () => {
    for (const speaks of [false, true]) {
      for (const leave of ['destroy', 'resetAndDestroy', 'end'] as const) {
        const rig = await start((call) => {
          if (!speaks) return;
          openStream(call);
          call.response.write(TOKEN);
        });
        const client = await RawClient.ask(rig.gateway.port, STREAM);
        if (speaks) await client.until(TOKEN);
        else await rig.engine.calls.next('the execution');
        client.socket[leave]();
        equal(await endingOf(rig), speaks ? 'left_mid_answer' : 'left_before_first_byte', leave);
        await rig.stop();
      }
    }
  });

  test('the engine goes on working for the client that may come back', async () => {
    const rig = await start(() => {});
    const client = await RawClient.ask(rig.gateway.port);
    const call = await rig.engine.calls.next('the execution');
    client.socket.destroy();
    await rig.heard('leave');
    ok(!call.socket.destroyed);
    equal(rig.verdicts.items.filter(({ kind }) => kind === 'cancel').length, 0);
  });

  test('unless it said that it would not: its work is cancelled by a destroyed connection', async () => {
    const rig = await start(() => {});
    const client = await RawClient.ask(rig.gateway.port, {
      headers: { 'x-holdfast-cancel-on-leave': 'true' },
    });
    const call = await rig.engine.calls.next('the execution');
    equal(call.request.headers['x-holdfast-cancel-on-leave'], undefined);
    client.socket.destroy();
    await call.closed;
    equal((await rig.verdict('execution-ended')).ending, 'cancelled_on_leave');
  });

  test('a request whose body never arrives in full is turned away and never reaches the engine', async () => {
    const rig = await start(inFull);
    const client = await RawClient.ask(rig.gateway.port, { headers: { 'content-length': '1000' } });
    client.socket.end();
    equal(await endingOf(rig), 'rejected_malformed');
    equal(rig.engine.calls.items.length, 0);
  });
});

describe('one connection for many attempts', () => {
  test('a client that asks anew has received what came before, even if it then leaves', async () => {
    const rig = await start((call: EngineCall) => {
      if (rig.engine.calls.items.length === 1) inFull(call);
    });
    const client = await RawClient.ask(rig.gateway.port);
    await client.until(JSON.stringify(ANSWER));
    client.send(requestText({ body: '{"model":"other","messages":[]}' }));
    await rig.engine.calls.next('the second execution', () => true, 2);
    client.socket.resetAndDestroy();
    await rig.verdict('attempt-ended', 2);
    const endings = rig.verdicts.items.flatMap((verdict) =>
      verdict.kind === 'attempt-ended' ? [verdict.ending] : [],
    );
    deepEqual(endings.toSorted(), ['delivered', 'left_before_first_byte']);
  });

  test('the connection is kept for the next request', async () => {
    const rig = await start(inFull);
    const client = await RawClient.ask(rig.gateway.port);
    await client.until(JSON.stringify(ANSWER));
    await rig.verdict('call-ended');
    client.send(requestText({ body: '{"model":"other","messages":[]}' }));
    await rig.verdict('call-ended', 2);
    equal(client.over, false);
  });

  test('a connection that the client wanted closed is closed by the gateway after the moment of proof', async () => {
    const rig = await start(inFull);
    const client = await RawClient.ask(rig.gateway.port, { headers: { connection: 'close' } });
    ok((await client.rest()).endsWith(JSON.stringify(ANSWER)));
    equal(client.error, undefined);
  });
});
