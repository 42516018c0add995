/** Reads a request's body up to bounds in bytes and time, and unpacks what came compressed. */

import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import zlib from 'node:zlib';
import type { RejectReason } from '../../core/control/words.js';
import type { Clock } from '../../core/time/clock.js';

/** A body that has arrived. */
export interface ReadBody {
  readonly bytes: Buffer;
  /** Still compressed, in a way that the gateway cannot undo: only the engine can say what it holds. */
  readonly packed: boolean;
}

/** The bytes of all bodies that are being read, which share one bound. */
export class BodiesHeld {
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
  }
}

/** What one tenant holds, and may hold in all. */
export interface TenantShare {
  readonly bytes: number;
  readonly most: number;
  add(bytes: number): void;
}

export interface BodyBounds {
  readonly clock: Clock;
  readonly held: BodiesHeld;
  /** Of this body, before and after it is unpacked. */
  readonly mostBytes: number;
  /** Of all bodies that are being read. */
  readonly mostHeldBytes: number;
  /** Absent while no tenant has a bound of its own. */
  readonly tenant: TenantShare | undefined;
  /** From now to its last byte, and between two of them, in milliseconds of the clock. */
  readonly wholeMs: number;
  readonly idleMs: number;
}

/** Each compression that a body may have, while this Node knows it. */
const UNPACK: Readonly<Record<string, () => Transform>> = {
  gzip: () => zlib.createGunzip(),
  'x-gzip': () => zlib.createGunzip(),
  deflate: () => zlib.createInflate(),
  br: () => zlib.createBrotliDecompress(),
  ...('createZstdDecompress' in zlib
    ? { zstd: () => (zlib as unknown as { createZstdDecompress: () => Transform }).createZstdDecompress() }
    : {}),
};

/**
 * Calls `done` once, later, as soon as the outcome is certain; a body that is refused is not waited for. To be called
 * with the request as it comes, before anybody else reads it.
 */
export function readBody(
  request: IncomingMessage,
  bounds: BodyBounds,
  done: (body: ReadBody | RejectReason) => void,
): void {
  // Most bodies come with their headers, and are there as soon as Node has read on.
  process.nextTick(() => {
    const declared = declaredBytes(request);
    if (declared > bounds.mostBytes) return done('rejected_too_large');
    const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
    const isThere = request.complete || (declared > 0 && request.readableLength === declared);
    if (isThere && encoding === 'identity') return done(arrived(request, bounds));
    const unpack = Object.hasOwn(UNPACK, encoding) ? UNPACK[encoding]?.() : undefined;
    const reading = new Reading(bounds, (bytes) => {
      if (typeof bytes === 'string') done(bytes);
      else done({ bytes, packed: unpack === undefined && encoding !== 'identity' });
    });
    reading.follow(request, unpack);
  });
}

/** The body of a request that is all there. */
function arrived(
  request: IncomingMessage,
  { held, mostBytes, mostHeldBytes, tenant }: BodyBounds,
): ReadBody | RejectReason {
  const bytes = (request.read() as Buffer | null) ?? Buffer.alloc(0);
  const { length } = bytes;
  if (length > mostBytes) return 'rejected_too_large';
  if (held.bytes + length > mostHeldBytes) return 'rejected_bodies_full';
  const isBeyondShare = length > 0 && tenant !== undefined && tenant.bytes + length > tenant.most;
  return isBeyondShare ? 'rejected_tenant_bytes' : { bytes, packed: false };
}

/** What `Content-Length` promises; 0 when it says nothing. */
export function declaredBytes(request: IncomingMessage): number {
  const bytes = Number(request.headers['content-length'] ?? 0);
  return Number.isFinite(bytes) ? bytes : 0;
}

/** One body on its way. */
class Reading {
  readonly #bounds: BodyBounds;
  readonly #done: (outcome: Buffer | RejectReason) => void;
  readonly #startedAt: number;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #heardAt: number;
  #over = false;
  #letGo = (): void => {};
  #cancel = (): void => {};

  constructor(bounds: BodyBounds, done: (outcome: Buffer | RejectReason) => void) {
    this.#bounds = bounds;
    this.#done = done;
    this.#startedAt = bounds.clock.now();
    this.#heardAt = this.#startedAt;
    this.#watch();
  }

  follow(request: IncomingMessage, unpack: Transform | undefined): void {
    let received = 0;
    request.on('data', (piece: Buffer) => {
      this.#heardAt = this.#bounds.clock.now();
      received += piece.length;
      if (received > this.#bounds.mostBytes) this.#end('rejected_too_large');
    });
    request.on('error', () => this.#end('rejected_malformed'));
    request.on('close', () => {
      if (!request.complete) this.#end('rejected_malformed');
    });
    const source: Readable = unpack === undefined ? request : request.pipe(unpack);
    source.on('data', (piece: Buffer) => this.#take(piece));
    source.on('end', () => this.#end(this.#whole()));
    source.on('error', () => this.#end('rejected_malformed'));
    this.#letGo = () => {
      if (unpack === undefined) return;
      request.unpipe(unpack);
      unpack.destroy();
      // What still comes is read and dropped, so that the answer is not lost behind a reset.
      request.resume();
    };
  }

  #take(piece: Buffer): void {
    if (this.#over) return;
    const { held, mostBytes, mostHeldBytes, tenant } = this.#bounds;
    if (this.#bytes + piece.length > mostBytes) return this.#end('rejected_too_large');
    if (held.bytes + piece.length > mostHeldBytes) return this.#end('rejected_bodies_full');
    if (tenant !== undefined && tenant.bytes + piece.length > tenant.most)
      return this.#end('rejected_tenant_bytes');
    held.add(piece.length);
    tenant?.add(piece.length);
    this.#bytes += piece.length;
    this.#pieces.push(piece);
  }

  #whole(): Buffer {
    const [only] = this.#pieces;
    return this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces);
  }

  #end(outcome: Buffer | RejectReason): void {
    if (this.#over) return;
    this.#over = true;
    this.#cancel();
    this.#bounds.held.add(-this.#bytes);
    this.#bounds.tenant?.add(-this.#bytes);
    this.#pieces = [];
    this.#letGo();
    this.#done(outcome);
  }

  /** One timer, put off when it goes off and bytes have come since. */
  #watch(): void {
    const { clock, idleMs, wholeMs } = this.#bounds;
    const due = Math.min(this.#heardAt + idleMs, this.#startedAt + wholeMs);
    if (clock.now() >= due) return this.#end('rejected_too_slow');
    this.#cancel = clock.after(due - clock.now(), () => this.#watch());
  }
}
