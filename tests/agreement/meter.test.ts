/** The twin's meter has vLLM's families, labels and buckets, and moves when vLLM's moves. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { linearCost } from '../../src/core/engine/profiles.js';
import { type Family, readExposition } from '../../src/core/meter/exposition.js';
import { startTwin, type Twin } from '../../src/shell/twin/server.js';
import { recording } from '../support/wire.js';

interface Event {
  readonly after: string;
  readonly change: Readonly<Record<string, number>>;
}

const EVENTS = JSON.parse(recording('meter.json')) as readonly Event[];

let twin: Twin;
before(async () => {
  twin = await startTwin({
    servedModelName: 'tiny',
    maxModelLen: 2_048,
    maxNumSeqs: 64,
    maxNumBatchedTokens: 256,
    blockSize: 32,
    numGpuBlocks: 1_000,
    asyncScheduling: false,
    // A prefill step is long enough to leave in, a decode step short.
    cost: linearCost(1, 1),
  });
});
after(() => twin.close());

async function scrape(): Promise<Family[]> {
  const text = await (await fetch(`${twin.url}/metrics`)).text();
  return readExposition(text).filter(({ name }) => name.startsWith('vllm:'));
}

/** Families as name and type, each with its series: names, labels without values, but those of a bucket or reason. */
function shape(families: readonly Family[]): object {
  const told = new Set(['le', 'reason', 'source', 'sleep_state', 'finished_reason', 'engine', 'model_name']);
  return Object.fromEntries(
    families.map(({ name, type, samples }) => [
      name,
      {
        type,
        series: samples.map((each) => [
          each.name,
          Object.entries(each.labels)
            .map(([label, value]) => (told.has(label) ? `${label}=${value}` : label))
            .toSorted((a, b) => (a < b ? -1 : 1)),
        ]),
      },
    ]),
  );
}

test('the families, types, labels and buckets are vLLM’s', async () => {
  const theirs = readExposition(recording('metrics.txt')).filter(({ name }) => name.startsWith('vllm:'));
  assert.ok(theirs.length > 60);
  assert.deepEqual(shape(await scrape()), shape(theirs));
});

function valuesOf(families: readonly Family[]): Map<string, number> {
  const values = new Map<string, number>();
  for (const { samples } of families) {
    for (const { name, labels, value } of samples) {
      const text = Object.entries(labels)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([label, each]) => `${label}="${each}"`);
      values.set(`${name}{${text.join(',')}}`, value);
    }
  }
  return values;
}

/** What `act` changes, but for gauges, buckets and sums of durations, which depend on the machine. */
async function changeBy(act: () => Promise<void>): Promise<Record<string, number>> {
  const before_ = valuesOf(await scrape());
  await act();
  const after_ = valuesOf(await scrape());
  const changes = [...after_].map(([name, value]): [string, number] => [
    name,
    value - (before_.get(name) ?? 0),
  ]);
  return Object.fromEntries(
    changes.filter(
      ([name, by]) => by !== 0 && !/_bucket|_seconds_sum|num_requests_|kv_cache_usage/.test(name),
    ),
  );
}

function complete(prompt: readonly number[], fields: object = {}, signal?: AbortSignal): Promise<string> {
  return fetch(`${twin.url}/v1/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ prompt, max_tokens: 5, ignore_eos: true, ...fields }),
    ...(signal === undefined ? {} : { signal }),
  }).then((response) => response.text());
}

function tokensOf(kind: number, length: number): number[] {
  return Array.from({ length }, (_, at) => (kind * 50 + at) % 200);
}

async function leaveWhen(ready: () => boolean, tokens: readonly number[], fields: object): Promise<void> {
  const leaving = new AbortController();
  const answer = complete(tokens, fields, leaving.signal);
  while (!ready()) await new Promise((resolve) => setTimeout(resolve, 2));
  leaving.abort();
  await assert.rejects(answer);
  while (twin.stats().running > 0) await new Promise((resolve) => setTimeout(resolve, 2));
}

test('the five recorded events move the counters they moved in vLLM', async () => {
  const [first, again, gone, later, midway] = EVENTS.map(({ change }) => change);
  const thousand = tokensOf(1, 1_000);
  const deliver = async (tokens: readonly number[]): Promise<void> => void (await complete(tokens));
  assert.deepEqual(await changeBy(() => deliver(thousand)), first);
  assert.deepEqual(await changeBy(() => deliver(thousand)), again);

  const long = tokensOf(2, 1_500);
  const { steps } = twin.stats();
  const left = await changeBy(() => leaveWhen(() => twin.stats().steps === steps + 3, long, {}));
  assert.deepEqual(left, gone);
  assert.deepEqual(await changeBy(() => deliver(long)), later);

  const stream = { max_tokens: 1_000, stream: true };
  const { generatedTokens } = twin.stats();
  const speaking = (): boolean => twin.stats().generatedTokens > generatedTokens + 10;
  const half = await changeBy(() => leaveWhen(speaking, tokensOf(4, 600), stream));
  assert.deepEqual(Object.keys(half).toSorted(), Object.keys(midway ?? {}).toSorted());
});
