/** Whatever was appended is read back byte for byte from any place that is still kept, and wiped when let go. */

import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InvariantError } from '../../core/assert.js';
import { Broadcast } from './broadcast.js';

function readFrom(broadcast: Broadcast, position: number): Buffer {
  const pieces: Buffer[] = [];
  for (let at = position; at < broadcast.length; at += pieces.at(-1)?.length ?? 1)
    pieces.push(broadcast.from(at));
  return Buffer.concat(pieces);
}

const chunks = fc.array(fc.uint8Array({ maxLength: 3_000 }), { maxLength: 40 });

test('a reader at any place reads the rest, while and after it grows', () => {
  fc.assert(
    fc.property(chunks, fc.nat(), (all, seed) => {
      const broadcast = new Broadcast();
      let whole = Buffer.alloc(0);
      for (const chunk of all) {
        broadcast.append(Buffer.from(chunk));
        whole = Buffer.concat([whole, chunk]);
        equal(broadcast.length, whole.length);
        const at = whole.length === 0 ? 0 : seed % whole.length;
        deepEqual(readFrom(broadcast, at), whole.subarray(at));
      }
    }),
    { numRuns: 50 },
  );
});

test('a reader at the end has nothing to read yet', () => {
  const broadcast = new Broadcast();
  equal(broadcast.from(0).length, 0);
  broadcast.append(Buffer.from('abc'));
  equal(broadcast.from(3).length, 0);
});

test('what was released is gone, what was not is kept, and the memory held stays near what is kept', () => {
  fc.assert(
    fc.property(chunks, fc.array(fc.nat({ max: 5_000 }), { minLength: 40, maxLength: 40 }), (all, behind) => {
      const broadcast = new Broadcast();
      let whole = Buffer.alloc(0);
      let kept = 0;
      for (const [turn, chunk] of all.entries()) {
        broadcast.append(Buffer.from(chunk));
        whole = Buffer.concat([whole, chunk]);
        kept = Math.max(kept, whole.length - (behind[turn] ?? 0));
        broadcast.release(kept);
        deepEqual(readFrom(broadcast, kept), whole.subarray(kept));
        ok(broadcast.held <= whole.length - kept + 2 * 65_536 + 3_000);
      }
    }),
    { numRuns: 50 },
  );
});

test('memory that is let go holds nothing of the answer', () => {
  const broadcast = new Broadcast();
  broadcast.append(Buffer.alloc(1024, 'a'));
  broadcast.append(Buffer.from('later'));
  const early = broadcast.from(0);
  const late = broadcast.from(1024);
  broadcast.release(1024);
  ok(early.every((byte) => byte === 0));
  equal(late.toString(), 'later');
  broadcast.wipe();
  ok(late.every((byte) => byte === 0));
  equal(broadcast.held, 0);
});

test('to read what is no longer kept is a broken invariant', () => {
  const broadcast = new Broadcast();
  broadcast.append(Buffer.alloc(5_000, 'a'));
  broadcast.wipe();
  throws(() => broadcast.from(0), InvariantError);
});
