/** The settings of the side that clients connect to: how much of them is held, and for how long. */

import { countOr, duration, number, size, sizeOr } from '../shared/settings/kinds.js';
import { setting, type Values } from '../shared/settings/table.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const HOUR = 3_600_000;

export const INBOUND = {
  connections: setting(number({ least: 1, most: 1_000_000, whole: true }), {
    default: 16_384,
    changes: 'live',
    about: 'client connections at once; at the bound a new one is closed at once and counted',
  }),
  pipelined: setting(number({ least: 1, most: 10_000, whole: true }), {
    default: 64,
    changes: 'live',
    about:
      'requests of one connection that have no whole answer yet, those included that follow without waiting; at the bound the next one ends the connection, and is counted',
  }),
  bodyBytes: setting(size({ least: 1, most: 1024 * KIB * MIB, whole: true }), {
    default: 512 * MIB,
    changes: 'live',
    about:
      'all request bodies that are still being read; at the bound the request whose bytes come next is refused with 429',
  }),
  tenantAttempts: setting(countOr(['off'] as const, { least: 1, most: 1_000_000, whole: true }), {
    default: 'off',
    changes: 'live',
    about:
      'requests of calls of one tenant that wait for their answer at once; at the bound another one is refused with 429',
  }),
  tenantBytes: setting(sizeOr('off', { least: 1, most: 1024 * KIB * MIB, whole: true }), {
    default: 'off',
    changes: 'live',
    about:
      'request bodies of one tenant that are being read or wait in line; at the bound the request whose bytes come next is refused with 429',
  }),
  headerBytes: setting(size({ least: KIB, most: MIB, whole: true }), {
    default: 64 * KIB,
    changes: 'restart',
    about: 'the headers of one request; longer ones are answered with 431',
  }),
  headerFields: setting(number({ least: 8, most: 10_000, whole: true }), {
    default: 256,
    changes: 'live',
    about: 'header fields of one request; more are answered with 431, none is dropped',
  }),
  headersMs: setting(duration({ least: 1, most: HOUR }), {
    default: 60_000,
    changes: 'restart',
    about:
      'longest time for the headers of a request, and for the first one on a new connection; at the bound it is closed',
  }),
  bodyMs: setting(duration({ least: 1, most: 24 * HOUR }), {
    default: 300_000,
    changes: 'restart',
    about: 'longest time for the body of a request; at the bound it is answered with 400 and closed',
  }),
  bodyIdleMs: setting(duration({ least: 1, most: 24 * HOUR }), {
    default: 60_000,
    changes: 'live',
    about:
      'longest silence inside the body of a call; at the bound it is answered with 400 and the connection closed',
  }),
  keepAliveMs: setting(duration({ least: 1, most: HOUR }), {
    default: 75_000,
    changes: 'restart',
    about:
      'how long an idle connection is kept after an answer; longer than the load balancer in front keeps its own, so that theirs ends a connection and never ours',
  }),
};
export interface InboundSettings extends Values<typeof INBOUND> {}
