/** The one line that history, events and lists show. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { preview } from '@tempoclaw/scrubber';
import fc from 'fast-check';

const TOKEN = 'ghp_FAKEaB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3';

describe('a preview', () => {
  test('is one line without control characters, marks that cannot be seen and changes of direction', () => {
    assert.equal(preview('  a\n\n\tb\u0007\u200b c\u202ed  '), 'a b cd');
    assert.equal(preview(''), '');
  });

  test('is cut on a character, with a mark, by characters and by bytes', () => {
    assert.equal(preview('abcdef', { chars: 4 }), 'abc…');
    assert.equal(preview('abcd', { chars: 4 }), 'abcd');
    assert.equal(preview('😀😀😀😀', { chars: 3 }), '😀😀…');
    assert.equal(preview('😀😀😀', { bytes: 11 }), '😀😀…');
    assert.equal(preview('abc', { chars: 0 }), '');
  });

  test('has no part of a secret, wherever the cut falls', () => {
    for (let lead = 0; lead < 60; lead++) {
      const line = preview(`${'x'.repeat(lead)} ${TOKEN} end`, { chars: 40 });
      assert.ok(!line.includes('ghp_') && !line.includes('FAKE'), line);
    }
    for (let lead = 0; lead < 9_500; lead += 97) {
      const line = preview(`${' '.repeat(lead)}${TOKEN} end`, { chars: 100 });
      assert.ok(!line.includes('ghp_') && !line.includes('FAKE'), line);
    }
  });

  test('is never longer than it may be', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 80, unit: 'binary' }),
        fc.integer({ min: 0, max: 60 }),
        fc.integer({ min: 0, max: 60 }),
        (text, chars, bytes) => {
          const line = preview(text, { chars, bytes });
          assert.ok([...line].length <= chars && Buffer.byteLength(line) <= bytes, JSON.stringify(line));
          assert.doesNotMatch(line, /[\r\n\t]/);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
