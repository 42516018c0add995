/** One line an attempt and one an execution, whatever happens, and nothing in them that was told in confidence. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { forEachSeed } from '../../../tests/support/seeds.js';
import { runTraffic } from '../../../tests/support/traffic.js';
import type { AttemptFacts } from '../../core/control/event.js';
import { createLog, type LogFields } from '../shared/log.js';
import { pseudonyms } from './pseudonym.js';
import { Recorder } from './record.js';

type Line = LogFields & { readonly level: string; readonly msg: string };

function recording(level: 'info' | 'debug' = 'info'): {
  recorder: Recorder;
  lines: () => Line[];
  text: () => string;
} {
  const written: string[] = [];
  const to = { write: (line: string) => void written.push(line) };
  const recorder = new Recorder(createLog({ level, to }), pseudonyms(new Uint8Array(32)));
  return {
    recorder,
    lines: () => written.map((line) => JSON.parse(line) as Line),
    text: () => written.join(''),
  };
}

const FACTS: AttemptFacts = {
  tenant: 'tenant-hash',
  route: '/v1/messages',
  fingerprint: 'print',
  model: 'claude',
  stream: true,
  bodyBytes: 100,
  userAgent: 'Anthropic/JS 1.14.0',
  address: '192.0.2.1',
  shareable: true,
  stateful: false,
  noStore: false,
  cancelOnLeave: false,
};

describe('recorder', () => {
  test('an attempt’s line tells what was asked, decided and met', () => {
    const { recorder, lines } = recording();
    recorder.event({ kind: 'arrive', attempt: 'a1', facts: FACTS }, 0);
    recorder.verdict(
      {
        kind: 'decided',
        attempt: 'a1',
        call: 'c1',
        decision: 'adopt_execution',
        evidence: ['key', 'gap'],
        candidates: 2,
      },
      0,
    );
    recorder.verdict({ kind: 'attach', attempt: 'a1', call: 'c1', outcome: 'attached', ordinal: 1 }, 0);
    recorder.verdict(
      {
        kind: 'start',
        call: 'c1',
        execution: 'e1',
        engine: 'e',
        attempt: 'a0',
        waitedMs: 1_234.56,
        earlier: 0,
      },
      9,
    );
    recorder.answered('a1', 200);
    recorder.verdict(
      {
        kind: 'attempt-ended',
        attempt: 'a1',
        call: 'c1',
        execution: 'e1',
        outcome: 'attached',
        ordinal: 1,
        ending: 'delivered',
        ageMs: 5_000.04,
        tenant: 'tenant-hash',
      },
      5_000,
    );
    const [{ time: _, ...line }] = lines() as [Line & { time: string }];
    assert.deepEqual(line, {
      level: 'info',
      msg: 'attempt ended',
      call: 'c1',
      execution: 'e1',
      attempt: 'a1',
      tenant: pseudonyms(new Uint8Array(32))('tenant-hash'),
      ordinal: 1,
      decision: 'adopt_execution',
      evidence: ['key', 'gap'],
      candidates: 2,
      outcome: 'attached',
      ending: 'delivered',
      route: '/v1/messages',
      family: 'stainless_node',
      model: 'claude',
      stream: true,
      status: 200,
      age_ms: 5_000,
      queue_ms: 1_234.6,
    });
  });

  test('an execution’s line tells how it ended and what the engine told of it', () => {
    const { recorder, lines } = recording();
    recorder.event({ kind: 'arrive', attempt: 'a1', facts: FACTS }, 0);
    recorder.verdict(
      {
        kind: 'start',
        call: 'c1',
        execution: 'e1',
        engine: 'e',
        attempt: 'a1',
        waitedMs: 0,
        earlier: 0,
        standing: {
          tier: 'late',
          late: true,
          basis: 'learned',
          deadlineInMs: -1_500.06,
          giveUpInMs: 200_000,
        },
      },
      10,
    );
    recorder.event({ kind: 'first-byte', execution: 'e1' }, 260);
    const usage = { promptTokens: 12, cachedPromptTokens: 4, completionTokens: 34 };
    recorder.reached('e1', 'http://engine:8000');
    recorder.verdict(
      {
        kind: 'execution-ended',
        execution: 'e1',
        call: 'c1',
        tenant: 'tenant-hash',
        ending: 'finished',
        ageMs: 700,
        bytes: 900,
        status: 200,
        usage,
      },
      710,
    );
    const [line] = lines();
    assert.equal(line?.msg, 'execution ended');
    assert.deepEqual(
      [
        line?.ending,
        line?.upstream,
        line?.age_ms,
        line?.queue_ms,
        line?.first_byte_ms,
        line?.bytes,
        line?.status,
        line?.model,
      ],
      ['finished', 'http://engine:8000', 700, 0, 250, 900, 200, 'claude'],
    );
    assert.deepEqual(
      [line?.tier, line?.basis, line?.deadline_in_ms, line?.give_up_in_ms],
      ['late', 'learned', -1_500.1, 200_000],
    );
    assert.deepEqual([line?.prompt_tokens, line?.cached_prompt_tokens, line?.completion_tokens], [12, 4, 34]);
  });

  test('a refusal’s line says for how long', () => {
    const { recorder, lines } = recording();
    recorder.event({ kind: 'arrive', attempt: 'a1', facts: FACTS }, 0);
    recorder.verdict(
      {
        kind: 'refuse',
        attempt: 'a1',
        reason: 'refused_budget',
        ordinal: 2,
        retryAfterMs: 4_000,
        mayRetry: true,
      },
      0,
    );
    recorder.answered('a1', 429);
    recorder.verdict(
      { kind: 'attempt-ended', attempt: 'a1', ordinal: 0, ending: 'refused_budget', ageMs: 0 },
      0,
    );
    const [line] = lines();
    assert.deepEqual([line?.ending, line?.status, line?.retry_after_ms], ['refused_budget', 429, 4_000]);
  });

  test('every attempt and every execution has exactly one line, over random traffic', () => {
    forEachSeed(20, (seed) => {
      const { recorder, lines } = recording('debug');
      const settings = { room: 2, bounds: { lineEntries: 4 } };
      const { ledger } = runTraffic({ seed, events: 400, settings, witnesses: [recorder] });
      const ids = (message: string, field: 'attempt' | 'execution' | 'call'): unknown[] =>
        lines()
          .filter(({ msg }) => msg === message)
          .map((line) => line[field]);
      const attempts = ids('attempt ended', 'attempt');
      assert.equal(attempts.length, ledger.attempts.opened);
      assert.equal(new Set(attempts).size, attempts.length);
      const executions = ids('execution ended', 'execution');
      assert.equal(executions.length, ledger.executions.opened);
      assert.equal(new Set(executions).size, executions.length);
      assert.equal(ids('call ended', 'call').length, ledger.calls.opened);
    });
  });

  test('no line at any level holds what a client told in confidence', () => {
    const { recorder, text } = recording('debug');
    let count = 0;
    const secret = (): string => `S3CRET-${(count += 1)}`;
    runTraffic({
      seed: 5,
      events: 2_000,
      settings: { room: 2 },
      witnesses: [recorder],
      facts: (random) => ({
        tenant: `S3CRET-tenant-${random.integer(1, 3)}`,
        fingerprint: `S3CRET-print-${random.integer(1, 3)}`,
        key: `S3CRET-key-${random.integer(1, 2)}`,
        traceparent: secret(),
        session: secret(),
        userAgent: `OpenAI/JS ${secret()}`,
        address: secret(),
      }),
    });
    assert(text().length > 100_000);
    assert.equal(text().indexOf('S3CRET'), -1);
  });
});
