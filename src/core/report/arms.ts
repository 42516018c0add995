/** Runs put side by side: those of one name are an arm, told apart by their seeds. */

import type { RunRecord } from '../drill/run.js';

export interface ComparedArm {
  readonly name: string;
  readonly runs: readonly RunRecord[];
}

/** What a page can show and a reader take in. */
export const MOST_ARMS = 12;
export const MOST_RUNS = 100;

/** Arms in the order in which their first run was given, each arm's runs by seed. */
export function armsOf(records: readonly RunRecord[]): readonly ComparedArm[] {
  const byName = new Map<string, RunRecord[]>();
  for (const record of records) {
    const its = byName.get(record.head.name);
    if (its === undefined) byName.set(record.head.name, [record]);
    else its.push(record);
  }
  return [...byName].map(([name, runs]) => ({
    name,
    runs: runs.toSorted((a, b) => a.head.seed - b.head.seed),
  }));
}

/** The runs of two arms under the same seeds, pair by pair. */
export function pairsOf(a: ComparedArm, b: ComparedArm): readonly (readonly [RunRecord, RunRecord])[] {
  const left = [...b.runs];
  return a.runs.flatMap((one): (readonly [RunRecord, RunRecord])[] => {
    const at = left.findIndex(({ head }) => head.seed === one.head.seed);
    const [other] = at < 0 ? [] : left.splice(at, 1);
    return other === undefined ? [] : [[one, other]];
  });
}

export interface Panel {
  readonly name: string;
  readonly record: RunRecord;
}

/** One run of each arm, of a seed that all arms have if there is one; of a single arm, each of its runs. */
export function panelsOf(arms: readonly ComparedArm[]): readonly Panel[] {
  const [first] = arms;
  if (first !== undefined && arms.length === 1) {
    return first.runs.slice(0, MOST_ARMS).map((record) => ({ name: `seed ${record.head.seed}`, record }));
  }
  const seeds = (first?.runs ?? []).map(({ head }) => head.seed);
  const common = seeds.find((seed) => arms.every(({ runs }) => runs.some(({ head }) => head.seed === seed)));
  return arms.flatMap(({ name, runs }) => {
    const record = runs.find(({ head }) => head.seed === common) ?? runs[0];
    return record === undefined ? [] : [{ name: `${name}, seed ${record.head.seed}`, record }];
  });
}

/** What keeps these runs from being compared call by call; empty when nothing does. */
export function mismatches(arms: readonly ComparedArm[]): readonly string[] {
  const all = arms.flatMap(({ runs }) => runs);
  const differ = (of: (record: RunRecord) => unknown): boolean =>
    new Set(all.map((record) => JSON.stringify(of(record)))).size > 1;
  const seeds = new Set(arms.map(({ runs }) => runs.map(({ head }) => head.seed).join()));
  return [
    ...(differ(({ head: { plan } }) => [plan.stages, plan.arrivals, plan.workload])
      ? ['The runs are not of one plan: their stages, arrivals or prompts differ.']
      : []),
    ...(differ(({ head }) => head.capacity)
      ? ['The runs are not of one capacity: one Ĉ is not the other’s, and neither are the calls.']
      : []),
    ...(seeds.size > 1 ? ['The arms are not of the same seeds: only those they share are paired.'] : []),
  ];
}
