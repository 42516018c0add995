/** The two processes beside a contender: the upstream that answers and the load that asks. */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Job, Reply, Taken } from './job.js';

const UPSTREAM = fileURLToPath(new URL('upstream.js', import.meta.url));
const LOAD = fileURLToPath(new URL('load.js', import.meta.url));

export interface Upstream {
  readonly url: string;
  readonly pid: number;
  stop(): void;
}

export async function startUpstream(): Promise<Upstream> {
  const child = fork(UPSTREAM, [], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const [text] = (await Promise.race([
    once(child.stdout as NodeJS.ReadableStream, 'data'),
    endedEarly(child),
  ])) as [Buffer];
  const { url } = JSON.parse(text.toString()) as { url: string };
  return { url, pid: child.pid ?? 0, stop: () => child.disconnect() };
}

export class Load {
  readonly #child: ChildProcess;
  readonly #ended: Promise<never>;

  constructor() {
    this.#child = fork(LOAD, [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#ended = endedEarly(this.#child);
    // Heard by whoever waits for a job; nobody else has to.
    this.#ended.catch(() => {});
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Resolves with what came of it; `edge` is called when the window that is measured begins and when it ends. */
  async run(job: Job, edge: () => void = () => {}): Promise<Taken> {
    let listen: (reply: Reply) => void = () => {};
    const taken = new Promise<Taken>((resolve) => {
      listen = (reply: Reply) => {
        if (reply.kind === 'taken') resolve(reply.taken);
        else edge();
      };
      this.#child.on('message', listen);
    });
    this.#child.send(job);
    try {
      return await Promise.race([taken, this.#ended]);
    } finally {
      this.#child.off('message', listen);
    }
  }

  stop(): void {
    this.#child.disconnect();
  }
}

async function endedEarly(child: ChildProcess): Promise<never> {
  const [code] = (await once(child, 'exit')) as [number | null];
  throw new Error(`a process of the bench ended with ${code}`);
}
