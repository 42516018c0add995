/** Reads a request's body up to a bound. */

import type { IncomingMessage } from 'node:http';

/** The body; or `too_large`; or `broken` when it never arrived in full. */
export type BodyRead = Buffer | 'too_large' | 'broken';

/** Resolves once, as soon as the outcome is certain; a body that is too large is not waited for. */
export function readBody(request: IncomingMessage, limitBytes: number): Promise<BodyRead> {
  const { promise, resolve } = newPromise();
  if (declaredBytes(request) > limitBytes) {
    resolve('too_large');
    return promise;
  }
  const pieces: Buffer[] = [];
  let bytes = 0;
  request.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes <= limitBytes) {
      pieces.push(piece);
    } else {
      pieces.length = 0;
      resolve('too_large');
    }
  });
  request.on('end', () =>
    resolve(pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces)),
  );
  request.on('error', () => resolve('broken'));
  request.on('close', () => resolve('broken'));
  return promise;
}

/** What `Content-Length` promises; 0 when it says nothing. */
export function declaredBytes(request: IncomingMessage): number {
  const bytes = Number(request.headers['content-length'] ?? 0);
  return Number.isFinite(bytes) ? bytes : 0;
}

function newPromise(): { promise: Promise<BodyRead>; resolve: (read: BodyRead) => void } {
  let resolve: (read: BodyRead) => void = () => {};
  const promise = new Promise<BodyRead>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
