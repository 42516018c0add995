/** The engines: which of them serve a model, which have room and are well, and which one gets the next execution. */

import { assert } from '../assert.js';
import { Affinity } from './affinity.js';
import type { Call, Execution } from './call.js';
import type { GaugeTrust } from './engine-load.js';
import type { AttemptFacts } from './event.js';
import { Health } from './health.js';
import type { ControlOptions, RoomPolicy } from './options.js';
import { Room } from './room.js';

/** One engine. */
export class Member {
  readonly name: string;
  /** Its place in the options. */
  readonly index: number;
  readonly room: Room;
  readonly health: Health;
  /** The execution that it was given last, by number. */
  lastGiven = 0;

  constructor(name: string, index: number, room: RoomPolicy, options: ControlOptions) {
    this.name = name;
    this.index = index;
    this.room = new Room(room, options);
    this.health = new Health(() => options.health);
  }

  /** Whether it may be given an execution at `now`. */
  opensTo(now: number): boolean {
    return this.room.free && this.health.opensTo(now);
  }
}

/** Engines that a call may go to; at least one. Two with the same key are the same engines. */
export interface Group {
  readonly key: string;
  readonly members: readonly Member[];
}

/** What one engine is doing, to be shown. */
export interface EngineGauges {
  readonly name: string;
  readonly runningExecutions: number;
  /** Infinity: no number is set. */
  readonly room: number;
  /** Nothing is started on it now, or one execution to see whether it is back. */
  readonly away: boolean;
  /** What is made of its own gauges; absent where its room does not follow them. */
  readonly trust?: GaugeTrust | undefined;
  readonly probes: number;
}

export class Fleet {
  readonly #members: readonly Member[];
  readonly #byModel = new Map<string, Group>();
  /** For models that no engine names, and for requests that name none. */
  readonly #anyModel: Group | undefined;
  readonly #all: Group | undefined;
  readonly #affinity: Affinity<Member>;

  constructor(options: ControlOptions) {
    this.#affinity = new Affinity(options);
    this.#members = options.engines.map(
      ({ name, room }, index) => new Member(name, index, room ?? options.room, options),
    );
    const serving = (model: string | undefined): Group | undefined =>
      groupOf(this.#members.filter(({ index }) => serves(options, index, model)));
    this.#all = groupOf(this.#members);
    this.#anyModel = serving(undefined);
    for (const model of new Set(options.engines.flatMap(({ models }) => models ?? []))) {
      const group = serving(model);
      if (group !== undefined) this.#byModel.set(model, group);
    }
  }

  /** The engines for a model; undefined when none serves it. A request that names none, any of them may answer. */
  serving(model: string): Group | undefined {
    return this.#byModel.get(model) ?? this.#anyModel ?? (model === '' ? this.#all : undefined);
  }

  /** The engines that the call may still go to; undefined when each has refused it, or none serves its model. */
  groupOf(call: Call): Group | undefined {
    const group = this.serving(call.last.model);
    const { refusedBy } = call;
    if (group === undefined || refusedBy.size === 0) return group;
    return groupOf(group.members.filter((member) => !refusedBy.has(member)));
  }

  /** Whether some engine of the group may be given an execution now. */
  opensTo(group: Group, now: number): boolean {
    return group.members.some((member) => member.opensTo(now));
  }

  /** Whether every engine of the group has failed and has not been seen back, and none may be tried just now. */
  isAway({ members }: Group, now: number): boolean {
    return members.every((member) => member.health.away && !member.opensTo(now));
  }

  /** When the first of its engines may be tried again. */
  opensAt({ members }: Group): number {
    return Math.min(...members.map(({ health }) => health.restsUntil));
  }

  /**
   * The engine for a request, among those of the group that are open: the one that has its session or prefix, or
   * the one that would be the least full; of equals, the one that was given something the longest ago.
   */
  choose({ members }: Group, facts: AttemptFacts, now: number): Member | undefined {
    const open = members.filter((member) => member.opensTo(now));
    const near = this.#affinity.of(facts);
    if (near !== undefined && open.includes(near)) return near;
    const measured = open.every(({ room }) => Number.isFinite(room.size));
    const fullness = ({ room, health }: Member): number =>
      (room.used + 1) / ((measured ? room.size : 1) * health.share(now));
    let best: Member | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const member of open) {
      const full = fullness(member);
      if (full > least || (full === least && best !== undefined && best.lastGiven <= member.lastGiven))
        continue;
      best = member;
      least = full;
    }
    return best;
  }

  /** The execution begins on its engine. */
  take(execution: Execution, facts: AttemptFacts, now: number): void {
    const { engine, number } = execution;
    assert(engine.health.opensTo(now), 'an execution started on an engine at rest');
    engine.room.take(execution, now);
    engine.lastGiven = number;
    engine.health.started(execution, now);
    this.#affinity.note(facts, engine);
  }

  /** The engine of that name, if there is one. */
  member(name: string): Member | undefined {
    return this.#members.find((one) => one.name === name);
  }

  /** The next moment at which time alone changes what the engines may be given. */
  nextAt(now: number): number {
    let at = Number.POSITIVE_INFINITY;
    for (const { health } of this.#members) at = Math.min(at, health.nextAt(now));
    return at;
  }

  /** The engines that silence has brought back by `now`. */
  passTime(now: number): readonly Member[] {
    return this.#members.filter(({ health }) => health.passTime(now));
  }

  /** Other rooms from now on; what runs above them runs to its end. */
  resize(options: ControlOptions): void {
    for (const { index, room } of this.#members) {
      room.resize(options.engines[index]?.room ?? options.room, options);
    }
  }

  gauges(): readonly EngineGauges[] {
    return this.#members.map(({ name, room, health }) => ({
      name,
      runningExecutions: room.used,
      room: room.most,
      away: health.away,
      trust: room.trust,
      probes: health.probes,
    }));
  }
}

function serves({ engines }: ControlOptions, index: number, model: string | undefined): boolean {
  const models = engines[index]?.models;
  return models === undefined || (model !== undefined && models.includes(model));
}

function groupOf(members: readonly Member[]): Group | undefined {
  if (members.length === 0) return undefined;
  return { key: members.map(({ index }) => index).join(' '), members };
}
