/** The reference model's engines: what each has met since its last rest, and which of them a call is given to. */

import type { EngineLoad } from '../../src/core/control/engine-load.js';
import type { ControlEvent } from '../../src/core/control/event.js';
import type { ControlOptions, EngineOptions, RoomPolicy } from '../../src/core/control/options.js';
import type { Verdict } from '../../src/core/control/verdict.js';
import { type Happening, type Judgement, judge } from './reference-gauges.js';
import type { Call, Execution } from './reference-words.js';

/** Proofs after which an engine that rested is an engine like any other. */
const ENOUGH = 16;
const SILENCE_MS = 1_000;

export interface ReferenceMachine {
  readonly name: string;
  readonly options: EngineOptions;
  /** How often it was made to rest since anything showed that it works, and until when it does. */
  rests: number;
  restsUntil: number;
  awaySince: number;
  backAt: number;
  broken: number;
  proofs: number;
  /** Executions begun since it last rested that have shown nothing. */
  unsure: { readonly execution: string; readonly since: number }[];
  lastPick: number;
  /** What its room follows, where that is its gauges. */
  readonly happened: Happening[];
}

export class ReferenceFleet {
  readonly machines: readonly ReferenceMachine[];
  readonly #options: ControlOptions;
  readonly #say: (verdict: Verdict) => void;
  readonly #affinity = new Map<string, string>();
  #picks = 0;

  constructor(options: ControlOptions, say: (verdict: Verdict) => void) {
    this.#options = options;
    this.#say = say;
    this.machines = options.engines.map((engine) => ({
      name: engine.name,
      options: engine,
      rests: 0,
      restsUntil: 0,
      awaySince: 0,
      backAt: Number.NEGATIVE_INFINITY,
      broken: 0,
      proofs: ENOUGH,
      unsure: [],
      lastPick: 0,
      happened: [],
    }));
  }

  serving(model: string): ReferenceMachine[] {
    const serving = this.machines.filter(({ options }) => options.models?.includes(model) ?? true);
    return serving.length === 0 && model === '' ? [...this.machines] : serving;
  }

  left(call: Call): ReferenceMachine[] {
    return this.serving(call.facts.model).filter(({ name }) => !call.refusedBy.includes(name));
  }

  #room({ options }: ReferenceMachine): RoomPolicy {
    return options.room ?? this.#options.room;
  }

  #most(machine: ReferenceMachine): number {
    const room = this.#room(machine);
    return typeof room === 'number' ? room : Number.POSITIVE_INFINITY;
  }

  #judge({ happened }: ReferenceMachine): Judgement {
    return judge(happened, this.#options.roomTarget);
  }

  /** The engine's gauges were read, or could not be, while it held these. */
  look(
    machine: ReferenceMachine,
    load: EngineLoad | undefined,
    held: readonly Execution[],
    now: number,
  ): void {
    const room = this.#room(machine);
    if (room !== 'engine' && (room !== 'auto' || (load === undefined && !this.#judge(machine).seen))) return;
    const { trust: before } = this.#judge(machine);
    const settled = held.filter(({ startedAt }) => now - startedAt >= 1_000).length;
    const shown = held.filter(({ attempt, firstByte }) => attempt.facts.stream && firstByte).length;
    machine.happened.push({ kind: 'look', at: now, load, held: held.length, settled, shown });
    const { trust } = this.#judge(machine);
    if (trust !== before && (trust === 'absent' || trust === 'wrong'))
      this.#say({ kind: 'warn', warning: `engine_gauges_${trust}`, engine: machine.name });
  }

  #hasRoom(one: ReferenceMachine, held: readonly Execution[]): boolean {
    const { roomWaiting, roomWhole } = this.#options;
    const room = this.#room(one);
    if (room === 'engine' || room === 'auto') return held.length < this.#judge(one).limit;
    if (room !== 'first-token') return held.length < this.#most(one);
    const streams = held.filter(({ attempt }) => attempt.facts.stream);
    const waiting = streams.filter(({ firstByte }) => !firstByte);
    return waiting.length < roomWaiting && held.length - streams.length < roomWhole;
  }

  /** The engine that the call would be given to now, when `held` tells what each has. */
  pick(call: Call, held: (name: string) => readonly Execution[], now: number): ReferenceMachine | undefined {
    const open = this.left(call).filter(
      (one) =>
        this.#hasRoom(one, held(one.name)) &&
        now >= one.restsUntil &&
        (one.proofs >= ENOUGH || one.unsure.length <= one.proofs),
    );
    const near = open.find(({ name }) => name === this.#affinity.get(this.#tie(call) ?? ''));
    if (near !== undefined) return near;
    const measured = open.every((one) => Number.isFinite(this.#most(one)));
    const full = (one: ReferenceMachine): number =>
      (held(one.name).length + 1) / ((measured ? this.#most(one) : 1) * this.#share(one, now));
    return open.toSorted((a, b) => full(a) - full(b) || a.lastPick - b.lastPick)[0];
  }

  #share({ backAt }: ReferenceMachine, now: number): number {
    const { slowStartMs } = this.#options.health;
    return now - backAt >= slowStartMs ? 1 : Math.max(0.1, (now - backAt) / slowStartMs);
  }

  #tie(call: Call): string | undefined {
    const { affinity } = this.#options;
    const facts = call.attempts.at(-1)?.facts ?? call.facts;
    const { tenant, model, session, prefix } = facts;
    if (affinity === 'off') return undefined;
    if (session !== undefined) return JSON.stringify([tenant, model, 's', session]);
    return affinity === 'prefix' && prefix !== undefined
      ? JSON.stringify([tenant, model, 'p', prefix])
      : undefined;
  }

  /** `held`: what the engine has with it. */
  begin(machine: ReferenceMachine, call: Call, execution: string, held: number, now: number): void {
    machine.happened.push({ kind: 'started', held });
    machine.lastPick = ++this.#picks;
    if (machine.proofs < ENOUGH) machine.unsure.push({ execution, since: now });
    const tie = this.#tie(call);
    if (tie !== undefined) this.#affinity.set(tie, machine.name);
  }

  of(name: string): ReferenceMachine {
    return this.machines.find((one) => one.name === name) as ReferenceMachine;
  }

  /** The engine has shown that it works on the execution. */
  shows(machine: ReferenceMachine, execution: string, now: number): void {
    const before = machine.unsure.length;
    this.isOver(machine, execution);
    if (machine.unsure.length === before) return;
    machine.proofs += 1;
    if (machine.rests === 0) return;
    machine.rests = 0;
    if (now - machine.awaySince > 2_000) machine.backAt = now;
    this.#say({ kind: 'back', engine: machine.name });
  }

  isOver(machine: ReferenceMachine, execution: string): void {
    machine.unsure = machine.unsure.filter((one) => one.execution !== execution);
  }

  fails(machine: ReferenceMachine, event: Extract<ControlEvent, { kind: 'fail' }>, now: number): void {
    const { failure, retryAfterMs, execution } = event;
    const { unavailable, health } = this.#options;
    const passes = failure === 'unavailable' && unavailable === 'pass';
    if (passes || failure === 'error_event' || failure.startsWith('status'))
      return this.shows(machine, execution, now);
    const wasUnsure = machine.unsure.some((one) => one.execution === execution);
    this.isOver(machine, execution);
    if (failure === 'timeout') return;
    const broke = failure !== 'refused' && failure !== 'unavailable';
    if (broke) machine.broken += 1;
    if (broke && !wasUnsure && machine.broken < 3) return;
    if (now < machine.restsUntil) return;
    if (machine.rests === 0) machine.awaySince = now;
    const usual = Math.min(health.longestRestMs, health.restMs * 2 ** machine.rests);
    const told = Math.min(health.longestRestMs, Math.max(health.restMs, retryAfterMs ?? 0));
    const restMs = retryAfterMs === undefined ? usual : told;
    Object.assign(machine, {
      restsUntil: now + restMs,
      rests: machine.rests + 1,
      proofs: 0,
      broken: 0,
      unsure: [],
    });
    this.#say({ kind: 'rest', engine: machine.name, failure, restMs });
  }

  away(call: Call): boolean {
    return this.left(call).every(({ rests }) => rests > 0);
  }

  /** When silence proves something, and what to do then. */
  silences(): { readonly at: number; readonly machine: ReferenceMachine; readonly execution: string }[] {
    return this.machines.flatMap((machine) =>
      machine.unsure.map(({ execution, since }) => ({ at: since + SILENCE_MS, machine, execution })),
    );
  }
}
