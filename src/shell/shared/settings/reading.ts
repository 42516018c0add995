/** Reads one source of settings against their table, and keeps every complaint and where each value came from. */

import { nearest, shown } from '../options.js';
import { fileKey, type Path, type Reader } from './kind.js';
import { type Group, isMapping, type Leaf, leavesOf, readValue, Setting } from './table.js';

/** Where a value in force came from. */
export type Origin =
  | { readonly from: 'default' }
  | {
      readonly from: 'file';
      readonly file: string;
      readonly line: number | undefined;
      /** Names of the variables that the file takes it from. */
      readonly variables: readonly string[];
    }
  | { readonly from: 'environment'; readonly variable: string }
  | { readonly from: 'flag'; readonly flag: string };

/** What one source says of one setting. */
export interface Said {
  readonly leaf: Leaf;
  readonly value: unknown;
  readonly origin: Origin;
}

/** What one source says, and what does not fit in it. */
export interface Layer {
  readonly said: readonly Said[];
  readonly complaints: readonly string[];
}

/** A hint for a key that is no setting here; undefined when there is nothing better than the nearest one. */
export type KeyHint = (at: Path, key: string) => string | undefined;

export interface SourceParts {
  /** How a complaint names the place it is about. */
  readonly place: (at: Path) => string;
  /** How it calls a value that must not be repeated; undefined: as it is. */
  readonly stands?: (at: Path, wants: string) => string | undefined;
  /** Places that have their complaint already. */
  readonly told?: (at: Path) => boolean;
  readonly hint?: KeyHint;
}

export class Complaints implements Reader {
  readonly all: string[] = [];
  readonly #listed = new Set<string>();
  readonly #parts: SourceParts;

  constructor(parts: SourceParts) {
    this.#parts = parts;
  }

  complain(at: Path, message: string): void {
    this.all.push(`${this.#parts.place(at)} ${message}`.trim());
  }

  refuse(at: Path, wants: string, raw: unknown, hint?: string): void {
    if (this.#parts.told?.(at) === true) return;
    const stands = this.#parts.stands?.(at, wants);
    const more = hint === undefined || stands !== undefined ? '' : ` (${uncredited(hint)})`;
    this.complain(at, `must be ${wants}${more}, not ${stands ?? shown(raw)}`);
  }

  unknown(at: Path, key: string, known: readonly string[]): void {
    const hint = this.#parts.hint?.(at, key) ?? nearestHint(key, known);
    const place = at.join('.');
    // What there is to choose from is said once a place.
    const more = hint ?? (this.#listed.has(place) ? '' : `known here: ${known.join(', ')}`);
    if (hint === undefined) this.#listed.add(place);
    this.complain([...at, key.slice(0, LONGEST_KEY)], `is not a setting${more === '' ? '' : `; ${more}`}`);
  }
}

/** An address without its credentials. */
const uncredited = (text: string): string => text.replaceAll(/\/\/[^/@\s"]*@/g, '//…@');

const LONGEST_KEY = 64;

function nearestHint(key: string, known: readonly string[]): string | undefined {
  const near = nearest(key, known);
  return near === undefined ? undefined : `did you mean ${near}?`;
}

/** Reads a mapping of the file's shape; `found` hears of each setting that fits. */
export function readMapping(
  group: object,
  raw: unknown,
  reader: Reader,
  found: (leaf: Leaf, value: unknown, at: Path) => void,
): void {
  const leaves = new Map(leavesOf(group).map((leaf) => [leaf.key, leaf]));
  const visit = (part: Group, value: unknown, at: readonly string[]): void => {
    const inside = new Map(Object.entries(part).map(([name, each]) => [fileKey(name), each]));
    if (!isMapping(value)) {
      const few = [...inside.keys()].slice(0, 3).join(', ');
      const hint = value === null ? 'remove it, or indent what belongs below it' : undefined;
      return reader.refuse(at, `a mapping of keys such as ${few}`, value, hint);
    }
    for (const [key, below] of Object.entries(value)) {
      const each = inside.get(key);
      const here = [...at, key];
      if (each === undefined) reader.unknown(at, key, [...inside.keys()]);
      else if (!(each instanceof Setting)) visit(each, below, here);
      else {
        const leaf = leaves.get(here.join('.')) as Leaf;
        const read = readValue(leaf, below, here, reader);
        if (read !== undefined) found(leaf, read, here);
      }
    }
  };
  visit(group as Group, raw, []);
}
