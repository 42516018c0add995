/** Reads the whole body of somebody else's answer, within a bound. */

/** All of `body`; undefined, and the rest is not read, where it has more than `mostBytes`. Rejects as `body` does. */
export async function boundedBody(
  body: AsyncIterable<unknown>,
  mostBytes: number,
): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > mostBytes) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
