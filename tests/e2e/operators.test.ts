/** What stands around the gateway: a port for operators, and proxies that say whose request it is. */

import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { test } from 'node:test';
import { json } from '../support/fake-engine.js';
import { startRig } from '../support/gateway-rig.js';

test('with a port for operators, metrics are there alone, health is on both, and no call is on it', async () => {
  const rig = await startRig(json({ ok: true }), { admin: { port: 0 } });
  try {
    const admin = rig.gateway.adminUrl ?? '';
    const { url } = rig.gateway;
    match(await (await fetch(`${admin}/metrics`)).text(), /^holdfast_attempts_open 0/m);
    deepEqual([(await fetch(`${admin}/livez`)).status, (await fetch(`${url}/livez`)).status], [200, 200]);
    equal((await fetch(`${url}/metrics`)).status, 404);
    equal((await fetch(`${admin}/v1/models`)).status, 404);
    equal((await fetch(`${admin}/v1/completions`, { method: 'POST', body: '{}' })).status, 404);
    equal(rig.engine.calls.items.length, 0, 'the metrics of the engine are not shown in their place');
  } finally {
    await rig.stop();
  }
  await rejects(fetch(rig.gateway.adminUrl ?? ''));
});

test('a port for operators that is taken is an error, and nothing is left listening', async () => {
  const rig = await startRig(json({ ok: true }));
  const taken = Number(new URL(rig.gateway.url).port);
  await rejects(
    startRig(json({}), { admin: { port: taken } }),
    /something else does; choose another with admin\.port$/,
  );
  await rig.stop();
});

test('clients behind a trusted proxy are told apart by the address that it names, and only then', async () => {
  for (const [trustedProxies, decisions] of [
    [['127.0.0.0/8'], ['new_call', 'new_call']],
    [[], ['new_call', 'adopt_execution']],
  ] as const) {
    const rig = await startRig(() => {}, { trustedProxies });
    for (const [at, address] of ['203.0.113.1', '203.0.113.2'].entries()) {
      const gone = new AbortController();
      const asked = fetch(`${rig.gateway.url}/v1/completions`, {
        method: 'POST',
        headers: { 'x-forwarded-for': address },
        body: '{"model":"tiny"}',
        signal: gone.signal,
      }).catch(() => {});
      await rig.verdict('attach', at + 1);
      gone.abort();
      await asked;
      await rig.heard('leave', at + 1);
    }
    deepEqual(
      rig.verdicts.items.flatMap((verdict) => (verdict.kind === 'decided' ? [verdict.decision] : [])),
      decisions,
    );
    await rig.stop();
  }
});
