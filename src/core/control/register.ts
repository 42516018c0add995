/** The tables of known calls, each keyed by tenant and fingerprint first, and within that by what names a call. */

import type { Call } from './call.js';
import type { AttemptFacts } from './event.js';

/** How many calls of one scope are looked at without a name that points to them. */
export const SCAN_LIMIT = 512;

const NO_CALLS: readonly Call[] = [];

/** Nothing crosses a tenant: every look-up starts from this. */
export function scopeOf(facts: AttemptFacts): string {
  return `${facts.tenant}\n${facts.fingerprint}`;
}

/** What an attempt's key, and its traceparent, name within its scope; the two can never be taken for each other. */
export function keyName(facts: AttemptFacts): string | undefined {
  return facts.key === undefined ? undefined : `${scopeOf(facts)}\nkey\n${facts.key}`;
}

export function traceName(facts: AttemptFacts): string | undefined {
  return facts.traceparent === undefined ? undefined : `${scopeOf(facts)}\ntrace\n${facts.traceparent}`;
}

/** Both of them, where there are any. */
export function namesOf(facts: AttemptFacts): readonly string[] {
  return [keyName(facts), traceName(facts)].filter((name) => name !== undefined);
}

export class Register {
  readonly #byScope = new Map<string, Set<Call>>();
  /** Scopes in which two calls were known at once, for as long as any is. */
  readonly #crowded = new Set<string>();
  readonly #byName = new Map<string, Set<Call>>();
  /** Calls without work, in the order they lost it. */
  readonly #idle = new Set<Call>();
  #size = 0;

  /** Calls known, remembered ones included. */
  get size(): number {
    return this.#size;
  }

  *[Symbol.iterator](): Generator<Call> {
    for (const calls of this.#byScope.values()) yield* calls;
  }

  add(call: Call): void {
    put(this.#byScope, call.scope, call);
    if ((this.#byScope.get(call.scope)?.size ?? 0) > 1) this.crowd(call.scope);
    this.#size += 1;
  }

  /** Makes the call findable by what this attempt of it said. */
  name(call: Call, facts: AttemptFacts): void {
    for (const name of namesOf(facts)) {
      call.names.add(name);
      put(this.#byName, name, call);
    }
  }

  remove(call: Call): void {
    take(this.#byScope, call.scope, call);
    if (!this.#byScope.has(call.scope)) this.#crowded.delete(call.scope);
    for (const name of call.names) take(this.#byName, name, call);
    this.#idle.delete(call);
    this.#size -= 1;
  }

  /** Equal calls are about in a scope where some call is known. */
  crowd(scope: string): void {
    this.#crowded.add(scope);
  }

  /** Whether equal calls have been about, so that a retry count may be another one's. */
  crowded(scope: string): boolean {
    return this.#crowded.has(scope);
  }

  /** The calls of one scope, oldest first; at most the scan limit. */
  *scope(scope: string): Generator<Call> {
    let looked = 0;
    for (const call of this.#byScope.get(scope) ?? []) {
      if (looked >= SCAN_LIMIT) return;
      looked += 1;
      yield call;
    }
  }

  setIdle(call: Call, idle: boolean): void {
    if (idle) this.#idle.add(call);
    else this.#idle.delete(call);
  }

  /** The call that has been without work for longest. */
  oldestIdle(): Call | undefined {
    for (const call of this.#idle) return call;
    return undefined;
  }

  /** What the attempt could belong to: calls it names, then the oldest of its scope. */
  candidates(facts: AttemptFacts): readonly Call[] {
    const scope = scopeOf(facts);
    // Names are found within a scope only.
    if (!this.#byScope.has(scope)) return NO_CALLS;
    const found = new Set<Call>();
    for (const name of namesOf(facts)) for (const call of this.#byName.get(name) ?? []) found.add(call);
    for (const call of this.scope(scope)) found.add(call);
    return [...found];
  }
}

function put(table: Map<string, Set<Call>>, key: string, call: Call): void {
  const calls = table.get(key);
  if (calls === undefined) table.set(key, new Set([call]));
  else calls.add(call);
}

function take(table: Map<string, Set<Call>>, key: string, call: Call): void {
  const calls = table.get(key);
  calls?.delete(call);
  if (calls?.size === 0) table.delete(key);
}
