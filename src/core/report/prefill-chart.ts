/** Where prefill went, and how much of it the engine's own prompt counter saw. */

import type { Sample } from '../drill/record.js';
import type { RunRecord } from '../drill/run.js';
import { type Bar, barsOf } from './bars.js';
import { missingPicture, type Picture, type Table } from './picture.js';
import { PREFILL_ENDS, PREFILL_WORDS, type Prefill, type PrefillEnd, prefillOf } from './prefill.js';
import type { Ink } from './style.js';
import { grouped, percent, tokens } from './words.js';

const WIDTH = 560;
const NAME_WIDTH = 132;

export const END_INKS: Readonly<Record<PrefillEnd, Ink>> = {
  onTime: 'onTime',
  late: 'late',
  nobody: 'refused',
  aborted: 'abandoned',
  inFlight: 'broken',
  open: 'open',
};

export function prefillPicture(record: RunRecord): Picture {
  const prefill = prefillOf(record);
  if (prefill !== undefined && prefill.computed > 0) return ofExecutions(prefill);
  return ofCounters(record.samples);
}

function ofExecutions(prefill: Prefill): Picture {
  const { computed, ends, hidden } = prefill;
  const bars: readonly Bar[] = [
    {
      name: 'computed for',
      about: `${tokens(computed)} tokens`,
      parts: PREFILL_ENDS.map((end) => ({ ink: END_INKS[end], share: ends[end] / computed })),
    },
    {
      name: 'prompt counter',
      about: `missed ${percent(hidden / computed)}`,
      parts: [
        { ink: 'line', share: 1 - hidden / computed },
        { ink: 'engine', share: hidden / computed },
      ],
    },
  ];
  const endWords = Object.fromEntries(PREFILL_ENDS.map((end) => [END_INKS[end], PREFILL_WORDS[end]]));
  const words = { ...endWords, line: 'counted', engine: 'never counted' };
  return {
    id: 'prefill',
    title: titleOf(prefill),
    description: `Two bars over all computed prompt tokens: what became of the executions they were computed for, and what the engine’s prompt counter saw of them. ${PREFILL_ENDS.map((end) => `${percent(ends[end] / computed)} ${PREFILL_WORDS[end]}`).join(', ')}. ${percent(hidden / computed)} never counted.`,
    width: WIDTH,
    ...barsOf({
      width: WIDTH,
      bars,
      words,
      unit: 'per cent of computed prompt tokens',
      nameWidth: NAME_WIDTH,
      endWidth: 0,
    }),
    notes: [
      'Computed for: the execution’s end. The prompt counter takes in a prompt with its execution’s first token, so what is aborted before is never counted.',
    ],
    table: tableOf(prefill),
  };
}

function titleOf({ computed, ends, hidden }: Prefill): string {
  const lost = (ends.nobody + ends.aborted + ends.inFlight) / computed;
  if (lost === 0) return 'All prefill was computed for answers that were delivered';
  const missed = hidden > 0 ? `, and the engine’s prompt counter missed ${percent(hidden / computed)}` : '';
  return `${percent(lost)} of the prefill was computed for nobody${missed}`;
}

function tableOf({ computed, ends, hidden }: Prefill): Table {
  const row = (name: string, value: number): readonly string[] => [
    name,
    grouped(value),
    percent(value / computed),
  ];
  return {
    head: ['computed prompt tokens', 'tokens', 'share'],
    rows: [
      ...PREFILL_ENDS.map((end) => row(PREFILL_WORDS[end], ends[end])),
      row('in all', computed),
      row('never in the prompt counter', hidden),
    ],
  };
}

/** What the engine's own two counters tell where it tells of no execution. */
function ofCounters(samples: readonly Sample[]): Picture {
  const id = 'prefill';
  const admitted = riseOf(samples, 'prefixCacheQueries');
  const counted = riseOf(samples, 'promptTokens');
  const why =
    'Where prefill went is not known: the engine tells of no execution. vLLM tells of each in a scheduler trace, the twin with its trace file.';
  if (admitted === undefined || counted === undefined || admitted <= 0) {
    return missingPicture(
      {
        id,
        title: 'Where prefill went is not known: the engine did not tell',
        notes: [why, 'Its prompt and admission counters could not be read either.'],
        table: undefined,
      },
      WIDTH,
      170,
    );
  }
  const share = Math.min(1, counted / admitted);
  const bars: readonly Bar[] = [
    {
      name: 'admitted',
      about: `${tokens(admitted)} tokens`,
      parts: [
        { ink: 'onTime', share },
        { ink: 'abandoned', share: 1 - share },
      ],
    },
  ];
  const words = { onTime: 'in the prompt counter too', abandoned: 'admitted, never counted' };
  return {
    id,
    title: `The prompt counter saw ${percent(share)} of the prompt tokens that were admitted`,
    description: `One bar over the prompt tokens that the engine admitted: ${percent(share)} are in its prompt counter as well.`,
    width: WIDTH,
    ...barsOf({
      width: WIDTH,
      bars,
      words,
      unit: 'per cent of admitted prompt tokens',
      nameWidth: NAME_WIDTH,
      endWidth: 0,
    }),
    notes: [why],
    table: {
      head: ['counter', 'rose by, tokens'],
      rows: [
        ['admission (prefix cache queries)', grouped(admitted)],
        ['prompt tokens', grouped(counted)],
      ],
    },
  };
}

/** From the first reading to the last. */
function riseOf(
  samples: readonly Sample[],
  field: 'prefixCacheQueries' | 'promptTokens',
): number | undefined {
  const read = samples.flatMap((sample) => sample[field] ?? []);
  const [first, last] = [read[0], read.at(-1)];
  return first === undefined || last === undefined || read.length < 2 ? undefined : last - first;
}
