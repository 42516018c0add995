/** The settings of the control: one interface, one constant of defaults, checked once. */

export interface ControlOptions {
  /** `off`: every attempt makes its own execution; `adopt`: one to one; `identical`: concurrent equals share. */
  readonly coalesce: 'off' | 'adopt' | 'identical';
  readonly order: 'oldest-first' | 'newest-first';
  /** How many executions the engine may hold at once; `off`: no limit. */
  readonly room: 'off' | number;
  readonly budget: BudgetOptions;
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
  order: 'oldest-first',
  room: 'off',
  budget: { mode: 'entitlement', ratio: 0.1, windowMs: 60_000, floor: 1 },
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

/** What may be left out, at both levels. */
export type ControlSettings = Partial<Omit<ControlOptions, 'budget' | 'bounds'>> & {
  readonly budget?: Partial<BudgetOptions>;
  readonly bounds?: Partial<ControlBounds>;
};

const HOUR = 3_600_000;

/** Checks `value` against [low, high]; a `RangeError` names the option, its bounds and the value. */
function within(name: string, value: number, low: number, high: number, whole = false): void {
  const fits = value >= low && value <= high && (!whole || Number.isInteger(value));
  if (fits) return;
  const kind = whole ? 'a whole number' : 'a number';
  throw new RangeError(`${name} must be ${kind} from ${low} to ${high}, not ${value}`);
}

/** Fills in the defaults and checks every bound; throws a `RangeError` for the first that does not fit. */
export function controlOptions(settings: ControlSettings = {}): ControlOptions {
  const options: ControlOptions = {
    ...CONTROL_DEFAULTS,
    ...settings,
    budget: { ...CONTROL_DEFAULTS.budget, ...settings.budget },
    bounds: { ...CONTROL_DEFAULTS.bounds, ...settings.bounds },
  };
  checkTimes(options);
  checkBudget(options);
  checkBounds(options.bounds);
  return options;
}

function checkTimes(options: ControlOptions): void {
  if (typeof options.grace === 'number') within('grace', options.grace, 0, HOUR);
  if (typeof options.room === 'number') within('room', options.room, 1, 1_000_000, true);
  within('graceAfterFirstByteMs', options.graceAfterFirstByteMs, 0, HOUR);
  within('lateMergeMs', options.lateMergeMs, 0, 60_000);
  within('lateMergeHoldMs', options.lateMergeHoldMs, 0, 5_000);
  within('deliveredAfterMs', options.deliveredAfterMs, 0, 10_000);
  within('retainMs', options.retainMs, 0, HOUR);
  within('retainKeyedMs', options.retainKeyedMs, 0, 24 * HOUR);
  within('replayDeliveredMs', options.replayDeliveredMs, 0, 10 * 60_000);
  within('defaultDeadlineMs', options.defaultDeadlineMs, 1, 24 * HOUR);
  within('leastDeadlineMs', options.leastDeadlineMs, 1, HOUR);
}

function checkBudget({ budget, capacity }: ControlOptions): void {
  within('budget.ratio', budget.ratio, 0, 10);
  within('budget.windowMs', budget.windowMs, 60, HOUR);
  within('budget.floor', budget.floor, 0, 1_000_000);
  if (capacity !== undefined) within('capacity', capacity, 1e-6, 1e6);
}

function checkBounds(bounds: ControlBounds): void {
  const most = Number.MAX_SAFE_INTEGER;
  within('bounds.lineEntries', bounds.lineEntries, 0, 1_000_000, true);
  within('bounds.lineBytes', bounds.lineBytes, 0, most, true);
  within('bounds.lineWaitMs', bounds.lineWaitMs, 1, 24 * HOUR);
  within('bounds.replayBytes', bounds.replayBytes, 0, most, true);
  within('bounds.liveReplayBytes', bounds.liveReplayBytes, 0, most, true);
  within('bounds.retainedBytes', bounds.retainedBytes, 0, most, true);
  within('bounds.retainedTenantShare', bounds.retainedTenantShare, Number.MIN_VALUE, 1);
  within('bounds.tenants', bounds.tenants, 1, 1_000_000, true);
  within('bounds.learnedKeys', bounds.learnedKeys, 1, 1_000_000, true);
  within('bounds.listeners', bounds.listeners, 1, 10_000, true);
  within('bounds.calls', bounds.calls, 1, 10_000_000, true);
}
