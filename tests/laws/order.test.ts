/** What the order `deadline` may cost whom, over overloads drawn at random: nobody's answer, and nobody's turn. */

import { ok } from 'node:assert/strict';
import { test } from 'node:test';
import { armOf } from '../../src/core/trial/arms.js';
import type { TrialRecord } from '../../src/core/trial/trial.js';
import { forEachSeed } from '../support/seeds.js';
import { CAPACITY, type Overload, overloadOf, played } from './random-overload.js';

/** Calls that the order may lose of those that attaching alone delivers. */
const MOST_LOST = 0.005;
/** Executions that keep the engine's batch full. */
const ROOM = 80;

const delivered = ({ calls }: TrialRecord): number => calls.filter((call) => call.delivered).length;

test('the order delivers at most 0.5 % of calls fewer than plain attaching does of the same traffic', () => {
  const coalesce = armOf('coalesce')?.control;
  ok(coalesce !== undefined);
  forEachSeed(6, (seed) => {
    const overload = overloadOf(seed);
    const [line, plain] = [played(overload, { room: ROOM }), played(overload, coalesce)];
    const lost = delivered(plain) - delivered(line);
    ok(lost <= MOST_LOST * line.calls.length, `${lost} of ${line.calls.length} calls are lost`);
  });
});

/**
 * The moment by which every call that is still wanted has been started, milliseconds: law 8 of any order. Whatever the
 * order, a full engine takes Ĉ calls a second out of a line into which fewer come, so a backlog of B calls is gone
 * B ÷ (Ĉ − rate) seconds after the pulse, and with it whoever was last; a quarter more and a deadline for chance.
 */
function lastTurnOf({ pulseEndSeconds, holdRate, deadlineSeconds }: Overload, backlog: number): number {
  return 1_000 * (pulseEndSeconds + (1.25 * backlog) / (CAPACITY - holdRate) + deadlineSeconds);
}

/** Calls that were wanted for longer than until their last turn and had not been started by then. */
function starved(overload: Overload, { planned, calls, executions }: TrialRecord): readonly number[] {
  const startedMs = new Map<number, number>();
  for (const { call, createdMs } of executions) if (!startedMs.has(call)) startedMs.set(call, createdMs);
  const wantedUntil = new Map(calls.map(({ call, endedMs }) => [call, endedMs]));
  const startOf = (call: number): number => startedMs.get(call) ?? Number.POSITIVE_INFINITY;
  const pulseEndMs = 1_000 * overload.pulseEndSeconds;
  const waited = planned.filter(({ index, atMs }) => atMs < pulseEndMs && startOf(index) >= pulseEndMs);
  const lastTurn = lastTurnOf(overload, waited.length);
  const names = planned.map(({ index, atMs, client }) => {
    const turn = Math.max(lastTurn, atMs + 1_000 * client.deadlineSeconds);
    return startOf(index) > turn && (wantedUntil.get(index) ?? 0) > turn ? index : undefined;
  });
  return names.filter((index) => index !== undefined);
}

test('law 8 with the order deadline: once the load is below capacity, nobody who is still there waits past the backlog', () => {
  forEachSeed(6, (seed) => {
    const overload = overloadOf(seed);
    const left = starved(overload, played(overload, { room: ROOM }));
    ok(left.length === 0, `calls ${left.slice(0, 5).join(', ')} were not started in time`);
  });
});
