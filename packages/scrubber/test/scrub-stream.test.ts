/** A text in pieces is scrubbed as if it were whole, wherever it is cut. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createScrubStream, registerValues, scrubText } from '@tempoclaw/scrubber';
import fc from 'fast-check';

const TOKEN = 'ghp_FAKEaB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3';
const REGISTERED = 'FAKE registered value 42';
const registered = registerValues([REGISTERED]);
const KEY_LINES = Array.from(
  { length: 40 },
  (_, at) => `FAKE${String(at).padStart(4, '0')}${'aB3x'.repeat(14)}`,
);

const TEXTS: Readonly<Record<string, string>> = {
  'a token in a sentence': `the token ${TOKEN} is new`,
  'a quoted value with blanks': `password: "FAKE 99 words in it", next: 1\nmore`,
  'a header': `Authorization: Bearer ${TOKEN.slice(4)}\nHost: x`,
  'a registered value with blanks': `it is ${REGISTERED}, they say`,
  'a key block': `-----BEGIN RSA PRIVATE KEY-----\n${KEY_LINES.join('\n')}\n-----END RSA PRIVATE KEY-----\nafter`,
  'a list of name and value': '- name: DB_PASSWORD\n  value: Fake1234pw\n- name: X\n  value: y',
  nothing: 'The quick brown fox: jumps over 12 lazy dogs, sha256:ab12 and so on.\n',
};

function inPieces(text: string, sizes: readonly number[]): string {
  const stream = createScrubStream(registered);
  let out = '';
  let at = 0;
  for (let turn = 0; at < text.length; turn++) {
    const size = Math.max(1, sizes[turn % sizes.length] ?? 1);
    out += stream.push(text.slice(at, at + size));
    at += size;
  }
  return out + stream.end();
}

describe('a secret that is cut by the edge of a piece', () => {
  for (const [what, text] of Object.entries(TEXTS))
    test(`${what}: every size of piece gives what the whole gives`, () => {
      const whole = scrubText(text, registered).text;
      for (const size of [1, 2, 3, 5, 7, 16, 64, 1_000, 100_000])
        assert.equal(inPieces(text, [size]), whole, `in pieces of ${size}`);
    });

  test('any mixture, in any pieces', () => {
    const part = fc.constantFrom(...Object.values(TEXTS), 'word ', '\n', 'x=1 ', '"', ' {"a":"b"} ');
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 6 }),
        (parts, sizes) => {
          const out = inPieces(parts.join('\n'), sizes);
          for (const secret of [TOKEN, REGISTERED, 'FAKE 99', 'Fake1234pw', ...KEY_LINES])
            assert.ok(!out.includes(secret), out);
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('a stream goes on', () => {
  test('a word is shown as soon as it has ended', () => {
    const stream = createScrubStream();
    assert.equal(stream.push('The quick bro'), 'The quick ');
    assert.equal(stream.push('wn'), '');
    assert.equal(stream.push(' fox'), 'brown ');
    assert.equal(stream.end(), 'fox');
    assert.equal(stream.end(), '');
  });

  test('a key block without an end is one placeholder and takes no more room', () => {
    const stream = createScrubStream();
    let out = stream.push('-----BEGIN PRIVATE KEY-----\n');
    for (let at = 0; at < 3_000; at++)
      out += stream.push(`FAKE${String(at).padStart(6, '0')}${'aB3x'.repeat(13)}\n`);
    out += stream.end();
    assert.ok(!out.includes('FAKE'), out.slice(0, 200));
  });

  test('a word without an end goes out in parts', () => {
    const stream = createScrubStream();
    let shown = 0;
    for (let at = 0; at < 100; at++) shown += stream.push('abc,'.repeat(250)).length;
    assert.ok(shown > 80_000, `${shown} of 100000`);
    assert.equal(shown + stream.end().length, 100_000);
  });
});
