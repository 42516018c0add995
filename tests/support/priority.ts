/** Measurements on a machine that others use: what is started from here goes first. */

import { setPriority } from 'node:os';

const PRIORITY = -15;

/** Raises this process and, by inheritance, what it starts; `say` hears when it may not. Only root may. */
export function goFirst(say: (text: string) => void): void {
  try {
    setPriority(PRIORITY);
  } catch {
    say('no right to a higher priority: other work on this machine will show in the figures');
  }
}
