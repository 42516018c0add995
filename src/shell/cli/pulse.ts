/** `holdfast pulse`: how long an overload has to be to leave a backlog, and the stages of a plan around it. */

import { type Pulse, type PulseQuestion, pulseOf } from '../../core/drill/pulse.js';
import { EXIT, type ExitCode, UserError } from '../shared/errors.js';
import { type Command, HELP_FLAG } from './command.js';
import { type Flags, type Given, readFlags } from './flags.js';
import { positive } from './numbers.js';
import { columns } from './trial-text.js';

const FLAGS = {
  capacity: { value: 'N', help: 'Ĉ in calls per second (1: read calls as seconds of work)' },
  deadline: { value: 'S', help: 'how long a client waits on one attempt, seconds (120)' },
  attempts: { value: 'N', help: 'attempts of one call, the first included (4)' },
  load: { value: 'N', help: 'load before and after the pulse, a multiple of Ĉ (0.6)' },
  height: { value: 'N', help: 'height of the pulse, a multiple of Ĉ (2.7)' },
  service: { value: 'S', help: 'seconds that a full engine works on one call (0)' },
  backlog: { value: 'N', help: 'the backlog that the pulse shall leave, in deadlines (1.5)' },
  seconds: { value: 'S', help: 'how long the pulse is, instead of --backlog' },
  json: { help: 'print JSON instead of a table' },
  ...HELP_FLAG,
} as const satisfies Flags;

export const PULSE: Command = {
  name: 'pulse',
  summary:
    'Says how long a pulse leaves so many deadlines of backlog, and whether a retry loop can live on it',
  usage: 'holdfast pulse [--capacity N] [--deadline S] [--load N] [--height N] [--backlog N | --seconds S]',
  flags: FLAGS,
  notes: `A fluid model: (height - 1) seconds of work are left by each second of the pulse. Prints the stages of a plan
to paste. Ends with 0, with 2 when a flag does not fit.

Example:
  holdfast pulse --capacity 2.78 --deadline 120 --load 0.6 --height 2.7 --backlog 1.5
`,
  run: (args, world): Promise<ExitCode> => {
    const given = readFlags('pulse', FLAGS, args);
    const question = questionOf(given);
    const pulse = answered(question);
    const json = given.json !== undefined;
    const told = { ...question, ...pulse, stages: stagesOf(question, pulse) };
    world.out(json ? `${JSON.stringify(told, null, 2)}\n` : pulseText(question, pulse));
    return Promise.resolve(EXIT.ok);
  },
};

function questionOf(given: Given<typeof FLAGS>): PulseQuestion {
  if (given.backlog !== undefined && given.seconds !== undefined) {
    throw new UserError('bad_usage', 'pulse takes one of --backlog and --seconds');
  }
  const number = (flag: keyof typeof FLAGS, otherwise: number): number => {
    const text = given[flag]?.[0];
    return text === undefined || (flag === 'service' && text === '0') ? otherwise : positive(text, flag);
  };
  return {
    capacity: number('capacity', 1),
    deadlineSeconds: number('deadline', 120),
    attempts: number('attempts', 4),
    load: number('load', 0.6),
    height: number('height', 2.7),
    serviceSeconds: number('service', 0),
    pulse:
      given.seconds === undefined
        ? { backlogDeadlines: number('backlog', 1.5) }
        : { seconds: number('seconds', 0) },
  };
}

function answered(question: PulseQuestion): Pulse {
  try {
    return pulseOf(question);
  } catch (cause) {
    if (cause instanceof RangeError) throw new UserError('bad_usage', `--${cause.message}`, { cause });
    throw cause;
  }
}

/** The stages around the pulse, as a plan file has them. */
function stagesOf({ load, height }: PulseQuestion, pulse: Pulse): readonly object[] {
  return [
    { name: 'base', rate: { capacity: load }, seconds: pulse.baseSeconds },
    { name: 'pulse', rate: { capacity: height }, seconds: Number(pulse.seconds.toFixed(1)) },
    { name: 'hold', rate: { capacity: load }, seconds: pulse.holdSeconds },
  ];
}

function pulseText(question: PulseQuestion, pulse: Pulse): string {
  const { height, load, attempts } = question;
  const rows: (readonly string[])[] = [
    ['pulse', `${pulse.seconds.toFixed(1)} s at ${height} Ĉ`],
    [
      'backlog',
      `${pulse.backlogSeconds.toFixed(0)} s of work, ${pulse.backlogDeadlines.toFixed(2)} deadlines, ${pulse.backlogCalls.toFixed(0)} calls`,
    ],
    ['gone after', `${pulse.drainSeconds.toFixed(0)} s at ${load} Ĉ, if nobody asks again`],
    ['harmless', `up to ${pulse.harmlessSeconds.toFixed(1)} s at this height: nobody times out`],
  ];
  return `${columns(rows, 2)}\n${loopText(pulse, attempts)}\n${planText(stagesOf(question, pulse))}`;
}

function loopText(pulse: Pulse, attempts: number): string {
  const gain = `load × ${attempts} attempts = ${pulse.loopGain.toFixed(2)} Ĉ`;
  const start = pulse.startsLoop
    ? 'The loop can start: calls that come as the pulse ends time out.'
    : 'The loop cannot start: the backlog is within the deadline.';
  const sustain = pulse.sustainsLoop
    ? `Once started it feeds itself: ${gain} is above 1.`
    : `It cannot feed itself: ${gain} is not above 1.`;
  const more = pulse.retriesInPulse
    ? 'Retries come in while the pulse still runs: the backlog will be larger than told.\n'
    : '';
  return `${start} ${sustain}\n${more}`;
}

function planText(stages: readonly object[]): string {
  const lines = stages.map(
    (stage) =>
      `  - ${JSON.stringify(stage)
        .replaceAll('"', '')
        .replaceAll(/([:,{])/g, '$1 ')
        .replaceAll('}', ' }')}\n`,
  );
  return `stages:\n${lines.join('')}`;
}
