/** Loads one compiled file with one piece of it replaced: `HOLDFAST_FAULT` is JSON of `file`, `was` and `is`. */

import { readFileSync } from 'node:fs';
import type { LoadHook } from 'node:module';
import { fileURLToPath } from 'node:url';

interface Fault {
  readonly file: string;
  readonly was: string;
  readonly is: string;
}

const fault = JSON.parse(process.env['HOLDFAST_FAULT'] ?? '{"file":"none"}') as Fault;

export const load: LoadHook = async (url, context, next) => {
  const loaded = await next(url, context);
  if (!url.endsWith(`/src/core/control/${fault.file}.js`)) return loaded;
  const parts = readFileSync(fileURLToPath(url), 'utf8').split(fault.was);
  if (parts.length !== 2)
    throw new Error(`${fault.file} has ${parts.length - 1} places for the fault, not one: ${fault.was}`);
  return { ...loaded, source: parts.join(fault.is) };
};
