/** One self-contained HTML file: no script, nothing fetched, readable on paper, in the dark and on a narrow screen. */

import { element, joined, type Markup, trusted, worded } from './markup.js';
import { patternDefinitions, STYLE } from './style.js';

const PAGE_STYLE: Markup = trusted(
  [
    '*{box-sizing:border-box}',
    'body{margin:0 auto;padding:1.5rem 1.25rem 3rem;max-width:76rem;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:anywhere}',
    'h1{font-size:1.6rem;line-height:1.25;margin:0 0 .25rem}h2{font-size:1.05rem;line-height:1.35;margin:0 0 .5rem}h3{font-size:.95rem;margin:0 0 .5rem}',
    '.about,.note{color:var(--quiet);font-size:.875rem;margin:.25rem 0 .75rem}',
    '.verdict{font-size:1.15rem;margin:.75rem 0 1rem;max-width:60rem}',
    '.invalid{border:3px solid var(--abandoned);border-radius:.5rem;padding:.75rem 1rem;margin:1rem 0}.invalid strong{font-size:1.3rem}.invalid ul{margin:.25rem 0 0;padding-left:1.25rem}',
    '.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.75rem;margin:0 0 1.5rem;padding:0;list-style:none}',
    '.tiles li{border:1px solid var(--rule);border-radius:.5rem;padding:.6rem .8rem}.tiles b{display:block;font-size:1.5rem;line-height:1.2;font-variant-numeric:tabular-nums}.tiles span{color:var(--quiet);font-size:.8rem;line-height:1.3;display:block}',
    '.pictures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,31rem),1fr));gap:1.75rem 2rem;align-items:start}',
    'figure{margin:0;break-inside:avoid;min-width:0}figure.wide{grid-column:1/-1}.drawing{overflow-x:auto}.drawing svg{display:block;width:100%;height:auto;min-width:21rem}',
    '.numbers{overflow-x:auto;margin-top:.5rem}table{border-collapse:collapse;font-size:.8rem;line-height:1.3;font-variant-numeric:tabular-nums;width:100%;overflow-wrap:normal}',
    'th,td{padding:.25rem .5rem;border-bottom:1px solid var(--rule);text-align:right;vertical-align:bottom}th:first-child{text-align:left;padding-left:0}thead th{color:var(--quiet);font-weight:500}tbody th{font-weight:500}',
    'section{margin-top:2rem}dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem;font-size:.875rem;margin:.5rem 0}dt{color:var(--quiet)}dd{margin:0}',
    '.legend svg{display:block;max-width:100%;height:auto}.panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:1rem 1.5rem}.panels .drawing svg{min-width:0}.panels figure{max-width:38rem}.wide .drawing svg{min-width:44rem}',
    '.hidden{position:absolute;width:0;height:0}',
    '@media print{dl{font-size:8pt}h1{font-size:15pt}@page{size:A4;margin:12mm}body{padding:0;max-width:none;font-size:11pt}.pictures{grid-template-columns:1fr 1fr;gap:1rem 1.25rem}.panels{grid-template-columns:1fr 1fr 1fr}.wide .drawing svg{min-width:0}.drawing svg{min-width:0}.drawing,.numbers{overflow:visible}table{font-size:6.5pt}th,td{padding:.15rem .25rem}h2{font-size:10pt}.verdict{font-size:11pt}.tiles{grid-template-columns:repeat(7,1fr)}.tiles li{padding:.4rem .5rem}.tiles b{font-size:11pt}.tiles span{font-size:7pt}.note,.about{font-size:8pt}}',
  ].join(''),
);

export interface DocumentParts {
  /** In plain words: the window's name and the head of the page. */
  readonly title: string;
  readonly body: readonly Markup[];
}

/** A whole file. */
export function htmlFile({ title, body }: DocumentParts): string {
  const head = element(
    'head',
    {},
    element('meta', { charset: 'utf-8' }),
    element('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    element('meta', { name: 'color-scheme', content: 'light dark' }),
    worded('title', {}, title),
    element('style', {}, STYLE, PAGE_STYLE),
  );
  const patterns = element('svg', { class: 'hidden', 'aria-hidden': 'true' }, patternDefinitions());
  const page = element(
    'html',
    { lang: 'en' },
    head,
    element('body', {}, patterns, element('main', {}, joined(body))),
  );
  return `<!DOCTYPE html>\n${page}\n`;
}

export interface Tile {
  readonly value: string;
  readonly words: string;
}

/** The few numbers to read first. */
export function tilesOf(tiles: readonly Tile[]): Markup {
  return element(
    'ul',
    { class: 'tiles' },
    ...tiles.map(({ value, words }) => element('li', {}, worded('b', {}, value), worded('span', {}, words))),
  );
}

/** Names and what they stand for. */
export function listOf(entries: readonly (readonly [name: string, words: string])[]): Markup {
  return element(
    'dl',
    {},
    ...entries.flatMap(([name, words]) => [worded('dt', {}, name), worded('dd', {}, words)]),
  );
}
