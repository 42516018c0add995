/** A gateway in front of an engine of the test's own, with everything that it decides to be waited on. */

import { randomBytes } from 'node:crypto';
import type { ControlEvent } from '../../src/core/control/event.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import type { Clock } from '../../src/core/time/clock.js';
import { type GatewaySettings, gatewayConfig } from '../../src/shell/gateway/config.js';
import { Metrics } from '../../src/shell/gateway/metrics.js';
import { pseudonyms } from '../../src/shell/gateway/pseudonym.js';
import { type Gateway, startGateway } from '../../src/shell/gateway/server.js';
import { createLog } from '../../src/shell/shared/log.js';
import { SystemClock } from '../../src/shell/shared/system-clock.js';
import { FakeEngine, type Script, type Scripts } from './fake-engine.js';
import { OVER_TLS } from './over-tls.js';
import { Stream } from './promised.js';

class Watched extends Metrics {
  readonly verdicts = new Stream<Verdict>();
  readonly events = new Stream<ControlEvent>();

  override event(event: ControlEvent, now: number): void {
    super.event(event, now);
    this.events.push(event);
  }

  override verdict(verdict: Verdict, now: number): void {
    super.verdict(verdict, now);
    this.verdicts.push(verdict);
  }
}

type Kind = Verdict['kind'];
type Of<K extends Kind> = Extract<Verdict, { kind: K }>;

export interface Rig {
  readonly engine: FakeEngine;
  readonly gateway: Gateway;
  readonly metrics: Metrics;
  readonly verdicts: Stream<Verdict>;
  readonly events: Stream<ControlEvent>;
  /** The `count`-th verdict of this kind, once it was said. */
  readonly verdict: <K extends Kind>(kind: K, count?: number) => Promise<Of<K>>;
  /** The `count`-th event of this kind, once it was heard. */
  readonly heard: <K extends ControlEvent['kind']>(
    kind: K,
    count?: number,
  ) => Promise<Extract<ControlEvent, { kind: K }>>;
  /** The endings of all attempts so far. */
  readonly ledger: () => string[];
  /** Log lines from `warn` up. */
  readonly warned: readonly string[];
  readonly stop: () => Promise<void>;
}

/** Starts both; the moment after the last byte is short unless the settings say otherwise. */
export async function startRig(
  script: Script | Scripts,
  settings: GatewaySettings = {},
  clock: Clock = new SystemClock(),
  certificate = OVER_TLS?.certificate,
): Promise<Rig> {
  const engine = await FakeEngine.start(script);
  const pseudonym = pseudonyms();
  const warned: string[] = [];
  const metrics = new Watched({ pseudonym });
  const config = gatewayConfig({
    port: 0,
    upstreams: [{ url: engine.url }],
    ...settings,
    control: { deliveredAfterMs: 60, ...settings.control },
  });
  const gateway = await startGateway(config, {
    clock,
    certificate,
    log: createLog({ level: 'warn', to: { write: (line) => void warned.push(line) } }),
    metrics,
    pseudonym,
    wallClock: Date.now,
    randomBytes,
  }).catch(async (error: unknown) => {
    await engine.stop();
    throw error;
  });
  const { verdicts, events } = metrics;
  return {
    engine,
    gateway,
    metrics,
    verdicts,
    events,
    warned,
    verdict: async (kind, count) =>
      (await verdicts.next(`verdict ${kind}`, (verdict) => verdict.kind === kind, count)) as never,
    heard: async (kind, count) =>
      (await events.next(`event ${kind}`, (event) => event.kind === kind, count)) as never,
    ledger: () =>
      verdicts.items.flatMap((verdict) => (verdict.kind === 'attempt-ended' ? [verdict.ending] : [])),
    stop: async () => {
      await gateway.close();
      await engine.stop();
    },
  };
}
