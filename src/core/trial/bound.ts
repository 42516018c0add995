/** How many jobs could be done in time by someone who knows all of them beforehand: an upper bound for every order. */

import { Heap } from '../time/heap.js';

/** Work for one machine, which must all be done between two moments. Milliseconds; `workMs` > 0. */
export interface Job {
  readonly releaseMs: number;
  readonly dueMs: number;
  readonly workMs: number;
}

interface Placed extends Job {
  /** How much of its work is to be done: all, a part, or none. */
  doneMs: number;
}

/**
 * The largest sum of done shares, of jobs that one machine works on one at a time, broken off and taken up again at no
 * cost. A job counts by the share of its work that is done, so no set of jobs done whole and in time is larger.
 *
 * Which amounts of work can be done in time form a polymatroid, so taking jobs by ascending work, each as far as it
 * still fits beside those before it, is optimal. What fits is read off the earliest-due-first schedule: its largest
 * lateness is the work that is too much.
 */
export function mostInTime(jobs: readonly Job[]): number {
  const placed = jobs
    .map((job): Placed => ({ ...job, doneMs: 0 }))
    .toSorted((a, b) => a.releaseMs - b.releaseMs);
  const byWork = placed.toSorted((a, b) => a.workMs - b.workMs);
  let shares = 0;
  for (const job of byWork) {
    job.doneMs = job.workMs;
    const late = latenessMs(busyAround(placed, job));
    if (late > 0) job.doneMs = Math.max(0, job.workMs - late);
    shares += job.doneMs / job.workMs;
  }
  return shares;
}

/** The jobs of the stretch without idle time in which `job` is worked on, by release. */
function busyAround(placed: readonly Placed[], job: Placed): readonly Placed[] {
  let [from, busyUntil, found] = [0, Number.NEGATIVE_INFINITY, false];
  for (let at = 0; at < placed.length; at += 1) {
    const one = placed[at] as Placed;
    if (one.doneMs === 0) continue;
    if (one.releaseMs >= busyUntil) {
      if (found) return placed.slice(from, at);
      from = at;
      busyUntil = one.releaseMs;
    }
    busyUntil += one.doneMs;
    found ||= one === job;
  }
  return placed.slice(from);
}

interface Open {
  readonly dueMs: number;
  leftMs: number;
}

/** The largest lateness, milliseconds, when whatever is there and due first is worked on; negative: all in time. */
function latenessMs(jobs: readonly Placed[]): number {
  const open = new Heap<Open>((a, b) => a.dueMs < b.dueMs);
  let [now, worst, next] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  for (;;) {
    const coming = jobs[next];
    const first = open.peek();
    if (first === undefined) {
      if (coming === undefined) return worst;
      now = Math.max(now, coming.releaseMs);
    }
    if (coming !== undefined && coming.releaseMs <= now) {
      if (coming.doneMs > 0) open.push({ dueMs: coming.dueMs, leftMs: coming.doneMs });
      next += 1;
      continue;
    }
    if (first === undefined) continue;
    const until = coming?.releaseMs ?? Number.POSITIVE_INFINITY;
    if (now + first.leftMs > until) {
      first.leftMs -= until - now;
      now = until;
    } else {
      now += first.leftMs;
      open.pop();
      worst = Math.max(worst, now - first.dueMs);
    }
  }
}
