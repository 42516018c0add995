/** What the comparison has of its own: no gateway at all, the barest one, and Holdfast as it comes. */

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../tests/support/free-port.js';
import { launched } from './child.js';
import type { Contender, Place, Started } from './contender.js';

export const PATH = '/v1/chat/completions';

const MAIN = fileURLToPath(new URL('../../src/shell/cli/main.js', import.meta.url));
const PIPE = fileURLToPath(new URL('pipe.js', import.meta.url));
const PACKAGE = fileURLToPath(new URL('../../../package.json', import.meta.url));

export const DIRECT: Contender = {
  name: 'direct',
  about: 'no gateway: the load straight at the upstream',
  install: () => Promise.resolve('—'),
  start: ({ upstream }) =>
    Promise.resolve({
      url: `${upstream}${PATH}`,
      pid: undefined,
      headers: {},
      stop: () => Promise.resolve(),
    }),
};

export const PIPE_NAME = 'bare pipe';

export const BARE_PIPE: Contender = {
  name: PIPE_NAME,
  about:
    'node:http server, undici `Pool.stream`, nothing looked at and nothing logged (bench/gateways/pipe.ts)',
  install: () =>
    Promise.resolve(`undici ${manifest().dependencies['undici'] ?? ''}, Node ${process.version}`),
  start: async (place) => {
    const port = await freePort();
    return launched({
      name: 'pipe',
      command: process.execPath,
      args: [PIPE, place.upstream, String(port)],
      url: `http://127.0.0.1:${port}${PATH}`,
      workspace: place.workspace,
    });
  },
};

export const HOLDFAST_NAME = 'Holdfast';

export const HOLDFAST: Contender = {
  name: HOLDFAST_NAME,
  about:
    'defaults, as `holdfast serve --upstream URL` starts it; its log at level info, a line an attempt and a line an execution, goes to a file',
  install: () => Promise.resolve(manifest().version),
  start: (place) => holdfast(place, []),
};

export const HOLDFAST_QUIET: Contender = {
  name: 'Holdfast, log level warn',
  about: 'the same without a line for what went well: what the log costs',
  install: () => Promise.resolve(manifest().version),
  start: (place) => holdfast(place, ['--log-level', 'warn']),
};

async function holdfast({ upstream, workspace }: Place, more: readonly string[]): Promise<Started> {
  const port = await freePort();
  return launched({
    name: 'holdfast',
    command: process.execPath,
    args: [MAIN, 'serve', '--port', String(port), '--upstream', upstream, ...more],
    url: `http://127.0.0.1:${port}${PATH}`,
    workspace,
  });
}

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

function manifest(): Manifest {
  return JSON.parse(readFileSync(PACKAGE, 'utf8')) as Manifest;
}
