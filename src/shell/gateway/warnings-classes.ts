/** Settings of classes that defeat each other. */

import type { GatewayConfig } from './config.js';
import type { Caution } from './warnings.js';

const named = ({ control, tenants }: GatewayConfig): boolean =>
  control.maxClass !== undefined || tenants.some(({ maxClass }) => maxClass !== undefined);

export const CLASS_CAUTIONS: readonly Caution[] = [
  {
    holds: (config) => config.control.classes.length < 2 && named(config),
    text: 'control.max_class or max_class of tenants is set while control.classes has fewer than two: no call goes before another for its class',
  },
  {
    holds: (config) =>
      config.control.classes.length >= 2 &&
      named(config) &&
      config.control.room === 'off' &&
      config.upstreams.every(({ room }) => (room ?? 'off') === 'off'),
    text: 'control.max_class or max_class of tenants has no effect while control.room is off: nobody waits in line',
  },
  {
    holds: ({ control: { classes, defaultClass, maxClass = defaultClass } }) =>
      classes.indexOf(maxClass) > classes.indexOf(defaultClass),
    text:
      'control.max_class is below control.default_class: calls that ask for no class are served in control.max_class, ' +
      'but for the tenants that may have a higher one',
  },
  {
    holds: ({ control: { classes, maxClass, shares } }) =>
      classes.length >= 2 && shares === 'off' && classes.indexOf(maxClass ?? '') === 0,
    text:
      'control.max_class is the highest class while control.shares is off: whoever asks for it goes before all others, ' +
      'so that one client can put off everybody; name the tenants that may have it, or set control.shares to tenant',
  },
];
