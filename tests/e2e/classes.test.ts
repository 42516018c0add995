/** Classes of calls through real sockets: in a full room the higher ones start first, as far as their tenants may. */

import { deepEqual, equal } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { GatewaySettings } from '../../src/shell/gateway/config.js';
import { json } from '../support/fake-engine.js';
import { type Rig, startRig } from '../support/gateway-rig.js';

const hashOf = (key: string): string => `sha256:${createHash('sha256').update(key).digest('hex')}`;

interface Asked {
  readonly name: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function ask(rig: Rig, { name, key = 'plain', headers = {} }: Asked): Promise<Response> {
  return fetch(`${rig.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify({ model: 'm', messages: [], user: name }),
  });
}

/** The names of calls in the order in which they started, when all of `asked` waited in line beside one that ran. */
async function started(rig: Rig, asked: readonly Asked[]): Promise<string[]> {
  const keys = [...new Set(asked.map(({ key }) => key ?? 'plain'))];
  for (const key of keys) equal((await ask(rig, { name: `${key} is known`, key })).status, 200);
  const answer = rig.engine.script;
  rig.engine.script = () => {};
  const all = [ask(rig, { name: 'runs' })];
  const running = await rig.engine.calls.next('what runs', () => true, keys.length + 1);
  rig.engine.script = answer;
  for (const [at, one] of asked.entries()) {
    all.push(ask(rig, one));
    await rig.verdict('queue', at + 1);
  }
  answer(running);
  for (const response of await Promise.all(all)) equal(response.status, 200);
  return rig.engine.calls.items
    .slice(-asked.length)
    .map(({ body }) => (JSON.parse(body) as { user: string }).user);
}

async function rigOf(settings: GatewaySettings): Promise<Rig> {
  return startRig(json({ id: 'x', choices: [] }), {
    ...settings,
    control: { room: 1, order: 'oldest-first', ...settings.control },
  });
}

const of = (word: string): Readonly<Record<string, string>> => ({ 'x-holdfast-class': word });

test('of two classes that wait the higher one starts first, though it came last, and each in its own order', async (context) => {
  const rig = await rigOf({ tenants: [{ key: hashOf('plain'), maxClass: 'interactive' }] });
  context.after(() => rig.stop());
  const names = await started(rig, [
    { name: 'batch 1', headers: of('batch') },
    { name: 'usual' },
    { name: 'batch 2', headers: of(' BATCH ') },
    { name: 'interactive 1', headers: of('interactive') },
    { name: 'interactive 2', headers: of('Interactive') },
  ]);
  deepEqual(names, ['interactive 1', 'interactive 2', 'usual', 'batch 1', 'batch 2']);
  for (const { request } of rig.engine.calls.items) equal(request.headers['x-holdfast-class'], undefined);
  const text = rig.metrics.text();
  for (const [name, count] of [
    ['interactive', 2],
    ['standard', 3],
    ['batch', 2],
  ] as const) {
    equal(new RegExp(`class_queue_seconds_count\\{class="${name}"\\} (\\d+)`).exec(text)?.[1], String(count));
    equal(new RegExp(`class_line_entries\\{class="${name}"\\} (\\d+)`).exec(text)?.[1], '0');
  }
});

test('a tenant of whom nothing is said may lower its calls and not raise them', async (context) => {
  const rig = await rigOf({ tenants: [{ key: hashOf('dear'), maxClass: 'interactive' }] });
  context.after(() => rig.stop());
  const names = await started(rig, [
    { name: 'low', headers: of('batch') },
    { name: 'usual' },
    { name: 'claims', headers: of('interactive') },
    { name: 'dear', key: 'dear', headers: of('interactive') },
  ]);
  deepEqual(names, ['dear', 'usual', 'claims', 'low']);
});

test('a session keeps the class of its first call, and a word that is none is counted and served as usual', async (context) => {
  const rig = await rigOf({});
  context.after(() => rig.stop());
  const session = { 'session-id': 's1' };
  const names = await started(rig, [
    { name: 'begins', headers: { ...session, ...of('batch') } },
    { name: 'goes on', headers: { ...session, ...of('standard') } },
    { name: 'odd', headers: of('royal') },
    { name: 'other session', headers: { 'session-id': 's2' } },
  ]);
  deepEqual(names, ['odd', 'other session', 'begins', 'goes on']);
  equal(/warnings_total\{warning="unknown_class"\} (\d+)/.exec(rig.metrics.text())?.[1], '1');
});

test('the header may be another gateway’s, which goes on to the engine, and the classes its words', async (context) => {
  const rig = await rigOf({
    classHeaders: ['x-smg-priority'],
    control: {
      classes: ['system', 'interactive', 'default', 'bulk'],
      defaultClass: 'default',
      maxClass: 'system',
    },
  });
  context.after(() => rig.stop());
  const names = await started(rig, [
    { name: 'bulk', headers: { 'x-smg-priority': 'bulk' } },
    { name: 'unheard', headers: of('system') },
    { name: 'system', headers: { 'x-smg-priority': 'System' } },
  ]);
  deepEqual(names, ['system', 'unheard', 'bulk']);
  const last = rig.engine.calls.items.at(-1);
  equal(last?.request.headers['x-smg-priority'], 'bulk');
});
