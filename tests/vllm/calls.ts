/** Completions with prompts of token ids, as the profile's loads send them. */

import { Random } from '../../src/core/chance/random.js';
import { MODEL } from './engine.js';
import { SHARED_TOKENS } from './ladder.js';

const CALL_LIMIT_MS = 240_000;
let prompts = 0;

/** Prompts that share their first tokens, and nothing else with any prompt before. */
export function promptOf(tokens: number): number[] {
  prompts += 1;
  const random = new Random(prompts, 'prompt');
  return Array.from({ length: tokens }, (_, at) => (at < SHARED_TOKENS ? at : random.integer(0, 255)));
}

/** Resolves to whether the whole answer came; an aborted call has not. */
export async function complete(
  engine: string,
  promptTokens: number,
  answerTokens: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const limit = AbortSignal.timeout(CALL_LIMIT_MS);
  const body = { model: MODEL, prompt: promptOf(promptTokens), max_tokens: answerTokens, ignore_eos: true };
  try {
    const response = await fetch(`${engine}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    });
    await response.text();
    return response.ok;
  } catch {
    return false;
  }
}
