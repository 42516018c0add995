/** A gateway in front of an engine that is there already, on a clock of the test's own. */

import { randomBytes } from 'node:crypto';
import type { Clock } from '../../src/core/time/clock.js';
import { type GatewaySettings, gatewayConfig } from '../../src/shell/gateway/config.js';
import { Metrics } from '../../src/shell/gateway/metrics.js';
import { pseudonyms } from '../../src/shell/gateway/pseudonym.js';
import { type Gateway, startGateway } from '../../src/shell/gateway/server.js';
import { SILENT } from '../../src/shell/shared/log.js';

/** `scale`: milliseconds of `clock` in one of the machine's. */
export function startGatewayAt(
  url: string,
  clock: Clock,
  scale: number,
  settings: GatewaySettings = {},
): Promise<Gateway> {
  const pseudonym = pseudonyms();
  return startGateway(gatewayConfig({ port: 0, upstreams: [{ url }], ...settings }), {
    clock,
    scale,
    log: SILENT,
    metrics: new Metrics({ pseudonym }),
    pseudonym,
    wallClock: Date.now,
    randomBytes,
  });
}
