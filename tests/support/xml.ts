/** Markup read by a strict XML parser: what it complains of, and the elements and words it found. */

import { SaxesParser } from 'saxes';

export interface ReadMarkup {
  /** Empty when the text is well formed. */
  readonly problems: readonly string[];
  readonly elements: readonly ReadElement[];
  /** All text outside of tags, references resolved. */
  readonly text: string;
}

export interface ReadElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

export function readMarkup(markup: string): ReadMarkup {
  const problems: string[] = [];
  const elements: ReadElement[] = [];
  const words: string[] = [];
  const parser = new SaxesParser();
  parser.on('error', ({ message }) => problems.push(message));
  parser.on('opentag', ({ name, attributes }) => elements.push({ name, attributes }));
  parser.on('text', (text) => words.push(text));
  parser.write(markup).close();
  return { problems, elements, text: words.join(' ') };
}
