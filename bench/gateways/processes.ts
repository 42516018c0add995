/** What the processes of a contender take from the machine, as the kernel tells it (Linux; NaN elsewhere). */

import { readdirSync, readFileSync } from 'node:fs';

const TICKS_A_SECOND = 100;

/** A process and all that descend from it, by their ids. */
export function treeOf(root: number): readonly number[] {
  const parents = new Map<number, number>();
  for (const name of entries()) {
    const parent = Number(fieldsOf(Number(name))?.[1]);
    if (Number.isInteger(parent)) parents.set(Number(name), parent);
  }
  const tree = [root];
  for (let at = 0; at < tree.length; at += 1) {
    for (const [child, parent] of parents) if (parent === tree[at]) tree.push(child);
  }
  return tree;
}

function entries(): readonly string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** The fields of /proc/PID/stat after the name: state, parent, …; undefined for a process that is gone. */
function fieldsOf(pid: number): readonly string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** User and system time of these processes so far, seconds. */
export function cpuSecondsOf(pids: readonly number[]): number {
  return sumOver(pids, (pid) => {
    const fields = fieldsOf(pid);
    return fields === undefined ? undefined : (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
  });
}

/** Memory that these processes have resident, bytes; what they share counts once for each. */
export function residentBytesOf(pids: readonly number[]): number {
  return sumOver(pids, (pid) => {
    try {
      const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
      return kilobytes === undefined ? undefined : Number(kilobytes) * 1_024;
    } catch {
      return undefined;
    }
  });
}

function sumOver(pids: readonly number[], of: (pid: number) => number | undefined): number {
  const values = pids.map(of).filter((value) => value !== undefined);
  return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0);
}
