/** The settings of the control: one interface, one constant of defaults, checked once. */

/** The rooms that have a name; {@link RoomPolicy} says what each is. */
export const NAMED_ROOMS = ['auto', 'off', 'first-token', 'engine'] as const;

/**
 * How many executions an engine may hold at once: no limit, so many, or one more as long as few of those that it has
 * wait for their first byte (`first-token`) or wait in it by its own gauges (`engine`). `auto`: no limit until its
 * gauges were read for the first time, and `engine` from then on.
 */
export type RoomPolicy = (typeof NAMED_ROOMS)[number] | number;

export interface ControlOptions {
  /** `off`: every attempt makes its own execution; `adopt`: one to one; `identical`: concurrent equals share. */
  readonly coalesce: 'off' | 'adopt' | 'identical';
  readonly order: 'deadline' | 'oldest-first' | 'newest-first';
  /** Whether the line's service is shared among the tenants that wait, by weight, before the order is looked at. */
  readonly shares: 'off' | 'tenant';
  /** Classes of calls, the highest first; at most eight. Empty or one: no call goes before another for its class. */
  readonly classes: readonly string[];
  /** Of a call that asks for none of them. */
  readonly defaultClass: string;
  /** The highest that a tenant may have of whom nothing is said; as `defaultClass` when absent. */
  readonly maxClass?: string | undefined;
  /** Order `deadline`: how many times the time that late calls need is kept free for them. */
  readonly margin: number;
  /** Whether deadlines and numbers of attempts follow what clients are seen to do. */
  readonly learnDeadlines: boolean;
  /** Of an engine that says nothing else. */
  readonly room: RoomPolicy;
  /** Room `first-token`: streams that an engine may have before their first byte. */
  readonly roomWaiting: number;
  /** Room `first-token`: answers that an engine may make at once which come whole and show no first byte before. */
  readonly roomWhole: number;
  /** Room `engine` and `auto`: executions that may wait inside an engine. */
  readonly roomTarget: number;
  /** The engines, at least one. Names, models and their order are read once; `room` may change. */
  readonly engines: readonly EngineOptions[];
  /** Whether calls of one session, or with one long prefix, go to one engine while it has room. */
  readonly affinity: 'off' | 'session' | 'prefix';
  /** What becomes of a call to which its engine says 503: it waits for the engine, or hears of it at once. */
  readonly unavailable: 'wait' | 'pass';
  readonly health: HealthOptions;
  readonly budget: BudgetOptions;
  /** Whether retries are kept out of engines that are asked for more than Ĉ; without Ĉ it does nothing. */
  readonly guard: boolean;
  /** Measured capacity Ĉ in calls per second; absent when unknown. */
  readonly capacity?: number | undefined;
  /** How long an orphan is kept from cancellation: milliseconds, or at once, or for ever. */
  readonly grace: number | 'now' | 'never';
  /** Grace of an orphan that only proof could adopt and whose client will hardly bring any, milliseconds. */
  readonly graceAfterFirstByteMs: number;
  /** Whether grace follows the observed returns of each tenant, client and route. */
  readonly learnGrace: boolean;
  /** How far apart a disconnect and the attempt that it explains may be seen, milliseconds. */
  readonly lateMergeMs: number;
  /** How long an equal of an old live attempt is held back for that one's disconnect, milliseconds. */
  readonly lateMergeHoldMs: number;
  /** A connection that stands this long after the last byte has received the answer, milliseconds. */
  readonly deliveredAfterMs: number;
  /** How long an undelivered answer is kept, milliseconds: without and with a key. */
  readonly retainMs: number;
  readonly retainKeyedMs: number;
  /** How long a delivered answer may be replayed on proof, milliseconds. */
  readonly replayDeliveredMs: number;
  /** Assumed deadline of an attempt that says nothing, and the least one believed, milliseconds. */
  readonly defaultDeadlineMs: number;
  readonly leastDeadlineMs: number;
  readonly bounds: ControlBounds;
}

/** One engine. */
export interface EngineOptions {
  /** What verdicts and metrics call it. */
  readonly name: string;
  /** What it serves; absent: any model. */
  readonly models?: readonly string[] | undefined;
  /** Absent: as `room` says. */
  readonly room?: RoomPolicy | undefined;
}

/** How engines that fail are let be, and taken back; milliseconds. */
export interface HealthOptions {
  /** The first rest, which doubles with each further one in a row, and the longest. */
  readonly restMs: number;
  readonly longestRestMs: number;
  /** How long the share of an engine that is back grows. */
  readonly slowStartMs: number;
  /** So long before its client's deadline an attempt hears that no engine came back. */
  readonly answerMarginMs: number;
}

export interface BudgetOptions {
  /** `entitlement`: only work beyond a call's entitlement is charged; `strict`: every retry's execution is. */
  readonly mode: 'entitlement' | 'strict' | 'off';
  /** Executions granted per first attempt in the window. */
  readonly ratio: number;
  readonly windowMs: number;
  /** Grants a window that need no first attempts, for the whole gateway; 2 % of Ĉ instead when that is known. */
  readonly floor: number;
}

export interface ControlBounds {
  readonly lineEntries: number;
  readonly lineBytes: number;
  /** Longest wait in line of an attempt whose client stays connected, milliseconds. */
  readonly lineWaitMs: number;
  /** Replay buffer of one execution, of all live ones, of all retained answers, in bytes. */
  readonly replayBytes: number;
  readonly liveReplayBytes: number;
  readonly retainedBytes: number;
  /** Largest share of the retained bytes that one tenant may hold, (0, 1]. */
  readonly retainedTenantShare: number;
  readonly tenants: number;
  readonly learnedKeys: number;
  readonly listeners: number;
  /** Calls known at once, remembered ones included. */
  readonly calls: number;
}

const MIB = 1024 * 1024;

/** The defaults of `ControlOptions`; every duration in milliseconds. */
export const CONTROL_DEFAULTS: ControlOptions = {
  coalesce: 'adopt',
  order: 'deadline',
  shares: 'off',
  classes: ['interactive', 'standard', 'batch'],
  defaultClass: 'standard',
  margin: 1.5,
  learnDeadlines: true,
  room: 'auto',
  roomWaiting: 16,
  roomWhole: 80,
  roomTarget: 4,
  engines: [{ name: 'engine' }],
  affinity: 'off',
  unavailable: 'wait',
  health: { restMs: 500, longestRestMs: 10_000, slowStartMs: 30_000, answerMarginMs: 1_000 },
  budget: { mode: 'entitlement', ratio: 0.1, windowMs: 60_000, floor: 1 },
  guard: true,
  grace: 60_000,
  graceAfterFirstByteMs: 1_000,
  learnGrace: true,
  lateMergeMs: 1_000,
  lateMergeHoldMs: 100,
  deliveredAfterMs: 250,
  retainMs: 120_000,
  retainKeyedMs: 600_000,
  replayDeliveredMs: 5_000,
  defaultDeadlineMs: 60_000,
  leastDeadlineMs: 5_000,
  bounds: {
    lineEntries: 10_000,
    lineBytes: 512 * MIB,
    lineWaitMs: 600_000,
    replayBytes: 2 * MIB,
    liveReplayBytes: 512 * MIB,
    retainedBytes: 256 * MIB,
    retainedTenantShare: 0.5,
    tenants: 10_000,
    learnedKeys: 50_000,
    listeners: 16,
    calls: 50_000,
  },
};

/** What may be left out, at both levels. Engines are given whole. */
export type ControlSettings = Partial<Omit<ControlOptions, 'health' | 'budget' | 'bounds'>> & {
  readonly health?: Partial<HealthOptions>;
  readonly budget?: Partial<BudgetOptions>;
  readonly bounds?: Partial<ControlBounds>;
};

/** Settings that are read once; the others may change while the control runs. */
export const FIXED_SETTINGS = {
  control: ['coalesce', 'order', 'shares', 'classes', 'defaultClass', 'maxClass', 'deliveredAfterMs'],
  budget: ['windowMs'],
  bounds: ['tenants', 'learnedKeys'],
} as const satisfies {
  readonly control: readonly (keyof ControlOptions)[];
  readonly budget: readonly (keyof BudgetOptions)[];
  readonly bounds: readonly (keyof ControlBounds)[];
};

/** A copy that nobody else changes. */
export function ownOptions(options: ControlOptions): ControlOptions {
  return {
    ...options,
    engines: options.engines.map((engine) => withRoom(engine, options.engines)),
    health: { ...options.health },
    budget: { ...options.budget },
    bounds: { ...options.bounds },
  };
}

/** Takes over from `next` whatever may change while running: `own` is changed in place, its parts as well. */
export function takeOver(own: ControlOptions, next: ControlOptions): void {
  const { engines, health, budget, bounds, ...rest } = next;
  const resized = own.engines.map((engine) => withRoom(engine, engines));
  assign(own, { capacity: undefined, ...rest, engines: resized }, FIXED_SETTINGS.control);
  assign(own.health, health, []);
  assign(own.budget, budget, FIXED_SETTINGS.budget);
  assign(own.bounds, bounds, FIXED_SETTINGS.bounds);
}

function withRoom({ name, models }: EngineOptions, next: readonly EngineOptions[]): EngineOptions {
  const room = next.find((engine) => engine.name === name)?.room;
  return { name, ...(models === undefined ? {} : { models }), ...(room === undefined ? {} : { room }) };
}

function assign<T extends object>(own: T, next: Partial<T>, fixed: readonly (keyof T)[]): void {
  const kept = Object.fromEntries(fixed.map((name) => [name, own[name]]));
  Object.assign(own, next, kept);
}

/** What a number may be, both ends included. */
export interface Range {
  readonly least: number;
  readonly most: number;
  readonly whole?: boolean;
}

/** One range a setting that may be a number, none forgotten. */
type Ranges<T> = {
  readonly [K in keyof T as number extends T[K] ? K : never]-?: Range;
};

const HOUR = 3_600_000;
const upTo = (most: number): Range => ({ least: 0, most });
const count = (least: number, most: number): Range => ({ least, most, whole: true });
const BYTES = count(0, Number.MAX_SAFE_INTEGER);

/** The bounds of the settings, in their own units; words such as `off` apart. */
export const CONTROL_RANGES: Ranges<ControlOptions> = {
  room: count(1, 1_000_000),
  roomWaiting: count(1, 10_000),
  roomWhole: count(1, 1_000_000),
  roomTarget: count(1, 10_000),
  margin: { least: 1, most: 10 },
  capacity: { least: 1e-6, most: 1e6 },
  grace: upTo(HOUR),
  graceAfterFirstByteMs: upTo(HOUR),
  lateMergeMs: upTo(60_000),
  lateMergeHoldMs: upTo(5_000),
  deliveredAfterMs: upTo(10_000),
  retainMs: upTo(HOUR),
  retainKeyedMs: upTo(24 * HOUR),
  replayDeliveredMs: upTo(10 * 60_000),
  defaultDeadlineMs: { least: 1, most: 24 * HOUR },
  leastDeadlineMs: { least: 1, most: HOUR },
};

export const HEALTH_RANGES: Ranges<HealthOptions> = {
  restMs: { least: 1, most: 60_000 },
  longestRestMs: { least: 1, most: HOUR },
  slowStartMs: upTo(HOUR),
  answerMarginMs: upTo(60_000),
};

/** Engines of one gateway, models that one engine names, and characters of a name of either. */
export const ENGINES_RANGE: Range = count(1, 64);
export const MODELS_RANGE: Range = count(1, 1_024);
export const NAME_RANGE: Range = count(1, 256);
/** Classes of calls, and characters of the name of one. */
export const CLASSES_RANGE: Range = count(0, 8);
export const CLASS_NAME_RANGE: Range = count(1, 64);

export const BUDGET_RANGES: Ranges<BudgetOptions> = {
  ratio: upTo(10),
  windowMs: { least: 60, most: HOUR },
  floor: upTo(1_000_000),
};

export const BOUNDS_RANGES: Ranges<ControlBounds> = {
  lineEntries: count(0, 1_000_000),
  lineBytes: BYTES,
  lineWaitMs: { least: 1, most: 24 * HOUR },
  replayBytes: BYTES,
  liveReplayBytes: BYTES,
  retainedBytes: BYTES,
  retainedTenantShare: { least: Number.MIN_VALUE, most: 1 },
  tenants: count(1, 1_000_000),
  learnedKeys: count(1, 1_000_000),
  listeners: count(1, 10_000),
  calls: count(1, 10_000_000),
};

/** Fills in the defaults and checks every bound; throws a `RangeError` for the first that does not fit. */
export function controlOptions(settings: ControlSettings = {}): ControlOptions {
  const options: ControlOptions = {
    ...CONTROL_DEFAULTS,
    ...settings,
    health: { ...CONTROL_DEFAULTS.health, ...settings.health },
    budget: { ...CONTROL_DEFAULTS.budget, ...settings.budget },
    bounds: { ...CONTROL_DEFAULTS.bounds, ...settings.bounds },
  };
  check(options, CONTROL_RANGES);
  check(options.health, HEALTH_RANGES, 'health.');
  check(options.budget, BUDGET_RANGES, 'budget.');
  check(options.bounds, BOUNDS_RANGES, 'bounds.');
  checkEngines(options.engines);
  checkClassNames(options.classes);
  checkClass(options.classes, options.defaultClass, 'defaultClass');
  checkClass(options.classes, options.maxClass, 'maxClass');
  return options;
}

/** Classes are few, and each is named once; else throws a `RangeError`. */
export function checkClassNames(classes: readonly string[]): void {
  inRange(CLASSES_RANGE, classes.length, 'the number of classes');
  for (const [at, name] of classes.entries()) {
    inRange(CLASS_NAME_RANGE, name.length, `the length of classes[${at}]`);
    if (classes.indexOf(name) < at)
      throw new RangeError(`classes[${at}] must differ from the others, not ${name} again`);
  }
}

/** A class that an option names is one of `classes`, else throws a `RangeError`; where there are none it says nothing. */
export function checkClass(classes: readonly string[], name: string | undefined, what: string): void {
  if (name === undefined || classes.length === 0 || classes.includes(name)) return;
  throw new RangeError(`${what} must be one of the classes ${classes.join(', ')}, not ${name}`);
}

function checkEngines(engines: readonly EngineOptions[]): void {
  inRange(ENGINES_RANGE, engines.length, 'the number of engines');
  const names = new Set<string>();
  engines.forEach(({ name, models, room }, index) => {
    const at = `engines[${index}]`;
    inRange(NAME_RANGE, name.length, `the length of ${at}.name`);
    if (names.has(name)) throw new RangeError(`${at}.name must differ from the others, not ${name} again`);
    names.add(name);
    if (typeof room === 'number') inRange(CONTROL_RANGES.room, room, `${at}.room`);
    if (models === undefined) return;
    inRange(MODELS_RANGE, models.length, `the number of ${at}.models`);
    for (const model of models) inRange(NAME_RANGE, model.length, `the length of a model of ${at}`);
  });
}

/** Checks every number of `options`; a `RangeError` names the option, its bounds and the value. */
function check<T>(options: T, ranges: Ranges<T>, prefix = ''): void {
  for (const [name, range] of Object.entries<Range>(ranges)) {
    const value: unknown = options[name as keyof T];
    if (typeof value === 'number') inRange(range, value, prefix + name);
  }
}

function inRange({ least, most, whole = false }: Range, value: number, what: string): void {
  if (value >= least && value <= most && (!whole || Number.isInteger(value))) return;
  const kind = whole ? 'a whole number' : 'a number';
  throw new RangeError(`${what} must be ${kind} from ${least} to ${most}, not ${value}`);
}
