/** What the budget refuses over HTTP, and whom it never refuses: nobody is locked out of an engine with room. */

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { request } from 'node:http';
import { afterEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Scene, startScene } from '../support/scene.js';

let scene: Scene | undefined;
afterEach(async () => {
  await scene?.stop();
  scene = undefined;
});

const POLL_MS = 5;
/** Longest that anything here may take before the test says what did not come. */
const PATIENCE_MS = 30_000;
const HEADERS = {
  'content-type': 'application/json',
  'user-agent': 'one client',
  authorization: 'Bearer one',
};

function body(content: string): string {
  return JSON.stringify({
    model: 'Qwen/Qwen2.5-7B-Instruct',
    max_tokens: 2,
    messages: [{ role: 'user', content }],
  });
}

async function ask(
  { gateway }: Scene,
  content: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...HEADERS, ...headers },
    body: body(content),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
}

/** Asks on a connection of its own; answers a way to close it. */
function askAndStay({ gateway }: Scene, content: string, headers: Record<string, string> = {}): () => void {
  const asked = request(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    agent: false,
    headers: { ...HEADERS, ...headers },
  });
  asked.on('error', () => {});
  asked.end(body(content));
  return () => asked.destroy();
}

async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`it never came to be that ${String(condition)}`);
    await sleep(POLL_MS);
  }
}

describe('the budget', () => {
  test('refuses the eleventh execution beyond a hundred entitlements that are used up, when calls wait in line', async () => {
    const at = await startScene({}, { control: { room: 100, grace: 'now' } });
    scene = at;
    // The engine accepts the credential once, so that it is a tenant of its own and not the unverified one.
    equal((await ask(at, 'warm up')).status, 200);
    await at.fault({ kind: 'hang' });
    const { ledger } = at.gateway;
    const leaves = Array.from({ length: 100 }, (_, index) => askAndStay(at, `call ${index}`));
    await until(() => ledger.executions.opened === 101);
    for (const leave of leaves) leave();
    await until(() => ledger.executions.ended.cancelled_on_leave === 100);
    for (let index = 0; index < 101; index += 1)
      askAndStay(at, `filler ${index}`, { authorization: 'Bearer two' });
    await until(() => ledger.entries.open === 1);

    const again = Array.from({ length: 10 }, (_, index) => askAndStay(at, `call ${index}`));
    await until(() => ledger.entries.open === 11);
    equal(ledger.granted, 10);
    const refused = await ask(at, 'call 10');
    equal(refused.status, 429);
    equal(refused.headers.get('x-holdfast-reason'), 'refused_budget');
    equal(refused.headers.get('x-holdfast-budget'), 'granted=10, allowed=10');
    const seconds = Number(refused.headers.get('retry-after'));
    ok(seconds >= 1 && seconds <= 59, `Retry-After: ${seconds}`);
    match(refused.headers.get('retry-after-ms') ?? '', /^\d{4,5}$/);
    const { error } = (await refused.json()) as { error: { code: string; message: string; type: string } };
    deepEqual([typeof error.message, typeof error.type, typeof error.code], ['string', 'string', 'string']);
    for (const leave of again) leave();
  });

  test('a call that was shed once, an engine that crashed and a gateway that restarted refuse nobody with room', async () => {
    const at = await startScene(
      {},
      { control: { room: 1, budget: { ratio: 0, floor: 0 }, bounds: { lineEntries: 0 } } },
    );
    scene = at;
    await at.fault({ kind: 'hang' });
    const leave = askAndStay(at, 'in the way');
    await until(() => at.gateway.ledger.executions.open === 1);
    const shed = await ask(at, 'shed');
    equal(shed.headers.get('x-holdfast-reason'), 'refused_line_full');
    leave();
    await at.fault({ kind: 'none' });
    await until(() => at.gateway.ledger.executions.open === 0);
    equal((await ask(at, 'shed', { 'x-stainless-retry-count': '1' })).status, 200, 'shed once');

    await at.fault({ kind: 'reset', times: 1 });
    equal((await ask(at, 'crash')).status, 502);
    equal((await ask(at, 'crash', { 'x-stainless-retry-count': '1' })).status, 200, 'the engine crashed');

    // To a gateway that restarted every retry is one it has never seen.
    equal(
      (await ask(at, 'unknown', { 'x-stainless-retry-count': '2' })).status,
      200,
      'the gateway restarted',
    );
  });
});
