/** Plays runs on all cores: worker threads, results in the order asked for, progress as they come. */

import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { RunRecord } from '../../core/drill/run.js';
import type { Changes, RunSummary } from '../../core/trial/scenario.js';

export interface TrialTask {
  readonly scenario: string;
  readonly seed: number;
  readonly changes?: Changes | undefined;
  /** A directory to write the whole record into. */
  readonly recordIn?: string | undefined;
  /** Hand the whole record back: a run of thousands of calls is some megabytes. */
  readonly keep?: boolean | undefined;
}

export interface TrialAnswer {
  readonly summary: RunSummary;
  /** Where it was asked for. */
  readonly record: RunRecord | undefined;
}

/** Runs all; `done` hears how many have ended. The first failure ends the rest. */
export async function playAll(
  tasks: readonly TrialTask[],
  done: (count: number) => void,
): Promise<readonly TrialAnswer[]> {
  const results: TrialAnswer[] = [];
  let [next, ended] = [0, 0];
  const serve = async (): Promise<void> => {
    const worker = new Worker(new URL('./trial-worker.js', import.meta.url));
    try {
      for (let at = next++; at < tasks.length; at = next++) {
        const task = tasks[at];
        if (task === undefined) return;
        results[at] = await answerOf(worker, task);
        done((ended += 1));
      }
    } catch (error) {
      next = tasks.length;
      throw error;
    } finally {
      await worker.terminate();
    }
  };
  const workers = Math.max(1, Math.min(availableParallelism(), tasks.length));
  await Promise.all(Array.from({ length: workers }, serve));
  return results;
}

function answerOf(worker: Worker, task: TrialTask): Promise<TrialAnswer> {
  return new Promise((resolve, reject) => {
    const quiet = (): void => {
      worker.off('message', heard);
      worker.off('error', failed);
    };
    const heard = (answer: TrialAnswer): void => {
      quiet();
      resolve(answer);
    };
    const failed = (error: Error): void => {
      quiet();
      reject(error);
    };
    worker.on('message', heard);
    worker.on('error', failed);
    worker.postMessage(task, []);
  });
}
