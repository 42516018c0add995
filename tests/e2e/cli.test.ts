/** The command as it is installed: its help, its refusals, its exit codes, and how it starts and stops. */

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { describe, type TestContext, test } from 'node:test';
import { ROOT } from '../support/root.js';

const command = join(ROOT, 'dist', 'src', 'shell', 'cli', 'main.js');
const START_LIMIT_MS = 30_000;

type Child = ChildProcessByStdio<null, Readable, Readable>;

interface Running {
  readonly child: Child;
  readonly out: () => string;
  readonly err: () => string;
  readonly ended: Promise<number | null>;
}

function run(t: TestContext, args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
  const { LOG_LEVEL: _, HOLDFAST_LOG_LEVEL: __, ...inherited } = process.env;
  const child = spawn(process.execPath, [command, ...args], {
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  t.after(() => child.kill('SIGKILL'));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { child, out: () => out, err: () => err, ended };
}

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly url?: string;
  readonly options?: Readonly<Record<string, unknown>>;
}

/** The log lines of a run; what else is on stderr is talk. */
function lines({ err }: Running): readonly Line[] {
  return err()
    .split('\n')
    .filter((text) => text.startsWith('{'))
    .map((text) => JSON.parse(text) as Line);
}

/** Resolves with the address that `running` listens on. */
async function listening(running: Running): Promise<string> {
  for (const until = Date.now() + START_LIMIT_MS; ; ) {
    const url = lines(running).find(({ url: each }) => each !== undefined)?.url;
    if (url !== undefined) return url;
    ok(Date.now() < until && running.child.exitCode === null, `it does not listen: ${running.err()}`);
    await Promise.race([once(running.child.stderr, 'data'), running.ended]);
  }
}

async function listened(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function outcome(
  t: TestContext,
  args: readonly string[],
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  const running = run(t, args);
  const code = await running.ended;
  return { code, out: running.out(), err: running.err() };
}

describe('the command', () => {
  test('tells its version and its help on stdout', async (t) => {
    match((await outcome(t, ['--version'])).out, /^\d+\.\d+\.\d+\n$/);
    const { code, out, err } = await outcome(t, ['serve', '--help']);
    deepEqual([code, err], [0, '']);
    match(out, /--upstream URL[\s\S]*Example:\n {2}holdfast serve --upstream http/);
  });

  test('refuses a misspelt flag, names the one that was meant, and exits with 2', async (t) => {
    deepEqual(await outcome(t, ['serve', '--upsteam', 'http://127.0.0.1:8000']), {
      code: 2,
      out: '',
      err: 'holdfast: serve knows no flag --upsteam; did you mean --upstream?\n',
    });
  });

  test('refuses an unknown key of the configuration with its line and path, and exits with 2', async (t) => {
    const path = join(mkdtempSync(join(tmpdir(), 'holdfast-cli-')), 'holdfast.yaml');
    writeFileSync(path, 'port: 0\ncontrol:\n  bounds:\n    line_entires: 5\n');
    deepEqual(await outcome(t, ['serve', '--config', path]), {
      code: 2,
      out: '',
      err: `holdfast: ${path} does not fit:\n  line 4: control.bounds.line_entires is not a setting; did you mean line_entries?\n`,
    });
  });

  test('what --check-config prints is a configuration that it reads', async (t) => {
    const first = await outcome(t, ['serve', '--check-config', '--room', '12']);
    const path = join(mkdtempSync(join(tmpdir(), 'holdfast-cli-')), 'holdfast.yaml');
    writeFileSync(path, first.out);
    deepEqual(await outcome(t, ['serve', '--check-config', '--config', path]), first);
  });

  test('says that a port is taken, and exits with 1', async (t) => {
    const server = createServer();
    const port = await listened(server);
    t.after(() => server.close());
    for (const args of [['serve'], ['serve', '--upstream', 'http://127.0.0.1:9'], ['twin']]) {
      deepEqual(await outcome(t, [...args, '--port', String(port)]), {
        code: 1,
        out: '',
        err: `holdfast: cannot listen on 127.0.0.1:${port}: something else does; choose another with --port\n`,
      });
    }
  });
});

describe('holdfast serve', () => {
  test('without an engine starts a twin and says on stderr what to try', async (t) => {
    const running = run(t, ['serve', '--port', '0']);
    const url = await listening(running);
    const [line] = lines(running);
    equal(line?.msg, 'listening');
    match(JSON.stringify(line?.options), /"upstreams":\[\{"url":"http:\/\/127\.0\.0\.1:\d+"\}\]/);
    const answer = await fetch(`${url}/v1/models`);
    match(await answer.text(), /"twin"/);
    running.child.kill('SIGTERM');
    equal(await running.ended, 0);
    match(
      running.err(),
      new RegExp(`\\n {2}curl [^\\n]*--max-time 1 --retry 3 \\\\\\n {4}${url}/v1/chat/completions`),
    );
    equal(running.out(), '');
  });

  test('warns at the start about settings that defeat each other', async (t) => {
    const running = run(t, ['serve', '--port', '0', '--grace', 'now']);
    await listening(running);
    const warned = lines(running).filter(({ level }) => level === 'warn');
    equal(warned.length, 1);
    match(warned[0]?.msg ?? '', /cancelling destroys the work before its retry can find it/);
  });

  test('SIGTERM lets an answer under way be finished, refuses new ones, and exits with 0', async (t) => {
    const { engine, asked: underWay, answer } = slowEngine();
    const running = run(t, [
      'serve',
      '--port',
      '0',
      '--upstream',
      `http://127.0.0.1:${await listened(engine)}`,
    ]);
    t.after(() => engine.close());
    const url = await listening(running);
    const asked = ask(url);
    await underWay;
    running.child.kill('SIGTERM');
    await logged(running, /stopping/);
    answer();
    const response = await asked;
    deepEqual([response.status, await response.json()], [200, { id: 'answer' }]);
    equal(await running.ended, 0);
  });

  test('a second signal ends at once, with 1', async (t) => {
    const { engine, asked: underWay } = slowEngine();
    const running = run(t, [
      'serve',
      '--port',
      '0',
      '--upstream',
      `http://127.0.0.1:${await listened(engine)}`,
    ]);
    t.after(() => {
      engine.close();
      engine.closeAllConnections();
    });
    const asked = ask(await listening(running)).catch((error: unknown) => error);
    await underWay;
    running.child.kill('SIGINT');
    await logged(running, /stopping/);
    running.child.kill('SIGINT');
    equal(await running.ended, 1);
    ok((await asked) instanceof Error);
  });
});

test('holdfast twin serves the engine model alone', async (t) => {
  const running = run(t, ['twin', '--port', '0', '--model', 'small', '--time-scale', '10', '--seed', '7']);
  const url = await listening(running);
  match(await (await fetch(`${url}/v1/models`)).text(), /"small"/);
  running.child.kill('SIGTERM');
  equal(await running.ended, 0);
});

test('holdfast twin takes its file, its flags over it, and leaves a whole trace when it is stopped', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-'));
  const [config, trace] = [join(folder, 'twin.yaml'), join(folder, 'trace.jsonl')];
  writeFileSync(config, `port: 0\nserved-model-name: m\nmax-num-seqs: 4\ntime-scale: 100\ntrace: ${trace}\n`);
  const running = run(t, ['twin', '--config', config, '--max-num-seqs', '8']);
  const url = await listening(running);
  const { port, maxNumSeqs, timeScale } = lines(running)[0]?.options ?? {};
  deepEqual([port, maxNumSeqs, timeScale], [0, 8, 100]);
  const body = { model: 'm', max_tokens: 3, ignore_eos: true, messages: [{ role: 'user', content: 'x' }] };
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-request-id': 'e1' },
    body: JSON.stringify(body),
  });
  equal(answer.status, 200);
  running.child.kill('SIGTERM');
  equal(await running.ended, 0);
  const events = readFileSync(trace, 'utf8').trimEnd().split('\n');
  const told = events.map((line) => JSON.parse(line) as { readonly event: string; readonly id: string });
  deepEqual(
    told.map(({ event }) => event),
    ['queued', 'scheduled', 'scheduled', 'first_token', 'scheduled', 'finished'],
  );
  match(told[0]?.id ?? '', /^chatcmpl-e1-[0-9a-f]{8}$/);
});

test('holdfast twin refuses options out of bounds in the words of its flags', async (t) => {
  const { code, err } = await outcome(t, ['twin', '--port', '0', '--block-size', '9999']);
  deepEqual([code, err], [2, 'holdfast: --block-size must be a whole number from 1 to 1024, not 9999\n']);
});

function ask(url: string): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [] }),
  });
}

async function logged(running: Running, pattern: RegExp): Promise<void> {
  while (!pattern.test(running.err()))
    await Promise.race([once(running.child.stderr, 'data'), running.ended]);
}

/** An engine that answers when it is told to, once it was asked; it has no meter. */
function slowEngine(): {
  readonly engine: Server;
  readonly asked: Promise<void>;
  readonly answer: () => void;
} {
  let answer = (): void => {};
  let wake = (): void => {};
  const asked = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const engine = createServer((request, response) => {
    request.resume();
    if (request.url === '/metrics') {
      response.writeHead(404).end();
      return;
    }
    answer = () => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"answer"}');
    };
    wake();
  });
  return { engine, asked, answer: () => answer() };
}
