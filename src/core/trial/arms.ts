/** The arms and variants of the published experiment by name: what differs from the plain run, as data. */

import type { ControlSettings } from '../control/options.js';
import { type ClientKind, type Plan, PUBLISHED_PLAN, type Stage } from '../drill/plan.js';
import type { EngineOptions } from '../engine/options.js';
import { PROFILES } from '../engine/profiles.js';
import type { GaugeModel } from './gauges.js';

export interface Arm {
  readonly name: string;
  readonly about: string;
  readonly client: Partial<ClientKind>;
  /** Several kinds of clients, as they differ from that; absent: all are alike. */
  readonly clients?: readonly Partial<ClientKind>[];
  /** Of tenants that weigh other than 1, with `shares: tenant`. */
  readonly weights?: Readonly<Record<string, number>> | undefined;
  readonly control: ControlSettings;
  readonly engine: Partial<EngineOptions>;
  /** How the control hears of the engine's gauges; absent: not at all. */
  readonly gauges?: GaugeModel | undefined;
  /** Height of the pulse in multiples of Ĉ. */
  readonly pulse: number;
  /** Name of the engine's profile: model and device. */
  readonly profile: string;
}

/** A gateway that passes everything on and keeps nothing: what the published arms start from. */
const PASSIVE: ControlSettings = {
  coalesce: 'off',
  room: 'off',
  unavailable: 'pass',
  grace: 'never',
  graceAfterFirstByteMs: 0,
  learnGrace: false,
  lateMergeHoldMs: 0,
  retainMs: 0,
  retainKeyedMs: 0,
  replayDeliveredMs: 0,
  budget: { mode: 'off' },
  guard: false,
};
const COALESCE: ControlSettings = { ...PASSIVE, coalesce: 'adopt' };

/** The proxy's cap on executions inside the engine, and the engine's own on those it holds. */
const CAP = 100;
/** Executions that keep 98.7 % of the engine's throughput at saturation. */
const LINE_ROOM = 80;
/** Looks half a second apart, which come a twentieth of one late. */
const GAUGES: GaugeModel = { everyMs: 500, delayMs: 50 };
/** Before the pulse, so that nobody has seen what a full engine runs. */
const WRONG_FROM_MS = 60_000;
const STREAMING: Partial<ClientKind> = { stream: true, timer: 'first-byte' };
/** A program whose family is known to ask four times, as the published client does. */
const FOUR_ATTEMPTS = 'OpenAI/2.0 (.NET 8.0)';
/** Clients as a common SDK makes them: no key, and its deadline in a header. */
const ANNOUNCING: Partial<ClientKind> = { key: false, announces: true, userAgent: FOUR_ATTEMPTS };
const MIXED_DEADLINES: Arm['clients'] = [60, 120, 300].map((deadlineSeconds) => ({
  name: `waits ${deadlineSeconds} s`,
  deadlineSeconds,
}));
const LOUD_TENANT: Arm['clients'] = [
  { name: 'first', tenant: 'first', weight: 1 },
  { name: 'second', tenant: 'second', weight: 1 },
  { name: 'loud', tenant: 'loud', weight: 10 },
];
const STEP_TOKENS = 8_192;
const MOST_PULSE = 100;

function arm(name: string, about: string, settings: Partial<Omit<Arm, 'name' | 'about'>>): Arm {
  return {
    name,
    about,
    client: {},
    control: PASSIVE,
    engine: {},
    pulse: 2.7,
    profile: 'qwen2.5-7b',
    ...settings,
  };
}

/** The same tenants by weight: each asks for as much as it weighs, the last for ten times that. */
function weighed(weights: readonly number[]): Partial<Arm> {
  const named = (LOUD_TENANT ?? []).map((kind, at) => ({ kind, weight: weights[at] ?? 1 }));
  return {
    clients: named.map(({ kind, weight }) =>
      Object.assign({}, kind, { weight: weight * (kind.weight ?? 1) }),
    ),
    weights: Object.fromEntries(named.map(({ kind: { tenant = '' }, weight }) => [tenant, weight])),
  };
}

/** The arms of the published experiment, and the gateway's own defaults beside them. */
export const ARMS: readonly Arm[] = [
  arm('retries=off cancel=off', 'one attempt a call; work of clients that left runs on', {
    client: { retries: 0 },
  }),
  arm('retries=off cancel=on', 'one attempt a call; the engine is told who left', {
    client: { retries: 0 },
    control: { ...PASSIVE, grace: 'now' },
  }),
  arm('retries=on cancel=off', 'up to 4 attempts a call; work of clients that left runs on', {}),
  arm('retries=on cancel=on', 'up to 4 attempts a call; the engine is told who left', {
    control: { ...PASSIVE, grace: 'now' },
  }),
  arm('budget', 'retries that reach the engine: 10 % of first attempts over 60 s', {
    control: { ...PASSIVE, budget: { mode: 'strict', ratio: 0.1, windowMs: 60_000, floor: 0 } },
  }),
  arm('guard', 'retries that reach the engine: as long as all executions are below 0.9 of its capacity', {
    control: { ...PASSIVE, guard: true },
  }),
  arm('coalesce', 'a retry is attached to the work its call has', { control: COALESCE }),
  arm('coalesce+cancel-now', 'attached, but work is cancelled at once when its client leaves', {
    control: { ...COALESCE, grace: 'now' },
  }),
  arm('coalesce+cancel-10s', 'attached; work is cancelled 10 s after its client left', {
    control: { ...COALESCE, grace: 10_000, graceAfterFirstByteMs: 10_000 },
  }),
  arm('coalesce+streams', 'attached; clients stream, and wait for their first byte', {
    client: { ...ANNOUNCING, ...STREAMING },
    control: COALESCE,
  }),
  arm('coalesce+budget', 'attached first, the rest on the budget', {
    control: { ...COALESCE, budget: { mode: 'strict', ratio: 0.1, windowMs: 60_000, floor: 0 } },
  }),
  arm('budget+cancel', 'the budget, and the engine is told who left', {
    control: { ...PASSIVE, grace: 'now', budget: { mode: 'strict', ratio: 0.1, windowMs: 60_000, floor: 0 } },
  }),
  arm('engine-cap', 'the engine refuses beyond 100 executions, waiting and running', {
    control: { ...PASSIVE, grace: 'now' },
    engine: { maxNumQueuedReqs: CAP },
  }),
  arm('gateway-cap-oldest', '100 executions at the engine, the oldest call first; who left is cancelled', {
    control: { ...PASSIVE, grace: 'now', room: CAP, order: 'oldest-first' },
  }),
  arm('gateway-cap-newest', '100 executions at the engine, the newest call first; who left is cancelled', {
    control: { ...PASSIVE, grace: 'now', room: CAP, order: 'newest-first' },
  }),
  arm(
    'deadline',
    'the line: 80 executions at the engine, whoever can be on time first; deadlines are announced',
    {
      client: ANNOUNCING,
      control: { room: LINE_ROOM },
    },
  ),
  arm('deadline+learned', 'the same; deadlines are learned from who leaves', {
    client: { key: false, userAgent: FOUR_ATTEMPTS },
    control: { room: LINE_ROOM },
  }),
  arm('deadline+unknown', 'the same; how often clients ask is not known either', {
    client: { key: false },
    control: { room: LINE_ROOM },
  }),
  arm('deadline+streams', 'the line; clients stream, and wait for their first byte', {
    client: { ...ANNOUNCING, ...STREAMING },
    control: { room: LINE_ROOM },
  }),
  arm(
    'deadline+first-token',
    'the same; the engine has few streams without a first byte, not 80 executions',
    {
      client: { ...ANNOUNCING, ...STREAMING },
      control: { room: 'first-token' },
    },
  ),
  arm(
    'deadline+engine',
    'the line; as many executions as keep a few waiting in the engine by its own gauges',
    {
      client: ANNOUNCING,
      control: { room: 'engine' },
      gauges: GAUGES,
    },
  ),
  ...(['frozen', 'absent', 'low', 'high'] as const).map((as) =>
    arm(`deadline+engine gauges=${as}`, `the same; from the second minute on its gauges are ${as}`, {
      client: ANNOUNCING,
      control: { room: 'engine' },
      gauges: { ...GAUGES, wrong: { as, atMs: WRONG_FROM_MS } },
    }),
  ),
  arm('deadline+mixed', 'the line; clients that wait 60, 120 and 300 s in equal parts, and say so', {
    client: ANNOUNCING,
    clients: MIXED_DEADLINES,
    control: { room: LINE_ROOM },
  }),
  arm('oldest-first+mixed', 'the same clients, whoever came first goes first', {
    client: ANNOUNCING,
    clients: MIXED_DEADLINES,
    control: { room: LINE_ROOM, order: 'oldest-first' },
  }),
  arm('deadline+tenants', 'the line; three tenants, of whom one asks ten times as often as each other', {
    client: ANNOUNCING,
    clients: LOUD_TENANT,
    control: { room: LINE_ROOM },
  }),
  arm('oldest-first+tenants', 'the same tenants, whoever came first goes first', {
    client: ANNOUNCING,
    clients: LOUD_TENANT,
    control: { room: LINE_ROOM, order: 'oldest-first' },
  }),
  arm('deadline+classes', 'the line; three calls of five are of the class interactive, the others batch', {
    client: ANNOUNCING,
    clients: [
      { name: 'interactive', class: 'interactive', weight: 3 },
      { name: 'batch', class: 'batch', weight: 2 },
    ],
    control: { room: LINE_ROOM, maxClass: 'interactive' },
  }),
  arm('oldest-first', 'the same line, whoever came first goes first', {
    client: ANNOUNCING,
    control: { room: LINE_ROOM, order: 'oldest-first' },
  }),
  ...(
    [
      ['deadline+shares', 'the same tenants, who are served in turn', [1, 1, 1]],
      ['deadline+shares weights=3:1:1', 'the same; the first weighs three, and asks for three', [3, 1, 1]],
      [
        'deadline+shares weights=1:1:3',
        'the same; the loud one weighs three, and asks for thirty',
        [1, 1, 3],
      ],
    ] as const
  ).map(([name, about, weights]) =>
    arm(name, about, {
      client: ANNOUNCING,
      control: { room: LINE_ROOM, shares: 'tenant' },
      ...weighed(weights),
    }),
  ),
  arm('holdfast', "the gateway's own defaults, clients without keys that say nothing", {
    client: { key: false },
    control: {},
    gauges: GAUGES,
  }),
];

const VARIANT = / (pulse|step|model)=([\w.-]+)/g;

/** The arm of that name with the name's variants: `ARM`, `ARM pulse=1.5`, `ARM step=2048`, `ARM model=qwen3-14b`. */
export function armOf(name: string): Arm | undefined {
  const variants = new Map([...name.matchAll(VARIANT)].map(([, key, value]) => [key, value]));
  const base = ARMS.find((one) => one.name === name.replace(VARIANT, ''));
  if (base === undefined) return undefined;
  const pulse = Number(variants.get('pulse') ?? base.pulse);
  const step = Number(variants.get('step') ?? base.engine.maxNumBatchedTokens ?? STEP_TOKENS);
  const model = variants.get('model') ?? base.profile;
  if (!(pulse > 0 && pulse <= MOST_PULSE) || !Number.isInteger(step) || step < 1) return undefined;
  if (!PROFILES.some((each) => each.name === model)) return undefined;
  return { ...base, name, pulse, profile: model, engine: { ...base.engine, maxNumBatchedTokens: step } };
}

/** The published plan as this arm runs it. */
export function planOf({ client, clients: kinds = [{}], pulse }: Arm): Plan {
  const { stages, clients } = PUBLISHED_PLAN;
  const high = (stage: Stage): Stage => ({ ...stage, rate: { capacity: pulse } });
  const changed = (kind: ClientKind): readonly ClientKind[] =>
    kinds.map((of) => ({ ...kind, ...client, ...of }));
  return {
    ...PUBLISHED_PLAN,
    stages: stages.map((stage) => (stage.name === 'pulse' ? high(stage) : stage)),
    clients: clients.flatMap(changed),
  };
}
