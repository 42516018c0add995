/** Plays one scene between two counters and the engine's own meter, and says what they saw. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from './clients.js';
import type { Counter, Crossing } from './counter.js';
import { idle, readMeter } from './engine.js';

/** How clients reach the engine in one arm: attempts counter, then the gateway or nothing, executions counter. */
export interface Path {
  readonly engine: string;
  readonly entry: string;
  readonly attempts: Counter;
  readonly executions: Counter;
}

/** What a scene's player hands back; `otherTokens`: prompt tokens it sent past the counters to fill the engine. */
export interface Played {
  readonly answers: readonly Answer[];
  readonly otherTokens?: number;
  /** Claims of the scene itself that did not hold. */
  readonly failures?: readonly string[];
}

/** What the counters and the meter saw of one scene; each figure is counted, none assumed. */
export interface Seen {
  readonly delivered: number;
  readonly distinctIds: number;
  readonly attempts: number;
  /** Attempts that named their call by a key. */
  readonly keyedAttempts: number;
  /** Executions created, by the counter in front of the engine. */
  readonly executions: number;
  /** Executions that began, by `vllm:prefix_cache_queries_total` over the prompt's length. */
  readonly began: number;
  /** Executions whose connection was closed before their answer was whole. */
  readonly aborted: number;
  /** Executions of each route. */
  readonly routes: Readonly<Record<string, number>>;
  /** Different `X-Request-Id` headers among the executions. */
  readonly requestIds: number;
  /** How the gateway says that it served the attempts, such as `attached`. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Longest time that a whole execution took. */
  readonly longestMs: number;
  readonly errors: readonly string[];
  /** Claims of the scene itself that did not hold. */
  readonly failures: readonly string[];
}

/** A scene as it was played and what was seen of it. */
export interface Row extends Seen {
  readonly scene: string;
  readonly client: string;
  /** How long the engine takes to what the client waits for, and how long the client waits. */
  readonly naturalMs: number;
  readonly timeoutMs: number;
  readonly calls: number;
  readonly tries: number;
}

/** What a scene expects of a gateway. */
export interface Expected {
  readonly calls: number;
  readonly executions: number;
  readonly attemptsAtLeast: number;
  readonly keyed: boolean;
}

/** Plays and counts; the gateway's promises are judged by {@link broken}. */
export async function observe(path: Path, promptTokens: number, play: () => Promise<Played>): Promise<Seen> {
  await idle(path.engine);
  const before = await readMeter(path.engine);
  const [attemptsFrom, executionsFrom] = [path.attempts.crossings.length, path.executions.crossings.length];
  const played = await play();
  await idle(path.engine);
  await sleep(300);
  const after = await readMeter(path.engine);
  const attempts = path.attempts.crossings.slice(attemptsFrom);
  const executions = path.executions.crossings.slice(executionsFrom);
  const ids = new Set(played.answers.filter((a) => a.delivered).map((a) => a.id));
  const known = new Set(executions.map((execution) => execution.answerId));
  const strange = [...ids].filter((id) => !known.has(id));
  return {
    failures: [
      ...(played.failures ?? []),
      ...(strange.length > 0 ? [`answers of no counted execution: ${strange.join(', ')}`] : []),
    ],
    delivered: played.answers.filter((answer) => answer.delivered).length,
    distinctIds: ids.size,
    attempts: attempts.length,
    keyedAttempts: attempts.filter((attempt) => attempt.keyed).length,
    executions: executions.length,
    began: (after.admittedTokens - before.admittedTokens - (played.otherTokens ?? 0)) / promptTokens,
    aborted: executions.filter((execution) => execution.ending !== 'complete').length,
    routes: tally(executions.map((execution) => execution.route)),
    requestIds: new Set(executions.map((e) => e.requestId).filter((id) => id !== undefined)).size,
    outcomes: tally(attempts.map((attempt) => attempt.outcome ?? attempt.ending)),
    longestMs: Math.max(0, ...executions.map(wholeMs)),
    errors: played.answers.flatMap((answer) => (answer.error === undefined ? [] : [answer.error])),
  };
}

/** Which of the gateway's promises a row breaks. */
export function broken(row: Seen, expected: Expected): string[] {
  const claims: [boolean, string][] = [
    [row.delivered === expected.calls, `delivered ${row.delivered} of ${expected.calls}`],
    [row.executions === expected.executions, `${row.executions} executions, not ${expected.executions}`],
    [
      row.began === expected.executions,
      `the engine began ${row.began} executions, not ${expected.executions}`,
    ],
    [row.requestIds === row.executions, `${row.requestIds} execution ids for ${row.executions} executions`],
    [row.distinctIds === expected.calls, `${row.distinctIds} different answers, not ${expected.calls}`],
    [row.attempts >= expected.attemptsAtLeast, `only ${row.attempts} attempts: nothing was tried`],
    [
      row.keyedAttempts === (expected.keyed ? row.attempts : 0),
      `${row.keyedAttempts} of ${row.attempts} attempts carried a key`,
    ],
    [row.aborted === 0, `${row.aborted} executions aborted`],
  ];
  return claims.filter(([holds]) => !holds).map(([, text]) => text);
}

function wholeMs({ ending, startedAt, endedAt }: Crossing): number {
  return ending === 'complete' && endedAt !== undefined ? endedAt - startedAt : 0;
}

function tally(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
