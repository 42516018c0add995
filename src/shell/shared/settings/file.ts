/** A file of settings, YAML or JSON: read strictly, every complaint with its line, texts taken from variables on request. */

import { type Document, LineCounter, parseDocument } from 'yaml';
import { UserError } from '../errors.js';
import { errorText } from '../log.js';
import type { Path } from './kind.js';
import { Complaints, type KeyHint, type Layer, readMapping, type Said } from './reading.js';
import { type Environment, substituted } from './substitution.js';

/** Aliases of YAML may repeat a value this often; more is an attack or an accident. */
const MOST_ALIASES = 100;

export interface FileParts {
  /** How complaints call it. */
  readonly source: string;
  readonly env: Environment;
  readonly hint?: KeyHint;
}

/** What `text` says of the settings of `group`; throws a {@link UserError} when it is not YAML or JSON at all. */
export function fileLayer(group: object, text: string, { source, env, hint }: FileParts): Layer {
  const lines = new LineCounter();
  const document = parsed(text, source, lines);
  const raw = plainValue(document, source);
  if (raw === null || raw === undefined) return { said: [], complaints: [] };
  const lineOf = (at: Path): number | undefined => lineIn(document, lines, at);
  const variables = new Map<string, readonly string[]>();
  const told = new Set<string>();
  const complaints = new Complaints({
    place: (at) => `${lined(lineOf(at))}${at.join('.')}`,
    told: (at) => told.has(at.join('.')),
    stands: (at) => {
      const names = variables.get(at.join('.'));
      return names === undefined ? undefined : `what ${names.map((name) => `$${name}`).join(' and ')} holds`;
    },
    ...(hint === undefined ? {} : { hint }),
  });
  const value = substituted(raw, env, {
    took: (at, names) => variables.set(at.join('.'), names),
    complain: (at, message) => {
      told.add(at.join('.'));
      complaints.complain(at, message);
    },
  });
  const said: Said[] = [];
  readMapping(group, value, complaints, (leaf, read, at) => {
    const key = at.join('.');
    const from = [...variables].filter(([place]) => place === key || place.startsWith(`${key}.`));
    const origin = {
      from: 'file',
      file: source,
      line: lineOf(at),
      variables: from.flatMap(([, names]) => names),
    } as const;
    said.push({ leaf, value: read, origin });
  });
  return { said, complaints: complaints.all };
}

function parsed(text: string, source: string, lineCounter: LineCounter): Document {
  const document = parseDocument(text, {
    lineCounter,
    uniqueKeys: true,
    strict: true,
    version: '1.2',
    merge: false,
    // Pretty ones show the line at fault, which may hold a secret.
    prettyErrors: false,
    // `silent` would take a second document without a word.
    logLevel: 'error',
  });
  const broken = [...document.errors, ...document.warnings];
  if (broken.length === 0) return document;
  const complaints = broken.map(
    ({ message, pos }) => `line ${lineCounter.linePos(pos[0]).line}: ${message.trim()}`,
  );
  throw new UserError('config_syntax', complaintList(`${source} is not plain YAML or JSON`, complaints));
}

function plainValue(document: Document, source: string): unknown {
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES }) as unknown;
  } catch (cause) {
    throw new UserError('config_syntax', `${source} cannot be read: ${errorText(cause)}`, { cause });
  }
}

/** The line of what stands at a place: of its key where it has one. */
function lineIn(document: Document, lines: LineCounter, at: Path): number | undefined {
  const keyed = at.length === 0 ? document.contents : keyNode(document, at);
  const offset = (keyed as { range?: readonly number[] | null } | null | undefined)?.range?.[0];
  return offset === undefined ? undefined : lines.linePos(offset).line;
}

function keyNode(document: Document, at: Path): unknown {
  const parent: unknown = document.getIn(at.slice(0, -1), true);
  const items = (parent as { items?: readonly { key?: { value?: unknown } }[] } | undefined)?.items;
  const pair = items?.find((each) => each.key?.value === at.at(-1));
  return pair?.key ?? document.getIn(at, true);
}

const lined = (line: number | undefined): string => (line === undefined ? '' : `line ${line}: `);

const MOST_COMPLAINTS = 20;

/** A heading and what is wrong, one a line, up to a bound. */
export function complaintList(head: string, complaints: readonly string[]): string {
  const more = complaints.length - MOST_COMPLAINTS;
  const rest = more > 0 ? [`and ${more} more`] : [];
  return [`${head}:`, ...[...complaints.slice(0, MOST_COMPLAINTS), ...rest].map((line) => `  ${line}`)].join(
    '\n',
  );
}
