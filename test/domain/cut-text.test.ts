import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { cutText } from '#domain/text/cut-text.ts';

describe('EX-5 results are cut for the model', () => {
  test('what fits is left alone', () => {
    assert.deepEqual(cutText('short', 1_000, '/here'), { text: 'short' });
  });

  test('a cut result says how much is missing and where the whole is, and keeps beginning and end', () => {
    const whole = `begin${'x'.repeat(100_000)}end`;
    const cut = cutText(whole, 65_536, '/v1/tool-calls/call_1/result');
    assert.equal(cut.whole, whole);
    assert.match(cut.text, /^begin/);
    assert.match(cut.text, /end$/);
    assert.match(
      cut.text,
      /of 100008 bytes are left out here; the whole is kept at \/v1\/tool-calls\/call_1\/result/,
    );
  });

  test('no character breaks and the bound holds, whatever the text (property)', () => {
    const text = fc.string({ unit: 'binary', minLength: 300, maxLength: 3_000 });
    fc.assert(
      fc.property(text, fc.integer({ min: 400, max: 2_000 }), (value, bytes) => {
        const wellFormed = value.toWellFormed();
        const cut = cutText(wellFormed, bytes, '/x');
        assert.ok(Buffer.byteLength(cut.text) <= bytes);
        assert.ok(!cut.text.includes('\uFFFD') || wellFormed.includes('\uFFFD'));
      }),
    );
  });
});
