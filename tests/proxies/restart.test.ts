/** A restart as docs/restart.md tells it: out of nginx, drained, and no client notices. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { json } from '../support/fake-engine.js';
import { startRig } from '../support/gateway-rig.js';
import { answerIn, RawClient } from '../support/raw-client.js';
import { nginx, startNginx } from './proxy.js';
import { PAUSE_MS } from './scenes.js';

const LANES = 6;
const ANSWER_MS = 30;

test('a gateway that is taken out of nginx and then told to stop costs no client an error', async (t) => {
  const command = await nginx.met(t);
  if (command === undefined) return;
  const slow = json({ ok: true });
  const script: typeof slow = (call) => void setTimeout(() => slow(call), ANSWER_MS);
  const [old, other] = [await startRig(script), await startRig(script)];
  t.after(() => Promise.all([old.stop(), other.stop()]));
  const both = 'server 127.0.0.1:8900;';
  const second = `server 127.0.0.1:${other.gateway.port};`;
  const proxy = await startNginx(command, old.gateway.port, [[both, `${both} ${second}`]]);
  t.after(() => proxy.stop());
  const statuses = new Map<number, number>();
  const over = new AbortController();
  const lane = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const client = await RawClient.ask(proxy.port, { headers: { connection: 'close' } });
      const { status } = answerIn(await client.rest());
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  const lanes = Array.from({ length: LANES }, lane);
  await old.verdict('attempt-ended', 10);
  proxy.reload?.([[both, `server 127.0.0.1:8900 down; ${second}`]]);
  const seen = (): number => old.gateway.ledger.attempts.opened;
  for (let before = -1; before !== seen(); ) {
    before = seen();
    await sleep(PAUSE_MS);
  }
  await old.gateway.drain();
  await other.verdict('attempt-ended', 40);
  over.abort();
  await Promise.all(lanes);
  deepEqual([...statuses.keys()], [200]);
  equal(old.gateway.ledger.attempts.ended.refused_draining, 0);
  ok(seen() >= 10);
});
