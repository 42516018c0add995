/** Writes and reads the Prometheus text format (0.0.4), so that every meter of ours speaks it the same way. */

/** The content type to serve {@link writeExposition}'s text under. */
export const EXPOSITION_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export type FamilyType = 'counter' | 'gauge' | 'histogram' | 'summary' | 'untyped';
export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  /** The series' own name; for a histogram with its suffix (`_bucket`, `_sum`, `_count`). */
  readonly name: string;
  readonly labels: Labels;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly type: FamilyType;
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** What a histogram has seen: `counts[i]` falls in (bounds[i-1], bounds[i]]; the last count is above every bound. */
export interface HistogramState {
  /** Ascending upper bounds, without infinity. */
  readonly bounds: readonly number[];
  /** One more than bounds; not cumulative. */
  readonly counts: ArrayLike<number>;
  readonly sum: number;
}

/** One series as a family sample. */
export function sample(name: string, value: number, labels: Labels = {}): Sample {
  return { name, labels, value };
}

/** A family of one unlabelled series: the common case of a counter or gauge. */
export function scalar(name: string, type: 'counter' | 'gauge', help: string, value: number): Family {
  return { name, type, help, samples: [sample(name, value)] };
}

/** The series of one histogram: cumulative buckets, then `_count` and `_sum`. */
export function histogramSamples(name: string, state: HistogramState, labels: Labels = {}): Sample[] {
  const samples: Sample[] = [];
  let seen = 0;
  for (let at = 0; at <= state.bounds.length; at += 1) {
    seen += state.counts[at] ?? 0;
    const le = numberText(state.bounds[at] ?? Number.POSITIVE_INFINITY);
    samples.push(sample(`${name}_bucket`, seen, { ...labels, le }));
  }
  samples.push(sample(`${name}_count`, seen, labels), sample(`${name}_sum`, state.sum, labels));
  return samples;
}

/** The text of `families`, in their order; ends with a line feed. */
export function writeExposition(families: Iterable<Family>): string {
  const lines: string[] = [];
  for (const family of families) {
    lines.push(`# HELP ${family.name} ${escapeHelp(family.help)}`, `# TYPE ${family.name} ${family.type}`);
    for (const each of family.samples) {
      lines.push(`${each.name}${labelText(each.labels)} ${numberText(each.value)}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

/** A number as Prometheus' own clients print it: `1.0`, `0.25`, `1.5e+09`, `+Inf`, `NaN`. */
export function numberText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-4)) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  }
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

/** Labels in alphabetical order, as Prometheus' own clients write them. */
function labelText(labels: Labels): string {
  const sorted = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const pairs = sorted.map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}

/** The families of an exposition, in order; a series without a TYPE line becomes an untyped family.
 *  Lines that are not Prometheus text are skipped: a foreign server's meter must not break ours. */
export function readExposition(text: string): Family[] {
  const families = new Map<string, { name: string; type: FamilyType; help: string; samples: Sample[] }>();
  const familyOf = (name: string) => {
    let family = families.get(name);
    if (family === undefined) {
      family = { name, type: 'untyped', help: '', samples: [] };
      families.set(name, family);
    }
    return family;
  };
  for (const line of text.split('\n')) {
    const comment = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line);
    if (comment !== null) {
      const family = familyOf(comment[2] as string);
      if (comment[1] === 'HELP') family.help = unescape(comment[3] as string);
      else family.type = familyType(comment[3] as string);
      continue;
    }
    const each = readSample(line);
    if (each === undefined) continue;
    const parent = each.name.replace(/_(bucket|sum|count)$/, '');
    const owner = families.get(parent)?.type;
    familyOf(owner === 'histogram' || owner === 'summary' ? parent : each.name).samples.push(each);
  }
  return [...families.values()];
}

/** The value of one series: the first sample of that name whose labels include `labels`. */
export function valueOf(families: Iterable<Family>, name: string, labels: Labels = {}): number | undefined {
  for (const family of families) {
    for (const each of family.samples) {
      if (each.name !== name) continue;
      if (Object.entries(labels).every(([key, value]) => each.labels[key] === value)) return each.value;
    }
  }
  return undefined;
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\})?\s+(\S+)/;
const LABEL = /([a-zA-Z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"/g;

function readSample(line: string): Sample | undefined {
  const match = SAMPLE.exec(line);
  if (match === null) return undefined;
  const value = readNumber(match[3] as string);
  if (value === undefined) return undefined;
  const labels: Record<string, string> = {};
  for (const [, name, text] of (match[2] ?? '').matchAll(LABEL)) {
    labels[name as string] = unescape(text as string);
  }
  return { name: match[1] as string, labels, value };
}

function readNumber(text: string): number | undefined {
  if (text === 'NaN') return Number.NaN;
  if (/^[+-]?Inf$/.test(text))
    return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const value = Number(text);
  return Number.isNaN(value) ? undefined : value;
}

function familyType(text: string): FamilyType {
  return text === 'counter' || text === 'gauge' || text === 'histogram' || text === 'summary'
    ? text
    : 'untyped';
}

function unescape(text: string): string {
  return text.replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char));
}
