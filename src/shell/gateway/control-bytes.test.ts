/** Read four at a time, bytes hold a control character exactly when one of them is one. */

import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { hasControlBytes } from './control-bytes.js';

const byte = fc.oneof(
  { weight: 30, arbitrary: fc.integer({ min: 0x20, max: 0xff }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 0x22 }) },
);

test('a control character is found wherever it stands, and nothing else is taken for one', () => {
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 40 }), fc.nat({ max: 7 }), (bytes, offset) => {
      const around = Buffer.concat([Buffer.alloc(offset), Buffer.from(bytes), Buffer.alloc(8)]);
      const within = around.subarray(offset, offset + bytes.length);
      equal(
        hasControlBytes(within),
        bytes.some((each) => each < 0x20),
      );
    }),
    { numRuns: 2_000 },
  );
});
