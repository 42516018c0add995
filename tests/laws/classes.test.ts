/** What classes of calls may cost whom, over overloads drawn at random: the lower ones time, and nobody an answer. */

import { ok } from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../../src/core/chance/random.js';
import { inTime } from '../../src/core/drill/outcome.js';
import { armOf } from '../../src/core/trial/arms.js';
import type { TrialRecord } from '../../src/core/trial/trial.js';
import { forEachSeed, seeds } from '../support/seeds.js';
import { type Overload, overloadOf, played } from './random-overload.js';

/** Calls that classes may lose of those that attaching alone delivers. */
const MOST_LOST = 0.005;
const ROOM = { room: 80, maxClass: 'interactive' } as const;

/** The same clients, a part of each kind asking for a class of its own. */
function classed(seed: number): Overload {
  const overload = overloadOf(seed);
  const random = new Random(seed, 'classes');
  const clients = overload.plan.clients.flatMap((kind) => {
    const low = 0.1 + 0.6 * random.uniform();
    return [
      { ...kind, name: `${kind.name}-interactive`, weight: kind.weight * (1 - low), class: 'interactive' },
      { ...kind, name: `${kind.name}-batch`, weight: kind.weight * low, class: 'batch' },
    ];
  });
  return { ...overload, plan: { ...overload.plan, clients } };
}

const delivered = ({ calls }: TrialRecord): number => calls.filter((call) => call.delivered).length;

/** The share of calls of the highest class that were answered inside their first deadline. */
function onTime({ calls, planned }: TrialRecord): number {
  const its = calls.filter(({ call }) => planned[call]?.client.class === 'interactive');
  const answered = its.filter((call) => inTime(call, planned[call.call]?.client.deadlineSeconds ?? 0));
  return answered.length / its.length;
}

test('classes cost at most 0.5 % of the answers that plain attaching delivers of the same traffic', () => {
  const coalesce = armOf('coalesce')?.control;
  ok(coalesce !== undefined);
  forEachSeed(4, (seed) => {
    const overload = classed(seed);
    const [line, plain] = [played(overload, ROOM), played(overload, coalesce)];
    const lost = delivered(plain) - delivered(line);
    ok(lost <= MOST_LOST * line.calls.length, `${lost} of ${line.calls.length} calls are lost`);
  });
});

/** A lower class's call that asks once alone goes before a higher one's that is only made late by that. */
const MOST_LATER = 0.02;

test('classes put more of the highest on time, and in no overload two points fewer', () => {
  let gained = 0;
  forEachSeed(4, (seed) => {
    const overload = classed(seed);
    const [apart, together] = [played(overload, ROOM), played(overload, { room: ROOM.room, classes: [] })];
    const [share, plain] = [onTime(apart), onTime(together)];
    ok(share >= plain - MOST_LATER, `${share} of the highest class are on time, ${plain} without classes`);
    gained += share - plain;
  });
  ok(gained > 0 || seeds(4).length === 1, `classes gained ${gained}`);
});
