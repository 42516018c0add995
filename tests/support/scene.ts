/** A gateway before an engine twin, both real servers on free ports, and the counts that say what happened. */

import { randomBytes } from 'node:crypto';
import type { AttemptFacts } from '../../src/core/control/event.js';
import { type GatewaySettings, gatewayConfig } from '../../src/shell/gateway/config.js';
import { Metrics } from '../../src/shell/gateway/metrics.js';
import { pseudonyms } from '../../src/shell/gateway/pseudonym.js';
import { type Gateway, startGateway } from '../../src/shell/gateway/server.js';
import { SILENT } from '../../src/shell/shared/log.js';
import { SystemClock } from '../../src/shell/shared/system-clock.js';
import { startTwin, type Twin, type TwinOptions } from '../../src/shell/twin/server.js';

export type { AttemptFacts };

export interface Scene {
  readonly gateway: Gateway;
  readonly twin: Twin;
  /** Executions that reached the engine, by the engine's own count. */
  executions(): number;
  /** Makes the engine misbehave: the body of the twin's fault route. */
  fault(fault: object): Promise<void>;
  metrics(): Promise<string>;
  stop(): Promise<void>;
}

/** Starts both. `timeScale` below 1 makes the engine slower than an H100, so that a short timeout is too short. */
export async function startScene(engine: TwinOptions = {}, settings: GatewaySettings = {}): Promise<Scene> {
  const twin = await startTwin(engine);
  const pseudonym = pseudonyms();
  const config = gatewayConfig({ port: 0, upstreams: [{ url: twin.url }], ...settings });
  const gateway = await startGateway(config, {
    clock: new SystemClock(),
    log: SILENT,
    metrics: new Metrics({ pseudonym }),
    pseudonym,
    wallClock: Date.now,
    randomBytes,
  });
  return {
    gateway,
    twin,
    executions: () => twin.stats().executionsReceived,
    fault: async (fault) => {
      const answer = await fetch(`${twin.url}/admin/fault`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(fault),
      });
      if (!answer.ok) throw new Error(`the twin took no fault: ${answer.status} ${await answer.text()}`);
      await answer.text();
    },
    metrics: async () => (await fetch(`${gateway.url}/metrics`)).text(),
    stop: async () => {
      await gateway.close();
      await twin.close();
    },
  };
}

/** The value of one sample of a Prometheus text, by its whole name with labels; 0 when it is not there. */
export function sample(text: string, name: string): number {
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return line === undefined ? 0 : Number(line.slice(name.length + 1));
}
