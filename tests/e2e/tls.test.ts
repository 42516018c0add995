/** With a certificate the gateway speaks TLS and nothing else, and everything that it promises holds there as well. */

import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { Agent, fetch as fetchOver, type RequestInit } from 'undici';
import { readExposition, valueOf } from '../../src/core/meter/exposition.js';
import type { GatewaySettings } from '../../src/shell/gateway/config.js';
import { backAt, baseOf } from '../support/base.js';
import { certificates, pairIn } from '../support/certificates.js';
import { holdfast } from '../support/command.js';
import { event, json, openStream, type Script } from '../support/fake-engine.js';
import { type Rig, startRig } from '../support/gateway-rig.js';
import { within } from '../support/promised.js';
import { requestText } from '../support/raw-client.js';
import { ROOT } from '../support/root.js';
import { nodeSdks, packageIn } from '../support/sdks.js';
import { until } from '../support/until.js';

const OK = json({ ok: true });
const command = join(ROOT, 'dist', 'src', 'shell', 'cli', 'main.js');
const FAILED = 'holdfast_tls_handshakes_failed_total';

interface Scene {
  readonly rig: Rig;
  readonly folder: string;
  readonly authority: Buffer;
}

async function start(
  t: TestContext,
  script: Script = OK,
  settings: GatewaySettings = {},
): Promise<Scene | undefined> {
  const folder = await certificates.met(t);
  if (folder === undefined) return undefined;
  const rig = await startRig(script, settings, undefined, pairIn(folder, 'one'));
  t.after(() => rig.stop());
  return { rig, folder, authority: readFileSync(join(folder, 'authority.pem')) };
}

async function secured(port: number, authority: Buffer): Promise<TLSSocket> {
  const socket = connectTls({ port, host: '127.0.0.1', ca: authority, servername: 'localhost' });
  socket.on('error', () => {});
  await within('a handshake', once(socket, 'secureConnect'));
  return socket;
}

/** Everything that comes on the connection until it ends, however it does. */
function all(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (piece: Buffer) => {
    text += piece.toString('latin1');
  });
  socket.on('error', () => {});
  return within(
    'the end of the connection',
    once(socket, 'close').then(() => text),
  );
}

function failed(rig: Rig, failure: string): number {
  return valueOf(readExposition(rig.metrics.text()), FAILED, { failure }) ?? Number.NaN;
}

test('clients, readers, refusals and failures of the engine end over TLS as they do without', async (t) => {
  const folder = await certificates.met(t);
  if (folder === undefined) return;
  const names = ['departures', 'readers', 'refusals', 'failures', 'passthrough'].map(
    (each) => `gateway-${each}`,
  );
  const files = [...names, 'http-forms', 'inbound'].map((name) =>
    join(ROOT, 'dist', 'tests', 'e2e', `${name}.test.js`),
  );
  const { NODE_TEST_CONTEXT: _, ...own } = process.env;
  const env = { ...own, HOLDFAST_OVER_TLS: folder, NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem') };
  const args = ['--test', '--test-reporter=tap', '--test-concurrency=1', ...files];
  const said = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { env, maxBuffer: 64 * 1024 * 1024 }, (_error, stdout) =>
      resolve(stdout),
    );
  });
  const failures = said.split('\n').filter((line) => /^\s*not ok/.test(line));
  deepEqual(failures, []);
  ok(Number(/^# pass (\d+)$/m.exec(said)?.[1]) > 90, said.slice(-500));
});

test('fetch and the official SDK are answered over TLS, and a client that does not know the authority is not', async (t) => {
  const scene = await start(
    t,
    json({ id: 'a', choices: [{ message: { role: 'assistant', content: 'hold fast' } }] }),
  );
  const folder = await nodeSdks.met(t);
  if (scene === undefined || folder === undefined) return;
  const { url } = scene.rig.gateway;
  match(url, /^https:/);
  const dispatcher = new Agent({ connect: { ca: scene.authority } });
  t.after(() => dispatcher.close());
  const trusting = (to: string, init: RequestInit): unknown => fetchOver(to, { ...init, dispatcher });
  interface Asked {
    readonly chat: {
      readonly completions: {
        create: (body: object) => Promise<{ choices: { message: { content: string } }[] }>;
      };
    };
  }
  const OpenAI = await packageIn<new (settings: object) => Asked>(folder, 'openai');
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'sk-of-nobody', maxRetries: 0, fetch: trusting });
  const answer = await client.chat.completions.create({
    model: 'm',
    messages: [{ role: 'user', content: 'Hold.' }],
  });
  equal(answer.choices[0]?.message.content, 'hold fast');
  await rejects(fetchOver(`${url}/livez`));
});

test('plain HTTP on the port of TLS is closed without a word and counted, and leaves nothing behind', async (t) => {
  const scene = await start(t);
  if (scene === undefined) return;
  const { rig, authority } = scene;
  const first = await secured(rig.gateway.port, authority);
  first.write(requestText({ headers: { connection: 'close' } }));
  match(await all(first), /^HTTP\/1\.1 200 /);
  await rig.verdict('attempt-ended');
  const base = await backAt(
    { ...baseOf(rig.metrics), gauges: { holdfast_connections_open: 0 } },
    rig.metrics,
  ).catch(() => baseOf(rig.metrics));
  for (let count = 1; count <= 20; count += 1) {
    const plain = connect(rig.gateway.port, '127.0.0.1');
    plain.write(requestText());
    equal(/HTTP/.test(await all(plain)), false);
    equal(failed(rig, 'plain_http'), count);
  }
  equal(rig.engine.calls.items.length, 1);
  await backAt(base, rig.metrics);
});

test('a handshake that does not come, stops half-way or is left ends at its bound and is counted', async (t) => {
  const scene = await start(t, OK, { tls: { handshakeMs: 100 } });
  if (scene === undefined) return;
  const { rig, authority } = scene;
  const silent = connect(rig.gateway.port, '127.0.0.1');
  const half = connect(rig.gateway.port, '127.0.0.1');
  half.write(Buffer.from('16030102000100', 'hex'));
  equal((await Promise.all([silent, half].map(all)))[0], '');
  equal(failed(rig, 'too_slow'), 2);
  const gone = connect(rig.gateway.port, '127.0.0.1');
  await once(gone, 'connect');
  gone.resetAndDestroy();
  await until('the client that left', () => failed(rig, 'left') === 1);
  const garbage = connect(rig.gateway.port, '127.0.0.1');
  garbage.write('\0\0\0 neither\r\n\r\n');
  await all(garbage);
  equal(failed(rig, 'failed'), 1);
  const good = await secured(rig.gateway.port, authority);
  good.write(requestText({ headers: { connection: 'close' } }));
  match(await all(good), /^HTTP\/1\.1 200 /);
  await until('no connection', () => /^holdfast_connections_open 0/m.test(rig.metrics.text()));
});

test('connections in the middle of a handshake count in the bound on connections, and hold up no stop', async (t) => {
  const scene = await start(t, OK, { inbound: { connections: 2 }, tls: { handshakeMs: 600_000 } });
  if (scene === undefined) return;
  const { rig } = scene;
  const held = [connect(rig.gateway.port, '127.0.0.1'), connect(rig.gateway.port, '127.0.0.1')];
  await Promise.all(held.map((socket) => once(socket, 'connect')));
  await until('both', () => /^holdfast_connections_open 2/m.test(rig.metrics.text()));
  equal(await all(connect(rig.gateway.port, '127.0.0.1')), '');
  match(rig.metrics.text(), /^holdfast_connections_dropped_total 1/m);
  const ends = held.map(all);
  await within('the stop', rig.gateway.close());
  deepEqual(await Promise.all(ends), ['', '']);
});

test('no version below the oldest that is set is spoken', async (t) => {
  const scene = await start(t, OK, { tls: { minVersion: 'tlsv1.3' } });
  if (scene === undefined) return;
  const old = connectTls({
    port: scene.rig.gateway.port,
    host: '127.0.0.1',
    ca: scene.authority,
    maxVersion: 'TLSv1.2',
    servername: 'localhost',
  });
  match(await once(old, 'error').then(([error]) => (error as Error).message), /version/);
  equal((await secured(scene.rig.gateway.port, scene.authority)).getProtocol(), 'TLSv1.3');
});

test('a renewed certificate is seen by new clients, and a stream on an old connection goes on', async (t) => {
  const held: ((text: string) => void)[] = [];
  const scene = await start(t, (call) => {
    openStream(call);
    call.response.write(event({ choices: [{ delta: { content: 'a' } }] }));
    held.push((text) => call.response.end(text));
  });
  if (scene === undefined) return;
  const { rig, folder, authority } = scene;
  const old = await secured(rig.gateway.port, authority);
  const text = all(old);
  old.write(requestText({ headers: { connection: 'close' }, body: '{"model":"m","stream":true}' }));
  await rig.heard('first-byte');
  rig.gateway.certify(pairIn(folder, 'two'));
  equal((await secured(rig.gateway.port, authority)).getPeerCertificate().subject.CN, 'two');
  held[0]?.(event('[DONE]'));
  match(await text, /\[DONE\]/);
  equal((await rig.verdict('attempt-ended')).ending, 'delivered');
});

test('holdfast serve follows the files of its certificate; a pair that does not fit changes nothing and is said', async (t) => {
  const folder = await certificates.met(t);
  if (folder === undefined) return;
  const own = mkdtempSync(join(tmpdir(), 'holdfast-pair-'));
  const [cert, key] = [join(own, 'tls.crt'), join(own, 'tls.key')];
  const use = (name: string): void => {
    copyFileSync(join(folder, `${name}.pem`), cert);
    copyFileSync(join(folder, `${name}.key`), key);
  };
  use('one');
  const env = { ...process.env, HOLDFAST_TLS_CERT_FILE: cert, HOLDFAST_TLS_KEY_FILE: key };
  const args = [command, 'serve', '--port', '0', '--upstream', 'http://127.0.0.1:1'];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const hear = async (pattern: RegExp): Promise<string> => {
    await until(String(pattern), () => pattern.test(said));
    return pattern.exec(said)?.[1] ?? '';
  };
  const port = Number(await hear(/"url":"https:\/\/127\.0\.0\.1:(\d+)"/));
  const authority = readFileSync(join(folder, 'authority.pem'));
  const seen = async (): Promise<unknown> => {
    const socket = await secured(port, authority);
    const { CN } = socket.getPeerCertificate().subject;
    socket.destroy();
    return CN;
  };
  equal(await seen(), 'one');
  copyFileSync(join(folder, 'two.key'), key);
  await hear(/the one in force stays: .*tls\.key: is not the key of the certificate in/);
  equal(await seen(), 'one');
  use('two');
  await hear(/the certificate is in force, until 2/);
  equal(await seen(), 'two');
  said = '';
  child.kill('SIGHUP');
  await hear(/the certificate is in force, until 2/);
  equal(child.exitCode, null, 'a SIGHUP ends nothing');
});

test('a certificate that cannot be used is an error before anything listens', async (t) => {
  const folder = await certificates.met(t);
  if (folder === undefined) return;
  const at = (name: string): string => join(folder, name);
  writeFileSync(at('none.pem'), 'no certificate\n');
  writeFileSync(at('cut.key'), readFileSync(at('one.key')).subarray(0, 100));
  for (const [certFile, keyFile, words] of [
    [at('one.pem'), at('two.key'), /two\.key: is not the key of the certificate in .*one\.pem/],
    [at('none.pem'), at('one.key'), /none\.pem: holds no certificate in PEM/],
    [at('one.pem'), at('cut.key'), /cut\.key: holds no private key in PEM without a passphrase/],
    [at('missing.pem'), at('one.key'), /cannot read the TLS certificate: Error ENOENT: .*missing\.pem/],
    [at('one.pem'), undefined, /tls\.cert_file is set and tls\.key_file is not/],
  ] as const) {
    const { code, stderr } = await holdfast(['serve', '--port', '0', '--upstream', 'http://127.0.0.1:1'], {
      env: { HOLDFAST_TLS_CERT_FILE: certFile, HOLDFAST_TLS_KEY_FILE: keyFile ?? '' },
      limitMs: 10_000,
    });
    equal(code, 2, stderr);
    match(stderr, words);
  }
});
