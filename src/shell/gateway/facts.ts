/** Turns one request whose body has been read into what the control needs to know about it. */

import type { IncomingMessage } from 'node:http';
import type { AttemptFacts } from '../../core/control/event.js';
import type { GatewayConfig } from './config.js';
import { deadlinesOf } from './deadline-headers.js';
import { type Asked, fingerprint, VERSION_HEADERS, veil } from './fingerprint.js';
import { textOf, valuesOf } from './headers.js';
import { identityOf } from './identity.js';
import type { ReadBody } from './request-body.js';
import type { Route } from './routes.js';
import { type Skimmed, skim } from './skim.js';
import { toldOf } from './tenant-settings.js';

const LONGEST_MODEL = 256;
/** One character more than the longest name: whatever is cut names none. */
const LONGEST_CLASS = 65;
/** Some thousand tokens: less is computed anew before it is missed. */
const PREFIX_BYTES = 4_096;
/** Of a body that was unpacked it says nothing any more. */
const PACKING = 'content-encoding';

const NO_STORE = /(?:^|,)\s*no-store\s*(?:,|$)/i;

/** What a body is read for. */
const SAID = new Set(['model', 'stream', 'store', 'background', 'previous_response_id', 'conversation']);

/** What facts are read with: the settings, the wall clock, the veil's secret. */
export interface FactsParts {
  readonly config: GatewayConfig;
  /** Milliseconds since 1970. */
  readonly wallClock: () => number;
  readonly secret: string;
  /** Milliseconds of the gateway's clock a millisecond of the client's. */
  readonly scale: number;
}

/** The facts of a request of a recognised route. */
export function factsOf(
  request: IncomingMessage,
  route: Route,
  { bytes: body, packed }: ReadBody,
  { config, wallClock, secret, scale }: FactsParts,
): AttemptFacts {
  const print = fingerprint({
    method: request.method ?? '',
    target: request.url ?? '',
    versions: versionsOf(request, packed),
    body,
  });
  const scaled = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms * scale);
  const deadlines = deadlinesOf(request, config.deadlineHeader, wallClock());
  return {
    ...identityOf(request, config, secret),
    ...saidInBody(print.members === undefined ? skim(body, SAID) : { members: print.members, whole: true }),
    ...toldOf(request, config.tenants),
    class: classIn(request, config.classHeaders),
    route: route.path,
    fingerprint: print.hash,
    bodyBytes: body.length,
    prefix: config.control.affinity === 'prefix' ? prefixOf(body, secret) : undefined,
    noStore: NO_STORE.test(textOf(request, 'cache-control') ?? ''),
    cancelOnLeave: textOf(request, 'x-holdfast-cancel-on-leave')?.toLowerCase() === 'true',
    explicitDeadlineMs: scaled(deadlines.explicitMs),
    announcedDeadlineMs: scaled(deadlines.announcedMs),
  };
}

/** The class that a request asks for, in the first of these headers that it has. */
function classIn(request: IncomingMessage, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = textOf(request, name);
    if (value !== undefined) return value.slice(0, LONGEST_CLASS).toLowerCase();
  }
  return undefined;
}

/** What stands for the beginning of a long body, which is where a prompt that others share begins too. */
function prefixOf(body: Buffer, secret: string): string | undefined {
  if (body.length < PREFIX_BYTES) return undefined;
  return veil(secret, 'prefix', body.toString('latin1', 0, PREFIX_BYTES));
}

function versionsOf(request: IncomingMessage, packed: boolean): Asked['versions'] {
  const versions: Record<string, readonly string[]> = {};
  for (const name of VERSION_HEADERS) {
    if (name !== PACKING || packed) versions[name] = valuesOf(request, name);
  }
  return versions;
}

/** Of a body that was not looked at whole, the rest might say that it has state. */
function saidInBody({ members, whole }: Skimmed): Pick<AttemptFacts, 'model' | 'stream' | 'stateful'> {
  const model = members.get('model') ?? '';
  const set = (name: string): boolean => (members.get(name) ?? 'null') !== 'null';
  return {
    model: model.startsWith('"') ? (JSON.parse(model) as string).slice(0, LONGEST_MODEL) : '',
    stream: members.get('stream') === 'true',
    stateful:
      !whole ||
      members.get('store') === 'true' ||
      members.get('background') === 'true' ||
      set('previous_response_id') ||
      set('conversation'),
  };
}
