/** What a test needs beyond Node: had, installed, or left out with a reason. */

import type { TestContext } from 'node:test';

/** Something that may be missing on a machine. */
export interface Requirement<T> {
  readonly name: string;
  /**
   * What the test asked for. When it cannot be had, the test is skipped with the reason and this is `undefined`:
   * the test returns at once. With HOLDFAST_REQUIRE_ALL=1 it throws instead, and the test fails.
   */
  met(context: TestContext): Promise<T | undefined>;
}

/** Longest reason that is shown, in characters: an installer's last words can be pages. */
const REASON_LENGTH = 400;

/**
 * A requirement called `name`. `obtain` probes for it or installs it, and throws when it cannot be had; it is asked
 * once a process, by the first test that needs it.
 */
export function requirement<T>(name: string, obtain: () => T | Promise<T>): Requirement<T> {
  let asked: Promise<T> | undefined;
  return {
    name,
    async met(context) {
      asked ??= Promise.resolve().then(obtain);
      try {
        return await asked;
      } catch (cause) {
        const reason = `${name}: ${lastWords(cause)}`;
        if (process.env['HOLDFAST_REQUIRE_ALL'] === '1') {
          throw new Error(`${reason} (HOLDFAST_REQUIRE_ALL=1 lets nothing be left out)`, { cause });
        }
        context.skip(reason);
        return undefined;
      }
    },
  };
}

function lastWords(cause: unknown): string {
  const text = (cause instanceof Error ? cause.message : String(cause)).replace(/\s+/g, ' ').trim();
  return text.length <= REASON_LENGTH ? text : `… ${text.slice(-REASON_LENGTH)}`;
}
