/** Whether a queue grew in one stage of even load: the trend of the waiting gauge, or of the time to first byte. */

/** What the engine's waiting gauge showed, from the stage's start; undefined where it could not be read. */
export interface GaugeReading {
  readonly atMs: number;
  readonly waiting: number | undefined;
}

/** What became of one call of a stage, milliseconds from the stage's start. */
export interface StageCall {
  readonly sentMs: number;
  /** Undefined: no byte came. */
  readonly firstByteMs: number | undefined;
  /** Undefined: it failed. */
  readonly finishedMs: number | undefined;
}

/** A stretch of load at one rate: its first part lets the engine settle, the rest is judged. */
export interface LoadStage {
  /** Calls per second. */
  readonly perSecond: number;
  readonly settleSeconds: number;
  /** Whole length, the settling included. */
  readonly seconds: number;
  /** Another seed, other lengths: a stage that is played again is another sample. */
  readonly seed: number;
}

/** What a stage showed, once every call of it had ended. */
export interface StageEvidence {
  readonly readings: readonly GaugeReading[];
  readonly calls: readonly StageCall[];
  /** How long calls were sent; less than asked where growth was plain. */
  readonly seconds: number;
  /** Why it proves nothing, found by whoever played it. */
  readonly trouble?: 'generator_behind' | 'did_not_drain' | 'stopped';
}

/** What is read for growth. */
export type Signal = 'waiting' | 'first-byte';

export interface Growth {
  /** Share of the arriving calls that the engine does not keep up with: how fast the queue grows over the rate. */
  readonly excess: number;
  /** Standard error of `excess`, from how far block means lie off the trend. */
  readonly error: number;
  /** From this `excess` on it counts: a queue that grows by fewer than three calls may be chance. */
  readonly threshold: number;
}

export type StageVerdict = 'grows' | 'steady' | 'unclear';

/** Calls by which a queue has to grow over the judged part; fewer come and go with the calls' sizes. */
export const GROWTH_CALLS = 3;
/** Blocks of the judged part whose means give the trend. */
const BLOCKS = 8;
/** A meter that is busy leaves some out. */
const LEAST_BLOCKS = 5;
/** Standard errors that growth has to stand off zero. */
const ERRORS = 2;

/** Judged seconds in which a queue that outgrows the engine by half of `grain` grows by {@link GROWTH_CALLS}. */
export function judgedSeconds(perSecond: number, grain: number): number {
  return (2 * GROWTH_CALLS) / (grain * perSecond);
}

/**
 * The growth of the queue behind `signal`; undefined where there is nothing to read. By Little's law waiting calls
 * over the rate are a delay in seconds, like the time to first byte, so that the slope of either is the excess.
 */
export function growthOf(
  stage: LoadStage,
  evidence: StageEvidence,
  signal: Signal,
  grain: number,
): Growth | undefined {
  const { perSecond, settleSeconds } = stage;
  const span = evidence.seconds - settleSeconds;
  if (span <= 0) return undefined;
  const means = blockMeans(delays(evidence, signal, perSecond), settleSeconds, span);
  if (means === undefined) return undefined;
  const threshold = Math.max(grain / 2, GROWTH_CALLS / (perSecond * span));
  return { ...slopeOf(means, span / BLOCKS), threshold };
}

/** `steady` asks for an error no greater than the grain: an absence that could not have been seen is none. */
export function verdictOf({ excess, error, threshold }: Growth, grain: number): StageVerdict {
  if (excess >= threshold) return excess >= ERRORS * error ? 'grows' : 'unclear';
  return error <= Math.max(grain, threshold) ? 'steady' : 'unclear';
}

/** Calls a second that finished in the judged part; undefined unless some call waited at every reading of it. */
export function servedWhenFull(stage: LoadStage, evidence: StageEvidence): number | undefined {
  const [from, to] = [1_000 * stage.settleSeconds, 1_000 * evidence.seconds];
  const within = (atMs: number): boolean => atMs >= from && atMs < to;
  const readings = evidence.readings.filter(({ atMs }) => within(atMs));
  if (readings.length === 0 || !readings.every(({ waiting }) => (waiting ?? 0) > 0)) return undefined;
  const finished = evidence.calls.filter(({ finishedMs }) => finishedMs !== undefined && within(finishedMs));
  return (finished.length * 1_000) / (to - from);
}

interface Point {
  readonly atSeconds: number;
  readonly delaySeconds: number;
}

function delays({ readings, calls }: StageEvidence, signal: Signal, perSecond: number): readonly Point[] {
  if (signal === 'waiting') {
    return readings.flatMap(({ atMs, waiting }) =>
      waiting === undefined ? [] : [{ atSeconds: atMs / 1_000, delaySeconds: waiting / perSecond }],
    );
  }
  return calls.flatMap(({ sentMs, firstByteMs }) =>
    firstByteMs === undefined
      ? []
      : [{ atSeconds: sentMs / 1_000, delaySeconds: (firstByteMs - sentMs) / 1_000 }],
  );
}

/** A block of the judged part: its place among all and its mean. */
interface Block {
  readonly at: number;
  readonly mean: number;
}

/** Means of equal blocks from `from` on; undefined when too many of them are empty for a trend. */
function blockMeans(points: readonly Point[], from: number, span: number): readonly Block[] | undefined {
  const sums = new Array<number>(BLOCKS).fill(0);
  const counts = new Array<number>(BLOCKS).fill(0);
  for (const { atSeconds, delaySeconds } of points) {
    const block = Math.floor(((atSeconds - from) * BLOCKS) / span);
    if (block < 0 || block >= BLOCKS) continue;
    sums[block] = (sums[block] as number) + delaySeconds;
    counts[block] = (counts[block] as number) + 1;
  }
  const blocks = sums.flatMap((sum, at) => {
    const count = counts[at] as number;
    return count === 0 ? [] : [{ at, mean: sum / count }];
  });
  return blocks.length >= LEAST_BLOCKS ? blocks : undefined;
}

/** Least squares through the means, neighbouring blocks `apart` seconds from one another. */
function slopeOf(blocks: readonly Block[], apart: number): { excess: number; error: number } {
  const count = blocks.length;
  const middle = blocks.reduce((sum, { at }) => sum + at, 0) / count;
  const mean = blocks.reduce((sum, block) => sum + block.mean, 0) / count;
  const spread = apart * apart * blocks.reduce((sum, { at }) => sum + (at - middle) ** 2, 0);
  const excess =
    blocks.reduce((sum, block) => sum + (block.at - middle) * apart * (block.mean - mean), 0) / spread;
  const off = blocks.reduce(
    (sum, block) => sum + (block.mean - mean - excess * apart * (block.at - middle)) ** 2,
    0,
  );
  return { excess, error: Math.sqrt(off / (count - 2) / spread) };
}
