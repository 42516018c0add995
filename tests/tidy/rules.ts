/** The rules of the house that a text can show; STYLE.md says why each is there. */

import { codeOf, importsOf, lineAt, type Problem, type Rule, type Source } from './source.js';
import { PLACES, type Place, UNIT_TEST } from './table.js';

const isScript = (path: string): boolean => /\.(?:ts|mts|mjs|js)$/.test(path);
const isUnitTest = (path: string): boolean => path.startsWith('src/') && path.endsWith('.test.ts');

/** The entry of the table that `path` falls under. */
export function placeOf(path: string): Place | undefined {
  let best: Place | undefined;
  for (const place of PLACES) {
    if (path.startsWith(place.path) && place.path.length > (best?.path.length ?? -1)) best = place;
  }
  return best;
}

/** Every import is one that the table allows. */
export const imports: Rule = (source) => {
  if (!isScript(source.path)) return [];
  const place = placeOf(source.path);
  const all = importsOf(source);
  if (place === undefined) {
    const problem = 'belongs to no folder of tests/tidy/table.ts: give its folder a row, or move it';
    return source.path.startsWith('src/') ? [{ path: source.path, line: 1, message: problem }] : [];
  }
  const test = isUnitTest(source.path);
  return all
    .filter(({ target, relative, typesOnly }) =>
      relative ? !mayReach(place, target, typesOnly, test) : !mayUse(place, target, test),
    )
    .map(({ target, line }) => ({
      path: source.path,
      line,
      message: `imports ${target}, which ${place.path} may not: see the table in tests/tidy/table.ts`,
    }));
};

function mayReach(place: Place, target: string, typesOnly: boolean, test: boolean): boolean {
  const allowed = [place.path, ...place.imports, ...(test ? UNIT_TEST.imports : [])];
  if (allowed.some((path) => target.startsWith(path))) return true;
  return typesOnly && (place.types ?? []).some((path) => target.startsWith(path));
}

function mayUse(place: Place, name: string, test: boolean): boolean {
  if (name.startsWith('node:')) {
    return place.node === 'all' || (test && (UNIT_TEST.node as readonly string[]).includes(name));
  }
  const allowed = [...(place.packages ?? []), ...(test ? UNIT_TEST.packages : [])];
  return allowed.some((known) => name === known || name.startsWith(`${known}/`));
}

/** Words that bring a clock, chance or waiting of their own, and what the core uses instead. */
const CORE_WORDS: readonly (readonly [RegExp, string])[] = [
  [/(?<![.#\w])Date\b/g, 'the clock that is handed in'],
  [/\bMath\s*\.\s*random\b/g, 'a named stream of the Random that is handed in'],
  [/(?<![.#\w])(?:async|await)\b(?!\s*:)/g, 'a callback: the core waits for nothing'],
  [/(?<![.#\w])Promise(?:Like)?\b/g, 'a callback: the core waits for nothing'],
  [
    /(?<![.#\w])(?:(?:set|clear)(?:Timeout|Interval|Immediate)|queueMicrotask)\b/g,
    'Clock.after and the Cancel it gives back',
  ],
  [/(?<![.#\w])console\b/g, 'a value handed back: the shell does the talking'],
  [/(?<![.#\w])(?:process|globalThis|performance|crypto)\b(?!\s*[:(])/g, 'what the core is handed'],
];

/** The core has no clock, chance, promise or output but what it is handed. */
export const coreWords: Rule = ({ path, text }) => {
  if (!path.startsWith('src/core/') || !path.endsWith('.ts')) return [];
  const words = isUnitTest(path) ? CORE_WORDS.slice(0, 2) : CORE_WORDS;
  return found(
    path,
    codeOf(text),
    words.map(([pattern, instead]) => [
      pattern,
      (word) => `${word} has no place in the core: use ${instead}`,
    ]),
  );
};

/** A TypeScript or script file opens with a comment whose first words are a sentence on why it exists. */
export const openingSentence: Rule = ({ path, text }) => {
  if (!isScript(path)) return [];
  const body = text.replace(/^#![^\n]*\n/, '');
  const comment = /^\/\*\*(?<words>[\s\S]*?)\*\//.exec(body)?.groups?.['words'] ?? '';
  const words = comment.replace(/^\s*\*/gm, ' ').trim();
  if (/^\S+\s+\S+\s+\S[\s\S]*?[.:]/.test(words)) return [];
  return [{ path, line: 1, message: 'must open with /** One sentence that says why the file exists. */' }];
};

const EMPTY_NAMES = new Set(['util', 'utils', 'helper', 'helpers', 'misc', 'common', 'stuff', 'lib', 'test']);

/** A name says what is inside; `test` is left out since node runs every file under a folder of that name. */
export const names: Rule = ({ path }) =>
  path
    .split('/')
    .map((part) => part.replace(/\..*$/, ''))
    .filter((part, at, parts) => EMPTY_NAMES.has(part) && !(part === 'test' && at === parts.length - 1))
    .map((part) => ({
      path,
      line: 1,
      message: `"${part}" says nothing about what is inside: name it after the one thing it holds`,
    }));

/** No committed file names a path of the machine it was written on. */
export const machinePaths: Rule = ({ path, text }) =>
  found(path, text, [
    [
      /(?<![\w.~@$})*-])\/(?:work|root|home|tmp|Users)\/[\w.-]+/g,
      (place) => `${place} is a path of one machine: make it relative, or ask for a temporary folder`,
    ],
  ]);

const REGISTRY =
  /\b(?:registry\.(?:npmjs|yarnpkg)|(?:files\.)?pythonhosted|pypi|test\.pypi|npmjs|crates|(?:static|index)\.crates|repo1?\.maven|(?:deb|security|ftp)\.debian)\.(?:org|com|io)\b|\bproxy\.golang\.org\b/g;

/** No committed file names a package registry: which one is asked is the machine's affair. */
export const registryHosts: Rule = ({ path, text }) =>
  found(path, text, [
    [REGISTRY, (host) => `${host} is a package registry: the ordinary client knows which one to ask`],
  ]);

/** The lock pins versions and digests, and leaves where to fetch them to the machine. */
export const lock: Rule = ({ path, text }) =>
  path.endsWith('package-lock.json')
    ? found(path, text, [
        [
          /"resolved"\s*:/g,
          () => 'holds a resolved address: run npm install with the .npmrc of this repository',
        ],
      ])
    : [];

export const RULES: Readonly<Record<string, Rule>> = {
  imports,
  coreWords,
  openingSentence,
  names,
  machinePaths,
  registryHosts,
  lock,
};

function found(
  path: string,
  text: string,
  patterns: readonly (readonly [RegExp, (found: string) => string])[],
): readonly Problem[] {
  return patterns.flatMap(([pattern, message]) =>
    [...text.matchAll(pattern)].map((match) => ({
      path,
      line: lineAt(text, match.index),
      message: message(match[0]),
    })),
  );
}

/** What `rules` find in `sources`, one line a problem. */
export function problemsIn(
  sources: readonly Source[],
  rules: readonly Rule[] = Object.values(RULES),
): string[] {
  return sources
    .flatMap((source) => rules.flatMap((rule) => rule(source)))
    .map(({ path, line, message }) => `${path}:${line} ${message}`);
}
