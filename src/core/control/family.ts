/** What is known of each client family, as data: how often it asks again, how long it waits, what stops it. */

export const FAMILIES = [
  'stainless_python',
  'stainless_node',
  'stainless_other',
  'ai_sdk',
  'langchain_js',
  'codex',
  'qwen_code',
  'opencode',
  'deepseek_harness',
  'gemini_cli',
  'claude_code',
  'google_genai',
  'dotnet',
  'unknown',
] as const;
export type Family = (typeof FAMILIES)[number];

export interface Manners {
  /** Attempts a call on a persistent failure, the first included. */
  readonly attempts: number;
  /** Sum of all its waits between attempts, and the largest, milliseconds. */
  readonly backoffMs: number;
  readonly largestGapMs: number;
  /** The least it waits before it asks again after a failure, milliseconds. */
  readonly shortestGapMs: number;
  /** The longest `Retry-After` that it waits out in full, milliseconds; 0: it comes back on its own clock. */
  readonly obeysRetryAfterMs: number;
  /** It asks again after a stream that broke off. */
  readonly reconnectsStreams: boolean;
  /** Its transport gives up after 300 s without headers, whatever it announces. */
  readonly nodeFetch: boolean;
  /** A 429 ends its whole turn, so a refusal that a later attempt could outlive must be a 503. */
  readonly stopsOn429: boolean;
  /** `x-should-retry: false` stops it. */
  readonly obeysShouldRetry: boolean;
}

const PLAIN: Manners = {
  attempts: 1,
  backoffMs: 0,
  largestGapMs: 8_000,
  // Not known at all; but what comes closer together than this was sent together.
  shortestGapMs: 100,
  obeysRetryAfterMs: 0,
  reconnectsStreams: false,
  nodeFetch: false,
  stopsOn429: false,
  obeysShouldRetry: false,
};
const STAINLESS: Manners = {
  ...PLAIN,
  attempts: 3,
  backoffMs: 1_500,
  shortestGapMs: 375,
  obeysRetryAfterMs: 60_000,
  obeysShouldRetry: true,
};

/** Counts and gaps as observed on the wire or read in each client's source, November 2026. */
export const MANNERS: Readonly<Record<Family, Manners>> = {
  stainless_python: STAINLESS,
  stainless_node: { ...STAINLESS, nodeFetch: true },
  // Go waits no longer than this.
  stainless_other: { ...STAINLESS, obeysRetryAfterMs: 8_000 },
  ai_sdk: {
    ...PLAIN,
    attempts: 3,
    backoffMs: 6_000,
    largestGapMs: 4_000,
    shortestGapMs: 2_000,
    obeysRetryAfterMs: 60_000,
    nodeFetch: true,
  },
  langchain_js: {
    ...PLAIN,
    attempts: 7,
    backoffMs: 94_500,
    largestGapMs: 64_000,
    shortestGapMs: 1_000,
    nodeFetch: true,
    stopsOn429: true,
  },
  codex: {
    ...PLAIN,
    attempts: 30,
    backoffMs: 24_500,
    largestGapMs: 3_500,
    shortestGapMs: 180,
    reconnectsStreams: true,
    stopsOn429: true,
  },
  qwen_code: {
    ...PLAIN,
    attempts: 28,
    backoffMs: 93_000,
    largestGapMs: 39_000,
    shortestGapMs: 375,
    nodeFetch: true,
  },
  opencode: { ...PLAIN, attempts: 6, backoffMs: 71_000, largestGapMs: 40_000, shortestGapMs: 1_800 },
  deepseek_harness: {
    ...PLAIN,
    attempts: 6,
    backoffMs: 17_500,
    largestGapMs: 11_000,
    shortestGapMs: 450,
    reconnectsStreams: true,
    nodeFetch: true,
  },
  gemini_cli: {
    ...PLAIN,
    attempts: 10,
    backoffMs: 215_000,
    largestGapMs: 39_000,
    shortestGapMs: 3_500,
    reconnectsStreams: true,
    nodeFetch: true,
  },
  claude_code: {
    ...STAINLESS,
    attempts: 11,
    backoffMs: 111_000,
    largestGapMs: 40_000,
    obeysRetryAfterMs: 0,
    nodeFetch: true,
  },
  google_genai: PLAIN,
  dotnet: { ...PLAIN, attempts: 4, backoffMs: 2_400, largestGapMs: 1_700, shortestGapMs: 0 },
  unknown: PLAIN,
};

/** First match wins: agents name the library they are built on, so they come before it. */
const MARKS: readonly (readonly [Family, RegExp])[] = [
  ['codex', /^codex[_-]/i],
  ['claude_code', /^claude-(cli|code)\//i],
  ['qwen_code', /^QwenCode\//i],
  ['opencode', /^opencode\//i],
  ['deepseek_harness', /^deepseek-harness\//i],
  ['gemini_cli', /^GeminiCLI\//i],
  ['langchain_js', /^langchainjs-/i],
  ['google_genai', /google-genai-sdk\//i],
  ['stainless_python', /^(Async)?(OpenAI|Anthropic|AnthropicBedrock|AzureOpenAI)\/Python/i],
  ['stainless_node', /^(OpenAI|Anthropic|AzureOpenAI)\/JS/i],
  ['stainless_other', /^(OpenAI|Anthropic)\/(Go|Java|Kotlin|Ruby)/i],
  ['dotnet', /^(OpenAI|azsdk-net)[/-].*\.NET/i],
  ['ai_sdk', /^ai(-sdk)?[/-]|ai-sdk\/provider-utils/i],
];

/** The family that a `User-Agent` names; bounded work on any input. */
export function familyOf(userAgent: string): Family {
  const head = userAgent.slice(0, 256);
  for (const [family, mark] of MARKS) if (mark.test(head)) return family;
  return 'unknown';
}

/** The manners of the family that a `User-Agent` names. */
export function mannersOf(userAgent: string): Manners {
  return MANNERS[familyOf(userAgent)];
}
