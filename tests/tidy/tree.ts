/** The files that the tidy rules look at: everything in the tree that a person wrote. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/root.js';
import type { Source } from './source.js';

/** Made by tools, and ignored by git. */
const MADE = new Set(['.git', 'node_modules', 'dist', '.cache', '__pycache__', '.venv']);

/** Every text file under the root, in a stable order; a file that holds a zero byte is not text. */
export function sources(): readonly Source[] {
  const all: Source[] = [];
  gather('', all);
  return all;
}

function gather(folder: string, into: Source[]): void {
  const entries = readdirSync(join(ROOT, folder), { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (MADE.has(entry.name)) continue;
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      gather(path, into);
    } else if (entry.isFile()) {
      const text = readFileSync(join(ROOT, path), 'utf8');
      if (!text.includes('\0')) into.push({ path, text });
    }
  }
}
