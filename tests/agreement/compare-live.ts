/** The same arm, plan and seed in virtual time and through sockets, side by side. */

import { amplification, outcomesByClient } from '../../src/core/drill/outcome.js';
import type { RunHead } from '../../src/core/drill/run.js';
import { runRecordOf } from '../../src/core/trial/run-record.js';
import { settingsOf } from '../../src/core/trial/scenario.js';
import { runTrial } from '../../src/core/trial/trial.js';
import { type LiveArm, playLive } from './live.js';

/** The published experiment's four corners and the two measures that bring service back. */
export const MAIN_ARMS = [
  'retries=off cancel=off',
  'retries=off cancel=on',
  'retries=on cancel=off',
  'retries=on cancel=on',
  'budget',
  'coalesce',
] as const;

/** Points by which a delivered share may differ, and the share by which executions per call may. */
export const POINTS = 3;
export const EXECUTIONS_SHARE = 0.02;

/** One number, both ways. */
export interface Pair {
  readonly figure: string;
  readonly virtual: number;
  readonly live: number;
  readonly agrees: boolean;
}

export interface Comparison {
  readonly pairs: readonly Pair[];
  readonly invalid: readonly string[];
}

/** Plays the arm both ways. `invalid` says which process was late, if one was: then the pairs prove nothing. */
export async function compareLive(asked: LiveArm): Promise<Comparison> {
  const { arm, plan, seed } = asked;
  const trial = runTrial(settingsOf(arm, seed, { plan }));
  const { head: virtual } = runRecordOf(arm, trial);
  const { run, invalid } = await playLive(asked);
  const byClient = trial.plan.clients.length > 1 ? outcomesByClient(trial) : [];
  // Both were asked the same calls.
  const { calls, attempts } = run;
  const clientsLive = outcomesByClient({ plan: trial.plan, planned: trial.planned, calls, attempts });
  const pairs = [
    ...sharePairs(virtual.stages, run.head.stages),
    ...sharePairs(byClient, clientsLive),
    executionsPair(virtual, run.head),
  ];
  return { pairs, invalid };
}

type Outcomes = RunHead['stages'];

function sharePairs(virtual: Outcomes, live: Outcomes): readonly Pair[] {
  return virtual.flatMap((stage, at) => {
    const other = live[at];
    if (other === undefined || other.calls !== stage.calls) {
      throw new Error(`the runs differ in the calls of ${stage.stage}`);
    }
    return (['deliveredByDeadline', 'deliveredByHorizon'] as const).map((figure): Pair => {
      const [a, b] = [(100 * stage[figure]) / stage.calls, (100 * other[figure]) / stage.calls];
      const name = figure === 'deliveredByDeadline' ? 'deadline' : 'horizon';
      return {
        figure: `${stage.stage}: delivered by the ${name}, %`,
        virtual: a,
        live: b,
        agrees: Math.abs(a - b) <= POINTS,
      };
    });
  });
}

function executionsPair({ total }: RunHead, live: RunHead): Pair {
  const [virtual, other] = [amplification(total), amplification(live.total)];
  const agrees = live.total.executions !== undefined && Math.abs(other / virtual - 1) <= EXECUTIONS_SHARE;
  return { figure: 'executions per call', virtual, live: other, agrees };
}
