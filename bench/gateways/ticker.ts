/** Wakes the load at its planned moments, to some hundredths of a millisecond, where a timer knows whole ones only. */

import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

interface Plan {
  /** Milliseconds on {@link nowMs}, ascending. */
  readonly moments: Float64Array;
  readonly stop: Int32Array;
}

/** Waits shorter than this are not worth a system call, milliseconds. */
const LEAST_WAIT_MS = 0.02;

/** The kernel's steady clock, the same in every thread, milliseconds. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Calls `due` at, or just after, each of the moments, once for those that came together; the answer ends it. */
export function tick(moments: readonly number[], due: () => void): () => void {
  const stop = new Int32Array(new SharedArrayBuffer(4));
  const plan: Plan = { moments: Float64Array.from(moments), stop };
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: plan });
  worker.on('message', due);
  return () => {
    worker.off('message', due);
    Atomics.store(stop, 0, 1);
    Atomics.notify(stop, 0);
  };
}

function run({ moments, stop }: Plan): void {
  for (let at = 0; at < moments.length; at += 1) {
    const wait = (moments[at] ?? 0) - nowMs();
    if (wait > LEAST_WAIT_MS && Atomics.wait(stop, 0, 0, wait) !== 'timed-out') return;
    if (Atomics.load(stop, 0) === 1) return;
    parentPort?.postMessage(0, []);
  }
}

if (!isMainThread) run(workerData as Plan);
