/** Measurements on a machine that others use: what is started from here goes first. */

import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

const PRIORITY = -15;

/** Raises this process and, by inheritance, what it starts; `say` hears when it may not. Only root may. */
export function goFirst(say: (text: string) => void): void {
  try {
    setPriority(PRIORITY);
    setGroup('self', PRIORITY);
    process.once('exit', () => setGroup('self', 0));
  } catch {
    say('no right to a higher priority: other work on this machine will show in the figures');
  }
}

/**
 * Raises the group that Linux schedules a session's processes in; beside another group, their own priorities count for
 * nothing. A process that was started as the head of a session has a group of its own. Does nothing elsewhere.
 */
export function groupFirst(pid: number): void {
  setGroup(pid, PRIORITY);
}

function setGroup(pid: number | 'self', priority: number): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(priority));
  } catch {
    // A kernel without such groups, or no right to it.
  }
}
