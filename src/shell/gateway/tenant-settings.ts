/** What the settings say of single tenants: whose key it is tells its share of the line and its highest class. */

import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { keysOf } from './allowed-keys.js';

/** A key's hash as the settings have it, and what is said of its tenant. */
export interface TenantSettings {
  readonly key: string;
  /** Its share of the line relative to others'. */
  readonly weight: number;
  readonly maxClass?: string | undefined;
}

/** What of that the control is told. */
type Told = Omit<TenantSettings, 'key'>;

/** Tables made of settings, each once; they are replaced as a whole when they change. */
const tables = new WeakMap<readonly TenantSettings[], ReadonlyMap<string, Told>>();

/** What is said of the request's tenant, if anything. Of several keys the first that is named counts. */
export function toldOf(request: IncomingMessage, tenants: readonly TenantSettings[]): Partial<Told> {
  if (tenants.length === 0) return NOTHING;
  const table = tables.get(tenants) ?? new Map(tenants.map(({ key, ...told }) => [key, told]));
  tables.set(tenants, table);
  for (const key of keysOf(request)) {
    const told = table.get(hashOf(key));
    if (told !== undefined) return told;
  }
  return NOTHING;
}

const NOTHING: Partial<Told> = {};

function hashOf(key: string): string {
  return `sha256:${createHash('sha256').update(key, 'latin1').digest('hex')}`;
}
