/** Installs what a group of tests needs into `.cache/`, once, however many test files ask at the same time. */

import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ROOT } from './root.js';

const execute = promisify(execFile);

/** An installer that runs longer than this has hung. */
const INSTALL_LIMIT_MS = 10 * 60_000;
const POLL_MS = 200;
const OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024;

/** Runs `command` to its end within the install limit; on failure the error carries what it printed. */
export async function ran(command: string, args: readonly string[], cwd: string = ROOT): Promise<string> {
  try {
    const { stdout } = await execute(command, [...args], {
      cwd,
      timeout: INSTALL_LIMIT_MS,
      maxBuffer: OUTPUT_LIMIT_BYTES,
    });
    return stdout;
  } catch (cause) {
    const failure = cause as { stdout?: string; stderr?: string; message: string };
    const printed = `${failure.stdout ?? ''}\n${failure.stderr ?? ''}`.trim();
    throw new Error(`${command} ${args.join(' ')} failed: ${printed === '' ? failure.message : printed}`, {
      cause,
    });
  }
}

/**
 * The folder `.cache/<name>`, filled by `install` unless an earlier run has finished it for the same `contents`
 * (any text that says what is in it: pinned versions, a requirements file). An unfinished or outdated one is
 * removed first. Processes that ask at the same time wait for the one that installs.
 */
export async function installation(
  name: string,
  contents: string,
  install: (folder: string) => Promise<void>,
  cache: string = join(ROOT, '.cache'),
): Promise<string> {
  const folder = join(cache, name);
  const stamp = `${folder}.installed`;
  await mkdir(cache, { recursive: true });
  const release = await locked(`${folder}.lock`);
  try {
    if ((await textOf(stamp)) === contents) return folder;
    await rm(stamp, { force: true });
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder);
    await install(folder);
    await writeFile(stamp, contents);
    return folder;
  } finally {
    await release();
  }
}

/**
 * Strictness about engines is this repository's, and reaches an npm started under another npm; an SDK that announces
 * a newer Node than it needs is still one that people run.
 */
const NPM_INSTALL = ['install', '--no-audit', '--no-fund', '--save-exact', '--engine-strict=false'] as const;

/** npm packages, pinned as `name@version` (or `alias@npm:name@version`); answers the folder that holds node_modules. */
export function npmInstallation(name: string, packages: readonly string[]): Promise<string> {
  return installation(name, packages.join('\n'), async (folder) => {
    await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
    await ran('npm', [...NPM_INSTALL, ...packages], folder);
  });
}

/** Python packages, pinned as `name==version`, in a virtual environment; answers its `python`. */
export async function pipInstallation(name: string, packages: readonly string[]): Promise<string> {
  const folder = await installation(name, packages.join('\n'), async (into) => {
    await ran('python3', ['-m', 'venv', into]);
    await ran(join(into, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', ...packages]);
  });
  return join(folder, 'bin', 'python');
}

/**
 * A package of Debian, unpacked and not set up, so that no service of it is ever started; answers the folder that stands
 * for `/`.
 */
export function debianInstallation(name: string): Promise<string> {
  return installation(name, `debian ${name}`, async (folder) => {
    await ran('apt-get', ['download', name], folder);
    const archives = (await readdir(folder)).filter((file) => file.endsWith('.deb'));
    for (const file of archives) {
      await ran('dpkg-deb', ['--extract', join(folder, file), folder]);
      await rm(join(folder, file));
    }
  });
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Takes a lock file that names its process, waiting while that process lives. */
async function locked(path: string): Promise<() => Promise<void>> {
  for (;;) {
    try {
      await writeFile(path, String(process.pid), { flag: 'wx' });
      return () => rm(path, { force: true });
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    }
    await sleep(POLL_MS);
    const owner = Number.parseInt((await textOf(path)) ?? '', 10);
    if (Number.isInteger(owner) && !lives(owner)) await rm(path, { force: true });
  }
}

function lives(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch {
    return false;
  }
}
