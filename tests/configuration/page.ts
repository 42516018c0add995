/** The reference page of the configuration, as the table of settings makes it. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileView, gatewayConfig, SETTINGS } from '../../src/shell/gateway/config.js';
import { type Leaf, leavesOf, valueAt } from '../../src/shell/shared/settings/table.js';
import { ROOT } from '../support/root.js';

export const PAGE = join(ROOT, 'docs', 'configuration.md');

/** What stands above it is written by hand, what stands below by this. */
const MARK =
  '<!-- Everything below is written by `npm run docs:configuration` from the table of settings. -->\n';

interface Section {
  readonly title: string;
  readonly text?: string;
  /** The keys that it has, and those inside of them; the longest one that a key begins with counts. */
  readonly keys: readonly string[];
}

/** A setting that no other section names is the server's. */
const SERVER = 'The server';
const SECTIONS: readonly Section[] = [
  { title: SERVER, keys: [] },
  {
    title: 'Clients',
    text: 'What clients may send and hold open.',
    keys: ['inbound', 'request_bytes', 'reader_bytes'],
  },
  {
    title: 'TLS and browsers',
    keys: ['tls', 'cors'],
  },
  {
    title: 'Who is who',
    keys: [
      'allowed_keys_file',
      'trusted_proxies',
      'forwarded_header',
      'anonymous',
      'tenant_headers',
      'end_user_header',
      'tenants',
      'cache_salt',
      'key_headers',
      'session_headers',
      'class_headers',
      'deadline_header',
    ],
  },
  { title: 'Coalescing', keys: ['control'] },
  {
    title: 'Budget, line and room',
    keys: [
      'control.budget',
      'control.capacity',
      'control.room',
      'control.room_waiting',
      'control.room_whole',
      'control.order',
      'control.shares',
      'control.classes',
      'control.default_class',
      'control.max_class',
    ],
  },
  {
    title: 'Bounds',
    text: 'Everything that can grow has a maximum. At the maximum something is refused or degraded with a reason; nothing is lost silently.',
    keys: ['control.bounds'],
  },
];

function sectionOf(key: string): string {
  let best = { title: SERVER, length: 0 };
  for (const { title, keys } of SECTIONS) {
    for (const each of keys) {
      const inside = key === each || key.startsWith(`${each}.`);
      if (inside && each.length > best.length) best = { title, length: each.length };
    }
  }
  return best.title;
}

/** The page as it should be: its upper part as it is, its tables made anew. */
export function page(): string {
  const [head = ''] = readFileSync(PAGE, 'utf8').split(MARK);
  const leaves = leavesOf(SETTINGS);
  const sections = SECTIONS.map(({ title, text }) => {
    const rows = leaves.filter(({ key }) => sectionOf(key) === title).flatMap(rowsOf);
    return [
      `## ${title}\n`,
      ...(text === undefined ? [] : [`${text}\n`]),
      '| key | default | takes | changes | what it sets |',
      '| --- | --- | --- | --- | --- |',
      ...rows,
      '',
    ].join('\n');
  });
  const legend =
    'The variable of a key is the key in capitals, dots as underscores, with `HOLDFAST_` before it. *live*: a changed file is taken over while running; *restart*: the value is read once.\n';
  return `${head}${MARK}\n${legend}\n${sections.join('\n')}`;
}

/** A row for the setting, and one for each setting of its entries. */
function rowsOf({ key, keys, setting }: Leaf): readonly string[] {
  const value: unknown = valueAt(fileView(gatewayConfig()), keys);
  const { entries } = setting.kind;
  const inner = entries === undefined ? [] : leavesOf(entries);
  return [
    row(key, defaultText(value), setting),
    ...inner.map(({ key: name, setting: each }) => {
      const has = each.default === undefined ? undefined : each.kind.write(each.default);
      return row(`${key}[].${name}`, each.required ? 'must be given' : defaultText(has), each);
    }),
  ];
}

function row(key: string, value: string, { kind, changes, about, secret }: Leaf['setting']): string {
  const told = secret ? `${about}; a secret: never shown` : about;
  const cells = [`\`${key}\``, value, kind.takes, changes, told].map((cell) => cell.replaceAll('|', '\\|'));
  return `| ${cells.join(' | ')} |`;
}

function defaultText(value: unknown): string {
  if (value === undefined) return 'none';
  return `\`${Array.isArray(value) ? `[${value.join(', ')}]` : (value as string | number | boolean)}\``;
}

/** The keys of the page's rows. */
export function keysOn(text: string): readonly string[] {
  return [...text.matchAll(/^\| `(?<key>[\w.[\]]+)` \|/gm)].map(({ groups }) => groups?.['key'] ?? '');
}
