/** What a request says about how long its client will wait. Clients send all sorts; anything odd says nothing. */

import type { IncomingMessage } from 'node:http';
import { textOf } from './headers.js';

const SECONDS = /^\d{1,9}(?:\.\d{1,9})?$/;
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

export interface Deadlines {
  /** Said in so many words; milliseconds from now. */
  readonly explicitMs?: number | undefined;
  /** The SDK's own timeout; milliseconds. */
  readonly announcedMs?: number | undefined;
}

/** Reads the deadline headers; `now` is the wall clock in milliseconds since 1970, `name` the explicit header. */
export function deadlinesOf(request: IncomingMessage, name: string, now: number): Deadlines {
  const moment = textOf(request, name);
  return {
    explicitMs: least([momentMs(moment, now), secondsMs(textOf(request, 'x-server-timeout'))]),
    announcedMs: least([
      secondsMs(textOf(request, 'x-stainless-timeout')),
      secondsMs(textOf(request, 'x-stainless-read-timeout')),
    ]),
  };
}

/** Seconds from now, or an absolute time, in milliseconds from now; a time that has passed is 0. */
export function momentMs(text: string | undefined, now: number): number | undefined {
  const seconds = secondsMs(text);
  if (seconds !== undefined || text === undefined || !RFC_3339.test(text)) return seconds;
  const at = Date.parse(text.replace(' ', 'T'));
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

function secondsMs(text: string | undefined): number | undefined {
  return text !== undefined && SECONDS.test(text) ? Number(text) * 1_000 : undefined;
}

function least(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
