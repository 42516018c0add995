/** The reference model's shares: whose turn it is among the tenants that wait for the same engines. */

/** A call that may start: for which engines it waits, and in whose turn. */
export interface Ready {
  readonly engines: string;
  readonly tenant: string;
}

interface Turn {
  readonly tenant: string;
  at: number;
  /** Of two turns at one place the one that was given first goes first. */
  given: number;
}

/** Of the calls for the same engines; it lasts as long as any of them waits. */
interface Round {
  clock: number;
  turns: Turn[];
  readonly last: Map<string, number>;
}

export class ReferenceShares {
  readonly #rounds = new Map<string, Round>();
  #given = 0;

  /** These may start now, and no others. */
  settle(ready: readonly Ready[]): void {
    const groups = new Set(ready.map(({ engines }) => engines));
    for (const engines of this.#rounds.keys()) if (!groups.has(engines)) this.#rounds.delete(engines);
    for (const engines of groups) {
      const round = this.#rounds.get(engines) ?? { clock: 0, turns: [], last: new Map<string, number>() };
      this.#rounds.set(engines, round);
      const tenants = new Set(ready.filter((one) => one.engines === engines).map(({ tenant }) => tenant));
      round.turns = round.turns.filter(({ tenant }) => tenants.has(tenant));
      for (const tenant of tenants) {
        if (round.turns.some((turn) => turn.tenant === tenant)) continue;
        const at = Math.max(round.clock, round.last.get(tenant) ?? 0);
        round.turns.push({ tenant, at, given: this.#given++ });
      }
    }
  }

  /** The tenant whose call for these engines is next. */
  next(engines: string): string | undefined {
    const turns = this.#rounds.get(engines)?.turns ?? [];
    return turns.toSorted((a, b) => a.at - b.at || a.given - b.given)[0]?.tenant;
  }

  /** A call of the tenant starts that waited for these engines. */
  served({ engines, tenant }: Ready, weight: number): void {
    const round = this.#rounds.get(engines);
    const turn = round?.turns.find((one) => one.tenant === tenant);
    if (round === undefined || turn === undefined) return;
    round.clock = Math.max(round.clock, turn.at);
    turn.at += 1 / weight;
    turn.given = this.#given++;
    round.last.set(tenant, turn.at);
  }
}
