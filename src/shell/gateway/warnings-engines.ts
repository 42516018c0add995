/** Settings of engines that defeat each other. */

import type { GatewayConfig } from './config.js';
import type { Caution } from './warnings.js';

const named = ({ upstreams }: GatewayConfig): readonly string[] =>
  upstreams.flatMap(({ models }) => models ?? []);

const openToAll = ({ upstreams }: GatewayConfig): boolean =>
  upstreams.some(({ models }) => models === undefined || models.length === 0);

export const ENGINE_CAUTIONS: readonly Caution[] = [
  {
    holds: ({ upstreams, control }) => upstreams.length === 1 && control.affinity !== 'off',
    text: 'control.affinity has no effect while there is one engine',
  },
  {
    holds: ({ control }) => control.affinity !== 'off' && control.room === 'off',
    text:
      'control.affinity is on while control.room is off: an engine without a limit always has room, so one busy ' +
      'session or prefix may fill one engine while others idle; set a room',
  },
  {
    holds: (config) => openToAll(config) && named(config).length > 0,
    text: (config) =>
      `one of upstreams names no models and so is sent every model, ${named(config)[0]} included: give it models too, ` +
      'unless it serves them all',
  },
  {
    holds: ({ upstreams, allowedKeysFile }) =>
      allowedKeysFile === undefined && upstreams.some(({ credential }) => credential !== undefined),
    text:
      'one of upstreams has a credential while allowed_keys_file is not set: whoever reaches the gateway uses that ' +
      'key, and whatever key it comes with is taken for one that the engine has accepted',
  },
  {
    holds: ({ upstreams }) => upstreams.some(({ url, credential }) => credential !== undefined && plain(url)),
    text:
      'one of upstreams has a credential and an address that begins with http:// and is not of this machine: its ' +
      'key goes over the network as it is',
  },
  {
    holds: ({ upstreams }) => upstreams.some(({ verify }) => verify === false),
    text:
      'verify is false for one of upstreams: whoever stands between the gateway and that engine can read and change ' +
      'everything; name its authority with ca_file',
  },
  {
    holds: ({ upstreams }) =>
      upstreams.some(
        ({ url, caFile, serverName, verify }) =>
          url.startsWith('http:') && (caFile ?? serverName ?? verify) !== undefined,
      ),
    text: 'one of upstreams has ca_file, server_name or verify, and an address that begins with http://: no TLS is spoken',
  },
  {
    holds: ({ control: { health } }) => health.restMs > health.longestRestMs,
    text: 'control.health.rest is above control.health.longest_rest, which is then how long every rest is',
  },
  {
    holds: ({ control }) => control.health.answerMarginMs >= control.leastDeadlineMs,
    text:
      'control.health.answer_margin is not below control.least_deadline: clients with a short deadline hear of a 503 ' +
      'at once, and no engine is waited for',
  },
  {
    holds: ({ control, repeatBytes }) => control.unavailable === 'wait' && repeatBytes === 0,
    text:
      'repeat_bytes is 0B while control.unavailable is wait: no request is kept, so a 503 goes to the client at once; ' +
      'use 256MiB',
  },
];

function plain(url: string): boolean {
  return url.startsWith('http:') && !/^http:\/\/(?:localhost|127\.|\[::1\])/.test(url);
}
