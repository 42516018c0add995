/** The settings of the control as the file has them; their defaults and bounds are the control's own. */

import {
  BOUNDS_RANGES,
  BUDGET_RANGES,
  CLASSES_RANGE,
  CONTROL_DEFAULTS,
  CONTROL_RANGES,
  type ControlOptions,
  HEALTH_RANGES,
  NAMED_ROOMS,
} from '../../core/control/options.js';
import {
  boolean,
  choice,
  countOr,
  duration,
  durationOr,
  list,
  number,
  size,
} from '../shared/settings/kinds.js';
import { optional, setting, type TableOf } from '../shared/settings/table.js';
import { className } from './config-kinds.js';

const { health, budget, bounds, ...own } = CONTROL_DEFAULTS;

const HEALTH = {
  restMs: setting(duration(HEALTH_RANGES.restMs), {
    default: health.restMs,
    changes: 'live',
    about:
      'how long an engine that cannot be reached, says 503 or breaks off is let be before one execution tries it; doubles with every time in a row',
  }),
  longestRestMs: setting(duration(HEALTH_RANGES.longestRestMs), {
    default: health.longestRestMs,
    changes: 'live',
    about: 'the longest of these rests, whatever the engine asks for in its `Retry-After`',
  }),
  slowStartMs: setting(duration(HEALTH_RANGES.slowStartMs), {
    default: health.slowStartMs,
    changes: 'live',
    about: 'how long the share of an engine grows that is back from more than a blip',
  }),
  answerMarginMs: setting(duration(HEALTH_RANGES.answerMarginMs), {
    default: health.answerMarginMs,
    changes: 'live',
    about:
      "so long before its client's deadline an attempt that waits for an engine to come back is answered with 503",
  }),
} satisfies TableOf<ControlOptions['health']>;

const BUDGET = {
  mode: setting(choice(['entitlement', 'strict', 'off'] as const), {
    default: budget.mode,
    changes: 'live',
    about:
      "what is charged: executions beyond a call's own (`entitlement`), every retry that reaches the engine (`strict`), or nothing (`off`)",
  }),
  ratio: setting(number(BUDGET_RANGES.ratio), {
    default: budget.ratio,
    changes: 'live',
    about: 'executions granted for each first attempt in the window',
  }),
  windowMs: setting(duration(BUDGET_RANGES.windowMs), {
    default: budget.windowMs,
    changes: 'restart',
    about: 'the sliding window of both',
  }),
  floor: setting(number(BUDGET_RANGES.floor), {
    default: budget.floor,
    changes: 'live',
    about:
      'grants a window that need no first attempts, for the whole gateway; 2 % of `control.capacity` instead, when that is known',
  }),
} satisfies TableOf<ControlOptions['budget']>;

const BOUNDS = {
  lineEntries: setting(number(BOUNDS_RANGES.lineEntries), {
    default: bounds.lineEntries,
    changes: 'live',
    about:
      'calls in line; at the bound the newcomer is refused or, newest first, the oldest place without a listener is given up',
  }),
  lineBytes: setting(size(BOUNDS_RANGES.lineBytes), {
    default: bounds.lineBytes,
    changes: 'live',
    about: 'request bodies of the calls in line; at the bound the newcomer is refused',
  }),
  lineWaitMs: setting(duration(BOUNDS_RANGES.lineWaitMs), {
    default: bounds.lineWaitMs,
    changes: 'live',
    about: 'longest wait in line of a connected client; at the bound the attempt is answered with 504',
  }),
  replayBytes: setting(size(BOUNDS_RANGES.replayBytes), {
    default: bounds.replayBytes,
    changes: 'live',
    about:
      'replay buffer of one answer; past the bound it goes on to its live reader and is not replayable any more',
  }),
  liveReplayBytes: setting(size(BOUNDS_RANGES.liveReplayBytes), {
    default: bounds.liveReplayBytes,
    changes: 'live',
    about:
      'replay buffers of all running answers; at the bound the newest running answer is not replayable any more',
  }),
  retainedBytes: setting(size(BOUNDS_RANGES.retainedBytes), {
    default: bounds.retainedBytes,
    changes: 'live',
    about: 'finished answers kept for a retry; at the bound the oldest is dropped',
  }),
  retainedTenantShare: setting(number(BOUNDS_RANGES.retainedTenantShare), {
    default: bounds.retainedTenantShare,
    changes: 'live',
    about: "one tenant's share of them; at the bound the tenant's oldest is dropped",
  }),
  tenants: setting(number(BOUNDS_RANGES.tenants), {
    default: bounds.tenants,
    changes: 'restart',
    about:
      "tenants tracked; at the bound the least recently seen is forgotten, its grants go on counting in the gateway's window",
  }),
  learnedKeys: setting(number(BOUNDS_RANGES.learnedKeys), {
    default: bounds.learnedKeys,
    changes: 'restart',
    about: 'what is learned of clients; at the bound what was learned longest ago is forgotten',
  }),
  listeners: setting(number(BOUNDS_RANGES.listeners), {
    default: bounds.listeners,
    changes: 'live',
    about: 'attempts that listen to one execution; at the bound the newcomer is refused',
  }),
  calls: setting(number(BOUNDS_RANGES.calls), {
    default: bounds.calls,
    changes: 'live',
    about:
      'calls known at once; at the bound the oldest that only waits to be remembered is forgotten, or the newcomer refused',
  }),
} satisfies TableOf<ControlOptions['bounds']>;

export const CONTROL = {
  coalesce: setting(choice(['off', 'adopt', 'identical'] as const), {
    default: own.coalesce,
    changes: 'restart',
    about:
      '`adopt`: a retry takes over the work that its predecessor left, one for one; `identical`: concurrent equal requests share one execution as well; `off`',
  }),
  order: setting(choice(['deadline', 'oldest-first', 'newest-first'] as const), {
    default: own.order,
    changes: 'restart',
    about:
      'who leaves the line first: `deadline` (whoever can still be on time, the late when they have to be), `oldest-first` or `newest-first`; without a limit in `control.room` nobody waits and no order shows',
  }),
  margin: setting(number(CONTROL_RANGES.margin), {
    default: own.margin,
    changes: 'live',
    about:
      'how many times the time that late calls need is kept free for them by the order `deadline`: more loses fewer of them, less has more calls on time',
  }),
  learnDeadlines: setting(boolean, {
    default: own.learnDeadlines,
    changes: 'live',
    about:
      'whether deadlines and numbers of attempts follow what the clients of each tenant, program and model are seen to do',
  }),
  shares: setting(choice(['off', 'tenant'] as const), {
    default: own.shares,
    changes: 'restart',
    about:
      '`tenant`: the line serves the tenants that wait by their `weights`, each call counting as one, and goes by `order` inside each tenant; `off`: by `order` alone, whosever the calls are',
  }),
  classes: setting(list(className, 'classes', CLASSES_RANGE.most), {
    default: own.classes,
    changes: 'restart',
    about:
      'the classes that a call may be of, the highest first: in line a higher one goes before a lower one, which has at least one start in twenty while it waits; `[]`: none',
  }),
  defaultClass: setting(className, {
    default: own.defaultClass,
    changes: 'restart',
    about: 'the class of a call that asks for none of them',
  }),
  maxClass: optional(className, {
    changes: 'restart',
    about:
      'the highest class of tenants for which `tenants` says nothing; as `control.default_class` when absent, so that anybody may ask for a lower class and nobody for a higher one',
  }),
  room: setting(countOr(NAMED_ROOMS, CONTROL_RANGES.room), {
    default: own.room,
    changes: 'live',
    about:
      'how many executions the engine may hold at once, the others wait in line here: a number; `first-token`, one more as long as few of those that it has wait for their first byte; `engine`, as many as keep a few waiting in it by its own gauges; `auto`, the same where it has gauges as vLLM has, and no limit where it never had; or no limit (`off`)',
  }),
  roomWaiting: setting(number(CONTROL_RANGES.roomWaiting), {
    default: own.roomWaiting,
    changes: 'live',
    about: 'with `first-token`: streams that an engine may have before their first byte',
  }),
  roomTarget: setting(number(CONTROL_RANGES.roomTarget), {
    default: own.roomTarget,
    changes: 'live',
    about: 'with `engine` and `auto`: executions that may wait inside the engine',
  }),
  roomWhole: setting(number(CONTROL_RANGES.roomWhole), {
    default: own.roomWhole,
    changes: 'live',
    about:
      'with `first-token`: answers that an engine may make at once which do not stream, since those show no first byte before their end',
  }),
  affinity: setting(choice(['off', 'session', 'prefix'] as const), {
    default: own.affinity,
    changes: 'live',
    about:
      'which calls go to the engine that had their likes before, while it has room: those of one `session`, or also those with one long `prefix`',
  }),
  unavailable: setting(choice(['wait', 'pass'] as const), {
    default: own.unavailable,
    changes: 'live',
    about:
      'what becomes of a call to which its engine says 503, and so has done nothing for it: it waits in line for the engine (`wait`), or its client hears of it at once (`pass`)',
  }),
  health: HEALTH,
  budget: BUDGET,
  guard: setting(boolean, {
    default: own.guard,
    changes: 'live',
    about:
      'whether executions that retries make are refused above 0.9 of `control.capacity`, while more than 1.05 are asked for per first attempt and more than the capacity in all, in the window of the budget; without `control.capacity` none are',
  }),
  capacity: optional(number(CONTROL_RANGES.capacity), {
    changes: 'live',
    about: "the engine's measured capacity in calls per second",
  }),
  grace: setting(durationOr(['now', 'never'] as const, CONTROL_RANGES.grace), {
    default: own.grace,
    changes: 'live',
    about:
      'how long abandoned work is kept from cancellation; `now` defeats attaching, `never` cancels nothing',
  }),
  graceAfterFirstByteMs: setting(duration(CONTROL_RANGES.graceAfterFirstByteMs), {
    default: own.graceAfterFirstByteMs,
    changes: 'live',
    about:
      'the same for an answer that was already streaming to a client that will hardly prove who it is when it comes back',
  }),
  learnGrace: setting(boolean, {
    default: own.learnGrace,
    changes: 'live',
    about: 'whether grace follows the observed returns of each tenant, client and route',
  }),
  lateMergeMs: setting(duration(CONTROL_RANGES.lateMergeMs), {
    default: own.lateMergeMs,
    changes: 'live',
    about: 'how far apart a disconnect and the attempt that it explains may be seen',
  }),
  lateMergeHoldMs: setting(duration(CONTROL_RANGES.lateMergeHoldMs), {
    default: own.lateMergeHoldMs,
    changes: 'live',
    about: "how long an equal of an old live attempt is held back for that one's disconnect",
  }),
  deliveredAfterMs: setting(duration(CONTROL_RANGES.deliveredAfterMs), {
    default: own.deliveredAfterMs,
    changes: 'restart',
    about: 'how long a connection must stand after the last byte for its answer to count as received',
  }),
  retainMs: setting(duration(CONTROL_RANGES.retainMs), {
    default: own.retainMs,
    changes: 'live',
    about: 'how long a finished answer that nobody received is kept',
  }),
  retainKeyedMs: setting(duration(CONTROL_RANGES.retainKeyedMs), {
    default: own.retainKeyedMs,
    changes: 'live',
    about: 'the same for a call that has a key',
  }),
  replayDeliveredMs: setting(duration(CONTROL_RANGES.replayDeliveredMs), {
    default: own.replayDeliveredMs,
    changes: 'live',
    about: 'how long a delivered answer may be given again, on proof that it is the same call',
  }),
  defaultDeadlineMs: setting(duration(CONTROL_RANGES.defaultDeadlineMs), {
    default: own.defaultDeadlineMs,
    changes: 'live',
    about: 'how long a client that says nothing is assumed to wait',
  }),
  leastDeadlineMs: setting(duration(CONTROL_RANGES.leastDeadlineMs), {
    default: own.leastDeadlineMs,
    changes: 'live',
    about: 'the shortest announced deadline that is believed',
  }),
  bounds: BOUNDS,
} satisfies TableOf<Omit<ControlOptions, 'engines'>>;
