/** The meter agrees with the control's own books at every moment, stays bounded, and writes lawful text. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { facts } from '../../../tests/support/facts.js';
import { forEachSeed } from '../../../tests/support/seeds.js';
import { countedIds } from '../../../tests/support/subject.js';
import { runTraffic } from '../../../tests/support/traffic.js';
import { Control } from '../../core/control/control.js';
import { type ControlSettings, controlOptions } from '../../core/control/options.js';
import { readExposition, valueOf } from '../../core/meter/exposition.js';
import { HELP } from './metric-names.js';
import { Metrics, TENANT_LABELS } from './metrics.js';
import { ProcessMeter } from './process-meter.js';

const SETTINGS: readonly ControlSettings[] = [
  {},
  { room: 2, order: 'newest-first', bounds: { lineEntries: 3 } },
  { room: 1, coalesce: 'off', budget: { mode: 'strict' } },
  { coalesce: 'identical', grace: 'now', bounds: { calls: 5, listeners: 2 } },
];

const metered = (): Metrics => new Metrics({ pseudonym: (tenant) => `~${tenant}` });
const reader = (metrics: Metrics): ((name: string, labels?: Record<string, string>) => number) => {
  const families = readExposition(metrics.text());
  return (name, labels) => valueOf(families, name, labels) ?? assert.fail(`${name} is missing`);
};

/** Breaks with the line at fault unless `text` is Prometheus text as its specification has it. */
function lawful(text: string): void {
  assert(text.endsWith('\n'));
  const declared = new Map<string, string>();
  const helped = new Set<string>();
  const series = new Set<string>();
  for (const line of text.slice(0, -1).split('\n')) {
    const help = /^# HELP ([a-zA-Z_:][\w:]*) (\S.*)$/.exec(line);
    const type = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram)$/.exec(line);
    const each = /^([a-zA-Z_:][\w:]*)(\{[a-z_]+="[^"\\\n]*"(?:,[a-z_]+="[^"\\\n]*")*\})? (\S+)$/.exec(line);
    if (help !== null) {
      assert(!helped.has(help[1] as string), `second HELP: ${line}`);
      helped.add(help[1] as string);
    } else if (type !== null) {
      const [, name, kind] = type as unknown as [string, string, string];
      assert(!declared.has(name) && helped.has(name), `TYPE out of order: ${line}`);
      assert(kind !== 'counter' || name.endsWith('_total'), `a counter ends in _total: ${line}`);
      declared.set(name, kind);
    } else {
      assert(each !== null, `not Prometheus text: ${line}`);
      const name = (each[1] as string).replace(/_(?:bucket|sum|count)$/, '');
      assert(declared.has(each[1] as string) || declared.get(name) === 'histogram', `no TYPE: ${line}`);
      const id = `${each[1]}${each[2] ?? ''}`;
      assert(!series.has(id), `twice: ${line}`);
      series.add(id);
      assert(Number.isFinite(Number(each[3])), `not a number: ${line}`);
    }
  }
}

describe('metrics', () => {
  test('counts equal the control’s books after every event, and balance', () => {
    forEachSeed(20, (seed) => {
      const metrics = metered();
      const control = runTraffic({
        seed,
        events: 300,
        settings: SETTINGS[seed % SETTINGS.length] as ControlSettings,
        witnesses: [metrics],
        between: ({ ledger }) => {
          const value = reader(metrics);
          for (const kind of ['attempts', 'calls', 'executions', 'entries'] as const) {
            const account = ledger[kind];
            assert.equal(value(`holdfast_${kind}_total`), account.opened, kind);
            for (const [ending, count] of Object.entries(account.ended)) {
              assert.equal(value(`holdfast_${kind}_ended_total`, { ending }), count, `${kind} ${ending}`);
            }
          }
          assert.equal(value('holdfast_attempts_open'), ledger.attempts.open);
          assert.equal(value('holdfast_calls_open'), ledger.calls.open);
          assert.equal(value('holdfast_running_executions'), ledger.executions.open);
          assert.equal(value('holdfast_line_entries'), ledger.entries.open);
        },
      });
      const value = reader(metrics);
      for (const open of ['attempts_open', 'calls_open', 'running_executions', 'line_entries']) {
        assert.equal(value(`holdfast_${open}`), 0, open);
      }
      assert.equal(value('holdfast_queue_seconds_count'), control.ledger.executions.opened);
    });
  });

  test('what only the control can tell is read from it', () => {
    const metrics = metered();
    const control = runTraffic({ seed: 3, events: 200, settings: { room: 1 }, witnesses: [metrics] });
    assert(!metrics.text().includes('holdfast_orphans'));
    metrics.follow(control);
    const value = reader(metrics);
    assert.equal(value('holdfast_orphans'), 0);
    assert.equal(value('holdfast_budget_granted_total'), control.ledger.granted);
    assert.equal(value('holdfast_budget_refused_total'), control.ledger.refused);
    assert.equal(value('holdfast_budget_allowance'), control.gauges().budget.allowance);
  });

  test('what is asked of the engines is shown as a share of their capacity, and not without one', () => {
    const shown = (settings: ControlSettings): (number | undefined)[] => {
      const metrics = metered();
      const subject = new Control({
        options: controlOptions(settings),
        makeId: countedIds(),
        uniform: () => 0,
      });
      metrics.follow(subject);
      for (let at = 0; at < 8; at += 1) {
        subject.step(at, {
          kind: 'arrive',
          attempt: `a${at}`,
          facts: facts({ fingerprint: `f${at}`, retryCount: at % 2 }),
        });
      }
      const families = readExposition(metrics.text());
      return ['holdfast_loop_gain', 'holdfast_executions_per_capacity'].map((name) =>
        valueOf(families, name),
      );
    };
    // The capacity makes six in the window of a minute; the guard refuses the last of the eight.
    assert.deepEqual(shown({ capacity: 0.1 }), [8 / 6, 7 / 6]);
    assert.deepEqual(shown({ capacity: 0.1, room: 1 }), [8 / 6, 1 / 6]);
    assert.deepEqual(shown({}), [undefined, undefined]);
  });

  test('usage is counted once an execution, and waste by kind, as the engine told it', () => {
    const metrics = metered();
    const usage = { promptTokens: 100, cachedPromptTokens: 50, completionTokens: 7 };
    const ended = { kind: 'execution-ended', call: 'c', tenant: 't', ageMs: 1, bytes: 10 } as const;
    metrics.verdict({ ...ended, execution: 'e1', ending: 'finished', usage }, 0);
    metrics.verdict({ ...ended, execution: 'e2', ending: 'cancelled_grace' }, 0);
    metrics.verdict({ kind: 'wasted', execution: 'e1', tenant: 't', usage, bytes: 10 }, 0);
    metrics.verdict({ kind: 'wasted', execution: 'e2', tenant: 't', bytes: 5 }, 0);
    const value = reader(metrics);
    assert.equal(value('holdfast_prompt_tokens_total', { tenant: '~t' }), 100);
    assert.equal(value('holdfast_completion_tokens_total', { tenant: '~t' }), 7);
    assert.equal(value('holdfast_wasted_tokens_total', { tenant: '~t', kind: 'prompt' }), 100);
    assert.equal(value('holdfast_wasted_tokens_total', { tenant: '~t', kind: 'completion' }), 7);
    assert.equal(value('holdfast_executions_without_usage_total'), 1);
    assert.equal(value('holdfast_wasted_executions_total'), 2);
    assert.equal(value('holdfast_wasted_bytes_total'), 15);
  });

  test('a first byte is timed from its execution’s start, and once', () => {
    const metrics = metered();
    const start = {
      kind: 'start',
      call: 'c',
      engine: 'e',
      attempt: 'a',
      waitedMs: 3_000,
      earlier: 0,
    } as const;
    metrics.verdict({ ...start, execution: 'e1' }, 1_000);
    metrics.event({ kind: 'first-byte', execution: 'e1' }, 3_500);
    metrics.event({ kind: 'first-byte', execution: 'e1' }, 9_000);
    const value = reader(metrics);
    assert.equal(value('holdfast_first_byte_seconds_sum'), 2.5);
    assert.equal(value('holdfast_first_byte_seconds_count'), 1);
    assert.equal(value('holdfast_first_byte_seconds_bucket', { le: '2.5' }), 1);
    assert.equal(value('holdfast_first_byte_seconds_bucket', { le: '1.0' }), 0);
    assert.equal(value('holdfast_queue_seconds_sum'), 3);
  });

  test('requests passed through are counted by class of status', () => {
    const metrics = metered();
    for (const status of [101, 200, 204, 301, 404, 500, 999, 0]) metrics.passedThrough(status);
    const value = reader(metrics);
    const counts = ['1xx', '2xx', '3xx', '4xx', '5xx', 'left'].map((status) =>
      value('holdfast_passthrough_total', { status }),
    );
    assert.deepEqual(counts, [1, 2, 1, 1, 2, 1]);
  });

  test('a tenant beyond the bound is counted as other, and no raw tenant is shown', () => {
    const metrics = metered();
    const usage = { promptTokens: 1, cachedPromptTokens: 0, completionTokens: 1 };
    for (let tenant = 0; tenant < 3 * TENANT_LABELS; tenant += 1) {
      const of = { execution: `e${tenant}`, call: 'c', tenant: `raw${tenant}`, ageMs: 0, bytes: 0, usage };
      metrics.verdict({ kind: 'execution-ended', ending: 'finished', ...of }, 0);
    }
    const text = metrics.text();
    assert.equal(text.match(/^holdfast_prompt_tokens_total\{/gm)?.length, TENANT_LABELS + 1);
    assert.equal(reader(metrics)('holdfast_prompt_tokens_total', { tenant: 'other' }), 2 * TENANT_LABELS);
    assert(!text.includes('"raw'));
  });

  test('the text is lawful Prometheus, from the first scrape on, with every name explained', () => {
    const process = new ProcessMeter();
    const metrics = new Metrics({ pseudonym: (tenant) => tenant, more: () => process.families() });
    lawful(metrics.text());
    metrics.follow(runTraffic({ seed: 1, events: 400, settings: { room: 1 }, witnesses: [metrics] }));
    const text = metrics.text();
    lawful(text);
    for (const [name, help] of Object.entries(HELP)) assert(text.includes(`# HELP ${name} ${help}\n`), name);
    for (const name of ['process_resident_memory_bytes', 'holdfast_event_loop_lag_seconds']) {
      assert(reader(metrics)(name) >= 0);
    }
    process.close();
  });

  test('the text does not grow with traffic', () => {
    const lines = (events: number): number => {
      const metrics = metered();
      runTraffic({ seed: 2, events, witnesses: [metrics] });
      return metrics.text().split('\n').length;
    };
    assert.equal(lines(5_000), lines(1_000));
  });
});
