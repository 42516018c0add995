/** What the meter says of each engine, by its configured name: a closed set, known from the start. */

import type { EngineGauges } from '../../core/control/fleet.js';
import type { Verdict } from '../../core/control/verdict.js';
import type { Failure } from '../../core/control/words.js';
import { type Family, sample, scalar } from '../../core/meter/exposition.js';
import type { KeptRequests } from './kept-requests.js';
import { HELP } from './metric-names.js';

/** What can make an engine rest. */
const CAUSES: readonly Failure[] = ['refused', 'unavailable', 'reset', 'truncated', 'malformed'];

type Name = keyof typeof HELP & `holdfast_engine_${string}`;

/** Counts what made engines rest, and writes it down beside what the control tells of them. */
export class EngineMetrics {
  readonly #rests = new Map<string, number>();

  rested({ engine, failure }: Extract<Verdict, { kind: 'rest' }>): void {
    const key = `${engine}\n${failure}`;
    this.#rests.set(key, (this.#rests.get(key) ?? 0) + 1);
  }

  families(engines: readonly EngineGauges[]): Family[] {
    const each = (name: Name, type: 'gauge' | 'counter', of: (engine: EngineGauges) => number): Family => {
      const samples = engines.map((engine) => sample(name, of(engine), { engine: engine.name }));
      return { name, type, help: HELP[name], samples: samples.filter(({ value }) => Number.isFinite(value)) };
    };
    const name = 'holdfast_engine_rests_total';
    const rests = engines.flatMap(({ name: engine }) =>
      CAUSES.map((failure) =>
        sample(name, this.#rests.get(`${engine}\n${failure}`) ?? 0, { engine, failure }),
      ),
    );
    return [
      each('holdfast_engine_running_executions', 'gauge', ({ runningExecutions }) => runningExecutions),
      each('holdfast_engine_room', 'gauge', ({ room }) => room),
      each('holdfast_engine_gauges_trusted', 'gauge', ({ trust }) =>
        trust === undefined ? Number.NaN : Number(trust === 'trusted'),
      ),
      each('holdfast_engine_away', 'gauge', ({ away }) => Number(away)),
      each('holdfast_engine_probes_total', 'counter', ({ probes }) => probes),
      { name, type: 'counter', help: HELP[name], samples: rests },
    ];
  }
}

/** What the requests that may have to be sent again cost. */
export function keptFamilies({ bytes, notKept }: KeptRequests): Family[] {
  return [
    scalar(
      'holdfast_requests_kept_bytes',
      'gauge',
      'Requests kept until their engine has answered, in case they have to be sent again, in bytes.',
      bytes,
    ),
    scalar(
      'holdfast_requests_not_kept_total',
      'counter',
      'Requests that were not kept, since the bound was met; a 503 to one of them goes to its client.',
      notKept,
    ),
  ];
}
