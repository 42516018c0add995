/** Meters of engine and gateway: what is read of them, how counters rise, and that none of them has to be there. */

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { readExposition } from '../../core/meter/exposition.js';
import { executionCount } from './execution-count.js';
import { Scraper, sampleOf } from './scrape.js';

const ENGINE = `vllm:num_requests_running{engine="0",model_name="m"} 3.0
vllm:num_requests_running{engine="1",model_name="m"} 4.0
vllm:num_requests_waiting{engine="0",model_name="m"} 1.0
vllm:num_requests_waiting_by_reason{engine="0",reason="capacity"} 99.0
vllm:kv_cache_usage_perc{engine="0"} 0.5
vllm:kv_cache_usage_perc{engine="1"} 0.1
vllm:prompt_tokens_total{engine="0"} 120.0
`;
const TWIN = 'twin_executions_received_total 7.0\n';
const GATEWAY = 'holdfast_line_entries 5.0\nholdfast_executions_total 11.0\n';

test('gauges and counters are summed over engines, usage is their mean, what nobody tells is absent', () => {
  const sample = sampleOf(9, [readExposition(ENGINE), readExposition(GATEWAY)]);
  assert.deepEqual(sample, {
    atMs: 9,
    running: 7,
    waiting: 1,
    kvCacheUsage: 0.3,
    promptTokens: 120,
    line: 5,
    executionsCreated: 11,
  });
});

test('an engine that counts its executions goes before the gateway', () => {
  assert.equal(sampleOf(0, [readExposition(GATEWAY), readExposition(TWIN)]).executionsCreated, 7);
});

async function meter(t: TestContext, answer: () => string | undefined): Promise<URL> {
  const server = createServer((_, response) => {
    const text = answer();
    response.writeHead(text === undefined ? 404 : 200).end(text);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
}

test('a counter rises from the first look on, over a restart of its server, until it stands still', async (t) => {
  const values = [100, 130, 20, 25, 30];
  const url = await meter(t, () => `holdfast_executions_total ${values.shift() ?? 30}\n`);
  const scraper = new Scraper([url, url]);
  assert.equal(scraper.rise('gatewayExecutions'), undefined);
  await scraper.first();
  assert.equal(scraper.rise('gatewayExecutions'), 0);
  await scraper.stop(() => 5);
  assert.equal(scraper.rise('gatewayExecutions'), 30 + 20 + 5 + 5);
  assert.equal(scraper.rise('engineExecutions'), undefined);
  assert.equal(scraper.samples[0]?.atMs, 0);
  assert.equal(scraper.samples.at(-1)?.executionsCreated, 30);
});

test('a meter that is missing is no failure, and a sum without one that answered before is no sample', async (t) => {
  let up = true;
  const one = await meter(t, () => (up ? TWIN : undefined));
  const other = await meter(t, () => TWIN);
  const never = await meter(t, () => undefined);
  const scraper = new Scraper([one, other, never, new URL('http://127.0.0.1:9')]);
  await scraper.first();
  up = false;
  await scraper.stop(() => 5);
  assert.deepEqual(
    scraper.samples.map(({ executionsCreated }) => executionsCreated),
    [14],
  );
});

test('executions are counted by the engine, else the gateway, else estimated from exact prompts, else by nobody', () => {
  const planned = [{ promptTokens: 100 }, { promptTokens: 300 }] as never;
  const attempts = [{ call: 0 }, { call: 1 }, { call: 1 }, { call: 1 }] as never;
  const count = (known: Readonly<Record<string, number>>, exactPrompts = true) =>
    executionCount({ rise: (counter) => known[counter], planned, attempts, exactPrompts });
  const all = { engineExecutions: 5, gatewayExecutions: 6, prefixCacheQueries: 500 };
  assert.match(count(all).countedBy ?? '', /^the engine/);
  assert.equal(count({ ...all, engineExecutions: undefined as never }).executions, 6);
  const estimate = count({ prefixCacheQueries: 500 });
  assert.equal(estimate.executions, 2);
  assert.match(estimate.countedBy ?? '', /^an estimate: .*misses/);
  assert.deepEqual(count({ prefixCacheQueries: 500 }, false), { executions: undefined, countedBy: null });
  assert.deepEqual(count({ prefixCacheQueries: 0 }), { executions: undefined, countedBy: null });
});
