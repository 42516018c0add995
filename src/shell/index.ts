/** The export path `holdfast`: the gateway, and the engine model to try it against, as a library. */

export { type GatewayConfig, type GatewaySettings, gatewayConfig } from './gateway/config.js';
export { readConfigFile } from './gateway/config-file.js';
export { Metrics } from './gateway/metrics.js';
export { pseudonyms } from './gateway/pseudonym.js';
export { type Gateway, type GatewayParts, startGateway } from './gateway/server.js';
export { warnings } from './gateway/warnings.js';
export { UserError } from './shared/errors.js';
export { createLog, type Log } from './shared/log.js';
export { SystemClock } from './shared/system-clock.js';
export { startTwin, type Twin, type TwinOptions } from './twin/server.js';
