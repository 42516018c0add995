/** What the tidy rules read: a file as text, its code without comments or strings, the modules it imports. */

import { dirname, join } from 'node:path/posix';

/** A file of the repository: its path from the root, with forward slashes, and what is in it. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

/** One broken rule, told so that its reader knows what to do. */
export interface Problem {
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  readonly message: string;
}

/** A rule sees one file at a time and knows nothing else. */
export type Rule = (source: Source) => readonly Problem[];

/** One import or re-export. */
export interface Import {
  readonly line: number;
  /** Erased by the compiler: `import type` or `export type`. */
  readonly typesOnly: boolean;
  /** A path from the root for a relative import, else the name as written (`node:fs`, `zod`). */
  readonly target: string;
  readonly relative: boolean;
}

// Strings come first so that a comment mark inside one is not a comment. A regular expression is not understood:
// a quote or a double slash in one can hide the rest of its line, never more.
const STRING_OR_COMMENT =
  /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

/** The text with every comment blanked; lines and columns stay where they were. */
export function withoutComments(text: string): string {
  return text.replace(STRING_OR_COMMENT, (found) => (found.startsWith('/') ? blank(found) : found));
}

/** The text with comments and plain strings blanked; templates stay, since code can stand in them. */
export function codeOf(text: string): string {
  return text.replace(STRING_OR_COMMENT, (found) => (found.startsWith('`') ? found : blank(found)));
}

/** The line, counted from 1, on which the character at `index` stands. */
export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

// `import x from 'y'`, `export { x } from 'y'`, `import 'y'`, each at the start of a statement; `import('y')` anywhere.
const STATIC =
  /(?<=^|[;}])[ \t]*(?:import|export)\b(?<clause>[^'"`;()]*?)(?<mark>['"])(?<name>[^'"\n]+)\k<mark>/gm;
const DYNAMIC = /\bimport\s*\(\s*(?<mark>['"`])(?<name>[^'"`\n]+)\k<mark>/g;

/** Everything that a TypeScript or JavaScript file imports, in order of kind. */
export function importsOf({ path, text }: Source): readonly Import[] {
  const code = withoutComments(text);
  const found: Import[] = [];
  for (const match of code.matchAll(STATIC)) {
    const clause = match.groups?.['clause'] ?? '';
    if (clause.trim() !== '' && !/\bfrom\s*$/.test(clause)) continue;
    found.push(
      imported(path, match.groups?.['name'] ?? '', lineAt(code, match.index), /^\s+type\b/.test(clause)),
    );
  }
  for (const match of code.matchAll(DYNAMIC)) {
    found.push(imported(path, match.groups?.['name'] ?? '', lineAt(code, match.index), false));
  }
  return found;
}

function imported(from: string, name: string, line: number, typesOnly: boolean): Import {
  const relative = name.startsWith('.');
  const target = relative ? join(dirname(from), name).replace(/\.js$/, '.ts') : name;
  return { line, typesOnly, target, relative };
}
