/** With `cache_salt: tenant` the engine gets a salt a tenant, and recognition is none the wiser. */

import { equal, match, notEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { json } from '../support/fake-engine.js';
import { startRig } from '../support/gateway-rig.js';

test('each tenant’s requests carry a salt of their own, the same for each of its calls', async (context) => {
  const rig = await startRig(json({ id: 'x', choices: [] }), { cacheSalt: 'tenant' });
  context.after(() => rig.stop());
  const saltOf = async (credential: string, ordinal: number): Promise<string> => {
    const answer = await fetch(`${rig.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: credential },
      body: JSON.stringify({ model: 'm', messages: [] }),
    });
    equal(answer.status, 200);
    const call = await rig.engine.calls.next('the execution', () => true, ordinal);
    const sent = JSON.parse(call.body) as { cache_salt: string; model: string };
    equal(sent.model, 'm');
    return sent.cache_salt;
  };
  const one = await saltOf('Bearer one', 1);
  match(one, /^[\w-]{22}$/);
  equal(await saltOf('Bearer one', 2), one);
  notEqual(await saltOf('Bearer two', 3), one);
});
