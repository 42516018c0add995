/** Flags by which a command plays a recorded trace: the trace's calls with the plan's clients. */

import { type Plan, PUBLISHED_PLAN } from '../../core/drill/plan.js';
import { planOfTrace, type Trace } from '../../core/drill/trace.js';
import { readTraceFile } from '../probe/trace-file.js';
import { TRACE_FORMATS, type TraceFormat } from '../probe/trace-formats.js';
import { UserError } from '../shared/errors.js';
import { listed, nearest, shown } from '../shared/options.js';
import type { Flags, Given } from './flags.js';
import { positive, wholeNumber } from './numbers.js';

export const TRACE_FLAGS = {
  trace: {
    value: 'FILE',
    help: 'play this recorded trace instead of stages: Mooncake, Azure LLM or BurstGPT',
  },
  'trace-format': { value: 'NAME', help: 'mooncake, azure or burstgpt (recognised by the first line)' },
  'trace-speed': { value: 'N', help: 'seconds of the trace in one second of the run (1)' },
  'trace-limit': { value: 'N', help: 'only the first so many calls of the trace' },
  'trace-most-tokens': { value: 'N', help: 'leave out calls of more tokens, prompt and response together' },
} as const satisfies Flags;

const MOST = 10_000_000;

/** The plan that the flags ask for: `plan` with the trace's calls, `plan` where there is no trace. */
export function planAsked(given: Given<typeof TRACE_FLAGS>, plan: Plan | undefined): Plan | undefined {
  const file = given.trace?.[0];
  if (file === undefined) {
    const idle = (['trace-format', 'trace-speed', 'trace-limit', 'trace-most-tokens'] as const).find(
      (flag) => given[flag] !== undefined,
    );
    if (idle !== undefined) throw new UserError('bad_usage', `--${idle} needs a trace: --trace FILE`);
    return plan;
  }
  const count = (flag: 'trace-limit' | 'trace-most-tokens'): number | undefined =>
    given[flag] === undefined ? undefined : wholeNumber(given[flag][0] ?? '', flag, MOST);
  const speed = given['trace-speed']?.[0];
  const trace = readTraceFile({
    file,
    format: formatNamed(given['trace-format']?.[0]),
    speed: speed === undefined ? undefined : positive(speed, 'trace-speed'),
    limit: count('trace-limit'),
    mostTokens: count('trace-most-tokens'),
  });
  return planOfTrace(plan ?? { ...PUBLISHED_PLAN, name: 'trace' }, trace);
}

function formatNamed(name: string | undefined): TraceFormat | undefined {
  const format = TRACE_FORMATS.find((known) => known === name);
  if (name === undefined || format !== undefined) return format;
  const near = nearest(name, TRACE_FORMATS);
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  throw new UserError(
    'bad_usage',
    `--trace-format must be ${listed(TRACE_FORMATS)}, not ${shown(name)}${hint}`,
  );
}

/** What of the trace is played, for stderr. */
export function traceNote({ source, calls, leftOut }: Trace): string {
  const seconds = (calls.at(-1)?.atMs ?? 0) / 1_000;
  const left = [
    [leftOut.failed, 'without an answer'],
    [leftOut.retries, 'retries'],
    [leftOut.tooLong, 'too long'],
  ].flatMap(([count, why]) => (count === 0 ? [] : [`${count} ${why}`]));
  const note = left.length === 0 ? '' : `; left out: ${left.join(', ')}`;
  return `${source}: ${calls.length} calls in ${seconds.toFixed(0)} s${note}\n`;
}

/** A `UserError` when some call of the trace does not fit a model of `maxModelLen` tokens. */
export function checkLengths({ source, calls }: Trace, maxModelLen: number): void {
  const tooLong = calls.filter(
    ({ promptTokens, responseTokens }) => promptTokens + responseTokens > maxModelLen,
  );
  if (tooLong.length === 0) return;
  throw new UserError(
    'input_invalid',
    `${source} has ${tooLong.length} calls of more than ${maxModelLen} tokens, which the engine refuses; leave them out with --trace-most-tokens ${maxModelLen}, or raise --set engine.maxModelLen=N`,
  );
}
