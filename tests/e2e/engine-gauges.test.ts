/** Room `engine` on real sockets: the engine's own meter decides how much it is sent, and does not when it is missing. */

import { equal, match, ok } from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { type GatewaySettings, gatewayConfig } from '../../src/shell/gateway/config.js';
import type { EngineCall, Script } from '../support/fake-engine.js';
import { type Rig, startRig } from '../support/gateway-rig.js';

const CALLS = 40;
const BATCH = 3;
const ENGINE: GatewaySettings = { control: { room: 'engine', roomTarget: 2 }, gaugesEveryMs: 50 };

let running: Rig | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

/** An engine that keeps every call until it is let go of, and says how many it runs; `meter`: whether it has one. */
class Machine {
  readonly held: EngineCall[] = [];
  open = false;
  looks = 0;
  meter: boolean;

  constructor(meter: boolean) {
    this.meter = meter;
  }

  readonly script: Script = (call) => {
    if (call.request.url === '/metrics') return this.#measure(call);
    this.held.push(call);
    if (this.open) this.letGo();
  };

  letGo(): void {
    this.open = true;
    for (const { response } of this.held.splice(0)) response.end('{"ok":true}');
  }

  #measure({ response }: EngineCall): void {
    this.looks += 1;
    if (!this.meter) {
      response.writeHead(404).end();
      return;
    }
    const runs = Math.min(BATCH, this.held.length);
    response.end(
      `vllm:num_requests_running{engine="0"} ${runs}.0\nvllm:num_requests_waiting{engine="0"} ${this.held.length - runs}.0\n`,
    );
  }
}

async function start(machine: Machine, settings: GatewaySettings): Promise<Rig> {
  running = await startRig(machine.script, settings);
  return running;
}

function ask({ gateway }: Rig): Promise<number>[] {
  return Array.from({ length: CALLS }, async (_, call) => {
    const response = await fetch(`${gateway.url}/v1/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer a' },
      body: JSON.stringify({ prompt: `${call}` }),
    });
    await response.arrayBuffer();
    return response.status;
  });
}

test('the engine is sent what it runs and a few more, the others wait in line, and all are answered', async () => {
  const machine = new Machine(true);
  const rig = await start(machine, ENGINE);
  await rig.heard('gauges');
  const answers = ask(rig);
  await rig.heard('arrive', CALLS);
  await rig.heard('gauges', 30);
  ok(machine.held.length > BATCH, `${machine.held.length} at an engine that runs ${BATCH}`);
  ok(machine.held.length <= CALLS / 2, `${machine.held.length} at an engine that runs ${BATCH}`);
  match(rig.metrics.text(), /holdfast_engine_gauges_trusted\{[^}]*\} 1\.0\n/);
  machine.letGo();
  equal((await Promise.all(answers)).filter((status) => status === 200).length, CALLS);
  equal(rig.warned.length, 0);
});

test('without a meter the engine has no limit, which is said once and shows in the metrics', async () => {
  const machine = new Machine(false);
  machine.open = true;
  const rig = await start(machine, ENGINE);
  await rig.heard('gauges', 5);
  equal((await Promise.all(ask(rig))).filter((status) => status === 200).length, CALLS);
  equal((await rig.verdict('warn')).warning, 'engine_gauges_absent');
  const text = rig.metrics.text();
  match(text, /holdfast_engine_gauges_trusted\{[^}]*\} 0\.0\n/);
  match(text, /holdfast_warnings_total\{warning="engine_gauges_absent"\} 1\.0\n/);
  equal(rig.warned.filter((line) => line.includes('cannot be read')).length, 1);
});

test('a reload begins to read the meter, and ends it', async () => {
  const machine = new Machine(true);
  const rig = await start(machine, { gaugesEveryMs: 50 });
  equal(machine.looks, 0);
  const upstreams = [{ url: rig.engine.url }];
  rig.gateway.reconfigure(gatewayConfig({ ...ENGINE, upstreams }));
  await rig.heard('gauges', 3);
  rig.gateway.reconfigure(gatewayConfig({ upstreams }));
  const { looks } = machine;
  machine.open = true;
  await Promise.all(ask(rig));
  ok(machine.looks <= looks + 1, 'at most the look that was under way');
});
