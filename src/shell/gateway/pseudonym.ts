/** Names for tenants that logs and metrics may show: HMACs that mean nothing to whoever lacks the secret. */

import { createHmac, randomBytes } from 'node:crypto';

/** Enough to tell a million tenants apart, too short to be taken for the hash itself. */
const SHOWN_CHARACTERS = 16;

export type Pseudonym = (name: string) => string;

/** `secret` lives as long as the process when absent, so a restart gives every tenant another name. */
export function pseudonyms(secret: Uint8Array = randomBytes(32)): Pseudonym {
  return (name) => createHmac('sha256', secret).update(name).digest('hex').slice(0, SHOWN_CHARACTERS);
}
