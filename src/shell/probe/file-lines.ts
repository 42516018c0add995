/** A file line by line, however long it is: one piece in memory at a time, and no line beyond a bound. */

import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';

const PIECE_BYTES = 64 * 1024;
const LONGEST_LINE = 1024 * 1024;

export interface FileLine {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

/** The lines of the file at `path` without their ends; throws what the file system does, or for a line too long. */
export function* fileLines(path: string): Iterable<FileLine> {
  const file = openSync(path, 'r');
  try {
    const decoder = new StringDecoder('utf8');
    const piece = Buffer.alloc(PIECE_BYTES);
    let [number, open] = [0, ''];
    for (let read = readSync(file, piece); read > 0; read = readSync(file, piece)) {
      const lines = (open + decoder.write(piece.subarray(0, read))).split('\n');
      open = lines.pop() ?? '';
      if (open.length > LONGEST_LINE) throw new Error(`line ${number + lines.length + 1} does not end`);
      for (const text of lines) yield { number: (number += 1), text: text.replace(/\r$/, '') };
    }
    open += decoder.end();
    if (open !== '') yield { number: number + 1, text: open.replace(/\r$/, '') };
  } finally {
    closeSync(file);
  }
}
