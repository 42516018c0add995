/** From a plan and a seed to its calls: common random numbers, so that two policies meet the same ones. */

import { exponential, gamma, lognormal } from '../chance/distributions.js';
import type { Random } from '../chance/random.js';
import { Random as Stream } from '../chance/random.js';
import type { Arrivals, ClientKind, Lengths, Plan, PlannedCall, Rate } from './plan.js';
import type { TraceCall } from './trace.js';

/** The most calls a plan may ask. */
export const MOST_CALLS = 2_000_000;

/** Calls per second; throws a `RangeError` when a multiple of Ĉ is asked and none is known. */
export function perSecond(rate: Rate, capacity: number | undefined): number {
  if ('perSecond' in rate) return rate.perSecond;
  if (capacity === undefined) {
    throw new RangeError(`a rate of ${rate.capacity} × capacity needs a capacity: calibrate, or state it`);
  }
  return rate.capacity * capacity;
}

/** Every call of the plan in order of arrival. `capacity`: Ĉ in calls per second. */
export function planCalls(plan: Plan, seed: number, capacity?: number): readonly PlannedCall[] {
  if (plan.trace !== undefined) return traced(plan, plan.trace.calls, seed);
  const arrivals = new Stream(seed, 'arrivals');
  const prompts = new Stream(seed, 'prompts');
  const responses = new Stream(seed, 'responses');
  const kinds = new Stream(seed, 'clients');
  const pick = picker(plan.clients);
  const calls: PlannedCall[] = [];
  let startMs = 0;
  plan.stages.forEach((stage, stageIndex) => {
    const rate = perSecond(stage.rate, capacity);
    const moments = momentsOf(plan.arrivals, { startMs, seconds: stage.seconds, rate }, arrivals);
    if (calls.length + moments.length > MOST_CALLS) {
      throw new RangeError(`the plan asks more than ${MOST_CALLS} calls`);
    }
    for (const atMs of moments) {
      const promptTokens = draw(plan.workload.promptTokens, prompts);
      calls.push({
        index: calls.length,
        stage: stageIndex,
        atMs,
        promptTokens,
        sharedPrefixTokens: Math.min(plan.workload.sharedPrefixTokens, promptTokens - 1),
        responseTokens: draw(plan.workload.responseTokens, responses),
        client: pick(kinds),
      });
    }
    startMs += stage.seconds * 1_000;
  });
  return calls;
}

function traced(plan: Plan, calls: readonly TraceCall[], seed: number): readonly PlannedCall[] {
  if (calls.length > MOST_CALLS) throw new RangeError(`the plan asks more than ${MOST_CALLS} calls`);
  const kinds = new Stream(seed, 'clients');
  const pick = picker(plan.clients);
  return calls.map((call, index) => ({
    index,
    stage: 0,
    sharedPrefixTokens: 0,
    client: pick(kinds),
    ...call,
  }));
}

interface Span {
  readonly startMs: number;
  readonly seconds: number;
  /** Calls per second. */
  readonly rate: number;
}

/** When the calls of one stage arrive, in order. */
function momentsOf(arrivals: Arrivals, { startMs, seconds, rate }: Span, random: Random): readonly number[] {
  const lengthMs = seconds * 1_000;
  if (arrivals === 'counted') {
    const count = Math.round(rate * seconds);
    const moments = Array.from({ length: count }, () => startMs + random.between(0, lengthMs));
    return moments.toSorted((a, b) => a - b);
  }
  const gapMs = 1_000 / rate;
  const moments: number[] = [];
  for (let at = gap(arrivals, gapMs, random); at < lengthMs; at += gap(arrivals, gapMs, random)) {
    if (moments.length > MOST_CALLS) break;
    moments.push(startMs + at);
  }
  return moments;
}

function gap(arrivals: Exclude<Arrivals, 'counted'>, meanMs: number, random: Random): number {
  if (arrivals === 'poisson') return exponential(random, meanMs);
  if (arrivals === 'even') return meanMs;
  return gamma(random, arrivals.burstiness, meanMs / arrivals.burstiness);
}

function draw(lengths: Lengths, random: Random): number {
  if (lengths.kind === 'fixed') return lengths.tokens;
  if (lengths.kind === 'uniform') return random.integer(lengths.low, lengths.high);
  const tokens = Math.round(lognormal(random, lengths.median, lengths.sigma));
  return Math.min(lengths.most, Math.max(1, tokens));
}

function picker(clients: readonly ClientKind[]): (random: Random) => ClientKind {
  const total = clients.reduce((sum, { weight }) => sum + weight, 0);
  return (random) => {
    let left = random.uniform() * total;
    for (const client of clients) {
      left -= client.weight;
      if (left < 0) return client;
    }
    return clients.at(-1) as ClientKind;
  };
}
