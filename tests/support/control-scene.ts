/** A scene told in a test's own words: clients come and go, the engine answers, time passes, and all is recorded. */

import { ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { AttemptFacts, ControlEvent } from '../../src/core/control/event.js';
import type { ControlSettings } from '../../src/core/control/options.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import type { AttemptEnding, Decision, Failure } from '../../src/core/control/words.js';
import { facts } from './facts.js';
import { control, type MakeSubject, reference, type Subject } from './subject.js';

type Said<K extends Verdict['kind']> = Extract<Verdict, { kind: K }>;

export class Scene {
  readonly subject: Subject;
  readonly verdicts: { readonly at: number; readonly verdict: Verdict }[] = [];
  now = 0;

  constructor(make: MakeSubject, settings?: ControlSettings) {
    this.subject = make(settings);
  }

  send(event: ControlEvent): void {
    for (const verdict of this.subject.step(this.now, event)) this.verdicts.push({ at: this.now, verdict });
  }

  /** Lets time pass, waking the control whenever it asked for it. */
  pass(ms: number): void {
    const until = this.now + ms;
    for (let at = this.subject.wakeAt(); at <= until; at = this.subject.wakeAt()) {
      ok(at >= this.now, `woken at ${at}, before ${this.now}`);
      this.now = at;
      this.send({ kind: 'time' });
      ok(this.subject.wakeAt() > at, `the control asks for ${at} again`);
    }
    this.now = until;
  }

  arrive(attempt: string, changes: Partial<AttemptFacts> = {}): void {
    this.send({ kind: 'arrive', attempt, facts: facts(changes) });
  }

  leave(...attempts: string[]): void {
    for (const attempt of attempts) this.send({ kind: 'leave', attempt });
  }

  handed(attempt: string): void {
    this.send({ kind: 'handed', attempt });
  }

  /** The engine's first byte, and `bytes` of its answer, for the execution that `attempt` is tied to. */
  stream(attempt: string, bytes = 10): void {
    const execution = this.execution(attempt);
    this.send({ kind: 'first-byte', execution });
    this.send({ kind: 'chunk', execution, bytes });
  }

  /** The engine's whole answer. */
  finish(attempt: string, bytes = 10): void {
    const execution = this.execution(attempt);
    this.stream(attempt, bytes);
    this.send({ kind: 'finish', execution });
  }

  fail(attempt: string, failure: Failure, status?: number): void {
    this.send({ kind: 'fail', execution: this.execution(attempt), failure, status });
  }

  /** The whole answer, handed over, and nobody hangs up. */
  deliver(attempt: string, bytes = 10): void {
    this.finish(attempt, bytes);
    this.handed(attempt);
    this.pass(300);
  }

  all<K extends Verdict['kind']>(kind: K): Said<K>[] {
    return this.verdicts.map((one) => one.verdict).filter((one): one is Said<K> => one.kind === kind);
  }

  decision(attempt: string): Decision | undefined {
    return this.all('decided').findLast((one) => one.attempt === attempt)?.decision;
  }

  ending(attempt: string): AttemptEnding | undefined {
    return this.all('attempt-ended').find((one) => one.attempt === attempt)?.ending;
  }

  /** The call that the attempt belongs to now. */
  call(attempt: string): string {
    const call = this.all('decided').findLast((one) => one.attempt === attempt)?.call;
    ok(call !== undefined, `${attempt} belongs to no call`);
    return call;
  }

  /** The latest execution of the attempt's call. */
  execution(attempt: string): string {
    const call = this.call(attempt);
    const execution = this.all('start').findLast((one) => one.call === call)?.execution;
    ok(execution !== undefined, `nothing was started for ${attempt}`);
    return execution;
  }

  /** How many executions were started so far, for the attempt's call or in all. */
  executions(attempt?: string): number {
    const starts = this.all('start');
    return attempt === undefined
      ? starts.length
      : starts.filter((one) => one.call === this.call(attempt)).length;
  }

  /** How the execution ended, if it did. */
  executionEnding(execution: string): string | undefined {
    return this.all('execution-ended').find((one) => one.execution === execution)?.ending;
  }

  callEnding(attempt: string): string | undefined {
    const call = this.call(attempt);
    return this.all('call-ended').find((one) => one.call === call)?.ending;
  }

  outcome(attempt: string): string | undefined {
    return this.all('attach').findLast((one) => one.attempt === attempt)?.outcome;
  }

  entryEnding(attempt: string): string | undefined {
    const call = this.call(attempt);
    return this.all('drop').findLast((one) => one.call === call)?.ending;
  }
}

/** A scene that the control alone can play: the reference model learns nothing and gives no hints. */
export function ownScene(title: string, play: (start: (settings?: ControlSettings) => Scene) => void): void {
  test(title, () => play((settings) => new Scene(control, settings)));
}

/** A scene that the control must play, and the reference model too: a model that does not know the play is no judge. */
export function scene(title: string, play: (start: (settings?: ControlSettings) => Scene) => void): void {
  test(title, () => play((settings) => new Scene(control, settings)));
  test(`${title} (reference)`, () => play((settings) => new Scene(reference, settings)));
}
