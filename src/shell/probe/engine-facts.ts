/** What a server says of itself that may move its capacity: version, lengths, cache. */

import { request } from 'undici';
import type { Workload } from '../../core/drill/plan.js';
import { readExposition } from '../../core/meter/exposition.js';
import { boundedBody } from '../shared/bounded-body.js';
import { type CapacityOf, workloadDigest } from './capacity-store.js';

const PATIENCE_MS = 5_000;
const LARGEST_BYTES = 8 * 1024 * 1024;
const LONGEST_FACT = 512;
const CACHE_INFO = 'vllm:cache_config_info';
/** Labels of it that name the process and not the engine's settings. */
const PASSING_LABELS = new Set(['engine', 'model_name']);

/** The name under which a capacity of the server at `url` is kept. */
export function targetName(url: URL): string {
  return `${url.origin}${url.pathname.replace(/\/$/, '')}`;
}

/** What a capacity measured of `url` belongs to; facts that the server does not tell are absent. */
export async function liveEngine(
  url: URL,
  model: string,
  workload: Workload,
  authorization?: string,
): Promise<CapacityOf> {
  const base = targetName(url);
  const [version, models, meter] = await Promise.all([
    bodyOf(`${url.origin}/version`, authorization),
    bodyOf(`${base}/v1/models`, authorization),
    bodyOf(`${url.origin}/metrics`, authorization),
  ]);
  const engine: Record<string, string> = {
    ...versionIn(version),
    ...lengthIn(models, model),
    ...cacheIn(meter),
  };
  return { target: base, model, workload: workloadDigest(workload), engine };
}

async function bodyOf(url: string, authorization: string | undefined): Promise<string | undefined> {
  try {
    const { statusCode, body } = await request(url, {
      headers: authorization === undefined ? {} : { authorization },
      headersTimeout: PATIENCE_MS,
      bodyTimeout: PATIENCE_MS,
      signal: AbortSignal.timeout(2 * PATIENCE_MS),
    });
    const bytes = await boundedBody(body, LARGEST_BYTES);
    return statusCode === 200 ? bytes?.toString('utf8') : undefined;
  } catch {
    return undefined;
  }
}

type Facts = Readonly<Record<string, string>>;

function versionIn(text: string | undefined): Facts {
  const { version } = (jsonIn(text) ?? {}) as { readonly version?: unknown };
  return typeof version === 'string' ? { version: version.slice(0, LONGEST_FACT) } : {};
}

function lengthIn(text: string | undefined, model: string): Facts {
  const { data } = (jsonIn(text) ?? {}) as { readonly data?: unknown };
  const models = (Array.isArray(data) ? data : []) as readonly (Readonly<Record<string, unknown>> | null)[];
  const length = models.find((each) => each?.id === model)?.max_model_len;
  return typeof length === 'number' ? { max_model_len: String(length) } : {};
}

function cacheIn(text: string | undefined): Facts {
  const lines = (text ?? '').split('\n').filter((line) => line.startsWith(CACHE_INFO));
  if (lines.length === 0) return {};
  try {
    const labels = readExposition(`${lines.join('\n')}\n`).flatMap(({ samples }) => samples)[0]?.labels ?? {};
    const kept = Object.entries(labels).filter(([name]) => !PASSING_LABELS.has(name));
    return Object.fromEntries(kept.map(([name, value]) => [`cache.${name}`, value.slice(0, LONGEST_FACT)]));
  } catch {
    return {};
  }
}

function jsonIn(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}
