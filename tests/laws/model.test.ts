/** The control against the reference model: on any interleaving both say the same, step by step, and keep the laws. */

import { ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import type { ControlEvent } from '../../src/core/control/event.js';
import { type ControlSettings, controlOptions } from '../../src/core/control/options.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import { runs } from '../support/seeds.js';
import { control, countedIds, type Subject } from '../support/subject.js';
import { Names, type Step, settings, steps, World } from './interleaving.js';
import { Laws } from './laws.js';
import { Witness } from './moment.js';
import { Reference } from './reference.js';

/** Longer than anything is remembered: after it a stopped control has nothing left to say. */
const FOREVER_MS = 10 * 3_600_000;

const ran = { interleavings: 0, events: 0, attempts: 0, 'left at a tie': 0 };
after(() => process.stderr.write(`model test ran ${JSON.stringify(ran)}\n`));

/** A verdict as a line of text that both sides must agree on. */
function line(verdict: Verdict, names: Names): string {
  const said: Record<string, unknown> = { ...verdict };
  if (typeof said['call'] === 'string') said['call'] = names.call(said['call']);
  if (typeof said['execution'] === 'string') said['execution'] = names.execution(said['execution']);
  // The reference knows neither chance nor the drain rate nor what is expected, and an entry's facts are the event's.
  for (const name of ['retryAfterMs', 'mayRetry', 'facts', 'standing']) delete said[name];
  if (verdict.kind === 'decided') {
    // A call that is new has nothing that ties it to another; how plausible a gap is ranks, and is nobody's promise.
    const tied = !/^(new|unknown|retry)/.test(verdict.decision);
    said['evidence'] = tied ? verdict.evidence.filter((one) => one !== 'gap') : [];
  }
  return JSON.stringify(said, Object.keys(said).toSorted());
}

/** Both sides on one script. */
class Comparison {
  readonly #laws: Laws;
  readonly #control: Subject;
  readonly #reference: Reference;
  readonly #names = new Names();
  readonly #history: string[] = [];
  readonly world = new World();

  constructor(chosen: ControlSettings) {
    const options = controlOptions(chosen);
    this.#laws = new Laws({ options });
    this.#control = new Witness(control(chosen), (moment) => this.#laws.see(moment));
    this.#reference = new Reference({ options, makeId: countedIds() });
  }

  /** False when two things fell due at one moment, so that the order is nobody's promise. */
  step(now: number, event: ControlEvent): boolean {
    const expected = this.#reference.step(now, this.#translated(event));
    const said = this.#control.step(now, event);
    for (const verdict of expected) this.#names.hear(verdict);
    for (const verdict of said) {
      this.world.hear(verdict);
      if (verdict.kind === 'refuse') this.#reference.told(verdict.attempt, verdict.retryAfterMs);
    }
    ran.events += 1;
    ran.attempts += event.kind === 'arrive' ? 1 : 0;
    if (this.#reference.tied) return false;
    const ours = said.map((verdict) => line(verdict, this.world.names));
    const theirs = expected.map((verdict) => line(verdict, this.#names));
    this.#history.push(`${now} ${JSON.stringify(event)}`, ...ours.map((one) => `    ${one}`));
    const missing = theirs.filter((one) => !ours.includes(one));
    const extra = ours.filter((one) => !theirs.includes(one));
    const agree = missing.length + extra.length === 0 && ours.length === theirs.length;
    this.#hold(agree, ['not said:', ...missing, 'said instead:', ...extra].join('\n    '));
    const wake = this.#control.wakeAt();
    this.#hold(wake > now, `asks to be woken at ${wake}`);
    this.#hold(wake <= this.#reference.wakeAt(), `sleeps until ${wake}, past ${this.#reference.wakeAt()}`);
    return true;
  }

  /** Stops both, and asks the laws whether everything has ended. */
  stop(now: number): void {
    this.step(now, { kind: 'stop' });
    this.#control.step(now + FOREVER_MS, { kind: 'time' });
    this.#laws.finish();
    try {
      this.#laws.check();
    } catch (cause) {
      this.#hold(false, (cause as Error).message);
    }
  }

  #translated(event: ControlEvent): ControlEvent {
    if (!('execution' in event)) return event;
    return { ...event, execution: this.#names.id(this.world.names.execution(event.execution)) };
  }

  #hold(condition: boolean, what: string): void {
    ok(condition, condition ? '' : `${this.#history.join('\n')}\n${what}`);
  }
}

function play(chosen: ControlSettings, script: readonly Step[]): void {
  const comparison = new Comparison(chosen);
  let now = 0;
  ran.interleavings += 1;
  for (const { afterMs, command } of script) {
    now += afterMs;
    for (const event of comparison.world.events(command)) {
      if (comparison.step(now, event)) continue;
      ran['left at a tie'] += 1;
      return;
    }
  }
  comparison.stop(now + 1);
}

test('the control says what the reference model says, on any interleaving, and keeps the laws', () => {
  // One seed a default run, so that a change is judged by what it changes; the long run draws fresh ones.
  const seed = process.env['HOLDFAST_SEED'] ?? (process.env['HOLDFAST_LONG'] === '1' ? undefined : '1');
  const details = fc.check(fc.property(settings, steps, play), {
    numRuns: runs(4_000),
    ...(seed === undefined ? {} : { seed: Number.parseInt(seed, 10) }),
  });
  if (!details.failed) return;
  const chosen = JSON.stringify(details.counterexample?.[0]);
  const why = details.errorInstance instanceof Error ? details.errorInstance.message : 'interrupted';
  throw new Error(`${chosen}\n${why}\n(run it alone with HOLDFAST_SEED=${details.seed})`);
});
