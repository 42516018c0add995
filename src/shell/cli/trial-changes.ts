/** Options from `--set control.room=100` and its like: known keys only, values as JSON or plain words. */

import { CONTROL_DEFAULTS } from '../../core/control/options.js';
import { ENGINE_DEFAULTS } from '../../core/engine/options.js';
import { linearCost } from '../../core/engine/profiles.js';
import { UserError } from '../shared/errors.js';
import { nearest, shown } from '../shared/options.js';

/** Where a key may be: before its dot. */
type Place = 'control' | 'engine' | 'cost';

type OptionChanges<Places extends Place> = {
  readonly [Name in Places]: Readonly<Record<string, Name extends 'cost' ? number : unknown>>;
};

const MOST_COST = 1e6;

const KEYS: Readonly<Record<Place, () => readonly string[]>> = {
  control: controlKeys,
  engine: () => Object.keys(ENGINE_DEFAULTS),
  cost: () => Object.keys(linearCost(0, 0)),
};

/** The changes at `places`; a `UserError` says which key there is not, or which cost cannot be. */
export function changesOf<Places extends Place>(
  settings: readonly string[],
  places: readonly Places[],
): OptionChanges<Places> {
  const changes = Object.fromEntries(places.map((place) => [place, {}])) as Record<
    Places,
    Record<string, unknown>
  >;
  for (const setting of settings) {
    const equals = setting.indexOf('=');
    if (equals < 1) throw new UserError('bad_usage', `--set takes KEY=VALUE, not ${shown(setting)}`);
    const [first = '', ...path] = setting.slice(0, equals).split('.');
    const place = places.find((each) => each === first);
    const known = place === undefined ? [] : KEYS[place]();
    if (place === undefined || !known.includes(path.join('.'))) {
      throw unknown(setting.slice(0, equals), place, place === undefined ? places : known);
    }
    set(changes[place], path, valueOf(setting.slice(equals + 1)));
  }
  checkCosts((changes as Partial<Record<Place, Record<string, unknown>>>).cost ?? {});
  return changes as OptionChanges<Places>;
}

/** Keys of the control's options, those of budget and bounds behind a dot. */
function controlKeys(): readonly string[] {
  const { budget, bounds, ...plain } = CONTROL_DEFAULTS;
  const under = (name: string, of: object): string[] => Object.keys(of).map((key) => `${name}.${key}`);
  return [
    ...Object.keys(plain),
    'capacity',
    'maxClass',
    ...under('budget', budget),
    ...under('bounds', bounds),
  ];
}

function set(into: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [first = '', second] = path;
  if (second === undefined) into[first] = value;
  else into[first] = { ...(into[first] as object | undefined), [second]: value };
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function unknown(key: string, place: string | undefined, known: readonly string[]): UserError {
  const all = known.map((each) => (place === undefined ? `${each}.…` : `${place}.${each}`));
  const near = nearest(key, all);
  const hint = near === undefined ? `the keys are ${all.join(', ')}` : `did you mean ${near}?`;
  return new UserError('bad_usage', `--set knows no ${shown(key)}; ${hint}`);
}

function checkCosts(costs: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(costs)) {
    const fits = typeof value === 'number' && value >= 0 && value <= MOST_COST;
    if (fits && (name !== 'efficiency' || value > 0)) continue;
    throw new UserError(
      'bad_usage',
      `cost.${name} must be a number from 0 to ${MOST_COST}, not ${shown(value)}`,
    );
  }
}
