/** What holds of the meter at every moment of a soak, and what when its load is over. */

import { type Family, valueOf } from '../../src/core/meter/exposition.js';
import { GAUGES, REMEMBERED, type Sample } from './subject.js';

/** Kinds whose endings and whose open ones are all that began. */
const KINDS = [
  ['attempts', 'holdfast_attempts_open'],
  ['calls', 'holdfast_calls_open'],
  ['executions', 'holdfast_running_executions'],
  ['entries', 'holdfast_line_entries'],
] as const;

/** Each law that one scrape breaks, in a sentence. */
export function brokenLaws(families: readonly Family[]): readonly string[] {
  const of = (name: string): number => valueOf(families, name) ?? Number.NaN;
  const ended = (kind: string, fits: (ending: string) => boolean = () => true): number => {
    const samples = families.find(({ name }) => name === `holdfast_${kind}_ended_total`)?.samples ?? [];
    return samples.reduce((sum, { labels, value }) => sum + (fits(labels['ending'] ?? '') ? value : 0), 0);
  };
  const broken: string[] = [];
  for (const [kind, open] of KINDS) {
    const [began, over, now] = [of(`holdfast_${kind}_total`), ended(kind), of(open)];
    if (began !== over + now) broken.push(`${began} ${kind} began, ${over} ended and ${now} are open`);
  }
  const failed = ended('executions', (ending) => ending.startsWith('failed_'));
  const most = of('holdfast_calls_total') + of('holdfast_budget_granted_total') + failed;
  const executions = of('holdfast_executions_total');
  if (!(executions <= most)) broken.push(`${executions} executions, where ${most} are allowed`);
  return broken;
}

/** What is still held although nobody asks for anything; `handles` are those before the load. */
export function held(sample: Sample, handles: number | undefined, remembers: boolean): readonly string[] {
  const names = remembers ? GAUGES : [...GAUGES, REMEMBERED];
  const left = names
    .filter((name) => sample.gauges[name] !== 0)
    .map((name) => `${name} ${sample.gauges[name]}`);
  if (handles !== undefined && (sample.handles ?? 0) > handles)
    left.push(`${sample.handles} files are open, were ${handles}`);
  return left;
}
