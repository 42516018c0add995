/** An engine that goes by priority is told what the line knows; every other one gets requests byte for byte. */

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import type { PriorityPlace } from '../../src/shell/gateway/engine-priority.js';
import { FakeEngine, json } from '../support/fake-engine.js';
import { startRig } from '../support/gateway-rig.js';

const BODY = '{ "model": "m", "messages": [] }';

for (const [place, body, header] of [
  ['off', BODY, undefined],
  ['header', BODY, '1'],
  ['body', '{ "model": "m", "messages": [] ,"priority":1}', undefined],
] as const satisfies readonly (readonly [PriorityPlace, string, string | undefined])[]) {
  test(`a first attempt is on time, said in: ${place}`, async (context) => {
    const engine = await FakeEngine.start(json({ id: 'x', choices: [] }));
    context.after(() => engine.stop());
    const rig = await startRig(json({}), { upstreams: [{ url: engine.url, priority: place }] });
    context.after(() => rig.stop());
    const answer = await fetch(`${rig.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: BODY,
    });
    equal(answer.status, 200);
    const call = await engine.calls.next('the execution', () => true, 1);
    deepEqual([call.body, call.request.headers['x-vllm-priority']], [body, header]);
    equal(call.request.headers['content-length'], String(Buffer.byteLength(body)));
  });
}

test('a retry that comes without its predecessor is late; its first attempt has waited already', async (context) => {
  const engine = await FakeEngine.start(json({ id: 'x', choices: [] }));
  context.after(() => engine.stop());
  const rig = await startRig(json({}), { upstreams: [{ url: engine.url, priority: 'header' }] });
  context.after(() => rig.stop());
  await fetch(`${rig.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-stainless-retry-count': '1',
      'user-agent': 'OpenAI/JS 6.0.0',
    },
    body: BODY,
  });
  const call = await engine.calls.next('the execution', () => true, 1);
  equal(call.request.headers['x-vllm-priority'], '2');
});
