/** An engine's own gauges: what is read of them, and that a meter that is slow, large, wrong or absent is a miss. */

import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Pool } from 'undici';
import type { EngineLoad } from '../../core/control/engine-load.js';
import { SystemClock } from '../shared/system-clock.js';
import { GaugeWatch, gaugesOf, type Miss } from './engine-gauges.js';

const METER = `# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 3.0
vllm:num_requests_running{engine="1",model_name="m"} 4.0
vllm:num_requests_waiting{engine="0",model_name="m"} 1.0
vllm:num_requests_waiting{engine="1",model_name="m"} 2.0
vllm:num_requests_waiting_by_reason{engine="0",reason="capacity"} 99.0
vllm:kv_cache_usage_perc{engine="0"} 0.5
`;

test('running and waiting are summed over the ranks of an engine, other gauges are not taken for them', () => {
  assert.deepEqual(gaugesOf(METER), { running: 7, waiting: 3 });
});

test('a meter without both gauges, or with no counts in them, says nothing', () => {
  assert.equal(gaugesOf('vllm:num_requests_running 3.0\n'), undefined);
  assert.equal(gaugesOf(''), undefined);
  assert.equal(gaugesOf('vllm:num_requests_running NaN\nvllm:num_requests_waiting 1.0\n'), undefined);
  assert.equal(gaugesOf('vllm:num_requests_running -1.0\nvllm:num_requests_waiting 1.0\n'), undefined);
});

type Word = EngineLoad | Miss;

/** A watch over one meter, and the next thing that it says. */
async function watch(t: TestContext, answer: RequestListener): Promise<() => Promise<Word>> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const said: Word[] = [];
  let wake = (): void => {};
  const say = (word: Word): void => {
    said.push(word);
    wake();
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`;
  const pool = new Pool(new URL(url).origin);
  const gauges = new GaugeWatch({
    engine: { url, pool },
    clock: new SystemClock(),
    everyMs: () => 10,
    patienceMs: 200,
    saw: say,
    missed: say,
  });
  t.after(async () => {
    gauges.close();
    await pool.destroy();
    server.closeAllConnections();
    server.close();
  });
  gauges.begin();
  return async () => {
    for (;;) {
      const word = said.shift();
      if (word !== undefined) return word;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
}

function whyOf(word: Word): string {
  return 'why' in word ? word.why : '';
}

test('the meter at the root of the server is read again and again', async (t) => {
  const paths: (string | undefined)[] = [];
  const next = await watch(t, (request, response) => {
    paths.push(request.url);
    response.end(METER.replace('3.0', String(paths.length)));
  });
  assert.deepEqual(await next(), { running: 5, waiting: 3 });
  assert.deepEqual(await next(), { running: 6, waiting: 3 });
  assert.deepEqual(new Set(paths), new Set(['/metrics']));
});

test('a miss says why, and the next look finds the meter that has come', async (t) => {
  let looks = 0;
  const next = await watch(t, (_, response) => {
    looks += 1;
    if (looks === 1) response.writeHead(404).end();
    else if (looks === 2) response.end('no meter');
    else response.end(METER);
  });
  assert.match(whyOf(await next()), /answered 404/);
  assert.match(whyOf(await next()), /has no vllm:num_requests_running/);
  assert.deepEqual(await next(), { running: 7, waiting: 3 });
});

test('a meter that hangs or never ends is a miss, and is asked again', async (t) => {
  let looks = 0;
  const line = Buffer.alloc(1024 * 1024, '#');
  const next = await watch(t, (_, response) => {
    looks += 1;
    if (looks === 1) return;
    const more = (): void => {
      while (!response.destroyed && response.write(line));
    };
    response.on('drain', more);
    if (looks === 2) more();
    else response.end(METER);
  });
  assert.match(whyOf(await next()), /could not be read/);
  assert.match(whyOf(await next()), /has more than \d+ bytes/);
  assert.deepEqual(await next(), { running: 7, waiting: 3 });
});
