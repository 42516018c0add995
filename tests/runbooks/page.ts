/** The reference page of the meter, from what a running gateway says and from what its words mean. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Family, readExposition } from '../../src/core/meter/exposition.js';
import { isOwnEnding, refusal } from '../../src/shell/gateway/refusal.js';
import { ROOT } from '../support/root.js';
import { served } from '../support/served.js';
import { FAMILIES } from './families.js';
import {
  ATTEMPTS,
  CALLS,
  DECISIONS_TODO,
  ENTRIES,
  EXECUTIONS,
  FURTHER_CODES,
  type Meaning,
  WARNINGS,
} from './meanings.js';

export const PAGE = join(ROOT, 'docs', 'metrics.md');

/** What stands above it is written by hand, what stands below by this. */
const MARK =
  '<!-- Everything below is written by `npm run docs:metrics` from a running gateway and tests/runbooks. -->\n';

/** What `holdfast serve` exposes after one call, with nothing set but its ports. */
export async function exposed(): Promise<readonly Family[]> {
  const gateway = await served([]);
  try {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"model":"twin","max_tokens":1,"messages":[{"role":"user","content":"x"}]}',
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`the call failed: ${answer.status} ${text}`);
    return readExposition(await (await fetch(`${gateway.url}/metrics`)).text());
  } finally {
    await gateway.stop();
  }
}

/** The page as it should be: its upper part as it is, its tables made anew. */
export function page(families: readonly Family[]): string {
  const [head = ''] = readFileSync(PAGE, 'utf8').split(MARK);
  const parts = [
    '## Families',
    table(
      ['metric', 'type', 'labels', 'what it is', 'what to make of it'],
      families.map(({ name, type, help }) => {
        const { labels = [], make = 'no meaning in tests/runbooks/families.ts yet' } = FAMILIES[name] ?? {};
        return [code(name), type, labels.map(code).join(', '), help, make];
      }),
    ),
    '## Endings of attempts',
    '`holdfast_attempts_ended_total{ending}`, the log’s `ending`, `x-holdfast-reason` and the `code` of an error body. *Status*: what the client is told where nothing has been sent yet; a client that does not read a `429` as "later" is told `503` instead. *Whose*: who has something to mend.',
    table(
      ['ending', 'status', 'what happened', 'whose', 'what to do'],
      Object.entries(ATTEMPTS).map(([word, { happened, whose, todo }]) => [
        code(word),
        statusOf(word as keyof typeof ATTEMPTS),
        happened,
        whose,
        todo,
      ]),
    ),
    'Two more codes belong to requests that never became attempts, and are counted nowhere else:',
    meanings('code', FURTHER_CODES),
    '## Endings of executions',
    '`holdfast_executions_ended_total{ending}`. `cancelled_*`: the gateway closed the engine’s connection, always with nobody listening; `failed_*`: the engine’s doing, and the call gets its execution back.',
    meanings('ending', EXECUTIONS),
    '## Endings of places in line',
    '`holdfast_entries_ended_total{ending}`; a call that starts at once takes no place.',
    meanings('ending', ENTRIES),
    '## Endings of calls',
    '`holdfast_calls_ended_total{ending}`. A call is counted as ended when nothing more can come of it, which for one that was not delivered is minutes after its last attempt.',
    meanings('ending', CALLS),
    '## Decisions',
    '`holdfast_decisions_total{decision}`; [docs/recognition.md](recognition.md) has the rules.',
    table(
      ['decision', 'what it tells an operator'],
      Object.entries(DECISIONS_TODO).map(([word, text]) => [code(word), text]),
    ),
    '## Warnings',
    '`holdfast_warnings_total{warning}`.',
    meanings('warning', WARNINGS),
  ];
  return `${head}${MARK}\n${parts.join('\n\n')}\n`;
}

function statusOf(ending: keyof typeof ATTEMPTS): string {
  if (isOwnEnding(ending)) return String(refusal(ending, 'unknown', { mayRetry: true }).status);
  return ending.startsWith('upstream_') ? 'the engine’s' : '';
}

function meanings(of: string, all: Readonly<Record<string, Meaning>>): string {
  const rows = Object.entries(all).map(([word, { happened, whose, todo }]) => [
    code(word),
    happened,
    whose,
    todo,
  ]);
  return table([of, 'what happened', 'whose', 'what to do'], rows);
}

/** Names of pages as links, seen from the folder of this one. */
function linked(text: string): string {
  return text.replaceAll(/\bdocs\/([\w-]+\.md)/g, '[$1]($1)');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (texts: readonly string[]): string =>
    `| ${texts.map((each) => linked(each).replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function code(text: string): string {
  return `\`${text}\``;
}
