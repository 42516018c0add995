/** What a plain request says about itself, to be changed where a test cares. */

import type { AttemptFacts } from '../../src/core/control/event.js';

const PLAIN: AttemptFacts = {
  tenant: 'acme',
  route: '/v1/chat/completions',
  fingerprint: 'body-1',
  model: 'model-1',
  stream: false,
  bodyBytes: 10,
  userAgent: 'plain/1.0',
  address: '192.0.2.1',
  shareable: true,
  stateful: false,
  noStore: false,
  cancelOnLeave: false,
};

/** A request of one tenant with one body, that brings no proof of anything unless `changes` says so. */
export function facts(changes: Partial<AttemptFacts> = {}): AttemptFacts {
  return { ...PLAIN, ...changes };
}

/** User agents of families that the control knows. */
export const AGENTS = {
  plain: 'plain/1.0',
  python: 'OpenAI/Python 2.54.0',
  node: 'OpenAI/JS 7.59.0',
  codex: 'codex_exec/0.171.0',
  langchain: 'langchainjs-openai/1.5.8',
  dotnet: 'OpenAI/2.9.0 (.NET 10.0)',
  aiSdk: 'ai/7.0.173 ai-sdk-provider-utils/4.0.0 node.js/20',
} as const;
