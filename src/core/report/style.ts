/** Colours, dashes and patterns: told apart without colour, on paper and in the dark. */

import { element, joined, type Markup, trusted } from './markup.js';

/** What a surface or a line stands for; each has a colour, and a pattern or dash of its own. */
export const INKS = [
  'onTime',
  'late',
  'tooLate',
  'refused',
  'abandoned',
  'broken',
  'open',
  'engine',
  'line',
] as const;
export type Ink = (typeof INKS)[number];

interface Look {
  readonly light: string;
  readonly dark: string;
  readonly pattern: 'plain' | 'rising' | 'falling' | 'dots' | 'crossed' | 'level' | 'upright';
}

/** Hues after Okabe and Ito, whose palette survives every common colour blindness. */
const LOOKS: Readonly<Record<Ink, Look>> = {
  onTime: { light: '#0072b2', dark: '#3c9fdc', pattern: 'plain' },
  late: { light: '#7cc0ea', dark: '#a9dcf9', pattern: 'rising' },
  tooLate: { light: '#c4dfef', dark: '#dcebf5', pattern: 'dots' },
  refused: { light: '#e69f00', dark: '#f0b637', pattern: 'upright' },
  abandoned: { light: '#d55e00', dark: '#ee7a2a', pattern: 'falling' },
  broken: { light: '#b0558a', dark: '#d98cb8', pattern: 'crossed' },
  open: { light: '#b7bec6', dark: '#79848f', pattern: 'level' },
  engine: { light: '#d55e00', dark: '#ee7a2a', pattern: 'falling' },
  line: { light: '#7cc0ea', dark: '#a9dcf9', pattern: 'rising' },
};

const LIGHT = '--paper:#ffffff;--ink:#1a1f25;--quiet:#56606b;--rule:#d5dbe1;--band:#f1f4f7;--hatch:#ffffff;';
const DARK = '--paper:#14181d;--ink:#e9ecef;--quiet:#a7b1bc;--rule:#3a434d;--band:#1d242b;--hatch:#14181d;';

function inks(of: 'light' | 'dark'): string {
  return INKS.map((ink) => `--${ink}:${LOOKS[ink][of]};`).join('');
}

/** For a page and for a picture that stands alone. Print is light, whatever the screen is. */
export const STYLE: Markup = trusted(
  [
    `:root{color-scheme:light dark;${LIGHT}${inks('light')}}`,
    `@media (prefers-color-scheme:dark){:root{${DARK}${inks('dark')}}}`,
    `@media print{:root{color-scheme:light;${LIGHT}${inks('light')}}svg{print-color-adjust:exact;-webkit-print-color-adjust:exact}}`,
    'svg text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;fill:var(--ink)}',
    'svg text.quiet{fill:var(--quiet)}svg text.strong{font-weight:600}svg text.small{font-size:10px}svg text.head{font-size:14px;font-weight:600}',
    'svg text.halo{paint-order:stroke;stroke:var(--paper);stroke-width:3px;stroke-linejoin:round}',
    '.paper{fill:var(--paper)}.band{fill:var(--band)}.rule{stroke:var(--rule);fill:none}.axis{stroke:var(--quiet);fill:none}',
    '.edge{stroke:var(--paper);stroke-width:1}.hatch{stroke:var(--hatch);fill:none}.speck{fill:var(--hatch)}',
    '.limit{stroke:var(--ink);stroke-width:1.2;stroke-dasharray:7 3 1.5 3;fill:none}',
    '.calls{stroke:var(--ink);stroke-width:1.6;stroke-dasharray:1.5 2.5;fill:none}',
    '.attempts{stroke:var(--broken);stroke-width:2;stroke-dasharray:6 3;fill:none}',
    '.executions{stroke:var(--abandoned);stroke-width:2.6;fill:none}',
    '.hollow{fill:var(--paper);stroke:var(--ink);stroke-width:1.4}.answers{stroke:var(--onTime);stroke-width:1.4;fill:none}.boundary{stroke:var(--ink);stroke-width:3;fill:none}',
    ...INKS.map((ink) => `.${ink}{fill:var(--${ink})}`),
  ].join(''),
);

/** The patterns that {@link fillOf} points to; once a page, and once in a picture that stands alone. */
export function patternDefinitions(): Markup {
  return element('defs', {}, joined(INKS.map(patternOf)));
}

/** The value of `fill` for a surface. */
export function fillOf(ink: Ink): string {
  return `url(#ink-${ink})`;
}

function patternOf(ink: Ink): Markup {
  const tile = { id: `ink-${ink}`, width: 6, height: 6, patternUnits: 'userSpaceOnUse' };
  const ground = element('rect', { class: ink, width: 6, height: 6 });
  return element('pattern', tile, ground, marksOf(LOOKS[ink].pattern));
}

function marksOf(pattern: Look['pattern']): Markup {
  const lines = (d: string, width: number): Markup =>
    element('path', { class: 'hatch', d, 'stroke-width': width });
  switch (pattern) {
    case 'plain':
      return joined([]);
    case 'rising':
      return lines('M-1 1L1 -1M-1 7L7 -1M5 7L7 5', 1.3);
    case 'falling':
      return lines('M-1 5L1 7M-1 -1L7 7M5 -1L7 1', 1.3);
    case 'dots':
      return joined([
        element('circle', { class: 'speck', cx: 1.5, cy: 1.5, r: 0.9 }),
        element('circle', { class: 'speck', cx: 4.5, cy: 4.5, r: 0.9 }),
      ]);
    case 'crossed':
      return lines('M0 0L6 6M6 0L0 6', 1);
    case 'level':
      return lines('M0 3H6', 1.2);
    case 'upright':
      return lines('M3 0V6', 1.4);
    default:
      return pattern satisfies never;
  }
}
