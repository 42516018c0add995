/** Tenants that the settings give a weight are served by it, and are known by the hash of their key alone. */

import { deepEqual, equal } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { json } from '../support/fake-engine.js';
import { startRig } from '../support/gateway-rig.js';

const hashOf = (key: string): string => `sha256:${createHash('sha256').update(key).digest('hex')}`;

test('of two tenants that wait, one with weight 3 is served three times as often', async (context) => {
  const rig = await startRig(json({ id: 'x', choices: [] }), {
    tenants: [{ key: hashOf('heavy'), weight: 3 }],
    control: { room: 1, shares: 'tenant', order: 'oldest-first' },
  });
  context.after(() => rig.stop());
  const ask = (key: string, name: string): Promise<Response> =>
    fetch(`${rig.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'm', messages: [], user: name }),
    });
  for (const key of ['heavy', 'light']) equal((await ask(key, `${key}-known`)).status, 200);
  const answer = rig.engine.script;
  rig.engine.script = () => {};
  const all = [ask('light', 'runs')];
  const running = await rig.engine.calls.next('what runs', () => true, 3);
  rig.engine.script = answer;
  for (let at = 0; at < 8; at += 1) all.push(ask('light', `light-${at}`));
  await rig.verdict('queue', 8);
  for (let at = 0; at < 8; at += 1) all.push(ask('heavy', `heavy-${at}`));
  await rig.verdict('queue', 16);
  answer(running);
  for (const response of await Promise.all(all)) equal(response.status, 200);
  const names: string[] = [];
  for (let at = 4; at < 12; at += 1) {
    const { body } = await rig.engine.calls.next(`execution ${at}`, () => true, at);
    names.push((JSON.parse(body) as { user: string }).user.split('-')[0] ?? '');
  }
  deepEqual(names.filter((name) => name === 'heavy').length, 6);
});
