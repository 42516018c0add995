/** How long a pulse has to be to leave a backlog of so many deadlines, and whether a retry loop can live on it. */

export interface PulseQuestion {
  /** Ĉ, calls per second. */
  readonly capacity: number;
  /** How long a client waits on one attempt. */
  readonly deadlineSeconds: number;
  /** Attempts of one call, the first included. */
  readonly attempts: number;
  /** Load before and after the pulse, a multiple of Ĉ below 1. */
  readonly load: number;
  /** Height of the pulse, a multiple of Ĉ above 1. */
  readonly height: number;
  /** Seconds that the engine works on one call when it is full. */
  readonly serviceSeconds: number;
  /** Either how long the pulse is, or the backlog it shall leave, in deadlines. */
  readonly pulse: { readonly seconds: number } | { readonly backlogDeadlines: number };
}

export interface Pulse {
  readonly seconds: number;
  /** Work that waits when the pulse ends: seconds of a full engine, deadlines, and calls. */
  readonly backlogSeconds: number;
  readonly backlogDeadlines: number;
  readonly backlogCalls: number;
  /** Pulses no longer than this make no call of a patient queue late. */
  readonly harmlessSeconds: number;
  /** From the end of the pulse until the backlog is gone, if nobody asks again. */
  readonly drainSeconds: number;
  /** Executions per second over Ĉ while every attempt times out. */
  readonly loopGain: number;
  /** Calls time out at all. */
  readonly startsLoop: boolean;
  /** Once every attempt times out, the attempts alone keep the engine full. */
  readonly sustainsLoop: boolean;
  /** Retries come in while the pulse still runs, so that the backlog is larger than told. */
  readonly retriesInPulse: boolean;
  /** Of a plan around this pulse: one deadline before it, and after it the time in which waits must be back. */
  readonly baseSeconds: number;
  readonly holdSeconds: number;
}

/** Waits are to be back at their base within this many drain times and one deadline. */
const DRAIN_MARGIN = 1.25;
const WHOLE_MINUTE = 60;

/**
 * A fluid model: calls arrive at `height` × Ĉ and leave at Ĉ, so that in T seconds (height − 1) × T seconds of work are
 * left over, whatever Ĉ is; in calls that times Ĉ. At a load below 1 the engine has 1 − load of itself to spare, and
 * needs backlog ÷ (1 − load) to be rid of it.
 *
 * A call that arrives as the pulse ends waits the whole backlog and is then worked on; it times out when backlog +
 * service exceed the deadline. That starts the loop. From then on each call makes `attempts` executions, and arriving
 * work is load × attempts of what the engine can do: above 1 the loop feeds itself, at or below 1 it dies out.
 *
 * Throws a `RangeError` for a question without a sense.
 */
export function pulseOf(question: PulseQuestion): Pulse {
  check(question);
  const { capacity, deadlineSeconds, attempts, load, height, serviceSeconds, pulse } = question;
  const growth = height - 1;
  const seconds = 'seconds' in pulse ? pulse.seconds : (pulse.backlogDeadlines * deadlineSeconds) / growth;
  const backlogSeconds = growth * seconds;
  const patience = Math.max(0, deadlineSeconds - serviceSeconds);
  const drainSeconds = backlogSeconds / (1 - load);
  const loopGain = load * attempts;
  const hold = DRAIN_MARGIN * drainSeconds + deadlineSeconds;
  return {
    seconds,
    backlogSeconds,
    backlogDeadlines: backlogSeconds / deadlineSeconds,
    backlogCalls: backlogSeconds * capacity,
    harmlessSeconds: patience / growth,
    drainSeconds,
    loopGain,
    startsLoop: backlogSeconds > patience,
    sustainsLoop: loopGain > 1,
    retriesInPulse: attempts > 1 && seconds > deadlineSeconds && backlogSeconds > patience,
    baseSeconds: Math.ceil(deadlineSeconds),
    holdSeconds: WHOLE_MINUTE * Math.ceil(hold / WHOLE_MINUTE),
  };
}

function check({
  capacity,
  deadlineSeconds,
  attempts,
  load,
  height,
  serviceSeconds,
  pulse,
}: PulseQuestion): void {
  const length = 'seconds' in pulse ? pulse.seconds : pulse.backlogDeadlines;
  const bounds: readonly [name: string, value: number, low: number, high: number][] = [
    ['capacity', capacity, 1e-4, 1e6],
    ['deadline', deadlineSeconds, 0.001, 1e6],
    ['attempts', attempts, 1, 1_000],
    ['load', load, 0, 0.999],
    ['height', height, 1.001, 1_000],
    ['service', serviceSeconds, 0, 1e6],
    ['seconds' in pulse ? 'seconds' : 'backlog', length, 0.001, 1e6],
  ];
  for (const [name, value, low, high] of bounds) {
    if (value >= low && value <= high) continue;
    throw new RangeError(`${name} must be a number from ${low} to ${high}, not ${value}`);
  }
}
