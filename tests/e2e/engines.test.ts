/** Several engines behind one gateway, on real sockets: shared by room, failed over, waited for, merged. */

import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileView, type GatewaySettings, gatewayConfig } from '../../src/shell/gateway/config.js';
import { certificates } from '../support/certificates.js';
import { FakeEngine, json, openStream, type Script } from '../support/fake-engine.js';
import { type Rig, startRig } from '../support/gateway-rig.js';

const engines: FakeEngine[] = [];
let rig: Rig | undefined;

afterEach(async () => {
  await rig?.stop();
  rig = undefined;
  await Promise.all(engines.splice(0).map((each) => each.stop()));
});

/** Another engine, stopped after the test. */
async function engine(script: Script): Promise<FakeEngine> {
  const started = await FakeEngine.start(script);
  engines.push(started);
  return started;
}

type Upstreams = NonNullable<GatewaySettings['upstreams']>;

async function gateway(upstreams: Upstreams, settings: GatewaySettings = {}): Promise<Rig> {
  rig = await startRig(() => {}, { upstreams, ...settings });
  return rig;
}

function ask(
  { gateway: { url } }: Rig,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

const times = (count: number): number[] => Array.from({ length: count }, (_, at) => at);
const model = (name: string): { readonly model: string } => ({ model: name });
/** The value of a series, written as the exposition has it without its value. */
function metric({ metrics }: Rig, series: string): number | undefined {
  const line = metrics
    .text()
    .split('\n')
    .find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length));
}

/** Where nobody listens. */
async function deadPort(): Promise<number> {
  const nobody = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => nobody.once('listening', resolve));
  const address = nobody.address();
  ok(address !== null && typeof address === 'object');
  await new Promise((resolve) => nobody.close(resolve));
  return address.port;
}

describe('which engine gets a call', () => {
  test('two engines share calls by their rooms, and the rest waits in line', async () => {
    const held: (() => void)[] = [];
    const hold: Script = (call) => void held.push(() => json({ ok: true })(call));
    const small = await engine(hold);
    const large = await engine(hold);
    const its = await gateway([
      { url: small.url, name: 'small', room: 2 },
      { url: large.url, name: 'large', room: 6 },
    ]);
    const answers = times(10).map((at) => ask(its, { ...model('m'), at }));
    await its.heard('arrive', 10);
    await small.calls.next('a call', () => true, 2);
    await large.calls.next('a call', () => true, 6);
    equal(metric(its, 'holdfast_engine_running_executions{engine="small"}'), 2);
    equal(metric(its, 'holdfast_engine_running_executions{engine="large"}'), 6);
    equal(metric(its, 'holdfast_engine_room{engine="large"}'), 6);
    equal(metric(its, 'holdfast_line_entries'), 2);
    while (held.length > 0 || its.ledger().length < 10) {
      held.shift()?.();
      await sleep(1);
    }
    deepEqual(
      new Set(await Promise.all(answers.map(async (answer) => (await answer).status))),
      new Set([200]),
    );
  });

  test('a model goes where it is served, is not held up by others, and one that nobody serves is a 404', async () => {
    const one = await engine(() => {});
    const two = await engine(json({ ok: 2 }));
    const its = await gateway([
      { url: one.url, models: ['m1'], room: 1 },
      { url: two.url, models: ['m2'], room: 1 },
    ]);
    const left = new AbortController();
    for (const at of times(3)) void ask(its, { ...model('m1'), at }).catch(() => left);
    await its.verdict('queue', 2);
    equal((await ask(its, model('m2'))).status, 200);
    const unknown = await ask(its, model('m3'));
    equal(unknown.status, 404);
    equal(unknown.headers.get('x-holdfast-reason'), 'refused_model');
    const { error } = (await unknown.json()) as { error: Record<string, unknown> };
    deepEqual([error['type'], error['code']], ['invalid_request_error', 'model_not_found']);
    const anthropic = await fetch(`${its.gateway.url}/v1/messages`, {
      method: 'POST',
      body: '{"model":"m3"}',
    });
    equal(anthropic.status, 404);
    equal(((await anthropic.json()) as { error: { type: string } }).error.type, 'not_found_error');
    equal(metric(its, 'holdfast_refusals_total{reason="refused_model"}'), 2);
    equal(one.calls.items.length, 1);
  });

  test('a session, or a long beginning, goes on where it was', async () => {
    const a = await engine(json({ ok: 'a' }));
    const b = await engine(json({ ok: 'b' }));
    const its = await gateway([{ url: a.url }, { url: b.url }], { control: { affinity: 'prefix' } });
    const session = async (at: number): Promise<unknown> =>
      (await ask(its, { ...model('m'), at }, { 'x-session-id': 's1' })).json();
    const first = await session(0);
    for (const at of times(4)) {
      await (await ask(its, { ...model('m'), other: at })).text();
      deepEqual(await session(at + 1), first);
    }
    const long = async (at: number): Promise<unknown> =>
      (await ask(its, { ...model('m'), system: 'x'.repeat(5_000), at })).json();
    const begun = await long(0);
    for (const at of times(4)) {
      await (await ask(its, { ...model('m'), further: at })).text();
      deepEqual(await long(at + 1), begun);
    }
  });
});

describe('an engine that dies', () => {
  test('its calls that had not begun go to the other one, those that had end named, and no work is done twice', async () => {
    const executions = new Map<string, number>();
    const count: (then: Script) => Script = (then) => (call) => {
      const { at } = JSON.parse(call.body) as { at: number };
      executions.set(String(at), (executions.get(String(at)) ?? 0) + 1);
      then(call);
    };
    const dies = await engine(
      count((call) => {
        openStream(call);
        call.response.write('data: {"choices":[{"delta":{"content":"a"}}]}\n\n');
      }),
    );
    const lives = await engine(count(json({ ok: true })));
    const its = await gateway([
      { url: dies.url, name: 'dies', room: 2 },
      { url: lives.url, name: 'lives', room: 2 },
    ]);
    const begun = times(2).map((at) => ask(its, { ...model('m'), stream: true, at: `begun ${at}` }));
    await dies.calls.next('a call');
    await dies.stop();
    const statuses = await Promise.all(
      times(8).map(async (at) => (await ask(its, { ...model('m'), at })).status),
    );
    deepEqual(
      statuses,
      times(8).map(() => 200),
    );
    await Promise.allSettled(begun.map(async (answer) => (await answer).text()));
    ok(
      [...executions.values()].every((each) => each === 1),
      JSON.stringify([...executions]),
    );
    const endings = its.ledger();
    ok(endings.includes('upstream_truncated'), endings.join());
    match(its.warned.join('\n'), /"engine":"dies"/);
    equal(metric(its, 'holdfast_engine_away{engine="dies"}'), 1);
  });
});

describe('an engine that says 503', () => {
  const away = (untilMs: number, then: Script): Script => {
    const until = performance.now() + untilMs;
    return (call) =>
      performance.now() < until ? json({ error: { message: 'busy' } }, 503)(call) : then(call);
  };

  test('for a while: every call is delivered, and few executions come to nothing', async () => {
    const busy = await engine(away(3_000, json({ ok: true })));
    const its = await gateway([{ url: busy.url }]);
    const answers = await Promise.all(times(10).map((at) => ask(its, { ...model('m'), at })));
    deepEqual(
      answers.map(({ status }) => status),
      times(10).map(() => 200),
    );
    const vain = Number(metric(its, 'holdfast_executions_ended_total{ending="failed_unavailable"}'));
    ok(vain >= 2 && vain <= 14, `${vain} executions came to nothing`);
    equal(busy.calls.items.length, 10 + vain);
    equal(metric(its, 'holdfast_requests_kept_bytes'), 0);
  });

  test('for ever: each client gets its 503 before its deadline, with a time to come back at', async () => {
    const never = await engine(json({ error: { message: 'at capacity' } }, 503));
    const its = await gateway([{ url: never.url }], { control: { leastDeadlineMs: 100 } });
    const began = performance.now();
    const answers = await Promise.all(
      times(6).map((at) => ask(its, { ...model('m'), at }, { 'x-request-deadline': '3' })),
    );
    ok(performance.now() - began < 3_000, 'after the deadline');
    for (const answer of answers) {
      equal(answer.status, 503);
      match(answer.headers.get('retry-after') ?? '', /^\d+$/);
    }
    const said = await Promise.all(answers.map((answer) => answer.text()));
    ok(
      said.some((text) => text.includes('at capacity')),
      said.join(),
    );
    ok(never.calls.items.length <= 12, `${never.calls.items.length} executions`);
    deepEqual(new Set(its.ledger()), new Set(['upstream_unavailable']));
  });

  test('to a request that is too large to be kept: it goes to the client at once, and is counted', async () => {
    const busy = await engine(json({ error: { message: 'busy' } }, 503));
    const its = await gateway([{ url: busy.url }], { repeatBytes: 10 });
    equal((await ask(its, model('m'))).status, 503);
    equal(busy.calls.items.length, 1);
    equal(metric(its, 'holdfast_requests_not_kept_total'), 1);
  });

  test('a client that leaves meanwhile finds its call again, and its answer', async () => {
    const busy = await engine(away(1_500, json({ ok: true })));
    const its = await gateway([{ url: busy.url }]);
    const gone = new AbortController();
    const body = JSON.stringify(model('m'));
    const path = `${its.gateway.url}/v1/chat/completions`;
    const first = fetch(path, { method: 'POST', body, signal: gone.signal }).catch(() => 'left');
    await its.verdict('return');
    gone.abort();
    equal(await first, 'left');
    await its.heard('leave');
    const second = await fetch(path, { method: 'POST', body });
    equal(second.status, 200);
    equal(second.headers.get('x-holdfast-outcome'), 'attached');
    equal(metric(its, 'holdfast_calls_total'), 1);
  });
});

test('an engine that cannot be reached is tried again by one call at a time', async () => {
  const port = await deadPort();
  const its = await gateway([{ url: `http://127.0.0.1:${port}` }]);
  equal((await ask(its, { ...model('m'), at: 0 })).status, 503);
  const waiting = times(3).map((at) => ask(its, { ...model('m'), at: at + 1 }));
  await its.verdict('queue', 3);
  const server = await engine(() => {});
  equal(server.calls.items.length, 0);
  const first = await Promise.race(waiting);
  equal(first.status, 503);
  equal(its.ledger().filter((ending) => ending === 'upstream_refused').length, 2);
  await its.gateway.close();
  await Promise.allSettled(waiting);
});

describe('what models there are', () => {
  const list = (...ids: string[]): Script =>
    json({ object: 'list', data: ids.map((id) => ({ id, object: 'model' })) });

  test('the lists of all engines are one, each model once, without engines that fail', async () => {
    const one = await engine(list('a', 'b'));
    const two = await engine(list('b', 'c', 'not routed here'));
    const broken = await engine(json({ error: {} }, 500));
    const its = await gateway([
      { url: one.url },
      { url: two.url, models: ['b', 'c'] },
      { url: broken.url },
      { url: `http://127.0.0.1:${await deadPort()}` },
    ]);
    const answer = await fetch(`${its.gateway.url}/v1/models`);
    const { object, data } = (await answer.json()) as { object: string; data: { id: string }[] };
    deepEqual([answer.status, object], [200, 'list']);
    deepEqual(data.map(({ id }) => id).toSorted(), ['a', 'b', 'c']);
  });

  test('where all fail the error says so, or is an engine’s own', async () => {
    const dead = { url: `http://127.0.0.1:${await deadPort()}` };
    const its = await gateway([dead, { url: `http://127.0.0.1:${await deadPort()}` }]);
    const answer = await fetch(`${its.gateway.url}/v1/models`);
    equal(answer.status, 503);
    match(await answer.text(), /No engine said what models it serves/);
    await its.stop();
    const locked = await engine(json({ error: { message: 'no key' } }, 401));
    const other = await gateway([dead, { url: locked.url }]);
    const refused = await fetch(`${other.gateway.url}/v1/models`);
    deepEqual([refused.status, await refused.text()], [401, '{"error":{"message":"no key"}}']);
  });

  test('one model is asked for where it is', async () => {
    const lacks = await engine(json({ error: { message: 'unknown' } }, 404));
    const has = await engine(json({ id: 'org/b' }));
    const its = await gateway([{ url: lacks.url, models: ['a'] }, { url: has.url }]);
    const answer = await fetch(`${its.gateway.url}/v1/models/org/b`);
    deepEqual([answer.status, await answer.json()], [200, { id: 'org/b' }]);
    equal(lacks.calls.items.length, 0);
    equal((await fetch(`${its.gateway.url}/v1/models/%`)).status, 200, 'no name, but nothing breaks');
  });
});

describe('what is of one engine alone', () => {
  test('its key takes the place of the client’s, for calls and for what passes through', async () => {
    const own = await engine(json({ ok: true }));
    const its = await gateway([{ url: own.url, credential: 's3cret' }]);
    await (await ask(its, model('m'), { authorization: 'Bearer client', 'x-api-key': 'client' })).text();
    const through = await fetch(`${its.gateway.url}/tokenize`, { headers: { 'x-api-key': 'client' } });
    await through.text();
    deepEqual(
      own.calls.items.map(({ request: { headers } }) => [headers.authorization, headers['x-api-key']]),
      [
        ['Bearer s3cret', undefined],
        ['Bearer s3cret', undefined],
      ],
    );
    ok(
      !JSON.stringify(
        fileView(gatewayConfig({ upstreams: [{ url: own.url, credential: 's3cret' }] })),
      ).includes('s3cret'),
    );
  });

  test('its time limits, beside those of all', async () => {
    const slow = await engine(() => {});
    const its = await gateway([{ url: slow.url, firstByteMs: 200 }], {
      upstreamTimeouts: { firstByteMs: 60_000 },
    });
    equal((await ask(its, model('m'))).status, 504);
    deepEqual(its.ledger(), ['upstream_timeout']);
    equal((await fetch(`${its.gateway.url}/tokenize`)).status, 504);
  });

  test('the authority that it is trusted by, and the name in its certificate', async (t) => {
    const folder = await certificates.met(t);
    if (folder === undefined) return;
    const at = (name: string): string => join(folder, name);
    const server = createSecureServer(
      { cert: readFileSync(at('one.pem')), key: readFileSync(at('one.key')) },
      (_, response) => {
        response.end('{"ok":true}');
      },
    );
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      const trusting = { url, caFile: at('authority.pem') };
      for (const [upstream, status] of [
        [trusting, 200],
        [{ ...trusting, serverName: 'localhost' }, 200],
        [{ url, verify: false }, 200],
        [{ url }, 503],
        [{ ...trusting, serverName: 'elsewhere' }, 503],
      ] as const) {
        const its = await gateway([upstream]);
        equal((await ask(its, model('m'))).status, status, JSON.stringify(upstream));
        await its.stop();
      }
      await rejects(gateway([{ url, caFile: at('one.key') }]), /holds no certificates in PEM/);
      await rejects(gateway([{ url, caFile: at('nothing') }]), /cannot read the certificates of an engine/);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

test('readiness says when no engine works, and stays: the gateway holds calls, and there is nobody better to ask', async () => {
  const its = await gateway([{ url: `http://127.0.0.1:${await deadPort()}` }]);
  equal(await (await fetch(`${its.gateway.url}/readyz`)).text(), 'ok\n');
  equal((await ask(its, model('m'))).status, 503);
  const ready = await fetch(`${its.gateway.url}/readyz`);
  deepEqual([ready.status, await ready.text()], [200, 'ok, but no engine works at the moment\n']);
});
