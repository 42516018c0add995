/** The accounts of answer bytes: what live executions and retained answers hold, and who has to let go. */

import type { Execution } from './call.js';
import type { ControlBounds } from './options.js';

const NONE: readonly Execution[] = [];

export class AnswerMemory {
  readonly #bounds: ControlBounds;
  /** Executions with replayable bytes that are live or being read, in order of starting. */
  readonly #live = new Set<Execution>();
  /** Answers that nobody reads, oldest first, and whose they are. */
  readonly #undelivered = new Map<Execution, string>();
  readonly #delivered = new Map<Execution, string>();
  readonly #retainedByTenant = new Map<string, number>();
  #liveBytes = 0;
  #retainedBytes = 0;

  constructor(bounds: ControlBounds) {
    this.#bounds = bounds;
  }

  get liveBytes(): number {
    return this.#liveBytes;
  }

  get retainedBytes(): number {
    return this.#retainedBytes;
  }

  get retainedAnswers(): number {
    return this.#undelivered.size + this.#delivered.size;
  }

  /** `bytes` more of a replayable answer; returns the executions that must be sealed to stay within bounds. */
  add(execution: Execution, bytes: number): readonly Execution[] {
    execution.bytes += bytes;
    if (!execution.replayable) return NONE;
    this.#live.add(execution);
    this.#liveBytes += bytes;
    const fits =
      execution.bytes <= this.#bounds.replayBytes && this.#liveBytes <= this.#bounds.liveReplayBytes;
    if (fits) return NONE;
    const sealed: Execution[] = [];
    if (execution.bytes > this.#bounds.replayBytes) sealed.push(this.#seal(execution));
    return this.#fitLive(sealed);
  }

  /**
   * A finished answer that nobody reads is kept; returns those that must go for it. An answer that was delivered is
   * worth the least; then the oldest goes. A tenant above its share lets go of its own before anybody else has to.
   */
  retain(execution: Execution, tenant: string, delivered: boolean): readonly Execution[] {
    if (this.#undelivered.has(execution) || this.#delivered.has(execution)) return [];
    if (this.#live.delete(execution)) this.#liveBytes -= execution.bytes;
    (delivered ? this.#delivered : this.#undelivered).set(execution, tenant);
    this.#retainedBytes += execution.bytes;
    this.#retainedByTenant.set(tenant, (this.#retainedByTenant.get(tenant) ?? 0) + execution.bytes);
    const shares = this.#fitShare(tenant);
    const rest = this.#fitRetained();
    return shares.length + rest.length === 0 ? NONE : [...shares, ...rest];
  }

  /** The bounds have changed: returns the executions to seal and the retained ones to drop. */
  fit(): { readonly sealed: readonly Execution[]; readonly dropped: readonly Execution[] } {
    const all = [...this.#live, ...this.#delivered.keys(), ...this.#undelivered.keys()];
    const large = all.filter(({ bytes }) => bytes > this.#bounds.replayBytes);
    const sealed = this.#fitLive(large.map((execution) => this.#seal(execution)));
    const shares = [...this.#retainedByTenant.keys()].flatMap((tenant) => this.#fitShare(tenant));
    return { sealed, dropped: [...shares, ...this.#fitRetained()] };
  }

  /** The retained answer whose loss costs the least. */
  leastWorth(): Execution | undefined {
    for (const [execution] of this.#byWorth()) return execution;
    return undefined;
  }

  /** A retained answer is being read again; returns the executions that must be sealed for it. */
  reopen(execution: Execution): readonly Execution[] {
    if (!this.#unretain(execution)) return [];
    this.#live.add(execution);
    this.#liveBytes += execution.bytes;
    return this.#fitLive([]);
  }

  /** The answer's bytes are wiped, or leave the account for good. */
  release(execution: Execution): void {
    if (this.#live.delete(execution)) this.#liveBytes -= execution.bytes;
    else this.#unretain(execution);
  }

  #fitLive(sealed: Execution[]): readonly Execution[] {
    while (this.#liveBytes > this.#bounds.liveReplayBytes) {
      const newest = this.#newest();
      if (newest === undefined) break;
      sealed.push(this.#seal(newest));
    }
    return sealed;
  }

  #seal(execution: Execution): Execution {
    execution.replayable = false;
    this.release(execution);
    return execution;
  }

  #newest(): Execution | undefined {
    let newest: Execution | undefined;
    for (const execution of this.#live) {
      if (newest === undefined || execution.number > newest.number) newest = execution;
    }
    return newest;
  }

  /** Retained answers and whose they are, those worth the least first; whoever walks may let go of what it is at. */
  *#byWorth(): Generator<readonly [Execution, string]> {
    yield* this.#delivered;
    yield* this.#undelivered;
  }

  #fitShare(tenant: string): readonly Execution[] {
    const share = this.#bounds.retainedBytes * this.#bounds.retainedTenantShare;
    if ((this.#retainedByTenant.get(tenant) ?? 0) <= share) return NONE;
    const dropped: Execution[] = [];
    for (const [execution, owner] of this.#byWorth()) {
      if ((this.#retainedByTenant.get(tenant) ?? 0) <= share) break;
      if (owner !== tenant) continue;
      this.#unretain(execution);
      dropped.push(execution);
    }
    return dropped;
  }

  #fitRetained(): readonly Execution[] {
    if (this.#retainedBytes <= this.#bounds.retainedBytes) return NONE;
    const dropped: Execution[] = [];
    for (const [execution] of this.#byWorth()) {
      if (this.#retainedBytes <= this.#bounds.retainedBytes) break;
      this.#unretain(execution);
      dropped.push(execution);
    }
    return dropped;
  }

  #unretain(execution: Execution): boolean {
    const tenant = this.#undelivered.get(execution) ?? this.#delivered.get(execution);
    if (tenant === undefined) return false;
    this.#undelivered.delete(execution);
    this.#delivered.delete(execution);
    this.#retainedBytes -= execution.bytes;
    const left = (this.#retainedByTenant.get(tenant) ?? 0) - execution.bytes;
    if (left > 0) this.#retainedByTenant.set(tenant, left);
    else this.#retainedByTenant.delete(tenant);
    return true;
  }
}
