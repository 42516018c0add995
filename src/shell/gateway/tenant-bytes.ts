/** How many bytes of request bodies each tenant has here: those that are being read, and those of its calls in line. */

import type { ControlEvent } from '../../core/control/event.js';
import type { Verdict } from '../../core/control/verdict.js';
import type { TenantShare } from './request-body.js';

interface Share {
  readonly tenant: string;
  readonly bytes: number;
}

/** Follows what the control hears and says, as an observer does; it has an entry for nobody who holds nothing. */
export class TenantBytes {
  readonly #bytes = new Map<string, number>();
  readonly #attempts = new Map<string, Share>();
  /** By call. */
  readonly #waiting = new Map<string, Share>();
  readonly #counts: () => boolean;

  /** `counts`: whether anybody asks; what comes while nobody does is not followed. */
  constructor(counts: () => boolean) {
    this.#counts = counts;
  }

  of(tenant: string): number {
    return this.#bytes.get(tenant) ?? 0;
  }

  /** The same as whoever reads a body of the tenant's sees it, of which it may hold `most`. */
  share(tenant: string, most: number): TenantShare {
    const held = (): number => this.of(tenant);
    return {
      most,
      get bytes() {
        return held();
      },
      add: (bytes) => this.add(tenant, bytes),
    };
  }

  add(tenant: string, bytes: number): void {
    const all = this.of(tenant) + bytes;
    if (all > 0) this.#bytes.set(tenant, all);
    else this.#bytes.delete(tenant);
  }

  event(event: ControlEvent): void {
    if (event.kind !== 'arrive' || !this.#counts()) return;
    const { tenant, bodyBytes } = event.facts;
    this.#attempts.set(event.attempt, { tenant, bytes: bodyBytes });
  }

  verdict(verdict: Verdict): void {
    const { kind } = verdict;
    if (kind === 'queue') this.#wait(verdict.call, verdict.attempt);
    else if (kind === 'drop' || kind === 'start') this.#leave(verdict.call);
    else if (kind === 'attempt-ended') this.#attempts.delete(verdict.attempt);
  }

  #wait(call: string, attempt: string): void {
    const share = this.#attempts.get(attempt);
    if (share === undefined || this.#waiting.has(call)) return;
    this.#waiting.set(call, share);
    this.add(share.tenant, share.bytes);
  }

  #leave(call: string): void {
    const share = this.#waiting.get(call);
    if (share === undefined) return;
    this.#waiting.delete(call);
    this.add(share.tenant, -share.bytes);
  }
}
