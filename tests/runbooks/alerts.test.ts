/** The alert rules are rules, fire when they should and not otherwise, and each has its paragraph. */

import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse, stringify } from 'yaml';
import { promtool } from '../support/promtool.js';
import { ROOT } from '../support/root.js';
import { FAMILIES } from './families.js';
import { PAGE } from './page.js';

const FOLDER = join(ROOT, 'deploy', 'prometheus');
const [RULES, TESTS] = ['holdfast.rules.yaml', 'holdfast.rules.test.yaml'] as const;
const text = readFileSync(join(FOLDER, RULES), 'utf8');
const tests = readFileSync(join(FOLDER, TESTS), 'utf8');
const page = readFileSync(join(ROOT, 'docs', 'alerts.md'), 'utf8');
const metrics = readFileSync(PAGE, 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}
const { groups } = parse(text) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

function said(command: string, args: readonly string[], cwd: string): { code: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync(command, [...args], {
    cwd,
    encoding: 'utf8',
    timeout: 60_000,
  });
  return { code: status, text: `${stdout}${stderr}` };
}

test('the rules are ones that Prometheus takes, and each fires in its incident and never on a quiet day', async (t) => {
  const command = await promtool.met(t);
  if (command === undefined) return;
  for (const args of [
    ['check', 'rules', '--lint-fatal', RULES],
    ['test', 'rules', TESTS],
  ]) {
    const { code, text: output } = said(command, args, FOLDER);
    equal(code, 0, output);
  }
});

for (const [how, expr] of [
  ['never fires', 'vector(0) > 1'],
  ['always fires', 'vector(1)'],
] as const) {
  test(`an alert that ${how} is noticed, each of them`, async (t) => {
    const command = await promtool.met(t);
    if (command === undefined) return;
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-rules-'));
    copyFileSync(join(FOLDER, TESTS), join(folder, TESTS));
    const changed = [{ name: 'changed', rules: rules.map(({ alert }) => ({ alert, expr })) }];
    writeFileSync(join(folder, RULES), stringify({ groups: changed }));
    const { code, text: output } = said(command, ['test', 'rules', TESTS], folder);
    notEqual(code, 0);
    for (const { alert } of rules)
      ok(output.replaceAll('\\', '').includes(`"${alert}"`), `${alert} is not noticed:\n${output}`);
  });
}

test('every alert has its paragraph, and every paragraph its alert', () => {
  const sections = [...page.matchAll(/^## (\w+)$/gm)].map(([, name = '']) => name);
  deepEqual(sections.toSorted(), rules.map(({ alert }) => alert).toSorted());
  for (const { alert, labels, annotations } of rules) {
    equal(annotations.runbook, `docs/alerts.md#${alert.toLowerCase()}`);
    ok(['page', 'ticket'].includes(labels.severity), alert);
  }
});

test('rules, their tests and the pages name metrics and words that there are', () => {
  for (const source of [text, tests, page, metrics]) {
    for (const [name] of source.matchAll(/\bholdfast_[a-z_]+\b/g)) {
      const family = name.replace(/_(?:bucket|sum|count)$/, '');
      ok(Object.hasOwn(FAMILIES, name) || Object.hasOwn(FAMILIES, family), `${name} is no metric`);
    }
    for (const [, , word = ''] of source.matchAll(/\b(ending|reason|warning|decision|outcome)!?="(\w+)"/g))
      ok(metrics.includes(`\`${word}\``), `${word} is on no page`);
  }
});

test('the expressions of the pages are ones that Prometheus takes', async (t) => {
  const command = await promtool.met(t);
  if (command === undefined) return;
  const fenced = [...page.matchAll(/```promql\n([\s\S]*?)```/g)];
  const inTables = [...metrics.matchAll(/\| `(sum\([^`]*)`/g)];
  const expressions = [...fenced, ...inTables].map(([, expression = '']) =>
    expression.replaceAll('\\|', '|'),
  );
  ok(expressions.length >= 5, String(expressions.length));
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-expressions-'));
  const records = expressions.map((expr, at) => ({ record: `page:expression:number${at}`, expr }));
  writeFileSync(join(folder, RULES), stringify({ groups: [{ name: 'page', rules: records }] }));
  const { code, text: output } = said(command, ['check', 'rules', RULES], folder);
  equal(code, 0, output);
});
