/**
 * One text for all spellings of a JSON document: keys sorted, no space, one way to escape. It works on the text,
 * not on parsed values, so that numbers stay as they were written: 1.0 is not 1, and no digit of 2^64 is lost.
 */

/** Deeper documents have no canonical form; real requests stay far below. */
export const DEPTH_LIMIT = 128;

/**
 * Larger documents have none either, so that no request holds up the others: a value counts one, a member of an object
 * {@link MEMBER_STEPS}, a string with escapes {@link ESCAPED_STEPS}. A prompt of 131,072 token ids is below it.
 */
export const STEP_LIMIT = 140_000;
const MEMBER_STEPS = 12;
const ESCAPED_STEPS = 8;

/** The members of a top-level object: each key with the canonical text of its value. */
export type Members = ReadonlyMap<string, string>;

/** Thrown inside this file only: the text has no canonical form. */
class NoForm extends Error {}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\n\r]*/y;
// oxlint-disable-next-line no-control-regex -- exactly the characters that JSON forbids inside a string
const CONTROL = /[\u0000-\u001f]/;

/**
 * The members of the JSON object that `text` holds, or undefined when it has no canonical form: not an object,
 * not JSON, a key twice in one object, deeper than {@link DEPTH_LIMIT}, or larger than {@link STEP_LIMIT}. `clean` says
 * that the text is known to hold no control character at all, so that none is looked for in its strings.
 */
export function canonicalMembers(text: string, clean = false): Members | undefined {
  const reader = new Reader(text, clean);
  try {
    const members = reader.topObject();
    return reader.atEnd() ? members : undefined;
  } catch (error) {
    if (error instanceof NoForm) return undefined;
    throw error;
  }
}

/** The canonical text of an object's members, without those named in `without`. */
export function canonicalText(members: Members, without: ReadonlySet<string> = new Set()): string {
  const names: string[] = [];
  for (const name of members.keys()) if (!without.has(name)) names.push(name);
  if (!areSorted(names)) names.sort(byCodeUnits);
  let text = '';
  for (const name of names)
    text += `${text === '' ? '{' : ','}${JSON.stringify(name)}:${members.get(name) ?? ''}`;
  return text === '' ? '{}' : `${text}}`;
}

function areSorted(names: readonly string[]): boolean {
  for (let at = 1; at < names.length; at += 1) {
    if ((names[at - 1] as string) > (names[at] as string)) return false;
  }
  return true;
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

class Reader {
  readonly #text: string;
  readonly #clean: boolean;
  #at = 0;
  #steps = STEP_LIMIT;

  constructor(text: string, clean: boolean) {
    this.#text = text;
    this.#clean = clean;
  }

  topObject(): Members {
    this.#space();
    return this.#members(1);
  }

  atEnd(): boolean {
    this.#space();
    return this.#at === this.#text.length;
  }

  #members(depth: number): Map<string, string> {
    const members = new Map<string, string>();
    this.#take('{');
    this.#space();
    if (this.#peek() === '}') {
      this.#at += 1;
      return members;
    }
    for (;;) {
      this.#spend(MEMBER_STEPS);
      this.#space();
      const key = this.#string();
      this.#space();
      this.#take(':');
      const name = key.includes('\\') ? (JSON.parse(key) as string) : key.slice(1, -1);
      if (members.has(name)) throw new NoForm();
      members.set(name, this.#value(depth));
      if (this.#closes('}')) return members;
    }
  }

  #array(depth: number): string {
    this.#take('[');
    this.#space();
    if (this.#peek() === ']') {
      this.#at += 1;
      return '[]';
    }
    const items: string[] = [];
    for (;;) {
      items.push(this.#value(depth));
      if (this.#closes(']')) return `[${items.join(',')}]`;
    }
  }

  /** After an item: true at the closing bracket, false at a comma, both taken. */
  #closes(bracket: string): boolean {
    this.#space();
    const next = this.#peek();
    this.#at += 1;
    if (next === bracket) return true;
    if (next === ',') return false;
    throw new NoForm();
  }

  #value(depth: number): string {
    if (depth >= DEPTH_LIMIT) throw new NoForm();
    this.#spend(1);
    this.#space();
    switch (this.#peek()) {
      case '{':
        return canonicalText(this.#members(depth + 1));
      case '[':
        return this.#array(depth + 1);
      case '"':
        return this.#string();
      case 't':
        return this.#word('true');
      case 'f':
        return this.#word('false');
      case 'n':
        return this.#word('null');
      case undefined:
        throw new NoForm();
      default:
        return this.#number();
    }
  }

  #spend(steps: number): void {
    this.#steps -= steps;
    if (this.#steps < 0) throw new NoForm();
  }

  #word(word: string): string {
    if (!this.#text.startsWith(word, this.#at)) throw new NoForm();
    this.#at += word.length;
    return word;
  }

  #number(): string {
    NUMBER.lastIndex = this.#at;
    const [digits] = NUMBER.exec(this.#text) ?? [];
    if (digits === undefined) throw new NoForm();
    this.#at += digits.length;
    return digits;
  }

  /** A string in its one spelling, quotes included. */
  #string(): string {
    const text = this.#text;
    const from = this.#at;
    if (text[from] !== '"') throw new NoForm();
    let end = text.indexOf('"', from + 1);
    // Not sought in the text: where it has none, every string would be a search to its end.
    const plain = !text.slice(from, end + 1).includes('\\');
    if (!plain) end = closingQuote(text, text.indexOf('\\', from + 1));
    if (end < 0) throw new NoForm();
    this.#at = end + 1;
    const token = text.slice(from, end + 1);
    if (!this.#clean && CONTROL.test(token)) throw new NoForm();
    if (plain) return token;
    this.#spend(ESCAPED_STEPS);
    try {
      return JSON.stringify(JSON.parse(token));
    } catch {
      throw new NoForm();
    }
  }

  #take(character: string): void {
    if (this.#peek() !== character) throw new NoForm();
    this.#at += 1;
  }

  #peek(): string | undefined {
    return this.#text[this.#at];
  }

  #space(): void {
    const code = this.#text.charCodeAt(this.#at);
    if (code > 0x20) return;
    SPACE.lastIndex = this.#at;
    SPACE.test(this.#text);
    this.#at = SPACE.lastIndex;
  }
}

/** Where the string ends whose first escape stands at `at`; negative when it does not. */
function closingQuote(text: string, at: number): number {
  let quote = text.indexOf('"', at);
  let escape = at;
  while (escape >= 0 && escape < quote) {
    const after = escape + 2;
    if (quote < after) quote = text.indexOf('"', after);
    escape = text.indexOf('\\', after);
  }
  return quote;
}
