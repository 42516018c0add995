/** Prometheus' own linter reads both meters: the twin's complaints are vLLM's own, the gateway has none. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { writeExposition } from '../../src/core/meter/exposition.js';
import { ProcessMeter } from '../../src/shell/gateway/process-meter.js';
import { startTwin } from '../../src/shell/twin/server.js';
import { startRig } from '../support/gateway-rig.js';
import { promtool } from '../support/promtool.js';
import { recording } from '../support/wire.js';

/** What `promtool check metrics` says of an exposition, one complaint a line. */
function complaints(command: string, exposition: string): string[] {
  const { status, stdout, stderr } = spawnSync(command, ['check', 'metrics'], {
    input: exposition,
    encoding: 'utf8',
    timeout: 60_000,
  });
  // 3 is its word for complaints; 1 means that it could not read the text.
  assert.ok(status === 0 || status === 3, `promtool ended with ${status}: ${stderr}`);
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '');
  assert.equal(lines.length > 0, status === 3, lines.join('\n'));
  return lines.toSorted();
}

/** The body of `/metrics` after one answer. */
async function metricsOf(url: string): Promise<string> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'tiny', max_tokens: 2, messages: [{ role: 'user', content: 'hello' }] }),
  });
  assert.equal(answer.status, 200, await answer.text());
  return (await fetch(`${url}/metrics`)).text();
}

test('a planted fault in an exposition is complained about', async (t) => {
  const command = await promtool.met(t);
  if (command === undefined) return;
  const planted = '# HELP asked Asked.\n# TYPE asked counter\nasked 1\n';
  assert.match(complaints(command, planted).join('\n'), /asked.*_total/);
});

test('promtool says of the twin what it says of vLLM, and nothing of what is the twin’s own', async (t) => {
  const command = await promtool.met(t);
  if (command === undefined) return;
  const twin = await startTwin({ servedModelName: 'tiny', timeScale: 100 });
  t.after(() => twin.close());
  const theirs = complaints(command, recording('metrics.txt')).filter((line) => line.startsWith('vllm:'));
  assert.ok(theirs.length > 0);
  assert.deepEqual(complaints(command, await metricsOf(twin.url)), theirs);
});

test('promtool has nothing to say of the gateway', async (t) => {
  const command = await promtool.met(t);
  if (command === undefined) return;
  const twin = await startTwin({ servedModelName: 'tiny', timeScale: 100 });
  t.after(() => twin.close());
  const rig = await startRig(() => {}, { upstreams: [{ url: twin.url }] });
  t.after(() => rig.stop());
  const process = new ProcessMeter();
  t.after(() => process.close());
  const whole = `${await metricsOf(rig.gateway.url)}${writeExposition(process.families())}`;
  assert.match(whole, /holdfast_calls_total/);
  assert.deepEqual(complaints(command, whole), []);
});
