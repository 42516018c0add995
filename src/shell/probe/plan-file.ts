/** Reads a plan, YAML or JSON: every key known, every complaint with its file, line and reason. */

import { dirname, isAbsolute, join } from 'node:path';
import { type Document, LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';
import { CLIENTS } from '../../core/drill/clients.js';
import { type ClientKind, type Plan, PUBLISHED_CLIENT, PUBLISHED_PLAN } from '../../core/drill/plan.js';
import { planOfTrace } from '../../core/drill/trace.js';
import { UserError } from '../shared/errors.js';
import { readTextFile } from '../shared/text-file.js';
import { type CLIENT, PLAN, type RECORDED_PLAN } from './plan-schema.js';
import { readTraceFile } from './trace-file.js';

const LARGEST_FILE_BYTES = 1024 * 1024;
const MOST_COMPLAINTS = 20;

/** The plan in the file at `path`; a {@link UserError} says all that is wrong with it. */
export function readPlanFile(path: string): Plan {
  const content = readTextFile({ path, what: 'the plan', largestBytes: LARGEST_FILE_BYTES });
  return readPlan(content, path);
}

/** The plan in `content`; `source` is how complaints call it, and a trace is sought in its folder. What is left out is the published plan's. */
export function readPlan(content: string, source: string): Plan {
  const lines = new LineCounter();
  const document = parseDocument(content, { lineCounter: lines, merge: false, logLevel: 'error' });
  const broken = [...document.errors, ...document.warnings].map(({ message }) => message.trim());
  if (broken.length > 0) throw complaint(source, broken);
  const read = PLAN.safeParse(document.toJS({ maxAliasCount: 100 }));
  if (read.success) return writtenPlan(read.data, dirname(source));
  const reasons = read.error.issues.map((issue) => {
    const path = issue.path.filter((step) => typeof step !== 'symbol');
    return `${lineOf(document, lines, path)}${path.join('.') || 'the plan'}: ${issue.message}`;
  });
  throw complaint(source, reasons);
}

function complaint(source: string, reasons: readonly string[]): UserError {
  const shown = reasons.slice(0, MOST_COMPLAINTS).map((reason) => `  ${reason}`);
  return new UserError('input_invalid', `${source} is no plan:\n${shown.join('\n')}`);
}

/** The line of the nearest node that is there: a missing key is told at its parent. */
function lineOf(document: Document, lines: LineCounter, path: readonly (string | number)[]): string {
  for (let depth = path.length; depth > 0; depth -= 1) {
    const node = document.getIn(path.slice(0, depth), true) as
      | { range?: readonly number[] | null }
      | undefined;
    const offset = node?.range?.[0];
    if (offset !== undefined) return `line ${lines.linePos(offset).line}: `;
  }
  return '';
}

/** What a plan file leaves out is the published plan's. */
export function planOf(read: z.infer<typeof RECORDED_PLAN>): Plan {
  const { workload, clients, ...rest } = defined(read);
  return {
    ...PUBLISHED_PLAN,
    name: 'plan',
    ...(rest as Partial<Plan>),
    workload: { ...PUBLISHED_PLAN.workload, ...(defined(workload ?? {}) as Partial<Plan['workload']>) },
    clients: (clients ?? [{}]).map(clientOf),
  };
}

/** `folder` is where a trace is sought. */
function writtenPlan({ trace, stages = [], ...fields }: z.infer<typeof PLAN>, folder: string): Plan {
  const plan = planOf({ ...fields, stages });
  if (trace === undefined) return plan;
  const file = isAbsolute(trace.file) ? trace.file : join(folder, trace.file);
  return planOfTrace(plan, readTraceFile({ ...trace, file }));
}

function clientOf(read: z.infer<typeof CLIENT>): ClientKind {
  const { kind, ...fields } = defined(read);
  return { ...(CLIENTS[kind ?? 'published'] ?? PUBLISHED_CLIENT), ...(fields as Partial<ClientKind>) };
}

function defined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;
}
