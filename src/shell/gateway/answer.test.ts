/** An answer is followed as it comes: begun, whole, failed, and what it cost, in every dialect. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Answer, answerOf } from './answer.js';
import type { Dialect } from './routes.js';

const SSE = { 'content-type': 'text/event-stream; charset=utf-8', 'transfer-encoding': 'chunked' };
const JSON_TYPE = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };

function fed(dialect: Dialect, headers: Record<string, string>, ...pieces: string[]): Answer {
  const answer = answerOf(dialect, headers);
  for (const piece of pieces) answer.feed(Buffer.from(piece));
  return answer;
}

function event(value: unknown, name?: string): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
}

describe('the usage', () => {
  test('of a JSON answer', () => {
    const chat = {
      usage: { prompt_tokens: 22, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 16 } },
    };
    deepEqual(fed('openai', JSON_TYPE, JSON.stringify(chat)).usage(), {
      promptTokens: 22,
      cachedPromptTokens: 16,
      completionTokens: 4,
    });
    const message = { usage: { input_tokens: 6, output_tokens: 4, cache_read_input_tokens: 16 } };
    deepEqual(fed('anthropic', JSON_TYPE, JSON.stringify(message)).usage(), {
      promptTokens: 22,
      cachedPromptTokens: 16,
      completionTokens: 4,
    });
    equal(fed('openai', JSON_TYPE, '{"usage":null}').usage(), undefined);
    equal(fed('openai', JSON_TYPE, 'not json').usage(), undefined);
  });

  test('of a JSON answer too long to keep is found at its end', () => {
    const text = `{"data":[${'0.12345678,'.repeat(20_000)}0],"usage":{"prompt_tokens":9,"total_tokens":9},"x":{"y":null}}`;
    const usage = { promptTokens: 9, cachedPromptTokens: 0, completionTokens: 0 };
    deepEqual(fed('plain', JSON_TYPE, ...(text.match(/.{1,50000}/g) ?? [])).usage(), usage);
  });

  test('of a stream is its last report, or what its first and last say together', () => {
    const openai = fed(
      'openai',
      SSE,
      event({ choices: [], usage: { prompt_tokens: 22, completion_tokens: 0 } }),
      event({ choices: [], usage: { prompt_tokens: 22, completion_tokens: 1 } }),
      event({ choices: [], usage: { prompt_tokens: 22, completion_tokens: 4 } }),
      event('[DONE]'),
    );
    deepEqual(openai.usage(), { promptTokens: 22, cachedPromptTokens: 0, completionTokens: 4 });
    const start = { type: 'message_start', message: { usage: { input_tokens: 22, output_tokens: 0 } } };
    const delta = { type: 'message_delta', usage: { output_tokens: 4 } };
    const anthropic = fed('anthropic', SSE, event(start, 'message_start'), event(delta, 'message_delta'));
    deepEqual(anthropic.usage(), { promptTokens: 22, cachedPromptTokens: 0, completionTokens: 4 });
    const completed = {
      type: 'response.completed',
      response: { usage: { input_tokens: 5, output_tokens: 2, input_tokens_details: { cached_tokens: 3 } } },
    };
    const created = { type: 'response.created', response: { usage: null } };
    deepEqual(fed('responses', SSE, event(created), event(completed)).usage(), {
      promptTokens: 5,
      cachedPromptTokens: 3,
      completionTokens: 2,
    });
  });

  test('is found at the end of an event too long to keep', () => {
    const completed = {
      type: 'response.completed',
      response: { output: 'x'.repeat(300_000), usage: { input_tokens: 5, output_tokens: 2 }, user: null },
    };
    const text = event(completed, 'response.completed');
    const answer = fed('responses', SSE, ...(text.match(/[^]{1,5000}/g) ?? []));
    ok(answer.whole);
    deepEqual(answer.usage(), { promptTokens: 5, cachedPromptTokens: 0, completionTokens: 2 });
  });

  test('a word in a prompt is no report', () => {
    const answer = fed(
      'openai',
      SSE,
      event({ choices: [{ delta: { content: 'say "usage": {"prompt_tokens": 99}' } }] }),
      event('[DONE]'),
    );
    equal(answer.usage(), undefined);
  });
});

describe('the beginning', () => {
  test('of a stream is its first whole event; comments do not count', () => {
    const answer = answerOf('openai', SSE);
    for (const piece of [': wait\n\n', ': wait\n\n', 'data: {"a"', ':1}', '\n']) {
      answer.feed(Buffer.from(piece));
      equal(answer.begun, false, piece);
    }
    answer.feed(Buffer.from('\n'));
    equal(answer.begun, true);
  });

  test('of a response is the first event that work made: what is sent before it is queued says nothing', () => {
    const before = ['created', 'queued', 'in_progress'].map((name) => ({ type: `response.${name}` }));
    for (const names of [true, false]) {
      const answer = answerOf('responses', SSE);
      for (const value of before) answer.feed(Buffer.from(event(value, names ? value.type : undefined)));
      equal(answer.begun, false);
      answer.feed(Buffer.from(event({ type: 'response.output_item.added' })));
      equal(answer.begun, true);
    }
    const failed = { type: 'error', error: { message: 'overloaded', code: 503 } };
    ok(fed('responses', SSE, event(before[0]), event(failed)).failedFirst);
  });

  test('of anything else is its first byte', () => {
    const answer = answerOf('openai', JSON_TYPE);
    equal(answer.begun, false);
    answer.feed(Buffer.from(' '));
    equal(answer.begun, true);
  });
});

describe('the end', () => {
  test('of a stream is its closing event, and without one it is not whole', () => {
    const closings: [Dialect, string][] = [
      ['openai', event('[DONE]')],
      ['anthropic', event({ type: 'message_stop' }, 'message_stop')],
      ['anthropic', event({ type: 'message_stop' })],
      ['responses', event({ type: 'response.completed' }, 'response.completed')],
      ['responses', event({ type: 'response.incomplete' }, 'response.incomplete')],
    ];
    for (const [dialect, closing] of closings) {
      const answer = fed(dialect, SSE, event({ a: 1 }));
      equal(answer.whole, false);
      equal(answer.end(), false, closing);
      answer.feed(Buffer.from(closing));
      equal(answer.whole, true, closing);
      equal(answer.end(), true);
    }
  });

  test('words of the model close nothing', () => {
    const words = {
      choices: [{ delta: { content: '[DONE] "type":"message_stop" event: message_stop\n\ndata: [DONE]' } }],
    };
    for (const dialect of ['openai', 'anthropic', 'responses'] as const)
      equal(fed(dialect, SSE, event(words)).whole, false);
  });

  test('of a stream in an unknown dialect is the end of the message', () => {
    equal(fed('plain', SSE, event({ a: 1 })).end(), true);
    equal(fed('plain', SSE).end(), false);
  });
});

describe('an error', () => {
  test('as the first event is no beginning', () => {
    const answer = fed('openai', SSE, ': wait\n\n', event({ error: { message: 'full', code: 503 } }));
    equal(answer.begun, false);
    equal(answer.failedFirst?.status, 503);
  });

  test('later on is noted, and the first of several counts', () => {
    const answer = fed(
      'openai',
      SSE,
      event({ a: 1 }),
      event({ error: { code: 500 } }),
      event({ error: { code: 400 } }),
    );
    deepEqual([answer.begun, answer.failedFirst, answer.failedLater?.status], [true, undefined, 500]);
  });

  test('has the status of its code, else of its type, else 500', () => {
    const statuses: [string, number][] = [
      [event({ error: { code: 404 } }), 404],
      [event({ error: { code: '429' } }), 429],
      [event({ error: { code: 200 } }), 500],
      [event({ error: { code: 'x', type: 'BadRequestError' } }), 400],
      [event({ error: { type: 'toString' } }), 500],
      [event({ error: 'Unauthorized' }, 'error'), 500],
      [event('nonsense', 'error'), 500],
      [event({ type: 'error', error: { type: 'rate_limit_error' } }, 'error'), 429],
      [event({ type: 'error', code: 'server_error', message: 'x' }, 'error'), 500],
      [
        event({ type: 'response.failed', response: { error: { code: 'server_error' } } }, 'response.failed'),
        500,
      ],
    ];
    for (const [text, status] of statuses) equal(fed('openai', SSE, text).failedFirst?.status, status, text);
  });

  test('is not what only talks of one', () => {
    for (const value of [
      { error: null },
      { choices: [{ error: 'x' }] },
      { choices: [{ delta: { content: '"error"' } }] },
    ]) {
      equal(fed('openai', SSE, event(value)).failedFirst, undefined, JSON.stringify(value));
    }
  });
});
