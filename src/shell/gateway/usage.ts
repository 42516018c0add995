/** Reads the tokens of an answer out of whatever the engine says about them, once, with bounded work. */

import type { Usage } from '../../core/control/event.js';

/** The usage in a JSON text that holds one at its top, or under `message` or `response`; undefined without. */
export function usageIn(text: string): Usage | undefined {
  const value = parsed(text);
  return (
    usageOf(value['usage']) ??
    usageOf(object(value['message'])['usage']) ??
    usageOf(object(value['response'])['usage'])
  );
}

/** The last usage object in the end of a JSON text too long to be kept whole. */
export function usageAtEnd(text: string): Usage | undefined {
  for (let at = text.lastIndexOf('"usage"'); at >= 0; at = text.lastIndexOf('"usage"', at - 1)) {
    const open = /^"usage"\s*:\s*(?=\{)/.exec(text.slice(at, at + 64));
    const found = open === null ? undefined : usageOf(parsed(balanced(text, at + open[0].length)));
    if (found !== undefined || at === 0) return found;
  }
  return undefined;
}

/** What several reports of one answer say together: the later one wins where it says more than nothing. */
export function merged(earlier: Usage | undefined, later: Usage | undefined): Usage | undefined {
  if (earlier === undefined || later === undefined) return later ?? earlier;
  return {
    promptTokens: Math.max(earlier.promptTokens, later.promptTokens),
    cachedPromptTokens: Math.max(earlier.cachedPromptTokens, later.cachedPromptTokens),
    completionTokens: Math.max(earlier.completionTokens, later.completionTokens),
  };
}

/** OpenAI's names, those of its Responses API, and Anthropic's, whose cached tokens come on top of the input. */
function usageOf(value: unknown): Usage | undefined {
  const usage = object(value);
  if ('prompt_tokens' in usage) {
    return {
      promptTokens: count(usage['prompt_tokens']),
      cachedPromptTokens: count(object(usage['prompt_tokens_details'])['cached_tokens']),
      completionTokens: count(usage['completion_tokens']),
    };
  }
  if (!('input_tokens' in usage) && !('output_tokens' in usage)) return undefined;
  const read = count(usage['cache_read_input_tokens']);
  const written = count(usage['cache_creation_input_tokens']);
  return {
    promptTokens: count(usage['input_tokens']) + read + written,
    cachedPromptTokens: read + count(object(usage['input_tokens_details'])['cached_tokens']),
    completionTokens: count(usage['output_tokens']),
  };
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

function object(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function parsed(text: string): Record<string, unknown> {
  try {
    return object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** The text from the brace at `from` to the one that closes it; up to 4 KiB, and no brace inside a string. */
function balanced(text: string, from: number): string {
  let depth = 0;
  const limit = Math.min(text.length, from + 4096);
  for (let at = from; at < limit; at += 1) {
    if (text[at] === '{') depth += 1;
    if (text[at] === '}') depth -= 1;
    if (depth === 0) return text.slice(from, at + 1);
  }
  return '';
}
