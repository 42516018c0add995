/** Whatever goes wrong at the engine ends in one named ending, and no client takes a broken answer for a whole one. */

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createServer } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { GatewaySettings } from '../../src/shell/gateway/config.js';
import { type EngineCall, event, json, openStream, type Script } from '../support/fake-engine.js';
import { type Rig, startRig } from '../support/gateway-rig.js';
import { answerIn, RawClient, type RawRequest } from '../support/raw-client.js';

let running: Rig | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

interface Seen {
  readonly text: string;
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
  /** Ended on purpose: the last chunk or all of the promised length came. */
  readonly whole: boolean;
  readonly attempt: string;
  readonly execution: string;
}

/** One request through a gateway in front of `script`, and how everything about it ended. */
async function see(script: Script, request?: RawRequest, settings?: GatewaySettings): Promise<Seen> {
  running = await startRig(script, settings);
  const client = await RawClient.ask(running.gateway.port, {
    ...request,
    headers: { connection: 'close', ...request?.headers },
  });
  const execution = await running.verdict('execution-ended');
  const text = await client.rest();
  const attempt = await running.verdict('attempt-ended');
  const { status, headers, body } = answerIn(text);
  const promised = Number(headers['content-length'] ?? Number.NaN);
  const whole = text.endsWith('0\r\n\r\n') || Buffer.byteLength(body, 'latin1') === promised;
  return { text, status, headers, body, whole, attempt: attempt.ending, execution: execution.ending };
}

function errorIn({ body }: Seen): Record<string, unknown> {
  return (JSON.parse(body) as { error: Record<string, unknown> }).error;
}

/** Where nobody listens. */
async function deadUrl(): Promise<string> {
  const nobody = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => nobody.once('listening', resolve));
  const address = nobody.address();
  ok(address !== null && typeof address === 'object');
  await new Promise((resolve) => nobody.close(resolve));
  return `http://127.0.0.1:${address.port}`;
}

/** Writes bytes on the engine's bare connection. */
function raw(text: string, then: (call: EngineCall) => void = () => {}): Script {
  return (call) => {
    call.socket.write(text, 'latin1', () => then(call));
  };
}

const STREAM: RawRequest = { body: '{"model":"tiny","stream":true,"messages":[]}' };
const MESSAGES: RawRequest = { path: '/v1/messages', body: '{"model":"tiny","stream":true,"messages":[]}' };
const RESPONSES: RawRequest = { path: '/v1/responses', body: '{"model":"tiny","stream":true,"input":"a"}' };
const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
const SSE_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

/** Calls `then` once the gateway has passed bytes on. */
function onceHeard(then: () => void): void {
  void running?.heard('chunk').then(then);
}

const TOKEN = event({ choices: [{ delta: { content: 'a' } }] });

describe('before the first byte of the answer', () => {
  test('an engine that cannot be reached, with another that can: the other one is asked, and first from then on', async () => {
    const dead = await deadUrl();
    const rig = await startRig(json({ data: [] }));
    running = rig;
    const second = await startRig(json({}), { upstreams: [{ url: dead }, { url: rig.engine.url }] });
    try {
      for (const body of ['{"a":1}', '{"a":2}', '{"a":3}']) {
        const client = await RawClient.ask(second.gateway.port, { body, headers: { connection: 'close' } });
        equal(answerIn(await client.rest()).status, 200);
      }
      const answer = await fetch(`${second.gateway.url}/v1/models`);
      equal(answer.status, 200);
      equal(rig.engine.calls.items.length, 4);
      deepEqual(second.ledger(), ['delivered', 'delivered', 'delivered']);
    } finally {
      await second.stop();
    }
  });

  test('so is it for what only passes through, unless it has a body, which can be read once only', async () => {
    const rig = await startRig(json({ ok: true }));
    running = rig;
    const settings = { upstreams: [{ url: await deadUrl() }, { url: rig.engine.url }] };
    for (const [method, status] of [
      ['GET', 200],
      ['POST', 503],
    ] as const) {
      const second = await startRig(json({}), settings);
      const body = method === 'GET' ? null : '{}';
      const answer = await fetch(`${second.gateway.url}/tokenize`, { method, body });
      await second.stop();
      equal(answer.status, status);
    }
  });

  test('an engine that cannot be reached: 503', async () => {
    const url = await deadUrl();
    const seen = await see(() => {}, {}, { upstreams: [{ url }] });
    deepEqual([seen.status, seen.attempt, seen.execution], [503, 'upstream_refused', 'failed_refused']);
    equal(seen.headers['x-holdfast-reason'], 'upstream_refused');
    equal(errorIn(seen)['code'], 'upstream_refused');
    const { upstream, error } = JSON.parse(running?.warned[0] ?? '{}') as Record<string, string>;
    equal(upstream, url);
    match(error ?? '', /ECONNREFUSED/);
    ok(seen.whole);
  });

  test('an engine that closes or resets the connection: 502', async () => {
    for (const leave of ['end', 'resetAndDestroy'] as const) {
      const seen = await see(({ socket }) => void socket[leave]());
      deepEqual([seen.status, seen.attempt, seen.execution], [502, 'upstream_reset', 'failed_reset'], leave);
      await running?.stop();
    }
  });

  test('headers, comments, and then nothing: still 502, since nothing of it was passed on', async () => {
    const seen = await see(
      raw(`${SSE_HEAD}${chunk(': wait\n\n')}`, ({ socket }) => socket.end()),
      STREAM,
    );
    deepEqual([seen.status, seen.attempt, seen.execution], [502, 'upstream_reset', 'failed_reset']);
  });

  test('a stream that ends in good order without an event: 502', async () => {
    const seen = await see(raw(`${SSE_HEAD}${chunk(': wait\n\n')}0\r\n\r\n`), STREAM);
    deepEqual([seen.status, seen.attempt, seen.execution], [502, 'upstream_reset', 'failed_reset']);
  });

  test('an engine that does not speak HTTP: 502', async () => {
    for (const text of [
      'SSH-2.0-OpenSSH_9.9\r\n',
      `${HEAD}content-length: one\r\n\r\n`,
      `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`,
    ]) {
      const seen = await see(raw(text));
      deepEqual(
        [seen.status, seen.attempt, seen.execution],
        [502, 'upstream_malformed', 'failed_malformed'],
        text.slice(0, 40),
      );
      await running?.stop();
    }
  });

  test('an engine that is slower than its stated limit: 504, and its connection is gone', async () => {
    const seen = await see(() => {}, {}, { upstreamTimeouts: { firstByteMs: 400 } });
    deepEqual([seen.status, seen.attempt, seen.execution], [504, 'upstream_timeout', 'failed_timeout']);
    await (await running?.engine.calls.next('the execution'))?.closed;
  });

  test('an error answer goes out as the engine gave it', async () => {
    const error = { error: { message: 'no', type: 'Internal Server Error', param: null, code: 500 } };
    const seen = await see(json(error, 500, { 'retry-after': '7', 'x-engine': 'yes' }));
    deepEqual([seen.status, seen.attempt, seen.execution], [500, 'upstream_status_5xx', 'failed_status_5xx']);
    deepEqual(JSON.parse(seen.body), error);
    equal(seen.headers['retry-after'], '7');
    equal(seen.headers['x-engine'], 'yes');
    equal(seen.headers['x-holdfast-reason'], undefined);
    match(seen.headers['x-holdfast-execution'] ?? '', /^execution-/);
  });

  test('so does a redirect, which is an ending of its own', async () => {
    for (const status of [304, 307]) {
      const seen = await see(({ response }) => response.writeHead(status, { location: '/else' }).end());
      deepEqual(
        [seen.status, seen.headers['location'], seen.attempt, seen.execution],
        [status, '/else', 'upstream_status_3xx', 'failed_status_3xx'],
      );
      await running?.stop();
    }
  });

  test('so does a client error', async () => {
    const seen = await see(json({ error: 'Unauthorized' }, 401));
    deepEqual([seen.status, seen.attempt, seen.execution], [401, 'upstream_status_4xx', 'failed_status_4xx']);
    deepEqual(JSON.parse(seen.body), { error: 'Unauthorized' });
  });

  test('an error answer that breaks off keeps its status', async () => {
    const seen = await see(
      raw(
        'HTTP/1.1 500 No\r\ncontent-encoding: gzip\r\nretry-after: 7\r\ncontent-length: 99\r\n\r\n{"er',
        ({ socket }) => socket.end(),
      ),
    );
    deepEqual([seen.status, seen.execution], [500, 'failed_status_5xx']);
    deepEqual(
      ['retry-after', 'content-encoding', 'x-holdfast-reason'].map((name) => seen.headers[name]),
      ['7', undefined, 'upstream_status_5xx'],
    );
    equal(errorIn(seen)['type'], 'server_error');
    ok(seen.whole);
  });

  test('an error answer without end or bound keeps its status', async () => {
    const seen = await see(({ response }) => {
      response.writeHead(500);
      const flood = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, 'x')));
        if (!response.destroyed) response.once('drain', flood);
      };
      flood();
    });
    deepEqual([seen.status, seen.execution], [500, 'failed_status_5xx']);
    ok(seen.body.length < 1000);
  });
});

describe('an error as the first event inside a 200', () => {
  test('becomes the status that it names', async () => {
    const error = { error: { message: 'full', type: 'Service Unavailable', param: null, code: 503 } };
    const seen = await see((call) => {
      openStream(call);
      call.response.end(event(error) + event('[DONE]'));
    }, STREAM);
    deepEqual(
      [seen.status, seen.attempt, seen.execution],
      [503, 'upstream_error_event', 'failed_error_event'],
    );
    equal(seen.headers['content-type'], 'application/json');
    deepEqual(JSON.parse(seen.body), error);
  });

  test('becomes 500 when it names none, even behind comments', async () => {
    const seen = await see((call) => {
      openStream(call);
      call.response.end(`: wait\n\n${event({ error: { message: 'odd', code: 'engine_dead' } })}`);
    }, STREAM);
    deepEqual([seen.status, seen.execution], [500, 'failed_error_event']);
  });

  test('in the manner of Anthropic becomes the status of its type', async () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'busy' } };
    const seen = await see((call) => {
      openStream(call);
      call.response.end(`event: error\ndata: ${JSON.stringify(error)}\n\n`);
    }, MESSAGES);
    deepEqual([seen.status, seen.execution], [503, 'failed_error_event']);
    deepEqual(JSON.parse(seen.body), error);
  });

  test('does not wait for the stream to end', async () => {
    const seen = await see((call) => {
      openStream(call);
      call.response.write(event({ error: { message: 'full', code: 503 } }));
    }, STREAM);
    equal(seen.status, 503);
  });
});

describe('after the first byte of the answer', () => {
  test('a short body, a cut chunk, a reset: the connection breaks off, in no case a clean end', async () => {
    const scripts: Record<string, Script> = {
      'short body': raw(`${HEAD}content-length: 10\r\n\r\n{"a"`, ({ socket }) => socket.end()),
      'cut chunk': raw(`${SSE_HEAD}${chunk(TOKEN)}5\r\nda`, ({ socket }) => socket.end()),
    };
    for (const [name, script] of Object.entries(scripts)) {
      const seen = await see(script, STREAM);
      deepEqual(
        [seen.status, seen.attempt, seen.execution],
        [200, 'upstream_truncated', 'failed_truncated'],
        name,
      );
      ok(!seen.whole, name);
      await running?.stop();
    }
  });

  test('a chunk that is no chunk: malformed, and cut', async () => {
    const seen = await see(
      raw(`${SSE_HEAD}${chunk(TOKEN)}`, ({ socket }) => onceHeard(() => void socket.write('zz\r\n'))),
      STREAM,
    );
    deepEqual([seen.attempt, seen.execution, seen.whole], ['upstream_malformed', 'failed_malformed', false]);
    ok(seen.body.includes(TOKEN));
  });

  test('a stream that ends in good order but without its closing event is not whole', async () => {
    const scenes: [RawRequest, string][] = [
      [STREAM, TOKEN],
      [{ ...STREAM, path: '/v1/completions' }, TOKEN],
      [MESSAGES, 'event: message_start\ndata: {"type":"message_start"}\n\n'],
      [RESPONSES, 'event: response.output_item.added\ndata: {"type":"response.output_item.added"}\n\n'],
    ];
    for (const [request, text] of scenes) {
      const seen = await see((call) => {
        openStream(call);
        call.response.write(text);
        onceHeard(() => call.response.end());
      }, request);
      deepEqual([seen.status, seen.attempt, seen.whole], [200, 'upstream_truncated', false], request.path);
      ok(seen.body.includes(text), request.path);
      await running?.stop();
    }
  });

  test('what broke off before any of it went out still gets a real status', async () => {
    const seen = await see((call) => {
      openStream(call);
      call.response.end(TOKEN);
    }, STREAM);
    deepEqual([seen.status, seen.attempt, seen.whole], [502, 'upstream_truncated', true]);
  });

  test('a closing event makes it whole, and the engine need not end the connection for it', async () => {
    const scenes: [RawRequest, string][] = [
      [STREAM, TOKEN + event('[DONE]')],
      [MESSAGES, 'event: message_stop\ndata: {"type":"message_stop"}\n\n'],
      [RESPONSES, 'event: response.completed\ndata: {"type":"response.completed"}\n\n'],
      [RESPONSES, 'event: response.incomplete\r\ndata: {"type":"response.incomplete"}\r\n\r\n'],
    ];
    for (const [request, text] of scenes) {
      const seen = await see((call) => {
        openStream(call);
        call.response.write(text);
      }, request);
      deepEqual([seen.status, seen.attempt, seen.whole], [200, 'delivered', true], text);
      await running?.stop();
    }
  });

  test('an error event later on goes out as it is, and the answer is not kept as a whole one', async () => {
    const text = TOKEN + event({ error: { message: 'died', code: 500 } }) + event('[DONE]');
    const seen = await see((call) => {
      openStream(call);
      call.response.write(TOKEN);
      onceHeard(() => call.response.end(text.slice(TOKEN.length)));
    }, STREAM);
    deepEqual(
      [seen.status, seen.attempt, seen.execution],
      [200, 'upstream_error_event', 'failed_error_event'],
    );
    ok(seen.body.includes('died') && seen.body.includes('[DONE]'));
    ok(seen.whole);
  });

  test('silence beyond the stated limit: timeout, and cut', async () => {
    const seen = await see(
      (call) => {
        openStream(call);
        call.response.write(TOKEN);
      },
      STREAM,
      { upstreamTimeouts: { idleMs: 30 } },
    );
    deepEqual(
      [seen.status, seen.attempt, seen.execution, seen.whole],
      [200, 'upstream_timeout', 'failed_timeout', false],
    );
    await (await running?.engine.calls.next('the execution'))?.closed;
  });

  test('a client of HTTP/1.0, which sees no chunks, gets a reset', async () => {
    running = await startRig((call) => {
      openStream(call);
      call.response.write(TOKEN);
    });
    const client = await RawClient.ask(running.gateway.port, { ...STREAM, version: '1.0' });
    await client.until(TOKEN);
    (await running.engine.calls.next('the execution')).socket.resetAndDestroy();
    await client.rest();
    equal(client.error, 'ECONNRESET');
  });

  test('a body without length or chunks counts as whole only if it is a whole document', async () => {
    const cut = await see(raw(`${HEAD}\r\n{"a": [1, 2`, ({ socket }) => socket.end()));
    deepEqual([cut.attempt, cut.whole], ['upstream_truncated', false]);
    await running?.stop();
    const whole = await see(raw(`${HEAD}\r\n{"a": [1, 2]}`, ({ socket }) => socket.end()));
    deepEqual([whole.attempt, whole.whole], ['delivered', true]);
  });

  test('however long it is: one that breaks off behind an inner bracket is not whole', async () => {
    const long = `${HEAD}\r\n{"data": [${'{"x": [1]},'.repeat(20_000)}{"x": [1]}`;
    const cut = await see(raw(long, ({ socket }) => socket.end()));
    deepEqual([cut.attempt, cut.whole], ['upstream_truncated', false]);
    await running?.stop();
    const whole = await see(raw(`${long}]}`, ({ socket }) => socket.end()));
    deepEqual([whole.attempt, whole.whole], ['delivered', true]);
  });
});

test('a stream packed against our wish is whole when its message is', async () => {
  const packed = gzipSync(event('x') + event('[DONE]'));
  const seen = await see(({ response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
    response.end(packed);
  }, STREAM);
  deepEqual([seen.status, seen.attempt], [200, 'delivered']);
});

test('an empty 2xx is a whole answer', async () => {
  const seen = await see(({ response }) => response.writeHead(204).end());
  deepEqual([seen.status, seen.attempt], [204, 'delivered']);
});
