/** The twin answers what a real vLLM answered, exchange by exchange. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { linearCost } from '../../src/core/engine/profiles.js';
import { startTwin, type Twin } from '../../src/shell/twin/server.js';
import { type Answer, canonical, EXCHANGES, type Exchange } from '../support/wire.js';

const LONG = 'a long prompt of 1,500 token ids';
const CAPPED = 8;
/** Exchanges recorded while the queue was full, and the two of its fillers that were kept. */
const FULL = /^cap (chat|messages|responses) |while full$|^cap json 8$|^cap stream 11$/;

/** Compared on its own below: the recorded answer had no text, since its bytes spelled no character. */
const WORDLESS = 'responses stream';

let twin: Twin;
before(async () => {
  twin = await startTwin({
    servedModelName: 'tiny',
    model: 'tinychat',
    vocabularySize: 259,
    embeddings: false,
    maxModelLen: 2_048,
    maxNumSeqs: 64,
    maxNumBatchedTokens: 256,
    blockSize: 32,
    numGpuBlocks: 1_000,
    maxNumQueuedReqs: CAPPED,
    asyncScheduling: false,
    cost: linearCost(1, 0.01),
  });
});
after(() => twin.close());

async function ask({ request }: Exchange): Promise<Answer> {
  let body: string | undefined;
  if (request.body !== null)
    body = typeof request.body === 'string' ? request.body : JSON.stringify(request.body);
  if (body?.includes('1,500 token ids')) {
    const ids = Array.from({ length: 1_500 }, (_, at) => 70 + (at % 100));
    body = JSON.stringify({ ...(request.body as object), prompt: ids });
  }
  const response = await fetch(twin.url + request.path, {
    method: request.method,
    headers: request.headers,
    ...(body === undefined ? {} : { body }),
  });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  };
}

function compare(exchange: Exchange, answer: Answer): void {
  if (exchange.truncated) {
    assert.equal(answer.status, exchange.status);
    assert.equal(answer.headers['content-type'], exchange.headers['content-type']);
    return;
  }
  assert.deepEqual(canonical(answer), canonical(exchange));
}

for (const exchange of EXCHANGES.filter(({ name }) => !FULL.test(name) && name !== WORDLESS)) {
  test(`${exchange.name} is answered as vLLM answers it`, async () => {
    compare(exchange, await ask(exchange));
  });
}

test(`${WORDLESS} begins and ends as vLLM’s, with the text between`, async () => {
  const exchange = EXCHANGES.find(({ name }) => name === WORDLESS) as Exchange;
  const eventsOf = (body: string): string[] => body.split('\n\n').filter((each) => each !== '');
  const answer = await ask(exchange);
  const [ours, theirs] = [eventsOf(answer.body), eventsOf(exchange.body)];
  const outer = [...ours.slice(0, 2), ...ours.slice(-1)];
  const bare = (frame: string): string =>
    frame
      .replace(/"sequence_number":\d+/, '"sequence_number":0')
      .replace(/"content":\[\{.*?"logprobs":null\}\]/, '"content":[]');
  assert.deepEqual(
    canonical({ ...answer, body: outer.map(bare).join('\n\n') }),
    canonical({ ...exchange, body: theirs.map(bare).join('\n\n') }),
  );
  assert.deepEqual(
    ours.slice(2, -1).map((frame) => frame.split('\n', 1)[0]?.replace('event: response.', '')),
    [
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
    ],
  );
});

test(`with a full queue (${LONG}, ${CAPPED} times) every route refuses as vLLM refuses`, async () => {
  await fault('hang');
  const filler = { ...(EXCHANGES.find(({ name }) => name === 'cap json 0') as Exchange) };
  const fillers = Array.from({ length: CAPPED }, () => ask(filler));
  while (twin.stats().live < CAPPED) await new Promise((resolve) => setTimeout(resolve, 5));
  const full = EXCHANGES.filter(({ name }) => FULL.test(name));
  assert.equal(full.length, 7);
  for (const exchange of full) compare(exchange, await ask(exchange));
  await fault('none');
  for (const answer of await Promise.all(fillers)) assert.equal(answer.status, 200);
});

async function fault(kind: string): Promise<void> {
  await fetch(`${twin.url}/admin/fault`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ kind }),
  });
}
