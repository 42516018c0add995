/** Attempts on real sockets: what goes out, what an answer is, and what becomes of a connection. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { event, FakeEngine, json, openStream, type Script } from '../../../tests/support/fake-engine.js';
import { Stream, within } from '../../../tests/support/promised.js';
import { type ClientKind, type PlannedCall, PUBLISHED_CLIENT } from '../../core/drill/plan.js';
import type { AttemptListener, Told } from '../../core/drill/target.js';
import { SystemClock } from '../shared/system-clock.js';
import { HttpTarget } from './http-target.js';
import { type RequestSettings, Requests } from './request.js';

const SETTINGS: RequestSettings = {
  model: 'tiny',
  api: 'completions',
  prompts: 'tokens',
  vocabulary: 256,
  seed: 1,
  salt: '',
  run: 'run',
  plain: false,
  priorities: false,
  credential: (tenant) => `secret-of-${tenant}`,
  timeScale: 1,
};

function call(client: Partial<ClientKind> = {}, index = 0): PlannedCall {
  const kind = { ...PUBLISHED_CLIENT, ...client };
  return {
    index,
    stage: 0,
    atMs: 0,
    promptTokens: 12,
    sharedPrefixTokens: 4,
    responseTokens: 9,
    client: kind,
  };
}

/** Hears an attempt; `ended` resolves with how it ended. */
class Heard implements AttemptListener {
  readonly said = new Stream<string>();
  readonly all: Told[] = [];
  refusal: readonly unknown[] = [];

  alive(): void {
    this.said.push('alive');
  }
  bytes(): void {
    this.said.push('bytes');
  }
  told(told: Told): void {
    this.all.push(told);
  }
  answered(): void {
    this.said.push('answered');
  }
  refused(...terms: unknown[]): void {
    this.refusal = terms;
    this.said.push('refused');
  }
  broken(): void {
    this.said.push('broken');
  }

  get reason(): string | undefined {
    return this.all.findLast(({ reason }) => reason !== undefined)?.reason;
  }

  ended(): Promise<string> {
    return this.said.next('the end of an attempt', (each) => /answered|refused|broken/.test(each));
  }
}

interface Scene {
  readonly engine: FakeEngine;
  readonly target: HttpTarget;
  readonly late: number[];
}

async function inScene(
  script: Script,
  use: (scene: Scene) => Promise<void>,
  settings: Partial<RequestSettings> = {},
): Promise<void> {
  const engine = await FakeEngine.start(script);
  const late: number[] = [];
  const target = new HttpTarget({
    clock: new SystemClock(),
    url: new URL(engine.url),
    requests: new Requests({ ...SETTINGS, ...settings }),
    timeScale: settings.timeScale ?? 1,
    sentLate: (ms) => late.push(ms),
  });
  try {
    await use({ engine, target, late });
  } finally {
    target.close();
    await engine.stop();
  }
}

function send(target: HttpTarget, asked = call(), ordinal = 0) {
  const heard = new Heard();
  return { heard, leave: target.send({ call: asked, ordinal, dueMs: 0 }, heard) };
}

const ANSWER = json({ id: 'cmpl-1', choices: [{ text: 'x' }] });

test('the attempts of a call are the same bytes but for the count; another call has another prompt and key', async () => {
  await inScene(ANSWER, async ({ engine, target, late }) => {
    const kind = {
      counts: true,
      announces: true,
      deadlineSeconds: 30,
      userAgent: 'OpenAI/JS 7.59.0',
      class: 'batch',
    };
    for (const [of, ordinal] of [
      [call(kind), 0],
      [call(kind), 1],
      [call(kind, 1), 0],
    ] as const) {
      assert.equal(await send(target, of, ordinal).heard.ended(), 'answered');
    }
    const [one, again, other] = engine.calls.items;
    assert.ok(one !== undefined && again !== undefined && other !== undefined);
    assert.equal(one.body, again.body);
    assert.notEqual(one.body, other.body);
    const { headers } = one.request;
    assert.equal(one.request.url, '/v1/completions');
    assert.equal(headers['user-agent'], 'OpenAI/JS 7.59.0');
    assert.equal(headers.authorization, 'Bearer secret-of-tenant');
    assert.equal(headers['x-stainless-timeout'], '30');
    assert.equal(headers['x-holdfast-class'], 'batch');
    assert.deepEqual(
      [one, again].map(({ request }) => request.headers['x-stainless-retry-count']),
      ['0', '1'],
    );
    assert.equal(headers['idempotency-key'], again.request.headers['idempotency-key']);
    assert.notEqual(headers['idempotency-key'], other.request.headers['idempotency-key']);
    const body = JSON.parse(one.body) as Record<string, unknown>;
    assert.equal((body['prompt'] as number[]).length, 12);
    delete body['prompt'];
    assert.deepEqual(body, { model: 'tiny', max_tokens: 9, min_tokens: 9, ignore_eos: true });
    assert.equal(late.length, 3);
  });
});

test('what a kind does not send is not there, nor a field that the server would not know', async () => {
  const settings = { plain: true, api: 'chat', prompts: 'characters', priorities: true } as const;
  await inScene(
    ANSWER,
    async ({ engine, target }) => {
      await send(target, call({ key: false, stream: true })).heard.ended();
      const [{ request, body }] = engine.calls.items as [(typeof engine.calls.items)[0]];
      assert.equal(request.url, '/v1/chat/completions');
      for (const name of ['idempotency-key', 'x-stainless-retry-count', 'x-stainless-timeout']) {
        assert.equal(request.headers[name], undefined, name);
      }
      const read = JSON.parse(body) as { messages: { role: string; content: string }[] };
      assert.deepEqual(Object.keys(read), ['model', 'messages', 'max_tokens', 'stream']);
      assert.equal(read.messages[0]?.content.length, 12);
    },
    settings,
  );
});

test('the priority goes out where the plan has any; a stated timeout is the wall clock’s', async () => {
  await inScene(
    ANSWER,
    async ({ engine, target }) => {
      await send(target, call({ priority: -3, announces: true, deadlineSeconds: 30 })).heard.ended();
      const [asked] = engine.calls.items;
      assert.equal((JSON.parse(asked?.body ?? '') as { priority: number }).priority, -3);
      assert.equal(asked?.request.headers['x-stainless-timeout'], '3');
    },
    { priorities: true, timeScale: 10 },
  );
});

test('a client that leaves destroys its connection, waiting or connected, and hears nothing more', async () => {
  await inScene(
    () => {},
    async ({ engine, target }) => {
      const { heard, leave } = send(target);
      const { closed } = await engine.calls.next('a request');
      assert.equal(target.open, 1);
      leave();
      await within('the end of the connection', closed);
      assert.equal(target.open, 0);
      send(target, call({}, 1)).leave();
      assert.deepEqual(heard.said.items, []);
    },
  );
});

test('a connection is used again after a whole answer and after a refusal', async () => {
  let asked = 0;
  const script: Script = (of) => {
    asked += 1;
    (asked === 2 ? json({ error: { message: 'full' } }, 503) : ANSWER)(of);
  };
  await inScene(script, async ({ engine, target }) => {
    for (let at = 0; at < 3; at += 1) await send(target, call({}, at)).heard.ended();
    assert.equal(new Set(engine.calls.items.map(({ socket }) => socket.remotePort)).size, 1);
  });
});

test('a hundred attempts at once have a hundred connections', async () => {
  await inScene(
    () => {},
    async ({ engine, target }) => {
      for (let at = 0; at < 100; at += 1) send(target, call({}, at));
      await engine.calls.next('the hundredth request', () => true, 100);
      assert.equal(new Set(engine.calls.items.map(({ socket }) => socket.remotePort)).size, 100);
    },
  );
});

test('a refusal tells its status, its reason and when to come back, the exact wait before the rounded one', async () => {
  const refusal = json({ error: { message: 'full' } }, 429, {
    'retry-after': '3',
    'retry-after-ms': '2500',
    'x-should-retry': 'false',
    'x-holdfast-reason': 'refused_budget',
  });
  await inScene(
    refusal,
    async ({ target }) => {
      const { heard } = send(target);
      assert.equal(await heard.ended(), 'refused');
      assert.deepEqual(heard.refusal, [429, 25_000, false]);
      assert.equal(heard.reason, 'refused_budget');
    },
    { timeScale: 10 },
  );
  await inScene(json({}, 503, { 'retry-after': '3' }), async ({ target }) => {
    const { heard } = send(target);
    await heard.ended();
    assert.deepEqual(heard.refusal, [503, 3_000, undefined]);
  });
  await inScene(json({}, 503, { 'retry-after': 'Sun, 06 Nov 1994 08:49:37 GMT' }), async ({ target }) => {
    const { heard } = send(target);
    await heard.ended();
    assert.deepEqual(heard.refusal, [503, undefined, undefined]);
  });
});

test('a stream is an answer with [DONE] alone: cut short, broken off or failed it is none', async () => {
  const streams: readonly (readonly [reason: string | undefined, script: Script])[] = [
    [undefined, (of) => (openStream(of), of.response.end(`${event({ id: 'c' })}${event('[DONE]')}`))],
    ['ended_early', (of) => (openStream(of), of.response.end(event({ id: 'c' })))],
    ['error_event', (of) => (openStream(of), of.response.end(event({ error: { code: 500 } })))],
    [
      'UND_ERR_SOCKET',
      (of) => (openStream(of), of.response.write(event({ id: 'c' }), () => of.socket.destroy())),
    ],
  ];
  for (const [reason, script] of streams) {
    await inScene(script, async ({ target }) => {
      const { heard } = send(target, call({ stream: true }));
      assert.equal(await heard.ended(), reason === undefined ? 'answered' : 'broken', reason);
      assert.equal(heard.reason, reason);
    });
  }
});

test('headers and comments of a stream keep it alive and are no answer yet', async () => {
  await inScene(
    (of) => {
      openStream(of);
      of.response.write(': ping\n\n', () => of.response.end(`${event({ id: 'c' })}${event('[DONE]')}`));
    },
    async ({ target }) => {
      const { heard } = send(target, call({ stream: true }));
      await heard.ended();
      assert.equal(heard.said.items[0], 'alive');
      assert.ok(heard.said.items.indexOf('bytes') >= 1);
    },
  );
});

test('a body that does not stream has to be a document, and no error', async () => {
  const bodies: readonly (readonly [string, string])[] = [
    ['error_in_answer', '{"error":{"message":"no"}}'],
    ['ended_early', '{"id":"cmpl-1","choices":['],
  ];
  for (const [reason, text] of bodies) {
    await inScene(
      ({ response }) => response.end(text),
      async ({ target }) => {
        const { heard } = send(target);
        assert.equal(await heard.ended(), 'broken');
        assert.equal(heard.reason, reason);
      },
    );
  }
});

test('the execution is told by the gateway’s header, else by the answer’s id', async () => {
  await inScene(ANSWER, async ({ target }) => {
    const { heard } = send(target);
    await heard.ended();
    assert.deepEqual(Object.assign({}, ...heard.all), { execution: 'cmpl-1' });
  });
  const headers = { 'x-holdfast-execution': 'execution-7', 'x-holdfast-outcome': 'attached' };
  await inScene(json({ id: 'cmpl-1' }, 200, headers), async ({ target }) => {
    const { heard } = send(target);
    await heard.ended();
    assert.deepEqual(Object.assign({}, ...heard.all), { execution: 'execution-7', outcome: 'attached' });
  });
});

test('a server that is not there breaks the attempt off, by name', async () => {
  await inScene(ANSWER, async ({ engine, target }) => {
    await engine.stop();
    const { heard } = send(target);
    assert.equal(await heard.ended(), 'broken');
    assert.equal(heard.reason, 'ECONNREFUSED');
    assert.equal(target.open, 0);
  });
});
