/** What the settings say of single tenants: whose key it is tells how much of the line's service is theirs. */

import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { keysOf } from './allowed-keys.js';

/** A key's hash as the settings have it, and its tenant's share relative to others'. */
export interface TenantWeight {
  readonly key: string;
  readonly weight: number;
}

/** Tables made of settings, each once; they are replaced as a whole when they change. */
const tables = new WeakMap<readonly TenantWeight[], ReadonlyMap<string, number>>();

/** The weight of the request's tenant; undefined where none is set. Of several keys the first that has one counts. */
export function weightOf(request: IncomingMessage, tenants: readonly TenantWeight[]): number | undefined {
  if (tenants.length === 0) return undefined;
  const table = tables.get(tenants) ?? new Map(tenants.map(({ key, weight }) => [key, weight]));
  tables.set(tenants, table);
  for (const key of keysOf(request)) {
    const weight = table.get(hashOf(key));
    if (weight !== undefined) return weight;
  }
  return undefined;
}

function hashOf(key: string): string {
  return `sha256:${createHash('sha256').update(key, 'latin1').digest('hex')}`;
}
