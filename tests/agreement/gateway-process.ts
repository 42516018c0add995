/**
 * A gateway whose clock runs faster than life, as a process of its own: `node gateway-process.js SETTINGS SCALE`, with
 * the settings as JSON. Says its address in its first line, and on SIGTERM how late its event loop was, milliseconds.
 */

import { randomBytes } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type GatewaySettings, gatewayConfig } from '../../src/shell/gateway/config.js';
import { Metrics } from '../../src/shell/gateway/metrics.js';
import { pseudonyms } from '../../src/shell/gateway/pseudonym.js';
import { startGateway } from '../../src/shell/gateway/server.js';
import { SILENT } from '../../src/shell/shared/log.js';
import { SystemClock } from '../../src/shell/shared/system-clock.js';

const [settings = '{}', scale = '1'] = process.argv.slice(2);
const pseudonym = pseudonyms();
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const gateway = await startGateway(gatewayConfig(JSON.parse(settings) as GatewaySettings), {
  clock: new SystemClock(Number(scale)),
  scale: Number(scale),
  log: SILENT,
  metrics: new Metrics({ pseudonym }),
  pseudonym,
  wallClock: Date.now,
  randomBytes,
});
process.stdout.write(`${JSON.stringify({ url: gateway.url })}\n`);
process.once('SIGTERM', () => {
  const [p99Ms, mostMs] = [delay.percentile(99) / 1e6, delay.max / 1e6];
  process.stdout.write(`${JSON.stringify({ p99Ms, mostMs })}\n`);
  void gateway.close().then(() => process.exit(0));
});
