/** The engine's front end: turns an ask into executions and hands each output on as text. */

import { Random } from '../../core/chance/random.js';
import type { Engine } from '../../core/engine/engine.js';
import type { Execution, FinishReason } from '../../core/engine/execution.js';
import { IdTokens, Prompt } from '../../core/engine/tokens.js';
import { ApiError, type Ask } from './ask.js';
import { Filler } from './filler.js';
import type { FrontMeter } from './meter.js';
import type { PacedClock } from './paced-clock.js';
import { decode } from './tokenizer.js';

/** One answer among those of a request: choice `index` of them all, to prompt `promptIndex`. */
export interface Choice {
  readonly index: number;
  readonly promptIndex: number;
  readonly promptTokens: number;
  /** Everything said so far. */
  text: string;
  outputTokens: number;
  ended: FinishReason | undefined;
}

/** A request under way: what its API needs to word the answer. */
export interface Generation {
  readonly ask: Ask;
  /** `X-Request-Id`, or a random name. */
  readonly id: string;
  /** Unix time in seconds. */
  readonly created: number;
  readonly choices: readonly Choice[];
}

/** A request that has been read. */
export interface Work {
  readonly ask: Ask;
  /** `X-Request-Id`, or a random name. */
  readonly id: string;
  /** When it came, in the clock's milliseconds. */
  readonly arrivedAt: number;
}

/** Hears each new piece of text; `choice.ended` is set with its last one. */
export type OutputListener = (choice: Choice, piece: string) => void;

/** Sums over a request's choices; a prompt counts once however many answers it has. */
export function usageOf(generation: Generation): { prompt: number; completion: number; total: number } {
  const prompt = generation.ask.prompts.reduce((sum, { length }) => sum + length, 0);
  const completion = generation.choices.reduce((sum, { outputTokens }) => sum + outputTokens, 0);
  return { prompt, completion, total: prompt + completion };
}

export interface FrontSettings {
  /** Seeds the random ids. */
  readonly seed: number;
  /** Engine milliseconds from a request's arrival to its place in the engine's queue. */
  readonly renderMs: number;
}

export class Front {
  readonly engine: Engine;
  readonly #clock: PacedClock;
  readonly #meter: FrontMeter;
  readonly #random: Random;
  readonly #renderMs: number;

  constructor(engine: Engine, clock: PacedClock, meter: FrontMeter, settings: FrontSettings) {
    this.engine = engine;
    this.#clock = clock;
    this.#meter = meter;
    this.#random = new Random(settings.seed, 'front');
    this.#renderMs = settings.renderMs;
  }

  /** `digits` random hexadecimal digits, at most 16. */
  hex(digits: number): string {
    const both = [this.#random.uint32(), this.#random.uint32()];
    return both
      .map((part) => part.toString(16).padStart(8, '0'))
      .join('')
      .slice(0, digits);
  }

  /** Throws the 503 of a full queue; vLLM asks for the samples of one prompt, however many prompts there are. */
  admit(n: number): void {
    this.#clock.catchUp();
    const refused = this.engine.refusal(n);
    if (refused === undefined) return;
    const limit = refused === 'requests' ? 'requests' : 'prompt tokens';
    throw new ApiError(503, 'Service Unavailable', null, `The engine holds as many ${limit} as it may.`);
  }

  /** Lasts as long as the front end takes to turn a request into tokens. */
  async render(): Promise<void> {
    if (this.#renderMs === 0) return;
    await new Promise<void>((resolve) => {
      this.#clock.after(this.#renderMs, resolve);
    });
  }

  /**
   * Starts the executions of a request; `kind` is the prefix of their ids. Throws the 503 of a queue that has
   * become full since {@link admit}. The function returned aborts them.
   */
  start(work: Work, kind: string, listen: OutputListener): { generation: Generation; leave: () => void } {
    this.#clock.catchUp();
    const { ask, id } = work;
    const choices: Choice[] = [];
    const executions: Execution[] = [];
    const generation: Generation = { ask, id, created: Math.floor(Date.now() / 1_000), choices };
    const leave = (): void => {
      this.#clock.catchUp();
      for (const execution of executions) this.engine.abort(execution);
    };
    for (const [promptIndex, ids] of ask.prompts.entries()) {
      const external = kind === 'cmpl' ? `${kind}-${id}-${promptIndex}` : `${kind}-${id}`;
      const prompt = new Prompt(new IdTokens(ids), saltOf(ask.cacheSalt));
      const siblings = Array.from({ length: ask.n }, (_, sample): Choice => {
        const text = ask.echo ? decode(ids) : '';
        const index = choices.length + sample;
        return { index, promptIndex, promptTokens: ids.length, text, outputTokens: 0, ended: undefined };
      });
      const heard: OutputListener = (choice, piece) => {
        if (siblings.every(({ ended }) => ended !== undefined)) {
          this.#meter.requestFinished(ask.n, Math.max(...siblings.map(({ outputTokens }) => outputTokens)));
        }
        listen(choice, piece);
      };
      try {
        this.admit(ask.n);
      } catch (error) {
        leave();
        throw error;
      }
      choices.push(...siblings);
      for (const [sample, choice] of siblings.entries()) {
        const name = `${ask.n > 1 ? `${sample}_` : ''}${external}-${this.hex(8)}`;
        executions.push(this.#execute(work, choice, prompt, name, heard));
      }
    }
    return { generation, leave };
  }

  #execute(work: Work, choice: Choice, prompt: Prompt, name: string, listen: OutputListener): Execution {
    const { ask, arrivedAt } = work;
    const seed = ask.seed === undefined ? `id/${work.id}` : `seed/${ask.seed}`;
    const filler = new Filler(`${seed}/${choice.index}`, ask.maxTokens);
    const request = {
      id: name,
      prompt,
      maxTokens: ask.maxTokens,
      minTokens: ask.minTokens,
      priority: ask.priority,
      output: filler,
      arrivedAt,
      ...(ask.ignoreEos ? {} : { stopAfter: filler.naturalLength }),
    };
    return this.engine.add(request, (execution, ended) => {
      this.#meter.output(execution, ended);
      const piece = filler.slice(choice.outputTokens, execution.outputTokens);
      choice.outputTokens = execution.outputTokens;
      const echoed = ask.echo && choice.outputTokens === 1 ? choice.text : '';
      choice.text += piece;
      choice.ended = ended;
      listen(choice, echoed + piece);
    });
  }
}

function saltOf(salt: string | undefined): number {
  return salt === undefined ? 0 : new Random(0, `salt/${salt}`).uint32();
}
