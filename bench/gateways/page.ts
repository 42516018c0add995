/** docs/benchmarks.md: tables of what was measured, around a passage that is written by hand and kept. */

import { grouped } from '../../src/core/report/words.js';
import { type Compared, type Extent, faultText } from './comparison.js';
import {
  added,
  cpuMs,
  DIRECT_NAME,
  everyTaken,
  faults,
  pipeOf,
  rate,
  rateRatio,
  resident,
} from './figures.js';
import { met, type Target, targetsOf } from './targets.js';
import { digits, ranged } from './text.js';
import { EVENTS, WORKLOAD, WORKLOADS, type WorkloadName } from './workload.js';

const KEPT_FROM = '<!-- written by hand from here -->';
const KEPT_TO = '<!-- to here -->';
const MIB = 1_048_576;

export interface PageParts {
  readonly all: readonly Compared[];
  readonly extent: Extent;
  /** The machine in a sentence: cores, processor, kernel, Node, load before the run. */
  readonly machine: string;
  /** The page as it was, whose passage by hand is kept; undefined when there is none yet. */
  readonly earlier: string | undefined;
}

export function pageOf({ all, extent, machine, earlier }: PageParts): string {
  const { rounds, windowMs, streams } = extent;
  return `# Beside other gateways

Written by \`npm run bench:gateways\`, all of it in one run. ${machine}

![Requests per second through each gateway, as a share of what a bare pipe does](pictures/gateways.svg)

Figures are the median of ${rounds} rounds with their extremes in brackets. Load, gateway and engine share the cores, so rates are worth what they are beside others of the same round, and CPU a request is what other work on the machine disturbs least.

## What was aimed at

${targetTable(targetsOf(all))}
## Requests per second

Closed loop, ${WORKLOAD.stream.connections} connections; a request follows when the last one's answer is there. After the dot: the share of the bare pipe in the same round.

${rateTable(all)}
${limitNote(all)}

## CPU and memory of the gateway

CPU milliseconds of all its processes for one answer, at the rates above, and what they had resident at the end.

${cpuTable(all)}
## Added latency

Open loop: requests are sent at planned moments (Poisson), latency counts from the planned moment, and what the same plan takes straight at the engine in the same round is taken off. The rate is half of Holdfast's greatest; who cannot do that and a quarter more is measured at half of its own. A p99 stands where a round had 100 requests. Of a stream: to the first event, and to the end of all ${EVENTS}.

${latencyTable(all)}
## Memory of held streams

${grouped(streams)} streams open at once, each silent after its first event, with a request of 1 kB; growth of what a fresh process has resident, divided by the streams.

${heldTable(all)}
## Where the time goes

${KEPT_FROM}${keptOf(earlier)}${KEPT_TO}

## Who was measured, and how

${contenderTable(all)}
${faultNotes(all)}The engine is a mock on the same machine in a process of its own (bench/gateways/upstream.ts): it answers at once, in the form of vLLM, with usage; a stream's events are an HTTP chunk each, one turn of its event loop apart. The load is a process of its own as well (bench/gateways/load.ts). No two requests are alike; every answer is checked for being its own request's, whole, and a request without such an answer counts for no rate. Windows of ${(windowMs / 1_000).toFixed(1)} s; in each round everyone is measured once, one after another. Others are installed at the versions above into a folder outside the repository (\`HOLDFAST_BENCH_CACHE\`); who cannot be installed or started is listed with the reason.

\`\`\`console
npm run bench:gateways                # writes this page and its picture
npm run bench:gateways -- --quick     # direct, pipe and Holdfast only, under a minute; writes nothing
npm run bench:gateways -- --help
\`\`\`
`;
}

/** What stands between the two marks, with its line ends. */
function keptOf(earlier: string | undefined): string {
  const from = earlier?.indexOf(KEPT_FROM) ?? -1;
  const to = earlier?.indexOf(KEPT_TO) ?? -1;
  return earlier === undefined || from === -1 || to < from
    ? '\n\n'
    : earlier.slice(from + KEPT_FROM.length, to);
}

/** Figures stand at the right of their columns, words at the left; the first column always has words. */
function table(head: readonly string[], rows: readonly (readonly string[])[], words = false): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
  const rule = head.map((_, at) => (words || at === 0 ? '---' : '---:'));
  return [head, rule, ...rows].map(line).join('');
}

function targetTable(targets: readonly Target[]): string {
  const rows = targets.map((target) => {
    const { words, reached, unit, decimals } = target;
    const is = met(target);
    const said = is === undefined ? 'not measured' : `${ranged(reached, decimals)}${unit}`;
    return [words, said, is === undefined ? '—' : is ? 'yes' : '**no**'];
  });
  return table(['aim', 'reached', 'met'], rows);
}

function present(all: readonly Compared[]): readonly Compared[] {
  return all.filter(({ leftOut }) => leftOut === undefined);
}

function gateways(all: readonly Compared[]): readonly Compared[] {
  return present(all).filter(({ name }) => name !== DIRECT_NAME);
}

function rateTable(all: readonly Compared[]): string {
  const pipe = pipeOf(all);
  const cell = (each: Compared, workload: WorkloadName): string => {
    const { median, least, most } = rate(each, workload);
    if (!(median > 0)) return '—';
    const share = digits(rateRatio(each, pipe, workload).median, 2);
    return `${grouped(median)} (${grouped(least)}–${grouped(most)}) · ${share}`;
  };
  const rows = present(all).map((each) => [each.name].concat(WORKLOADS.map((name) => cell(each, name))));
  return table(['', ...WORKLOADS.map((name) => WORKLOAD[name].about)], rows);
}

/** What the direct row was limited by. */
function limitNote(all: readonly Compared[]): string {
  const direct = all.find(({ name }) => name === DIRECT_NAME);
  if (direct === undefined) return '';
  const said = WORKLOADS.map((workload) => {
    const [first] = direct.rates[workload];
    const { load = Number.NaN, upstream = Number.NaN } = first?.busy ?? {};
    return `${WORKLOAD[workload].about}: the load ${digits(load * 100, 0)} % and the engine ${digits(upstream * 100, 0)} % of a core`;
  });
  return `Straight at the engine, load and engine are what limits the rate (busy in the first round: ${said.join('; ')}); a gateway that comes near that row may be faster than can be seen here.`;
}

function cpuTable(all: readonly Compared[]): string {
  const rows = gateways(all).map((each) => {
    const most = Math.max(...WORKLOADS.map((workload) => resident(each, workload).most));
    const cpu = WORKLOADS.map((workload) => ranged(cpuMs(each, workload), 3));
    return [each.name].concat(cpu, digits(most / MIB, 0));
  });
  return table(['', ...WORKLOADS.map((name) => `${WORKLOAD[name].about}, ms`), 'resident, MiB'], rows);
}

function latencyTable(all: readonly Compared[]): string {
  const rows = gateways(all).flatMap((each) =>
    WORKLOADS.filter((workload) => each.latencies[workload].length > 0).map((workload) => {
      const cells = (to: 'firstMs' | 'endMs'): string[] =>
        (['p50', 'p99'] as const).map((quantile) => ranged(added(each, workload, quantile, to), 2));
      const { ratePerSecond = Number.NaN } = each.latencies[workload][0] ?? {};
      const first = workload === 'stream' ? cells('firstMs') : ['', ''];
      return [each.name, workload, grouped(ratePerSecond)].concat(cells('endMs'), first);
    }),
  );
  const head = [
    '',
    'requests',
    'at 1/s',
    'whole answer p50, ms',
    'p99, ms',
    'first event p50, ms',
    'p99, ms',
  ];
  return table(head, rows);
}

function heldTable(all: readonly Compared[]): string {
  const rows = present(all).flatMap(({ name, held }) => {
    if (held === undefined) return [];
    if (typeof held === 'string') return [[name, '—', '—', held]];
    const { before, held: after } = held.residentBytes;
    const silent = held.asked - held.taken.whole - held.taken.faults;
    const missing = [
      ...(held.taken.faults === 0 ? [] : [oneLine(faultText(held.taken))]),
      ...(silent > 0 ? [`${grouped(silent)} had no event in time`] : []),
    ].join('; ');
    const grown = `${digits(before / MIB, 0)} → ${digits(after / MIB, 0)}`;
    return [[name, grouped(held.taken.whole), digits(held.bytesPerStream / 1e3, 1), grown, missing]];
  });
  return table(['', 'open', 'kB each', 'resident, MiB', ''], rows);
}

function contenderTable(all: readonly Compared[]): string {
  const rows = all.map(({ name, version, about, leftOut }) => [
    name,
    version ?? '—',
    leftOut === undefined ? about : `**left out**: ${oneLine(leftOut)}`,
  ]);
  return table(['', 'version', 'settings'], rows, true);
}

/** Of its measurements, the one with the most requests without a whole answer. */
function worstOf(each: Compared): string {
  const [worst] = everyTaken(each).toSorted((a, b) => b.faults - a.faults);
  return worst === undefined ? '' : faultText(worst);
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');

function faultNotes(all: readonly Compared[]): string {
  const lines = present(all)
    .filter((each) => faults(each) > 0)
    .map((each) => `- ${each.name}: ${oneLine(worstOf(each))}, of ${grouped(faults(each))} in all.\n`);
  return lines.length === 0
    ? '\nEvery answer was whole.\n\n'
    : `\nNot every answer was whole:\n\n${lines.join('')}\n`;
}
