/** SVG and HTML as text: whatever is not markup is escaped, and the same input gives the same bytes. */

/** Text that may stand in a document as it is; only this file makes it. */
export type Markup = string & { readonly markup: true };

export type Attributes = Readonly<Record<string, string | number | undefined>>;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Elements without content. Any other is closed by name, since HTML takes a slash at its end for nothing. */
const VOID = new Set(['meta', 'rect', 'path', 'circle']);

/** Control characters, most of which XML forbids even as references, and halves of surrogate pairs. */
const FORBIDDEN = /(?![\t\n\r])[\p{Cc}\p{Surrogate}\uFFFE\uFFFF]/gu;

/** `text` for an element's content or an attribute's value. */
export function escaped(text: string): Markup {
  const allowed = text.replaceAll(FORBIDDEN, '\uFFFD');
  return allowed.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '') as Markup;
}

/** One element; attributes that are undefined are left out, numbers are cut to two decimals. */
export function element(name: string, attributes: Attributes, ...children: readonly Markup[]): Markup {
  const given = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [` ${key}="${typeof value === 'number' ? short(value) : escaped(value)}"`],
  );
  const open = `<${name}${given.join('')}`;
  return (VOID.has(name) ? `${open}/>` : `${open}>${children.join('')}</${name}>`) as Markup;
}

/** An element with nothing but text in it. */
export function worded(name: string, attributes: Attributes, text: string): Markup {
  return element(name, attributes, escaped(text));
}

export function joined(parts: readonly Markup[]): Markup {
  return parts.join('') as Markup;
}

/** A style sheet or document type written in this folder; never anything that came from a record. */
export function trusted(text: string): Markup {
  return text as Markup;
}

/** A coordinate: two decimals at most. */
export function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}
