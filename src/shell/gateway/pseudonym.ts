/** Names for tenants that logs and metrics may show: HMACs that mean nothing to whoever lacks the secret. */

import { createHmac, randomBytes } from 'node:crypto';
import { RecentMap } from '../../core/control/recent.js';

/** Enough to tell a million tenants apart, too short to be taken for the hash itself. */
const SHOWN_CHARACTERS = 16;

/** Names that are remembered, since every line of the log has one. */
const REMEMBERED = 1_000;

export type Pseudonym = (name: string) => string;

/** `secret` lives as long as the process when absent, so a restart gives every tenant another name. */
export function pseudonyms(secret: Uint8Array = randomBytes(32)): Pseudonym {
  const known = new RecentMap<string, string>(REMEMBERED);
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const made = createHmac('sha256', secret).update(name).digest('hex').slice(0, SHOWN_CHARACTERS);
    known.set(name, made);
    return made;
  };
}
