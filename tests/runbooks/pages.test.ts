/** What the pages for operators say of defaults, files and sections is so. */

import { equal, match, ok } from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { fileView, gatewayConfig, SETTINGS } from '../../src/shell/gateway/config.js';
import { leavesOf, valueAt } from '../../src/shell/shared/settings/table.js';
import { ROOT } from '../support/root.js';

const PAGES = readdirSync(ROOT)
  .filter((name) => name.endsWith('.md'))
  .concat(
    readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => join('docs', name)),
  )
  .filter((name) => name.endsWith('.md'));

const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** How GitHub names a heading: lower case, words and dashes. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((each) =>
      each
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    ),
  );
}

test('every link between pages leads to a file and a section that there are', () => {
  ok(PAGES.length > 10);
  for (const page of PAGES) {
    const text = textOf(page);
    for (const [, target = ''] of text.matchAll(/\]\((?!https?:)([^)\s]*)\)/g)) {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? page : join(dirname(page), path);
      ok(existsSync(join(ROOT, file)), `${page} links to ${target}`);
      if (anchor !== undefined) ok(anchorsOf(textOf(file)).has(anchor), `${page} links to ${target}`);
    }
  }
});

test('the pages for operators name settings that there are', () => {
  const keys = new Set(leavesOf(SETTINGS).map(({ key }) => key));
  const groups = new Set(
    [...keys].flatMap((key) => key.split('.').map((_, at, all) => all.slice(0, at).join('.'))),
  );
  for (const page of ['metrics', 'alerts', 'sizing', 'restart', 'proxies']) {
    for (const [, key = ''] of textOf(`docs/${page}.md`).matchAll(
      /`((?:inbound|control|admin|log|upstream_timeouts)\.[a-z_.]+)`/g,
    ))
      ok(keys.has(key) || groups.has(key), `${key} in docs/${page}.md is no setting`);
  }
});

test('the bounds that the memory is counted from are the defaults, and their sum is right', () => {
  const page = textOf('docs/sizing.md');
  const rows = [...page.matchAll(/^\| `([\w.]+)` \| `(\d+)MiB` \|/gm)];
  ok(rows.length === 5);
  const view = fileView(gatewayConfig());
  for (const [, key = '', amount] of rows) {
    const leaf = leavesOf(SETTINGS).find((each) => each.key === key);
    equal(`${amount}MiB`, leaf === undefined ? undefined : valueAt(view, leaf.keys), key);
  }
  const sum = rows.reduce((all, [, , amount]) => all + Number(amount), 0);
  ok(page.includes(`The sum is ${sum.toLocaleString('en')} MiB`), String(sum));
  const { inbound, readerBytes, control } = gatewayConfig();
  match(page, new RegExp(`\`inbound.connections\` \\(${inbound.connections.toLocaleString('en')}\\)`));
  ok(page.includes(`\`reader_bytes\` (${readerBytes / 1024 ** 2} MiB)`));
  ok(page.includes(`\`control.bounds.replay_bytes\` (${control.bounds.replayBytes / 1024 ** 2} MiB)`));
});

test('the times of the restart fit each other', () => {
  const page = textOf('docs/restart.md');
  ok(page.includes(`\`drain\` (${gatewayConfig().drainMs / 1_000} s)`));
  const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
  const { spec } = parse(yaml) as {
    spec: {
      terminationGracePeriodSeconds: number;
      containers: { env: { value: string }[]; lifecycle: { preStop: { exec: { command: string[] } } } }[];
    };
  };
  const [container] = spec.containers;
  const drain = Number.parseInt(container?.env[0]?.value ?? '', 10);
  const wait = Number(container?.lifecycle.preStop.exec.command[1]);
  equal(spec.terminationGracePeriodSeconds, drain + wait + 5);
});
