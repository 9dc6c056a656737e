import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { createSealer } from '#store/seal.ts';

const key = randomBytes(32);
const sealer = createSealer([key]);

describe('SC-3 sealed arguments', () => {
  test('what is sealed opens for the same row only', () => {
    const sealed = sealer.seal('{"token":"s3cret"}', 'acme/tool_calls/call_1');
    assert.equal(sealer.open(sealed, 'acme/tool_calls/call_1'), '{"token":"s3cret"}');
    assert.throws(() => sealer.open(sealed, 'other/tool_calls/call_1'));
    assert.throws(() => sealer.open(sealed, 'acme/tool_calls/call_2'));
  });

  test('one flipped bit anywhere is noticed, and a cut tag is refused', () => {
    const bytes = Buffer.from(sealer.seal('secret', 'row'), 'base64');
    for (let index = 0; index < bytes.length; index += 1) {
      const flipped = Buffer.from(bytes);
      flipped[index] = (flipped[index] ?? 0) ^ 1;
      assert.throws(() => sealer.open(flipped.toString('base64'), 'row'), `byte ${index}`);
    }
    assert.throws(() => sealer.open(bytes.subarray(0, -4).toString('base64'), 'row'));
  });

  test('the same text never seals to the same bytes', () => {
    const seen = new Set(Array.from({ length: 1_000 }, () => sealer.seal('same', 'row')));
    assert.equal(seen.size, 1_000);
  });

  test('after a rotation the old key still opens and the new one seals', () => {
    const next = randomBytes(32);
    const old = sealer.seal('before', 'row');
    const rotated = createSealer([next, key]);
    assert.equal(rotated.open(old, 'row'), 'before');
    assert.throws(() => sealer.open(rotated.seal('after', 'row'), 'row'), /not configured/);
  });

  test('a short key or none is refused', () => {
    assert.throws(() => createSealer([]), /32 bytes/);
    assert.throws(() => createSealer([randomBytes(16)]), /32 bytes/);
  });
});
