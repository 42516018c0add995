/** The settings for pages of a browser that come from elsewhere. */

import { boolean, list, textOf } from '../shared/settings/kinds.js';
import { setting, type Values } from '../shared/settings/table.js';

const origin = textOf('an origin such as https://app.example.com, or *', readOrigin, {
  pattern: String.raw`^(\*|[A-Za-z][A-Za-z0-9+.\-]*://[^\s/?#]+)$`,
  hint: (raw) => {
    const meant = typeof raw === 'string' && URL.canParse(raw) ? new URL(raw).origin : 'null';
    return meant === 'null' ? undefined : `did you mean ${meant}?`;
  },
});

export const CORS = {
  origins: setting(list(origin, 'origins'), {
    default: [],
    changes: 'live',
    about:
      "whose pages a browser lets read answers, or `*` for all; preflights are then answered here, and those of other pages with 403. Empty: no answer says a word about it, the engine's own words included",
  }),
  credentials: setting(boolean, {
    default: false,
    changes: 'live',
    about:
      'whether these pages may send cookies and the like; a key in a header needs it not. It has no effect beside `*`',
  }),
};
export interface CorsSettings extends Values<typeof CORS> {}

/** As browsers write it: scheme, host and a port that is not the scheme's own, in lower case, and nothing behind. */
function readOrigin(raw: string): string | undefined {
  if (raw === '*') return raw;
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]+$/i.test(raw) || !URL.canParse(raw)) return undefined;
  const { origin: own, protocol, host } = new URL(raw);
  // Schemes of a browser's extensions have no origin of their own in Node.
  return own === 'null' ? `${protocol}//${host}` : own;
}
