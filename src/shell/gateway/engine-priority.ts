/** Tells an engine that goes by priority what the line knows: how urgent the call of a request is. */

import { unreachable } from '../../core/assert.js';
import type { Tier } from '../../core/control/tiers.js';
import type { Standing } from '../../core/control/verdict.js';
import { skim } from './skim.js';

/** What of a request says it. */
export interface Sent {
  /** Names and values, flat. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** Where an engine is told: nowhere, in vLLM's header, or in the field `priority` of the body. */
export const PRIORITY_PLACES = ['off', 'header', 'body'] as const;
export type PriorityPlace = (typeof PRIORITY_PLACES)[number];

const FIELD = 'priority';
/** vLLM 0.30 reads it, and takes it before the field of the body. */
const HEADER = 'x-vllm-priority';
const WHOLE = /^[+-]?\d{1,9}$/;
const WANTED = new Set([FIELD]);

/** Smaller is sooner; an engine takes a request without one for 0. */
const PRIORITIES: Readonly<Record<Tier, number>> = { pressing: 0, on_time: 1, late: 2, hopeless: 3 };

/** The priority of a call that starts: its tier's, or the tier that its deadlines say where it was in none. */
export function priorityOf({ tier, late, deadlineInMs, giveUpInMs }: Standing): number {
  if (tier !== undefined) return PRIORITIES[tier];
  if (!late && deadlineInMs > 0) return PRIORITIES.on_time;
  return giveUpInMs > 0 ? PRIORITIES.late : PRIORITIES.hopeless;
}

/**
 * The request with `priority` in that place. A client that asks for a later one itself, in either place, has it; for a
 * sooner one it has not. A body that is no JSON object stays as it is.
 */
export function prioritised(request: Sent, place: PriorityPlace, priority: number): Sent {
  if (place === 'off') return request;
  const { headers, own: inHeader } = withoutHeader(request.headers);
  const inBody = ownIn(request.body);
  const most = Math.max(priority, inHeader ?? inBody ?? priority);
  switch (place) {
    case 'header':
      return { headers: [...headers, HEADER, String(most)], body: request.body };
    case 'body':
      return { headers, body: most === inBody ? request.body : withMember(request.body, most) };
    default:
      return unreachable(place);
  }
}

function withoutHeader(flat: readonly string[]): { headers: string[]; own: number | undefined } {
  const headers: string[] = [];
  let own: number | undefined;
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const [name, value] = [flat[at] as string, flat[at + 1] as string];
    if (name.toLowerCase() !== HEADER) headers.push(name, value);
    else if (WHOLE.test(value)) own = Number(value);
  }
  return { headers, own };
}

/** The client's own, where it is a whole number. */
function ownIn(body: Buffer): number | undefined {
  if (!body.includes(`"${FIELD}"`)) return undefined;
  const value = skim(body, WANTED).members.get(FIELD);
  return value !== undefined && WHOLE.test(value) ? Number(value) : undefined;
}

/** The JSON object with the member at its end, where it counts before one of the same name. */
function withMember(body: Buffer, priority: number): Buffer {
  const text = /^\s*\{(\s*)/.exec(body.toString('latin1', 0, 64));
  const end = body.lastIndexOf('}');
  if (text === null || end < 0 || body.toString('latin1', end + 1).trim() !== '') return body;
  const empty = text[0].length === end;
  const member = Buffer.from(`${empty ? '' : ','}"${FIELD}":${priority}`);
  return Buffer.concat([body.subarray(0, end), member, body.subarray(end)]);
}
