/** Whether bytes hold a control character, four at a time: a long prompt is mostly one string without any. */

/** In each byte of a word: the first that is no control character, and the bit that a smaller one leaves behind. */
const SPACES = 0x20202020;
const HIGH_BITS = 0x80808080;

/** Whether any byte is below 0x20. */
export function hasControlBytes(bytes: Buffer): boolean {
  const { buffer, byteOffset, length } = bytes;
  // A view of words has to begin at a multiple of four.
  const from = (4 - (byteOffset % 4)) % 4;
  const count = Math.max(0, Math.floor((length - from) / 4));
  const words = new Int32Array(buffer, count === 0 ? 0 : byteOffset + from, count);
  for (let at = 0; at < count; at += 1) {
    const word = words[at] as number;
    if (((word - SPACES) & ~word & HIGH_BITS) !== 0) return true;
  }
  return hasControl(bytes, 0, Math.min(from, length)) || hasControl(bytes, from + count * 4, length);
}

function hasControl(bytes: Buffer, from: number, end: number): boolean {
  for (let at = from; at < end; at += 1) if ((bytes[at] as number) < 0x20) return true;
  return false;
}
