/** What a client is told when the gateway turns it away, and that the gateway goes away in order itself. */

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import type { GatewaySettings } from '../../src/shell/gateway/config.js';
import { event, json, openStream, type Script } from '../support/fake-engine.js';
import { type Rig, startRig } from '../support/gateway-rig.js';
import { answerIn, RawClient } from '../support/raw-client.js';

let running: Rig | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

async function start(script: Script, settings?: GatewaySettings): Promise<Rig> {
  running = await startRig(script, settings);
  return running;
}

function ask(
  { gateway }: Rig,
  number: number,
  headers: Record<string, string> = {},
  path = '/v1/chat/completions',
): Promise<Response> {
  return fetch(gateway.url + path, {
    method: 'POST',
    headers,
    body: JSON.stringify({ model: 'tiny', number }),
  });
}

const FULL: GatewaySettings = { control: { room: 1, bounds: { lineEntries: 0 } } };

describe('a call that finds no place', () => {
  test('is told so in the shape of the API it called, and when to come back', async () => {
    const rig = await start(() => {}, FULL);
    void ask(rig, 1).catch(() => {});
    await rig.engine.calls.next('the first execution');
    const openai = await ask(rig, 2, { 'x-request-id': 'mine' });
    const { error } = (await openai.json()) as { error: Record<string, unknown> };
    deepEqual(
      [openai.status, error['code'], error['type'], error['param']],
      [429, 'refused_line_full', 'rate_limit_error', null],
    );
    equal(openai.headers.get('x-holdfast-reason'), 'refused_line_full');
    equal(openai.headers.get('x-request-id'), 'mine');
    equal(openai.headers.get('x-holdfast-attempt'), '0');
    match(openai.headers.get('x-holdfast-call') ?? '', /^call-/);
    match(openai.headers.get('retry-after') ?? '', /^([1-9]|[1-5]\d)$/);
    const ms = Number(openai.headers.get('retry-after-ms'));
    ok(ms >= 1_000 && ms <= 59_000);
    const anthropic = await ask(rig, 3, {}, '/v1/messages');
    equal(anthropic.status, 429);
    const body = (await anthropic.json()) as { type: string; error: { type: string } };
    deepEqual([body.type, body.error.type], ['error', 'rate_limit_error']);
  });

  test('is told 503 if its client takes a 429 for the end', async () => {
    const rig = await start(() => {}, FULL);
    void ask(rig, 1).catch(() => {});
    await rig.engine.calls.next('the first execution');
    equal((await ask(rig, 2, { 'user-agent': 'codex_cli_rs/0.171.0' })).status, 503);
    equal((await ask(rig, 3, { 'user-agent': 'OpenAI/JS 7.59.0' })).status, 429);
  });

  test('waits in line when there is one, keeps its body, and says how long it waited', async () => {
    const rig = await start(
      (call) => {
        if (rig.engine.calls.items.length > 1) json({ ok: true })(call);
      },
      { control: { room: 1 } },
    );
    const first = ask(rig, 1);
    const call = await rig.engine.calls.next('the first execution');
    const second = ask(rig, 2);
    await rig.verdict('queue');
    json({ ok: true })(call);
    await (await first).text();
    const answer = await second;
    equal(answer.status, 200);
    ok(Number(answer.headers.get('x-holdfast-queue-ms')) >= 0);
    const { body } = await rig.engine.calls.next('the second execution', () => true, 2);
    equal(body, '{"model":"tiny","number":2}');
  });

  test('has waited long enough: 504', async () => {
    const rig = await start(() => {}, { control: { room: 1, bounds: { lineWaitMs: 50 } } });
    void ask(rig, 1).catch(() => {});
    await rig.engine.calls.next('the first execution');
    const answer = await ask(rig, 2);
    deepEqual([answer.status, answer.headers.get('x-holdfast-reason')], [504, 'gave_up']);
  });
});

describe('a request that cannot be taken', () => {
  test('is too large: 413, told before its body is read or while it is', async () => {
    const rig = await start(json({}), { requestBytes: 1000 });
    const big = 'x'.repeat(200_000);
    const declared = await RawClient.ask(rig.gateway.port, {
      headers: { expect: '100-continue', 'content-length': '200000' },
      body: '',
    });
    equal(answerIn(await declared.rest()).status, 413);
    const sent = await RawClient.ask(rig.gateway.port, { body: big });
    const answer = answerIn(await sent.rest());
    deepEqual([answer.status, answer.headers['x-holdfast-reason']], [413, 'rejected_too_large']);
    const streamed = await fetch(rig.gateway.url + '/v1/messages', {
      method: 'POST',
      body: new Blob([big]).stream(),
      duplex: 'half',
    });
    equal(streamed.status, 413);
    equal(rig.engine.calls.items.length, 0);
    ok(rig.ledger().every((ending) => ending.startsWith('rejected_')));
  });

  test('is not HTTP: 400, and the connection is closed', async () => {
    const rig = await start(json({}));
    const wrong: Record<string, string>[] = [{ 'content-length': 'many' }, { 'bad header': 'x' }];
    for (const headers of wrong) {
      const client = await RawClient.ask(rig.gateway.port, { headers });
      const { status, headers: said } = answerIn(await client.rest());
      deepEqual(
        [status, said['connection'], said['x-holdfast-reason']],
        [400, 'close', 'rejected_malformed'],
      );
    }
    equal(rig.engine.calls.items.length, 0);
  });
});

describe('a gateway that stops', () => {
  test('finishes what is live, refuses what is new, and says that it is not ready', async () => {
    const rig = await start(() => {});
    const live = ask(rig, 1);
    const call = await rig.engine.calls.next('the execution');
    const drained = rig.gateway.drain();
    equal((await fetch(`${rig.gateway.url}/readyz`)).status, 503);
    equal((await fetch(`${rig.gateway.url}/livez`)).status, 200);
    const refused = await ask(rig, 2);
    deepEqual(
      [refused.status, refused.headers.get('x-holdfast-reason'), refused.headers.get('connection')],
      [503, 'refused_draining', 'close'],
    );
    openStream(call);
    call.response.end(event('[DONE]'));
    equal((await live).status, 200);
    await drained;
    deepEqual(rig.ledger().toSorted(), ['delivered', 'refused_draining']);
    await fetch(rig.gateway.url).then(
      () => ok(false, 'it still listens'),
      () => ok(true),
    );
  });

  test('ends what does not finish in time, with an answer', async () => {
    const rig = await start(() => {}, { drainMs: 50 });
    const live = ask(rig, 1);
    const call = await rig.engine.calls.next('the execution');
    await rig.gateway.drain();
    const answer = await live;
    deepEqual([answer.status, answer.headers.get('x-holdfast-reason')], [503, 'drained']);
    await call.closed;
  });

  test('with nothing to do is gone at once', async () => {
    const rig = await start(() => {}, { drainMs: 60_000 });
    await rig.gateway.drain();
  });
});
