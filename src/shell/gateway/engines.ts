/** The configured engines as the control knows them: each by a name that metrics and logs may show. */

import type { ControlOptions, EngineOptions } from '../../core/control/options.js';
import type { GatewayConfig } from './config.js';

const SCHEME = /^https?:[/][/]/;

type Named = Pick<GatewayConfig, 'upstreams'>;

/** The name of each engine: as configured, or its address; the second of two equal ones has a number after it. */
export function engineNames({ upstreams }: Named): readonly string[] {
  const given = new Map<string, number>();
  return upstreams.map((upstream) => {
    const name = upstream.name ?? upstream.url.replace(SCHEME, '');
    const count = (given.get(name) ?? 0) + 1;
    given.set(name, count);
    return count === 1 ? name : `${name}#${count}`;
  });
}

/** The engines of the control; one without a name where none is configured. */
export function engineOptions(config: Named): readonly EngineOptions[] {
  const names = engineNames(config);
  return config.upstreams.map(({ models, room }, index) => ({
    name: names[index] as string,
    models: models?.length === 0 ? undefined : models,
    room,
  }));
}

/** The settings of the control, whole. */
export function controlOptionsOf(config: GatewayConfig): ControlOptions {
  return { ...config.control, engines: engineOptions(config) };
}
