/** One answer, many speeds: late listeners hear all of it, and a slow one holds nobody up. */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import type { Cancel, Clock } from '../../src/core/time/clock.js';
import type { GatewaySettings } from '../../src/shell/gateway/config.js';
import { SystemClock } from '../../src/shell/shared/system-clock.js';
import { type EngineCall, event, openStream, type Script } from '../support/fake-engine.js';
import { type Rig, startRig } from '../support/gateway-rig.js';
import { answerIn, RawClient, type RawRequest } from '../support/raw-client.js';

let running: Rig | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

async function start(script: Script, settings?: GatewaySettings, clock?: Clock): Promise<Rig> {
  running = await startRig(script, settings, clock);
  return running;
}

/** The machine's clock, but for long waits, which end when the test says so. */
class HeldClock extends SystemClock {
  readonly held = new Set<() => void>();

  override after(ms: number, fire: () => void): Cancel {
    if (ms < 100_000) return super.after(ms, fire);
    this.held.add(fire);
    return () => this.held.delete(fire);
  }

  /** Ends the waits that there are; what they make anew goes on. */
  fireHeld(): void {
    const due = [...this.held];
    this.held.clear();
    for (const fire of due) fire();
  }
}

const STREAM: RawRequest = { body: '{"model":"tiny","stream":true,"messages":[]}' };
const KEYED: RawRequest = { ...STREAM, headers: { 'idempotency-key': '"call 1"', connection: 'close' } };
const MIB = 1024 * 1024;
const token = (text: string): string => event({ choices: [{ delta: { content: text } }] });

/** The payload of a chunked body. */
function unchunked(body: string): string {
  let rest = body;
  let text = '';
  for (;;) {
    const line = rest.indexOf('\r\n');
    const size = Number.parseInt(rest.slice(0, line), 16);
    if (!(size > 0)) return text;
    text += rest.slice(line + 2, line + 2 + size);
    rest = rest.slice(line + 4 + size);
  }
}

describe('a listener that comes late', () => {
  test('hears the stream from its first byte, then live, byte for byte', async () => {
    const rig = await start((call) => {
      openStream(call);
      call.response.write(token('a'));
    });
    const first = await RawClient.ask(rig.gateway.port, KEYED);
    await first.until(token('a'));
    const call = await rig.engine.calls.next('the execution');
    call.response.write(token('b'));
    await first.until(token('b'));
    first.socket.destroy();
    await rig.heard('leave');
    call.response.write(token('c'));
    const second = await RawClient.ask(rig.gateway.port, KEYED);
    await second.until(token('c'));
    call.response.end(token('d') + event('[DONE]'));
    const { headers, body } = answerIn(await second.rest());
    equal(unchunked(body), ['a', 'b', 'c', 'd'].map(token).join('') + event('[DONE]'));
    equal(headers['x-holdfast-outcome'], 'attached');
    equal(headers['x-holdfast-attempt'], '1');
    equal(rig.engine.calls.items.length, 1);
    equal((await rig.verdict('call-ended')).ending, 'delivered');
  });

  test('hears a finished answer with the headers that the engine gave it', async () => {
    const rig = await start((call) => {
      call.response.setHeader('x-engine', ['one', 'two']);
      openStream(call);
      call.response.write(token('a'));
    });
    const first = await RawClient.ask(rig.gateway.port, KEYED);
    await first.until(token('a'));
    first.socket.destroy();
    await rig.heard('leave');
    (await rig.engine.calls.next('the execution')).response.end(event('[DONE]'));
    await rig.heard('finish');
    const second = await RawClient.ask(rig.gateway.port, KEYED);
    const { status, headers, body } = answerIn(await second.rest());
    equal(status, 200);
    equal(unchunked(body), token('a') + event('[DONE]'));
    equal(headers['x-holdfast-outcome'], 'replayed');
    equal(headers['content-type'], 'text/event-stream; charset=utf-8');
    equal(headers['x-engine'], 'two');
  });

  test('takes the answer over from a listener that only looks connected', async () => {
    const rig = await start(() => {}, { control: { lateMergeMs: 0 } });
    const first = await RawClient.ask(rig.gateway.port, KEYED);
    await rig.engine.calls.next('the execution');
    const second = await RawClient.ask(rig.gateway.port, KEYED);
    const { status, headers } = answerIn(await first.rest());
    equal(status, 503);
    equal(headers['x-holdfast-reason'], 'taken_over');
    equal(headers['x-should-retry'], 'false');
    const call = await rig.engine.calls.next('the execution');
    openStream(call);
    call.response.end(token('a') + event('[DONE]'));
    ok((await second.rest()).includes('[DONE]'));
    equal(rig.engine.calls.items.length, 1);
  });
});

describe('a reader that is slow', () => {
  /** Writes as fast as the gateway takes it, and says when all of it has been taken. */
  function flood(call: EngineCall, bytes: number, then: () => void): void {
    const piece = token('x'.repeat(60_000));
    let left = bytes;
    const on = (): void => {
      while (left > 0) {
        left -= piece.length;
        if (!call.response.write(piece)) {
          call.response.once('drain', on);
          return;
        }
      }
      then();
    };
    on();
  }

  test('slows neither the engine nor a reader beside it', async () => {
    let drained = 0;
    const rig = await start(
      (call) => {
        openStream(call);
        flood(call, 8 * MIB, () => {
          drained += 1;
          call.response.end(event('[DONE]'));
        });
      },
      { control: { bounds: { replayBytes: 64 * MIB, liveReplayBytes: 256 * MIB } } },
    );
    const slow = await RawClient.ask(rig.gateway.port, STREAM);
    slow.socket.pause();
    await rig.heard('finish');
    equal(drained, 1);
    const quick = await RawClient.ask(rig.gateway.port, { ...STREAM, body: '{"stream":true,"model":"b"}' });
    await quick.until('[DONE]');
    slow.socket.resume();
    await slow.until('[DONE]');
    const endings = await Promise.all([rig.verdict('attempt-ended'), rig.verdict('attempt-ended', 2)]);
    deepEqual(
      endings.map(({ ending }) => ending),
      ['delivered', 'delivered'],
    );
  });

  test('is cut when it is further behind than its bound, while the work goes on', async () => {
    const rig = await start(
      (call) => {
        openStream(call);
        flood(call, 24 * MIB, () => call.response.end(event('[DONE]')));
      },
      { readerBytes: MIB, control: { bounds: { replayBytes: MIB } } },
    );
    const slow = await RawClient.ask(rig.gateway.port, KEYED);
    await slow.until(token('x'.repeat(60_000)));
    slow.socket.pause();
    const ended = await rig.verdict('attempt-ended');
    equal(ended.ending, 'slow_reader');
    slow.socket.resume();
    await slow.rest();
    ok(!slow.text.includes('[DONE]'));
  });

  test('one that keeps up gets an answer far longer than the bound', async () => {
    let quick: RawClient | undefined;
    const piece = event('x'.repeat(65_536));
    const rig = await start(
      (call) => {
        openStream(call);
        let sent = 0;
        const pump = (): void => {
          for (; sent < 12 * MIB && sent - (quick?.socket.bytesRead ?? 0) < 2 * MIB; sent += piece.length)
            call.response.write(piece);
          if (sent >= 12 * MIB) call.response.end(event('[DONE]'));
          else if (!call.response.destroyed) setTimeout(pump, 5);
        };
        pump();
      },
      { readerBytes: 8 * MIB, control: { bounds: { replayBytes: MIB } } },
    );
    quick = await RawClient.ask(rig.gateway.port, STREAM);
    await quick.until('[DONE]');
    equal((await rig.verdict('attempt-ended')).ending, 'delivered');
    equal(rig.verdicts.items.filter(({ kind }) => kind === 'seal').length, 1);
  });

  test('that takes nothing for two minutes is cut, even if the answer is all there', async () => {
    const clock = new HeldClock();
    const rig = await start(
      (call) => {
        openStream(call);
        flood(call, 20 * MIB, () => call.response.end(event('[DONE]')));
      },
      { control: { bounds: { replayBytes: 64 * MIB } } },
      clock,
    );
    const stuck = await RawClient.ask(rig.gateway.port, KEYED);
    stuck.socket.pause();
    await rig.heard('finish');
    const before = clock.held.size;
    ok(before > 0);
    clock.fireHeld();
    equal((await rig.verdict('attempt-ended')).ending, 'slow_reader');
    const again = await RawClient.ask(rig.gateway.port, KEYED);
    await again.until('[DONE]');
    equal(rig.engine.calls.items.length, 1);
  });
});
