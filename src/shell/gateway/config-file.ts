/** Reads the configuration file, YAML or JSON: every key known, every value explained when it does not fit. */

import { readFileSync, statSync } from 'node:fs';
import { type Document, LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';
import { UserError } from '../shared/errors.js';
import { errorText } from '../shared/log.js';
import { nearest, shown } from '../shared/options.js';
import { durationText, sizeText } from '../shared/units.js';
import { type GatewayConfig, type GatewaySettings, gatewayConfig } from './config.js';
import { fileKey, knownKeys, SCHEMA } from './config-schema.js';

/** Nobody writes more by hand, and nothing that a machine writes should be read here. */
const LARGEST_FILE_BYTES = 1024 * 1024;
/** Aliases of YAML may repeat a value this often; more is an attack or an accident. */
const MOST_ALIASES = 100;
const MOST_COMPLAINTS = 20;

/** The settings of the file at `path`; a {@link UserError} says all that is wrong with it. */
export function readConfigFile(path: string): GatewaySettings {
  let text: string;
  try {
    const { size } = statSync(path);
    if (size > LARGEST_FILE_BYTES) throw new Error(`${size} bytes are more than ${LARGEST_FILE_BYTES}`);
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new UserError('config_unreadable', `cannot read the configuration: ${errorText(cause)}`, { cause });
  }
  return readSettings(text, path);
}

/** The settings in `text`; `source` is how complaints call it. An empty text leaves everything out. */
export function readSettings(text: string, source: string): GatewaySettings {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: true,
    strict: true,
    version: '1.2',
    merge: false,
    prettyErrors: true,
    // `silent` would take a second document without a word.
    logLevel: 'error',
  });
  const broken = [...document.errors, ...document.warnings];
  if (broken.length > 0) {
    const complaints = broken.map(({ message }) => message.trim());
    throw new UserError('config_syntax', said(`${source} is not plain YAML or JSON`, complaints));
  }
  const value = plainValue(document, source);
  if (value === null || value === undefined) return {};
  const { settings, complaints } = checkSettings(
    value,
    (path) => `${lineOf(document, lines, path)}${path.join('.')}`,
  );
  if (complaints.length === 0) return settings;
  throw new UserError('config_invalid', said(`${source} does not fit`, complaints));
}

export type Path = readonly (string | number)[];

/** Checks a value of the file's shape; `place` says how a complaint names the place it is about. */
export function checkSettings(
  value: unknown,
  place: (path: Path) => string,
): { readonly settings: GatewaySettings; readonly complaints: readonly string[] } {
  const result = SCHEMA.safeParse(value);
  if (result.success) return { settings: result.data, complaints: [] };
  const complaints = result.error.issues
    .flatMap((issue) => complaintsOf(issue, value))
    .map(({ path, message }) => `${place(path)} ${message}`.trim());
  return { settings: {}, complaints };
}

/** Fills in the defaults; what does not fit is said in the words of the file. */
export function resolveConfig(settings: GatewaySettings): GatewayConfig {
  try {
    return gatewayConfig(settings);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new UserError('config_invalid', inFileWords(cause.message), { cause });
  }
}

function plainValue(document: Document, source: string): unknown {
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES }) as unknown;
  } catch (cause) {
    throw new UserError('config_syntax', `${source} cannot be read: ${errorText(cause)}`, { cause });
  }
}

function said(head: string, complaints: readonly string[]): string {
  const more = complaints.length - MOST_COMPLAINTS;
  const shownOnes = complaints.slice(0, MOST_COMPLAINTS);
  const rest = more > 0 ? [`and ${more} more`] : [];
  return [`${head}:`, ...[...shownOnes, ...rest].map((line) => `  ${line}`)].join('\n');
}

interface Complaint {
  readonly path: Path;
  readonly message: string;
}

function complaintsOf(issue: z.core.$ZodIssue, whole: unknown): Complaint[] {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(path);
    return issue.keys.map((key) => {
      const near = nearest(key, known);
      const hint = near === undefined ? `known here: ${known.join(', ')}` : `did you mean ${near}?`;
      return { path: [...path, key.slice(0, 64)], message: `is not a setting; ${hint}` };
    });
  }
  if (issue.code === 'custom') return [{ path, message: issue.message }];
  const value = path.reduce<unknown>((at, step) => (at as Record<string | number, unknown>)[step], whole);
  const wanted = issue.code === 'invalid_type' && issue.expected === 'array' ? 'a list' : 'a mapping of keys';
  return [{ path, message: `must be ${wanted}, not ${shown(value)}` }];
}

/** `line 12: `, or nothing where the document cannot tell. */
function lineOf(document: Document, lines: LineCounter, path: Path): string {
  const node = document.getIn(path, true) as { range?: readonly number[] | null } | undefined;
  const offset = node?.range?.[0];
  return offset === undefined ? '' : `line ${lines.linePos(offset).line}: `;
}

const BOUNDS =
  /^(?<name>[\w.]+) must be (?<kind>a (?:whole )?number) from (?<low>\S+) to (?<high>\S+), not (?<value>\S+)$/;

/** A `RangeError`'s message with the file's key and the file's units. */
function inFileWords(message: string): string {
  const parts = BOUNDS.exec(message)?.groups;
  const name = /^[\w.]+/.exec(message)?.[0] ?? '';
  const key = name.split('.').map(fileKey).join('.');
  const text = unitOf(name);
  if (parts === undefined || text === undefined) return key + message.slice(name.length);
  const [low, high, value] = [parts['low'], parts['high'], parts['value']].map((part) => text(Number(part)));
  return `${key} must be from ${low} to ${high}, not ${value}`;
}

function unitOf(name: string): ((value: number) => string) | undefined {
  if (name.endsWith('Ms') || name === 'control.grace') return durationText;
  return name.endsWith('Bytes') ? sizeText : undefined;
}
