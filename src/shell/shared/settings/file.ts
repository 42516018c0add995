/** A file of settings, YAML or JSON: read strictly, every complaint with its line, texts taken from variables on request. */

import { type Document, LineCounter, parseDocument, type YAMLParseError, type YAMLWarning } from 'yaml';
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
  /** Of the variables that settings have of their own. */
  readonly prefix: string;
  readonly hint?: KeyHint;
}

/** What `text` says of the settings of `group`; throws a {@link UserError} when it is not YAML or JSON at all. */
export function fileLayer(group: object, text: string, { source, env, prefix, hint }: FileParts): Layer {
  const lines = new LineCounter();
  const document = parsed(text, source, lines);
  const raw = plainValue(document, source);
  if (raw === null || raw === undefined) return { said: [], complaints: [] };
  const lineOf = (at: Path): number | undefined => lineIn(document, lines, at);
  const variables = new Map<string, readonly string[]>();
  const told = new Set<string>();
  const complaints = new Complaints({
    place: (at) => (at.length === 0 ? 'the file' : `${lined(lineOf(at))}${at.join('.')}`),
    told: (at) => told.has(at.join('.')),
    stands: (at, wants) => {
      const names = variables.get(at.join('.'));
      if (names === undefined) return undefined;
      const holds = `what ${names.map((name) => `$${name}`).join(' and ')} holds`;
      const typed = /\b(?:number|true or false)\b/.test(wants);
      const own = `${prefix}${at.join('_').toUpperCase()}`;
      return typed ? `a text, as ${holds} is: set the variable ${own} instead` : holds;
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
    (error) => `line ${lineCounter.linePos(error.pos[0]).line}: ${syntaxText(error, text)}`,
  );
  throw new UserError('config_syntax', complaintList(`${source} is not plain YAML or JSON`, complaints));
}

/** The form of a file explained to somebody who did not write a parser; other codes have words that will do. */
const SYNTAX: Readonly<Record<string, (word: string) => string>> = {
  DUPLICATE_KEY: (word) => `${word} stands in the same mapping twice: put both together, or remove one`,
  TAB_AS_INDENT: () => 'a tab indents this line: YAML takes spaces',
  MULTIPLE_DOCS: () => 'a second document begins here: a file holds one',
  MULTILINE_IMPLICIT_KEY: () => 'a key without its colon, here or on the line before',
  TAG_RESOLVE_FAILED: (word) => `${word} means nothing here: a text may come from a variable, as $NAME`,
};

function syntaxText({ code, message, pos }: YAMLParseError | YAMLWarning, text: string): string {
  if (/^Missing closing .*quote/.test(message)) return 'a quote was opened before and is not closed';
  const [word = ''] = /^[^\s:,{}[\]]{1,64}/.exec(text.slice(pos[0])) ?? [];
  return SYNTAX[code]?.(word) ?? message.trim();
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
