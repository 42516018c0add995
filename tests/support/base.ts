/** Whether a gateway that has been through something holds what it held before: sockets, table entries, memory. */

import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { readExposition } from '../../src/core/meter/exposition.js';
import type { Metrics } from '../../src/shell/gateway/metrics.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Growth of the heap that is no leak: caches of the runtime, code that is compiled late. */
const HEAP_SLACK_BYTES = 8 * 1024 * 1024;
const LIMIT_MS = 20_000;
const STEP_MS = 25;

/** What must be back where it was; calls that are only remembered for a while are told apart by their own gauges. */
const GAUGES = [
  'holdfast_attempts_open',
  'holdfast_running_executions',
  'holdfast_line_entries',
  'holdfast_line_bytes',
  'holdfast_orphans',
  'holdfast_replay_bytes',
  'holdfast_retained_bytes',
  'holdfast_connections_open',
  'holdfast_request_body_bytes',
] as const;

export interface Base {
  readonly resources: Readonly<Record<string, number>>;
  readonly gauges: Readonly<Record<string, number>>;
  readonly heapBytes: number;
}

/** A reading of this process and of the gateway in it. */
export function baseOf(metrics: Pick<Metrics, 'text'>): Base {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return { resources: resources(), gauges: gauges(metrics), heapBytes: heapUsed + external };
}

/** Resolves once nothing is above `base`; an error says what still is after a while. */
export async function backAt(base: Base, metrics: Pick<Metrics, 'text'>): Promise<Base> {
  const until = Date.now() + LIMIT_MS;
  for (;;) {
    const over = excess(base, { resources: resources(), gauges: gauges(metrics), heapBytes: 0 });
    if (over.length === 0) {
      const now = baseOf(metrics);
      const grown = excess(base, now);
      if (grown.length === 0) return now;
      over.push(...grown);
    }
    if (Date.now() > until) throw new Error(`not back at its base: ${over.join('; ')}`);
    await delay(STEP_MS);
  }
}

/** Timers are many and short, and pipes are the process's own. */
const NOT_HELD = new Set(['Timeout', 'Immediate', 'PipeWrap', 'TTYWrap']);

/** Sockets, servers and pending operations. */
function resources(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) {
    if (!NOT_HELD.has(name)) counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

function gauges(metrics: Pick<Metrics, 'text'>): Record<string, number> {
  const values: Record<string, number> = {};
  for (const { name, samples } of readExposition(metrics.text())) {
    if (GAUGES.some((each) => each === name)) values[name] = samples[0]?.value ?? 0;
  }
  return values;
}

function excess(base: Base, now: Base): string[] {
  const over: string[] = [];
  for (const kind of ['resources', 'gauges'] as const) {
    for (const [name, value] of Object.entries(now[kind])) {
      const before = base[kind][name] ?? 0;
      if (value > before) over.push(`${name} ${value}, was ${before}`);
    }
  }
  if (now.heapBytes > base.heapBytes + HEAP_SLACK_BYTES)
    over.push(`heap ${now.heapBytes} bytes, was ${base.heapBytes}`);
  return over;
}
