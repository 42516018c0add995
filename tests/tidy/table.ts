/** Who may import whom: the architecture as data. ARCHITECTURE.md shows the same table with its reasons. */

/** What one folder (or one file) may import besides itself. */
export interface Place {
  /** A folder with its closing slash, or a file; the longest one that a path begins with counts. */
  readonly path: string;
  readonly imports: readonly string[];
  /** Importable as types only. */
  readonly types?: readonly string[];
  /** Packages by name; a subpath of one counts as the package. */
  readonly packages?: readonly string[];
  /** `all`: every module of Node; else none. */
  readonly node?: 'all';
}

const GROUND = ['src/core/assert.ts', 'src/core/time/', 'src/core/chance/'] as const;
const RUNTIME_PACKAGES = ['pino', 'undici', 'yaml', 'zod'] as const;

export const PLACES: readonly Place[] = [
  { path: 'src/core/assert.ts', imports: [] },
  { path: 'src/core/time/', imports: ['src/core/assert.ts'] },
  { path: 'src/core/chance/', imports: ['src/core/assert.ts'] },
  { path: 'src/core/control/', imports: GROUND },
  { path: 'src/core/engine/', imports: GROUND },
  { path: 'src/core/drill/', imports: GROUND },
  { path: 'src/core/meter/', imports: ['src/core/assert.ts'] },
  {
    path: 'src/core/report/',
    imports: ['src/core/assert.ts'],
    types: ['src/core/drill/', 'src/core/meter/'],
  },
  { path: 'src/core/trial/', imports: ['src/core/'] },
  { path: 'src/core/index.ts', imports: ['src/core/'] },
  { path: 'src/client/', imports: [], node: 'all' },
  {
    path: 'src/shell/shared/',
    imports: ['src/core/assert.ts', 'src/core/time/'],
    packages: RUNTIME_PACKAGES,
    node: 'all',
  },
  {
    path: 'src/shell/gateway/',
    imports: [...GROUND, 'src/core/control/', 'src/core/meter/', 'src/shell/shared/'],
    packages: RUNTIME_PACKAGES,
    node: 'all',
  },
  {
    path: 'src/shell/twin/',
    imports: [...GROUND, 'src/core/engine/', 'src/core/meter/', 'src/shell/shared/'],
    packages: RUNTIME_PACKAGES,
    node: 'all',
  },
  {
    path: 'src/shell/probe/',
    imports: [...GROUND, 'src/core/drill/', 'src/core/meter/', 'src/shell/shared/'],
    packages: RUNTIME_PACKAGES,
    node: 'all',
  },
  { path: 'src/shell/cli/', imports: ['src/core/', 'src/shell/'], packages: RUNTIME_PACKAGES, node: 'all' },
  { path: 'src/shell/index.ts', imports: ['src/core/', 'src/shell/'] },
  { path: 'src/page/', imports: [], types: ['src/core/report/'] },
  {
    path: 'tests/',
    imports: ['src/', 'bench/'],
    packages: [...RUNTIME_PACKAGES, 'ajv', 'fast-check', 'holdfast', 'saxes'],
    node: 'all',
  },
  { path: 'bench/', imports: ['src/', 'tests/support/'], packages: RUNTIME_PACKAGES, node: 'all' },
  { path: 'scripts/', imports: [], node: 'all' },
];

/** What a unit test beside its file may import on top of what its folder may. */
export const UNIT_TEST = {
  imports: ['tests/support/'],
  packages: ['fast-check'],
  node: ['node:test', 'node:assert/strict'],
} as const;
