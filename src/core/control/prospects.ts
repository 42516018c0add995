/** How fast what waits will be served: the rate of full engines, and how long an execution takes. */

import type { Execution } from './call.js';
import type { AttemptFacts } from './event.js';
import type { Group, Member } from './fleet.js';
import type { ControlOptions } from './options.js';
import { Pace } from './pace.js';
import { RecentMap } from './recent.js';
import { ServiceTimes } from './service.js';
import type { Prospect } from './tiers.js';

/** An on-time call is started so early that this share of executions would make it. */
const MOST = 0.65;
/** Hardly any execution takes longer than this share of them. */
const NEARLY_ALL = 0.99;
/** From this part of its room on, an engine's executions take as long as those of a full one for their number. */
const NEARLY_FULL = 0.5;
/** Kinds of requests whose service times are told apart; at the bound the least recently seen is forgotten. */
const MOST_KINDS = 1_024;
const ENOUGH_OF_KIND = 16;

export class Prospects {
  readonly #options: ControlOptions;
  readonly #paces = new Map<Member, Pace>();
  /** Of all executions, whole. */
  readonly #all = new ServiceTimes();
  /** By model, size and whether the client waits for the first byte only. */
  readonly #kinds = new RecentMap<string, ServiceTimes>(MOST_KINDS);

  constructor(options: ControlOptions) {
    this.#options = options;
  }

  /** Which engines somebody waits for, as of `now`; of those the full ones show their pace. */
  waitedFor(engines: ReadonlySet<Member>, now: number): void {
    for (const engine of engines) this.#paceOf(engine);
    for (const [engine, pace] of this.#paces) pace.full(now, engines.has(engine) && !engine.room.free);
  }

  /** An execution was completed. */
  finished({ call, engine, startedAt, firstByteAt = startedAt }: Execution, now: number): void {
    const { last } = call;
    this.#paceOf(engine).finished(now, now - startedAt);
    this.#all.add(now - startedAt);
    const key = kindOf(last);
    const kind = this.#kinds.get(key) ?? new ServiceTimes();
    this.#kinds.set(key, kind);
    kind.add((last.stream ? firstByteAt : now) - startedAt);
  }

  /** What calls that wait for these engines have to expect. */
  of({ members }: Group): Prospect {
    let [rate, known, running, room] = [0, 0, 0, 0];
    for (const member of members) {
      const paceMs = this.#paceMs(member);
      if (paceMs > 0) {
        rate += 1 / paceMs;
        known += 1;
      }
      running += member.room.used;
      room += member.room.capacity;
    }
    // An engine that was never seen full is taken to be like the others.
    const paceMs = known === 0 ? 0 : known / (rate * members.length);
    // Little's law: what full engines hold takes that many paces, known before the first has come through.
    const full = paceMs > 0 && running >= NEARLY_FULL * room;
    const meanMs = full ? running * paceMs : this.#all.meanMs;
    return {
      paceMs,
      serviceMs: meanMs * this.#all.spread(MOST),
      longestMs: meanMs * this.#all.spread(NEARLY_ALL),
      margin: this.#options.margin,
    };
  }

  /** How much sooner than the mean of all a request of this kind has what its client waits for, milliseconds. */
  soonerMs(facts: AttemptFacts): number {
    const kind = this.#kinds.get(kindOf(facts));
    return kind === undefined || kind.seen < ENOUGH_OF_KIND ? 0 : this.#all.meanMs - kind.meanMs;
  }

  /** The stated capacity is that of all engines together. */
  #paceMs(member: Member): number {
    const { capacity, engines } = this.#options;
    return this.#paceOf(member).paceMs(capacity === undefined ? undefined : capacity / engines.length);
  }

  #paceOf(member: Member): Pace {
    const known = this.#paces.get(member);
    if (known !== undefined) return known;
    const fresh = new Pace();
    this.#paces.set(member, fresh);
    return fresh;
  }
}

/** Prompts of about one size, within a factor of two. */
function kindOf({ model, stream, bodyBytes }: AttemptFacts): string {
  return `${model}\n${stream}\n${Math.ceil(Math.log2(Math.max(1, bodyBytes)))}`;
}
