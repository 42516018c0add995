/** The twin over HTTP: answers, departures, refusals, faults. */

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { linearCost } from '../../core/engine/profiles.js';
import { readExposition, valueOf } from '../../core/meter/exposition.js';
import { startTwin, type Twin, type TwinOptions } from './server.js';

const QUICK: TwinOptions = {
  servedModelName: 'tiny',
  cost: linearCost(2, 0.01),
  maxModelLen: 2_048,
  timeScale: 2,
};
const hello = {
  model: 'tiny',
  messages: [{ role: 'user', content: 'hello' }],
  max_tokens: 4,
  ignore_eos: true,
};

let twin: Twin;
before(async () => {
  twin = await startTwin(QUICK);
});
after(() => twin.close());
beforeEach(() => fault({ kind: 'none' }));

function post(path: string, body: object, headers: Record<string, string> = {}, signal?: AbortSignal) {
  return fetch(twin.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

async function fault(body: object): Promise<void> {
  await post('/admin/fault', body);
}

async function until(true_: () => boolean): Promise<void> {
  for (let waited = 0; !true_(); waited += 5) {
    assert.ok(waited < 5_000, 'waited too long');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

interface ChatAnswer {
  readonly id: string;
  readonly choices: readonly {
    readonly message: { readonly content: string };
    readonly finish_reason: string;
  }[];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

test('an answer carries the request id, the asked length and a text of its own', async () => {
  const answers = await Promise.all(
    ['exec-1', 'exec-2'].map(async (id) =>
      (await post('/v1/chat/completions', hello, { 'x-request-id': id })).json(),
    ),
  );
  const [first, second] = answers as [ChatAnswer, ChatAnswer];
  assert.equal(first.id, 'chatcmpl-exec-1');
  assert.equal(first.choices[0]?.finish_reason, 'length');
  assert.deepEqual([first.usage.prompt_tokens, first.usage.completion_tokens], [22, 4]);
  assert.notEqual(first.choices[0]?.message.content, second.choices[0]?.message.content);
});

test('equal seeds say equal things', async () => {
  const ask = { ...hello, seed: 7, max_tokens: 40 };
  const bodies = await Promise.all(
    [1, 2].map(async () => (await post('/v1/chat/completions', ask)).json() as Promise<ChatAnswer>),
  );
  assert.equal(bodies[0]?.choices[0]?.message.content, bodies[1]?.choices[0]?.message.content);
});

test('a stream opens before its first token and ends with usage and [DONE]', async () => {
  const ask = { ...hello, stream: true, stream_options: { include_usage: true } };
  const response = await post('/v1/chat/completions', ask);
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  const frames = (await response.text()).split('\n\n').filter((each) => each !== '');
  assert.equal(frames.length, 1 + 4 + 1 + 1);
  assert.match(frames[0] ?? '', /"delta":\{"role":"assistant","content":""\}/);
  assert.match(
    frames[5] ?? '',
    /"choices":\[\],"usage":\{"prompt_tokens":22,"total_tokens":26,"completion_tokens":4\}/,
  );
  assert.equal(frames[6], 'data: [DONE]');
});

test('a client that leaves aborts its execution, streaming or not', async () => {
  for (const stream of [true, false]) {
    const { executionsAborted } = twin.stats();
    // Time stands still until it has left, however slow the machine.
    await fault({ kind: 'hang' });
    const leaving = new AbortController();
    const ask = { ...hello, max_tokens: 1_000, stream };
    const answer = post('/v1/chat/completions', ask, {}, leaving.signal).then((response) => response.text());
    await until(() => twin.stats().running === 1);
    leaving.abort();
    await assert.rejects(answer);
    await until(() => twin.stats().live === 0);
    await fault({ kind: 'none' });
    await until(() => twin.stats().executionsAborted === executionsAborted + 1);
    await until(() => twin.stats().running === 0);
  }
});

test('the meter shows vLLM’s counters and, beside them, the truth', async () => {
  await (
    await post('/v1/completions', { prompt: Array.from({ length: 100 }, (_, at) => at), max_tokens: 3 })
  ).text();
  const families = readExposition(await (await fetch(`${twin.url}/metrics`)).text());
  const value = (name: string, labels = {}) => valueOf(families, name, labels) ?? Number.NaN;
  assert.ok(value('vllm:prompt_tokens_total', { model_name: 'tiny', engine: '0' }) >= 100);
  assert.equal(
    value('twin_computed_prompt_tokens_total'),
    value('twin_counted_prompt_tokens_total') +
      value('twin_hidden_prompt_tokens_total') +
      value('twin_recomputed_prompt_tokens_total') +
      value('twin_pending_prompt_tokens'),
  );
});

test('wrong requests are refused in the shape of the API they came through', async () => {
  const nope = { ...hello, model: 'nope' };
  const openai = await post('/v1/chat/completions', nope);
  assert.equal(openai.status, 404);
  const { error } = (await openai.json()) as { error: { type: string; param: string; code: number } };
  assert.deepEqual([error.type, error.param, error.code], ['NotFoundError', 'model', 404]);
  const anthropic = (await (await post('/v1/messages', nope)).json()) as {
    type: string;
    error: { type: string };
  };
  assert.deepEqual([anthropic.type, anthropic.error.type], ['error', 'NotFoundError']);
});

test('a full queue answers 503', async () => {
  const small = await startTwin({ ...QUICK, maxNumQueuedReqs: 0 });
  const response = await fetch(`${small.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(hello),
  });
  await small.close();
  assert.equal(response.status, 503);
  assert.match(await response.text(), /"type":"Service Unavailable"/);
});

test('a burst that passes the cap together is refused inside its streams', async () => {
  const burst = await startTwin({ ...QUICK, maxNumQueuedReqs: 2, renderMs: 2_000 });
  const ask = (path: string) =>
    fetch(burst.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...hello, max_tokens: 1_000, stream: true }),
    });
  const answers = await Promise.all(
    ['chat/completions', 'chat/completions', 'chat/completions', 'messages'].map((path) =>
      ask(`/v1/${path}`),
    ),
  );
  const texts = await Promise.all(answers.map((answer) => answer.text()));
  await burst.close();
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200],
  );
  const refused = texts.filter((text) => /"(Service Unavailable|internal_error)"/.test(text));
  assert.equal(refused.length, 2);
  assert.ok(refused.every((text) => !text.includes('"delta"')));
});

test('a hung engine answers nothing while its health is fine', async () => {
  await fault({ kind: 'hang' });
  const { generatedTokens } = twin.stats();
  const leaving = new AbortController();
  const answer = post('/v1/chat/completions', hello, {}, leaving.signal).then((response) => response.status);
  await until(() => twin.stats().live === 1);
  assert.equal((await fetch(`${twin.url}/health`)).status, 200);
  assert.equal(twin.stats().generatedTokens, generatedTokens);
  await fault({ kind: 'none' });
  assert.equal(await answer, 200);
});

test('refusal, reset, error, garbage and truncation strike where they are told to', async () => {
  const ask = { ...hello, stream: true };
  const struck = async (switched: object, body: object = ask): Promise<Response> => {
    await fault({ ...switched, times: 1 });
    return post('/v1/chat/completions', body);
  };
  assert.equal((await struck({ kind: 'refuse' })).status, 503);
  await assert.rejects(struck({ kind: 'reset' }));
  await assert.rejects((await struck({ kind: 'reset', afterEvents: 2 })).text());
  assert.match(
    await (await struck({ kind: 'error', afterEvents: 2 })).text(),
    /"code":500\}\}\n\ndata: \[DONE\]\n\n$/,
  );
  assert.equal((await struck({ kind: 'error' }, hello)).status, 500);
  assert.match(await (await struck({ kind: 'garbage' })).text(), /not an answer/);
  const short = await (await struck({ kind: 'truncate', afterEvents: 3 })).text();
  assert.deepEqual([short.split('\n\n').length, short.includes('[DONE]')], [4, false]);
  await assert.rejects((await struck({ kind: 'truncate', afterEvents: 1 }, hello)).text());
  assert.equal((await post('/v1/chat/completions', ask)).status, 200);
});

test('a stalled answer and a slow one are whole in the end', async () => {
  for (const stream of [true, false]) {
    for (const kind of ['stall', 'slow']) {
      await fault({ kind, ms: 60, times: 1 });
      const began = performance.now();
      const text = await (await post('/v1/chat/completions', { ...hello, stream })).text();
      assert.ok(performance.now() - began >= 55, `${kind} took no time`);
      assert.match(text, stream ? /\[DONE\]\n\n$/ : /"metrics":null\}$/);
    }
  }
});

test('a dead engine is told by /health, refuses work with 500 and resets what was under way', async () => {
  const answer = await post('/v1/chat/completions', { ...hello, max_tokens: 2_000, stream: true });
  const reader = answer.body?.getReader();
  assert.equal((await reader?.read())?.done, false);
  await fault({ kind: 'die' });
  await assert.rejects(async () => {
    while ((await reader?.read())?.done === false);
  });
  assert.equal((await fetch(`${twin.url}/health`)).status, 503);
  for (const stream of [false, true]) {
    const refused = await post('/v1/chat/completions', { ...hello, stream });
    assert.deepEqual(
      [refused.status, ((await refused.json()) as { error: { code: number } }).error.code],
      [500, 500],
    );
  }
  assert.equal((await fetch(`${twin.url}/metrics`)).status, 200);
  await fault({ kind: 'none' });
  assert.equal((await fetch(`${twin.url}/health`)).status, 200);
  assert.equal((await post('/v1/chat/completions', hello)).status, 200);
  await until(() => twin.stats().live === 0);
});

test('under the policy priority a later request with a smaller number goes first, the header before the field', async () => {
  const one = await startTwin({ ...QUICK, maxNumSeqs: 1, schedulingPolicy: 'priority' });
  try {
    const ended: string[] = [];
    const ask = async (name: string, tokens: number, field: number, header?: string): Promise<void> => {
      const answer = await fetch(`${one.url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(header === undefined ? {} : { 'x-vllm-priority': header }),
        },
        body: JSON.stringify({ ...hello, max_tokens: tokens, priority: field }),
      });
      await answer.text();
      ended.push(name);
    };
    const waiting = async (count: number): Promise<void> => {
      for (let asked = 0; ; asked += 1) {
        assert.ok(asked < 500, `the engine never held ${count}`);
        const text = await (await fetch(`${one.url}/metrics`)).text();
        const families = readExposition(text);
        const held = ['vllm:num_requests_running', 'vllm:num_requests_waiting'].map(
          (name) => valueOf(families, name, { engine: '0', model_name: 'tiny' }) ?? 0,
        );
        if ((held[0] ?? 0) + (held[1] ?? 0) >= count) return;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    const all = [ask('runs', 1_500, 0)];
    await waiting(1);
    all.push(ask('late', 4, 0, '2'));
    await waiting(2);
    all.push(ask('on time', 4, 9, '1'));
    await waiting(3);
    await Promise.all(all);
    assert.deepEqual(ended, ['runs', 'on time', 'late']);
  } finally {
    await one.close();
  }
});
