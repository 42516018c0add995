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

/** Hears each new piece of text; `choice.ended` is set with its last one. */
export type OutputListener = (choice: Choice, piece: string) => void;

/** Sums over a request's choices; a prompt counts once however many answers it has. */
export function usageOf(generation: Generation): { prompt: number; completion: number; total: number } {
  const prompt = generation.ask.prompts.reduce((sum, { length }) => sum + length, 0);
  const completion = generation.choices.reduce((sum, { outputTokens }) => sum + outputTokens, 0);
  return { prompt, completion, total: prompt + completion };
}

export class Front {
  readonly engine: Engine;
  readonly #clock: PacedClock;
  readonly #meter: FrontMeter;
  readonly #random: Random;

  constructor(engine: Engine, clock: PacedClock, meter: FrontMeter, seed: number) {
    this.engine = engine;
    this.#clock = clock;
    this.#meter = meter;
    this.#random = new Random(seed, 'front');
  }

  /** `digits` random hexadecimal digits, at most 16. */
  hex(digits: number): string {
    const both = [this.#random.uint32(), this.#random.uint32()];
    return both
      .map((part) => part.toString(16).padStart(8, '0'))
      .join('')
      .slice(0, digits);
  }

  /** Throws the 503 of a full queue. */
  admit(ask: Ask): void {
    this.#clock.catchUp();
    const refused = this.engine.refusal(ask.prompts.length * ask.n);
    if (refused === undefined) return;
    const limit = refused === 'requests' ? 'requests' : 'prompt tokens';
    throw new ApiError(503, 'Service Unavailable', null, `The engine holds as many ${limit} as it may.`);
  }

  /** Starts the executions of `ask`; `kind` is the prefix of their ids. The function returned aborts them. */
  start(
    ask: Ask,
    kind: string,
    id: string,
    listen: OutputListener,
  ): { generation: Generation; leave: () => void } {
    this.#clock.catchUp();
    const choices: Choice[] = [];
    const executions: Execution[] = [];
    const generation: Generation = { ask, id, created: Math.floor(Date.now() / 1_000), choices };
    for (const [promptIndex, ids] of ask.prompts.entries()) {
      const prompt = new Prompt(new IdTokens(ids), saltOf(ask.cacheSalt));
      const siblings: Choice[] = [];
      const heard: OutputListener = (choice, piece) => {
        if (siblings.every(({ ended }) => ended !== undefined)) {
          this.#meter.requestFinished(ask.n, Math.max(...siblings.map(({ outputTokens }) => outputTokens)));
        }
        listen(choice, piece);
      };
      for (let sample = 0; sample < ask.n; sample += 1) {
        const choice: Choice = {
          index: choices.length,
          promptIndex,
          promptTokens: ids.length,
          text: ask.echo ? decode(ids) : '',
          outputTokens: 0,
          ended: undefined,
        };
        choices.push(choice);
        siblings.push(choice);
        const external = kind === 'cmpl' ? `${kind}-${id}-${promptIndex}` : `${kind}-${id}`;
        const name = `${ask.n > 1 ? `${sample}_` : ''}${external}-${this.hex(8)}`;
        executions.push(this.#execute(ask, choice, prompt, id, name, heard));
      }
    }
    const leave = (): void => {
      this.#clock.catchUp();
      for (const execution of executions) this.engine.abort(execution);
    };
    return { generation, leave };
  }

  #execute(
    ask: Ask,
    choice: Choice,
    prompt: Prompt,
    id: string,
    name: string,
    listen: OutputListener,
  ): Execution {
    const seed = ask.seed === undefined ? `id/${id}` : `seed/${ask.seed}`;
    const filler = new Filler(`${seed}/${choice.index}`, ask.maxTokens);
    const request = {
      id: name,
      prompt,
      maxTokens: ask.maxTokens,
      minTokens: ask.minTokens,
      priority: ask.priority,
      output: filler,
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
