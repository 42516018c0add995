/** Rooms that follow the engine's own meter on real sockets: it decides how much is sent, and does not when it is missing. */

import { equal, match, ok } from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { type GatewaySettings, gatewayConfig } from '../../src/shell/gateway/config.js';
import type { EngineCall, Script } from '../support/fake-engine.js';
import { type Rig, startRig } from '../support/gateway-rig.js';

const CALLS = 40;
const BATCH = 3;
const OFTEN: GatewaySettings = { control: { roomTarget: 2 }, gaugesEveryMs: 50 };
const ASKED_FOR: GatewaySettings = { ...OFTEN, control: { ...OFTEN.control, room: 'engine' } };
const NONE: GatewaySettings = { ...OFTEN, control: { room: 'off' } };

let running: Rig | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

/** An engine that keeps every call until it is let go of, and says how many it runs. */
class Machine {
  readonly held: EngineCall[] = [];
  /** What came with the looks at its meter. */
  readonly looks: EngineCall[] = [];
  open = false;
  meter: 'there' | 'none' | 'hangs';

  constructor(meter: Machine['meter']) {
    this.meter = meter;
  }

  readonly calls: Script = (call) => {
    this.held.push(call);
    if (this.open) this.letGo();
  };

  letGo(): void {
    this.open = true;
    for (const { response } of this.held.splice(0)) response.end('{"ok":true}');
  }

  readonly measure: Script = (call) => {
    this.looks.push(call);
    const { response } = call;
    if (this.meter === 'hangs') return;
    if (this.meter === 'none') {
      response.writeHead(404).end();
      return;
    }
    const runs = Math.min(BATCH, this.held.length);
    response.end(
      `vllm:num_requests_running{engine="0"} ${runs}.0\nvllm:num_requests_waiting{engine="0"} ${this.held.length - runs}.0\n`,
    );
  };
}

async function start(machine: Machine, settings: GatewaySettings): Promise<Rig> {
  running = await startRig({ calls: machine.calls, meter: machine.measure }, settings);
  return running;
}

function ask({ gateway }: Rig, from = 0): Promise<number>[] {
  return Array.from({ length: CALLS }, async (_, call) => {
    const response = await fetch(`${gateway.url}/v1/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer a' },
      body: JSON.stringify({ prompt: `${from + call}` }),
    });
    await response.arrayBuffer();
    return response.status;
  });
}

const good = async (answers: readonly Promise<number>[]): Promise<number> =>
  (await Promise.all(answers)).filter((status) => status === 200).length;

for (const [how, settings] of [
  ['by default', OFTEN],
  ['with the room that follows it', ASKED_FOR],
] as const) {
  test(`${how} the engine is sent what it runs and a few more by its meter, the others wait in line, and all are answered`, async () => {
    const machine = new Machine('there');
    const rig = await start(machine, settings);
    await rig.heard('gauges');
    const answers = ask(rig);
    await rig.heard('arrive', CALLS);
    // As many as come at once are let in where nobody waits; from the next look on no more until they are done.
    await rig.heard('gauges', 10);
    const { length } = machine.held;
    ok(length > BATCH && length < CALLS, `${length} of ${CALLS} at an engine that runs ${BATCH}`);
    const later = ask(rig, CALLS);
    await rig.heard('arrive', 2 * CALLS);
    await rig.heard('gauges', 20);
    equal(machine.held.length, length);
    match(rig.metrics.text(), /holdfast_engine_gauges_trusted\{[^}]*\} 1\.0\n/);
    machine.letGo();
    equal(await good([...answers, ...later]), 2 * CALLS);
    equal(rig.warned.length, 0);
    ok(machine.looks.every(({ request }) => request.headers.authorization === undefined));
    match(rig.metrics.text(), new RegExp(`holdfast_attempts_total ${2 * CALLS}\\.0\n`));
  });
}

test('by default an engine without a meter has no limit, and nothing is said of it', async () => {
  const machine = new Machine('none');
  const rig = await start(machine, OFTEN);
  const answers = ask(rig);
  await rig.heard('arrive', CALLS);
  await rig.heard('gauges', 4);
  equal(machine.held.length, CALLS);
  machine.letGo();
  equal(await good(answers), CALLS);
  equal(rig.warned.length, 0);
  const text = rig.metrics.text();
  ok(!/holdfast_engine_gauges_trusted\{/.test(text), 'no gauges, no distrust');
  ok(!/holdfast_engine_room\{/.test(text), 'no limit');
});

test('a meter that never answers delays neither calls nor the end of the gateway', async () => {
  const machine = new Machine('hangs');
  machine.open = true;
  const rig = await start(machine, OFTEN);
  equal(await good(ask(rig)), CALLS);
  ok(machine.looks.length > 0);
  await rig.gateway.drain();
});

test('where a room was asked for, a meter that is missing is said once, shows in the metrics, and leaves no limit', async () => {
  const machine = new Machine('none');
  machine.open = true;
  const rig = await start(machine, ASKED_FOR);
  await rig.heard('gauges', 5);
  equal(await good(ask(rig)), CALLS);
  equal((await rig.verdict('warn')).warning, 'engine_gauges_absent');
  const text = rig.metrics.text();
  match(text, /holdfast_engine_gauges_trusted\{[^}]*\} 0\.0\n/);
  match(text, /holdfast_warnings_total\{warning="engine_gauges_absent"\} 1\.0\n/);
  equal(rig.warned.filter((line) => line.includes('cannot be read')).length, 1);
});

test('a reload begins to read the meter, and ends it', async () => {
  const machine = new Machine('there');
  const rig = await start(machine, NONE);
  equal(machine.looks.length, 0);
  const upstreams = [{ url: rig.engine.url }];
  rig.gateway.reconfigure(gatewayConfig({ ...ASKED_FOR, upstreams }));
  await rig.heard('gauges', 3);
  rig.gateway.reconfigure(gatewayConfig({ ...NONE, upstreams }));
  const { length } = machine.looks;
  machine.open = true;
  await Promise.all(ask(rig));
  ok(machine.looks.length <= length + 1, 'at most the look that was under way');
});

test('the room of one engine may change while it runs, with or without a meter', async () => {
  const machine = new Machine('there');
  const rig = await start(machine, NONE);
  const { url } = rig.engine;
  rig.gateway.reconfigure(gatewayConfig({ ...NONE, upstreams: [{ url, room: 2 }] }));
  const answers = ask(rig);
  await rig.heard('arrive', CALLS);
  await rig.engine.calls.next('the second', () => true, 2);
  equal(machine.held.length, 2);
  rig.gateway.reconfigure(gatewayConfig({ ...NONE, upstreams: [{ url, room: 5 }] }));
  await rig.heard('reconfigure', 2);
  await rig.engine.calls.next('the fifth', () => true, 5);
  equal(machine.held.length, 5);
  rig.gateway.reconfigure(gatewayConfig({ ...NONE, upstreams: [{ url, room: 'engine' }] }));
  await rig.heard('gauges', 2);
  machine.letGo();
  equal(await good(answers), CALLS);
});
