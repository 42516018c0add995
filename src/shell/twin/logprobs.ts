/** Log probabilities of an answer, for clients that ask: every token is as likely as any other. */

/** Letters named as the alternatives, in order. */
const ALTERNATIVES = Array.from('etaoinshrdlcumwfgypb');

interface Likely {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: number[];
}

function likely(token: string, vocabularySize: number): Likely {
  return { token, logprob: -Math.log(vocabularySize), bytes: [...Buffer.from(token)] };
}

function alternatives(token: string, count: number): string[] {
  return [token, ...ALTERNATIVES].filter((each, at, all) => all.indexOf(each) === at).slice(0, count);
}

/** A chat choice's `logprobs`: one entry a token of `text`, each with `top` alternatives. */
export function chatLogprobs(text: string, top: number, vocabularySize: number): object {
  const entry = (token: string): object => ({
    ...likely(token, vocabularySize),
    top_logprobs: alternatives(token, top).map((each) => likely(each, vocabularySize)),
  });
  return { content: Array.from(text, entry) };
}

/** A completion choice's `logprobs`; `offset` is where `text` begins in the whole answer. */
export function completionLogprobs(
  text: string,
  top: number,
  vocabularySize: number,
  offset: number,
): object {
  const tokens = Array.from(text);
  const logprob = -Math.log(vocabularySize);
  return {
    text_offset: tokens.map((_, at) => offset + at),
    token_logprobs: tokens.map(() => logprob),
    tokens,
    top_logprobs: tokens.map((token) =>
      Object.fromEntries(alternatives(token, top + 1).map((each) => [each, logprob])),
    ),
  };
}
