/** Options of control and engine from `--set control.room=100`: known keys only, values as JSON or plain words. */

import { CONTROL_DEFAULTS } from '../../core/control/options.js';
import { ENGINE_DEFAULTS } from '../../core/engine/options.js';
import { UserError } from '../shared/errors.js';
import { nearest, shown } from '../shared/options.js';

interface OptionChanges {
  readonly control: Readonly<Record<string, unknown>>;
  readonly engine: Readonly<Record<string, unknown>>;
}

/** A `UserError` says which key there is not. */
export function changesOf(settings: readonly string[]): OptionChanges {
  const changes = { control: {} as Record<string, unknown>, engine: {} as Record<string, unknown> };
  for (const setting of settings) {
    const equals = setting.indexOf('=');
    if (equals < 1) throw new UserError('bad_usage', `--set takes KEY=VALUE, not ${shown(setting)}`);
    const [place = '', ...path] = setting.slice(0, equals).split('.');
    const value = valueOf(setting.slice(equals + 1));
    const known =
      place === 'control' ? controlKeys() : place === 'engine' ? Object.keys(ENGINE_DEFAULTS) : [];
    const key = path.join('.');
    if (!known.includes(key))
      throw unknown(setting.slice(0, equals), known.length > 0 ? place : undefined, known);
    set(place === 'control' ? changes.control : changes.engine, path, value);
  }
  return changes;
}

/** Keys of the control's options, those of budget and bounds behind a dot. */
function controlKeys(): readonly string[] {
  const { budget, bounds, ...plain } = CONTROL_DEFAULTS;
  const under = (name: string, of: object): string[] => Object.keys(of).map((key) => `${name}.${key}`);
  return [...Object.keys(plain), 'capacity', ...under('budget', budget), ...under('bounds', bounds)];
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
  const all = place === undefined ? ['control.…', 'engine.…'] : known.map((each) => `${place}.${each}`);
  const near = nearest(key, all);
  const hint = near === undefined ? `the keys are ${all.join(', ')}` : `did you mean ${near}?`;
  return new UserError('bad_usage', `--set knows no ${shown(key)}; ${hint}`);
}
