/** A run's report: its numbers add up, its markup is sound, and it says what it does not know. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PUBLISHED_PLAN } from '../../src/core/drill/plan.js';
import type { RunRecord } from '../../src/core/drill/run.js';
import { flowOf } from '../../src/core/report/arrivals-chart.js';
import { attemptsByStage } from '../../src/core/report/attempts-chart.js';
import { latencyOf } from '../../src/core/report/latency-chart.js';
import { inlineSvg, svgFile } from '../../src/core/report/picture.js';
import { PREFILL_ENDS, prefillOf } from '../../src/core/report/prefill.js';
import { picturesOf, reportPage } from '../../src/core/report/report-page.js';
import { summaryOf } from '../../src/core/report/summary.js';
import { blindDrill, SMALL_PLAN, trialRecord } from '../support/run-records.js';
import { readMarkup } from '../support/xml.js';

const SCENARIOS = [
  'retries=on cancel=on',
  'retries=on cancel=off',
  'budget',
  'coalesce',
  'holdfast',
] as const;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

test('every planned call has exactly one fate, in every stage and in all', () => {
  for (const scenario of SCENARIOS) {
    const { stages, total } = summaryOf(trialRecord(scenario));
    for (const { stage, calls, fates } of [...stages, total]) {
      assert.equal(sum(Object.values(fates)), calls, `${scenario}: ${stage}`);
      assert.ok(
        Object.values(fates).every((count) => count >= 0),
        `${scenario}: ${stage}`,
      );
    }
    assert.equal(sum(stages.map(({ calls }) => calls)), total.calls);
  }
});

test('the bins of every picture sum to the record', () => {
  for (const scenario of SCENARIOS) {
    const record = trialRecord(scenario);
    const { calls, attempts, executions, answers } = flowOf(record);
    assert.equal(sum(calls), record.head.calls);
    assert.equal(sum(attempts), record.attempts.length);
    assert.equal(sum(executions ?? []), record.executions.length);
    assert.equal(sum(answers), record.head.total.delivered);
    const { planned, unanswered } = latencyOf(record);
    assert.equal(sum(planned), record.calls.length);
    assert.equal(sum(unanswered), record.calls.length - record.head.total.deliveredByHorizon);
    for (const stage of attemptsByStage(record)) assert.equal(sum(stage.classes), stage.calls);
    assert.equal(sum(attemptsByStage(record).map((stage) => stage.attempts)), record.attempts.length);
  }
});

test('each computed prompt token has exactly one end, and the delivered ones are those of delivered calls', () => {
  for (const scenario of SCENARIOS) {
    const record = trialRecord(scenario);
    const prefill = prefillOf(record);
    assert.ok(prefill !== undefined);
    assert.equal(sum(PREFILL_ENDS.map((end) => prefill.ends[end])), prefill.computed);
    assert.equal(prefill.computed, sum(record.executions.map((one) => one.computedPromptTokens)));
  }
  const attached = trialRecord('holdfast');
  const undelivered = new Set(attached.calls.filter(({ delivered }) => !delivered).map(({ call }) => call));
  const forNobody = attached.executions.filter(({ call }) => undelivered.has(call));
  assert.equal(
    prefillOf(attached)?.ends.nobody,
    sum(forNobody.map(({ computedPromptTokens }) => computedPromptTokens)),
  );
  const collapsed = prefillOf(trialRecord('retries=on cancel=on'));
  assert.ok((collapsed?.ends.inFlight ?? 0) > 0 && (collapsed?.hidden ?? 0) > 0);
  const wasted = prefillOf(trialRecord('retries=on cancel=off'));
  assert.ok((wasted?.ends.nobody ?? 0) > 0);
  assert.equal(wasted?.ends.aborted, 0);
});

test('a picture is well-formed XML, inside a page and as a file, and says in words what it shows', () => {
  for (const record of [trialRecord('retries=on cancel=on'), blindDrill(trialRecord('coalesce'))]) {
    for (const picture of picturesOf(record)) {
      for (const markup of [inlineSvg(picture), svgFile(picture)]) {
        const { problems, elements } = readMarkup(markup);
        assert.deepEqual(problems, [], picture.id);
        assert.ok(
          elements.some(({ name }) => name === 'title') && elements.some(({ name }) => name === 'desc'),
        );
        assert.ok(!/NaN|Infinity|undefined/.test(markup), picture.id);
      }
      assert.ok(picture.description.length > 20, picture.id);
    }
  }
});

test('a page is one file that runs and fetches nothing', () => {
  const page = reportPage(trialRecord('retries=on cancel=on'));
  const { problems, elements, text } = readMarkup(page);
  assert.deepEqual(problems, []);
  assert.deepEqual(elements.find(({ name }) => name === 'html')?.attributes['lang'], 'en');
  for (const { name, attributes } of elements) {
    assert.ok(!['script', 'link', 'img', 'iframe', 'object', 'image', 'use'].includes(name), name);
    for (const [attribute, value] of Object.entries(attributes)) {
      assert.ok(!attribute.startsWith('on') && !['src', 'href', 'xlink:href'].includes(attribute), attribute);
      if (attribute !== 'xmlns') assert.ok(!/https?:/.test(value), value);
    }
  }
  assert.ok(!/@import|url\((?!#)/.test(page));
  const ids = elements.flatMap(({ attributes }) => attributes['id'] ?? []);
  assert.equal(new Set(ids).size, ids.length, 'an id occurs twice');
  assert.equal(elements.filter(({ name }) => name === 'figure').length, 6);
  assert.match(text, /Service did not recover/);
});

test('the same record gives the same bytes', () => {
  const record = trialRecord('coalesce');
  assert.equal(reportPage(record), reportPage(structuredClone(record)));
});

const HOSTILE = '</title><script>alert(1)</script>"\' onload=x &\u0000';

test('no name, reason or user agent becomes markup', () => {
  const record = trialRecord('coalesce');
  const { head } = record;
  const plan = {
    ...head.plan,
    name: HOSTILE,
    stages: head.plan.stages.map((stage) => ({ ...stage, name: HOSTILE })),
    clients: head.plan.clients.map((client) => ({ ...client, name: HOSTILE, userAgent: HOSTILE })),
  };
  const page = reportPage({
    ...record,
    head: {
      ...head,
      plan,
      name: HOSTILE,
      kind: 'drill',
      target: HOSTILE,
      startedAt: HOSTILE,
      invalid: [HOSTILE],
      executionsCountedBy: HOSTILE,
      stages: head.stages.map((stage) => Object.assign({}, stage, { stage: HOSTILE })),
    },
  });
  const { problems, elements } = readMarkup(page);
  assert.deepEqual(problems, []);
  assert.ok(elements.every(({ name, attributes }) => name !== 'script' && !('onload' in attributes)));
});

test('what nobody could read is said to be missing, and not drawn as nothing', () => {
  const record = blindDrill(trialRecord('retries=on cancel=on'));
  const { text } = readMarkup(reportPage(record));
  assert.match(text, /Executions are missing/);
  assert.match(text, /How many calls waited is not known/);
  assert.match(text, /Where prefill went is not known/);
  assert.match(text, /Ĉ, the capacity, was not measured/);
  const { stages, prefill } = summaryOf(record);
  assert.equal(stages[0]?.executionsPerCall, null);
  assert.equal(prefill, null);
  assert.equal(flowOf(record).executions, undefined);
});

test('where only the engine’s counters could be read, they are put side by side', () => {
  const record = trialRecord('retries=on cancel=on');
  const samples = record.samples.map(({ atMs, waiting, promptTokens, prefixCacheQueries }) => ({
    atMs,
    waiting,
    promptTokens,
    prefixCacheQueries,
  }));
  const { text } = readMarkup(reportPage({ ...blindDrill(record), samples } as RunRecord));
  assert.match(text, /of the prompt tokens that were admitted/);
  assert.match(text, /No gateway’s line could be read/);
});

test('an invalid run says so above everything else', () => {
  const record = trialRecord('coalesce');
  const head = { ...record.head, invalid: ['the generator fell behind'], stopped: true };
  const page = reportPage({ ...record, head });
  const { text } = readMarkup(page);
  assert.ok(text.indexOf('INVALID') < text.indexOf('calls planned'));
  assert.match(text, /the generator fell behind/);
  assert.match(text, /stopped before its calls had settled/);
  assert.match(page, /<title>INVALID: /);
});

test('a run that was cut off has its open calls in their own share', () => {
  const record = trialRecord('coalesce');
  const { head } = record;
  const [last] = head.stages.slice(-1);
  assert.ok(last !== undefined);
  const open = {
    ...last,
    open: last.open + 5,
    delivered: last.delivered - 5,
    deliveredByHorizon: last.deliveredByHorizon - 5,
  };
  const stages = [
    ...head.stages.slice(0, -1),
    { ...open, deliveredByDeadline: Math.min(open.deliveredByDeadline, open.deliveredByHorizon) },
  ];
  const { text } = readMarkup(
    reportPage({ ...record, calls: record.calls.slice(0, -5), head: { ...head, stages } }),
  );
  assert.match(text, /not ended when the run was/);
  assert.match(text, /5 calls had not ended/);
});

test('a page of ten thousand calls stays below a megabyte', () => {
  const small = trialRecord('retries=on cancel=on');
  const times = Math.ceil(10_000 / small.head.calls);
  const spread = <Item extends object>(items: readonly Item[], fields: readonly (keyof Item)[]): Item[] =>
    Array.from({ length: times }, (_, at) =>
      items.map((item) => {
        const moved = fields.map((field) => [field, Number(item[field]) + at * 37] as const);
        return { ...item, ...Object.fromEntries(moved) };
      }),
    ).flat();
  const record = {
    ...small,
    calls: spread(small.calls, ['plannedMs', 'endedMs']),
    attempts: spread(small.attempts, ['plannedMs', 'sentMs', 'leftMs']),
  };
  assert.ok(record.calls.length >= 10_000);
  assert.ok(reportPage(record).length < 1_000_000);
});

test('a plan of one stage, a silent run and a single call have their pages too', () => {
  const one = {
    ...SMALL_PLAN,
    name: 'one',
    stages: [{ name: 'all', rate: { perSecond: 0.05 }, seconds: 60 }],
  };
  for (const plan of [
    one,
    { ...one, name: 'none', stages: [{ name: 'all', rate: { perSecond: 1e-9 }, seconds: 60 }] },
  ]) {
    const page = reportPage(trialRecord('holdfast', 1, { ...PUBLISHED_PLAN, ...plan }));
    assert.deepEqual(readMarkup(page).problems, []);
    assert.ok(!/NaN|Infinity|undefined/.test(page), plan.name);
  }
});

test('a plan of a thousand stages has a page of bounded size that says what it leaves to the table', () => {
  const stages = Array.from({ length: 1_000 }, (_, at) => ({
    name: `stage ${at}`,
    rate: { perSecond: 0.5 },
    seconds: 2,
  }));
  const page = reportPage(trialRecord('holdfast', 1, { ...SMALL_PLAN, name: 'many', stages }));
  assert.deepEqual(readMarkup(page).problems, []);
  assert.ok(page.length < 1_000_000, String(page.length));
  assert.match(page, /961 further rows are in the table only/);
});
