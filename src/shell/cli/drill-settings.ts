/** What the flags of `holdfast drill` ask for, checked: its plan, its target, its credentials. */

import { readFileSync } from 'node:fs';
import { request } from 'undici';
import { CLIENTS } from '../../core/drill/clients.js';
import { type Lengths, type Plan, PUBLISHED_PLAN } from '../../core/drill/plan.js';
import { capacityFor, defaultStore, workloadDigest } from '../probe/capacity-store.js';
import { liveEngine, targetName } from '../probe/engine-facts.js';
import type { LiveSettings } from '../probe/live-run.js';
import { readPlanFile } from '../probe/plan-file.js';
import { PROMPT_FORMS } from '../probe/prompts.js';
import { APIS } from '../probe/request.js';
import { readStages } from '../probe/stage-list.js';
import { UserError } from '../shared/errors.js';
import { errorText } from '../shared/log.js';
import { listed, nearest, shown } from '../shared/options.js';
import { GREATEST_SCALE } from '../shared/system-clock.js';
import type { World } from './command.js';
import type { DrillFlags } from './drill-flags.js';
import { positive, wholeNumber } from './numbers.js';
import { planAsked, traceNote } from './trace-flags.js';

const MOST_SEED = 2 ** 31;
const MOST_TOKENS = 10_000_000;
const MOST_VOCABULARY = 10_000_000;
const LONGEST_CREDENTIAL = 16 * 1024;
const MODELS_PATIENCE_MS = 10_000;

type Env = World['env'];

/** Everything but the model and the capacity, which may have to be asked for. */
type Checked = Omit<LiveSettings, 'model' | 'capacity'>;

/** Throws a {@link UserError} for whatever does not fit; asks the server for its model where none is named. */
export async function liveSettings(url: string, given: DrillFlags, world: World): Promise<LiveSettings> {
  const settings = checkedSettings(url, given, world.env);
  if (settings.plan.trace !== undefined) world.err(traceNote(settings.plan.trace));
  const model = given.model?.[0] ?? (await firstModel(settings));
  const stated = given.capacity?.[0];
  const capacity =
    stated === undefined ? await storedCapacity(settings, model, given, world) : positive(stated, 'capacity');
  return { ...settings, model, capacity };
}

function checkedSettings(url: string, given: DrillFlags, env: Env): Checked {
  const api = oneOf(given.api?.[0] ?? 'completions', APIS, 'api');
  const prompts = oneOf(given.prompts?.[0] ?? (api === 'chat' ? 'text' : 'tokens'), PROMPT_FORMS, 'prompts');
  if (api === 'chat' && prompts === 'tokens') {
    throw new UserError('bad_usage', '--api chat takes no token ids: use --prompts text or characters');
  }
  const name = given.name?.[0] ?? 'drill';
  const plan = planFrom(given);
  return {
    name,
    salt: name,
    url: baseUrl(url),
    engines: (given.engine ?? []).map(baseUrl),
    plan,
    seed: wholeNumber(given.seed?.[0] ?? '1', 'seed', MOST_SEED),
    api,
    prompts,
    vocabulary: wholeNumber(given.vocabulary?.[0] ?? '256', 'vocabulary', MOST_VOCABULARY),
    plain: given.plain !== undefined,
    credential: credentials(given.key ?? [], plan, env),
    mostLagSeconds:
      given['most-lag'] === undefined ? undefined : positive(given['most-lag'][0] ?? '', 'most-lag'),
    timeScale: timeScale(given['time-scale']?.[0] ?? '1'),
  };
}

function planFrom(given: DrillFlags): Plan {
  const path = given.plan?.[0];
  const stages = given.stages?.[0];
  const more = path === undefined ? 'trace' : 'plan';
  if (stages !== undefined && given[more] !== undefined) {
    throw new UserError('bad_usage', `drill takes one of --${more} and --stages`);
  }
  const plan = planAsked(given, path === undefined ? undefined : readPlanFile(path)) ?? PUBLISHED_PLAN;
  const prompts = lengths(given, 'prompt-tokens');
  const responses = lengths(given, 'response-tokens');
  const deadline = given.deadline?.[0];
  const kinds = given.client === undefined ? plan.clients : given.client.map(clientKind);
  return {
    ...plan,
    ...(stages === undefined ? {} : { name: 'stages', stages: readStages(stages) }),
    workload: {
      ...plan.workload,
      ...(prompts === undefined ? {} : { promptTokens: prompts, sharedPrefixTokens: 0 }),
      ...(responses === undefined ? {} : { responseTokens: responses }),
    },
    clients:
      deadline === undefined ? kinds : kinds.map((kind) => patient(kind, positive(deadline, 'deadline'))),
  };
}

function patient(kind: Plan['clients'][number], deadlineSeconds: number): Plan['clients'][number] {
  return { ...kind, deadlineSeconds };
}

function clientKind(name: string): Plan['clients'][number] {
  const kind = Object.hasOwn(CLIENTS, name) ? CLIENTS[name] : undefined;
  if (kind !== undefined) return kind;
  const names = Object.keys(CLIENTS);
  const near = nearest(name, names);
  const hint = near === undefined ? `the kinds are ${names.join(', ')}` : `did you mean ${near}?`;
  throw new UserError('bad_usage', `--client knows no ${shown(name)}; ${hint}`);
}

function lengths(given: DrillFlags, flag: 'prompt-tokens' | 'response-tokens'): Lengths | undefined {
  const text = given[flag]?.[0];
  if (text === undefined) return undefined;
  const [low = '', high] = text.split('-');
  const least = wholeNumber(low, flag, MOST_TOKENS);
  if (high === undefined) return { kind: 'fixed', tokens: least };
  const most = wholeNumber(high, flag, MOST_TOKENS);
  if (most >= least) return { kind: 'uniform', low: least, high: most };
  throw new UserError('bad_usage', `--${flag} must be N or LOW-HIGH, not ${shown(text)}`);
}

function timeScale(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 1 && value <= GREATEST_SCALE) return value;
  const range = `from 1 to ${GREATEST_SCALE}`;
  throw new UserError('bad_usage', `--time-scale must be a number ${range}, not ${shown(text)}`);
}

function oneOf<Word extends string>(text: string, words: readonly Word[], flag: string): Word {
  const word = words.find((each) => each === text);
  if (word !== undefined) return word;
  throw new UserError('bad_usage', `--${flag} must be ${listed(words)}, not ${shown(text)}`);
}

/** The address without the `/v1` that SDKs want at its end. */
function baseUrl(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new UserError('bad_usage', `${shown(text)} is no URL; one looks like http://127.0.0.1:8000`);
  }
  const fits =
    (url.protocol === 'http:' || url.protocol === 'https:') && url.search === '' && url.hash === '';
  if (!fits) {
    throw new UserError('bad_usage', `${shown(text)} must begin with http:// or https:// and have no query`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new UserError('bad_usage', 'a URL may hold no credential; name its source with --key');
  }
  url.pathname = url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
  return url;
}

/** The credential of each tenant; without `--key`, one of its own that says nothing. */
function credentials(sources: readonly string[], { clients }: Plan, env: Env): (tenant: string) => string {
  const tenants = new Set(clients.map(({ tenant }) => tenant));
  const own = new Map<string, string>();
  let common: string | undefined;
  for (const source of sources) {
    const [, tenant, from = ''] = /^([^=]+)=(.+)$/.exec(source) ?? [];
    if (tenant === undefined) common = secretFrom(source, env);
    else if (tenants.has(tenant)) own.set(tenant, secretFrom(from, env));
    else {
      const known = [...tenants].join(', ');
      throw new UserError('bad_usage', `--key: the plan has no tenant ${shown(tenant)}; it has ${known}`);
    }
  }
  return (tenant) => own.get(tenant) ?? common ?? `drill-${tenant}`;
}

function secretFrom(source: string, env: Env): string {
  const secret = (env[source] ?? fileText(source)).trim();
  if (/^[\x21-\x7e]+$/.test(secret) && secret.length <= LONGEST_CREDENTIAL) return secret;
  throw new UserError('input_invalid', `--key: what ${shown(source)} holds cannot be sent as a credential`);
}

function fileText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const message = `--key: ${shown(path)} is neither an environment variable that is set nor a file that can be read`;
    throw new UserError('input_unreadable', message, { cause });
  }
}

async function firstModel({ url, plan, credential }: Checked): Promise<string> {
  const where = `${url.origin}${url.pathname.replace(/\/$/, '')}/v1/models`;
  const tenant = plan.clients[0]?.tenant ?? '';
  let said: unknown;
  try {
    const { statusCode, body } = await request(where, {
      headers: { authorization: `Bearer ${credential(tenant)}` },
      headersTimeout: MODELS_PATIENCE_MS,
      bodyTimeout: MODELS_PATIENCE_MS,
    });
    if (statusCode !== 200) throw new Error(`it answers ${statusCode}`);
    said = await body.json();
  } catch (cause) {
    const message = `cannot ask ${where} for a model: ${errorText(cause)}; is the server there? Else name one with --model`;
    throw new UserError('target_unreachable', message, { cause });
  }
  const id = (said as { data?: { id?: unknown }[] } | null)?.data?.[0]?.id;
  if (typeof id === 'string') return id;
  throw new UserError('target_unreachable', `${where} names no model; name one with --model`);
}

/**
 * Ĉ as `holdfast calibrate` kept it for the target, or for an engine behind it; undefined where the plan needs none.
 * One of an engine that has changed since is told, and not used.
 */
async function storedCapacity(
  { url, engines, plan, credential }: Checked,
  model: string,
  given: DrillFlags,
  { env, err }: World,
): Promise<number | undefined> {
  if (plan.trace !== undefined || plan.stages.every(({ rate }) => 'perSecond' in rate)) return undefined;
  const store = given.store?.[0] ?? defaultStore(env);
  const authorization = `Bearer ${credential(plan.clients[0]?.tenant ?? '')}`;
  for (const each of [url, ...engines]) {
    const known = { target: targetName(each), model, workload: workloadDigest(plan.workload), engine: {} };
    // A server of which nothing is kept is not asked for anything.
    if (capacityFor(store, known).kind === 'none') continue;
    // The credential is the target's alone.
    const asked = await liveEngine(each, model, plan.workload, each === url ? authorization : undefined);
    const found = capacityFor(store, asked);
    if (found.kind === 'none') continue;
    const { capacity, measuredAt } = found.kept;
    const measured = `capacity ${capacity.toPrecision(4)} calls/s, as measured of ${asked.target} at ${measuredAt}`;
    if (found.kind === 'known') {
      err(`${measured}\n`);
      return capacity;
    }
    err(`not used, since the server has changed: ${measured} (${found.differs.join('; ')})\n`);
  }
  const message = `the plan's rates are multiples of the capacity, and none is known of ${shown(model)} at ${url.origin} for this workload: state it with --capacity, or run holdfast calibrate`;
  throw new UserError('bad_usage', message);
}
