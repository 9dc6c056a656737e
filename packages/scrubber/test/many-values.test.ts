/** Hundreds of registered values, and texts designed to be slow, are read in one pass each. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { createScrubStream, registerValues, scrubText } from '@tempoclaw/scrubber';
import fc from 'fast-check';

/** The same every time, and without a recognizable shape. */
function valueOf(n: number): string {
  return `pre-${createHash('sha256').update(`value ${n}`).digest('base64url').slice(0, 24)}`;
}

const VALUES = Array.from({ length: 400 }, (_, n) => valueOf(n));
const KEY_FILE = `first line\n${VALUES.slice(0, 40).join('')}\nlast line`;
const registered = registerValues([...VALUES, KEY_FILE]);
const MEGABYTE = 1_048_576;

function filled(piece: string): string {
  return piece.repeat(Math.ceil(MEGABYTE / piece.length)).slice(0, MEGABYTE);
}

describe('hundreds of values', () => {
  test('each is found, raw and encoded, between the others', () => {
    for (const value of VALUES) {
      const forms = [value, Buffer.from(value).toString('base64'), Buffer.from(value).toString('hex')];
      assert.equal(scrubText(forms.join(' | '), registered).text, '[REDACTED] | [REDACTED] | [REDACTED]');
    }
    const all = scrubText(VALUES.join('\n'), registered);
    assert.deepEqual(all.found, [{ kind: 'registered_credential', count: 400 }]);
  });

  test('values that begin and end alike, hold each other or repeat one letter are told apart', () => {
    const alike = [
      'common-begin-A-common-end',
      'common-begin-B-common-end',
      'begin-B-common',
      'aaaaaaaaaa',
      'aaaaaab',
    ];
    const some = registerValues(alike);
    for (const value of alike) assert.equal(scrubText(`<${value}>`, some).text, '<[REDACTED]>');
    assert.equal(
      scrubText('common-begin-C-common-end aaaaa b', some).text,
      'common-begin-C-common-end aaaaa b',
    );
    assert.equal(scrubText('x'.repeat(3) + 'a'.repeat(20), some).text, 'xxx[REDACTED][REDACTED]');
  });

  test('any values in any text: what is found is what looking for each of them finds', () => {
    const value = fc.string({ minLength: 6, maxLength: 9, unit: fc.constantFrom('a', 'b', 'ü') });
    const text = fc.string({ maxLength: 60, unit: fc.constantFrom('a', 'b', 'ü', ' ') });
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 12 }), text, (values, value) => {
        const found = scrubText(value, registerValues(values)).found.length > 0;
        assert.equal(
          found,
          values.some((each) => value.includes(each)),
        );
      }),
      { numRuns: 2_000 },
    );
  });
});

/** A quadratic reading of one of these would take minutes, not the tenths of a second that they take. */
const HOSTILE: Readonly<Record<string, string>> = {
  'beginnings of values': filled(VALUES.map((value) => value.slice(0, -1)).join(' ')),
  'the common beginning': filled('pre-'),
  'values without an end': filled(VALUES.join('')),
  'escapes within escapes': filled('\\\\\\\\u0041\\n'),
  'percent signs': filled('%25%41'),
  'hex in columns': filled('41 4b:4c '),
  'line ends': filled('a\n'),
  'JSON within JSON within JSON': filled(JSON.stringify(JSON.stringify(JSON.stringify({ a: 'b"c' })))),
  'names of secrets': filled('"password":"'),
  'headers of keys': filled('-----BEGIN RSA PRIVATE KEY-----\n'),
  assignments: filled('a=b:c='),
  'secrets on one line': filled('postgres://u:p4ssw0rd@h '),
  'one word': filled('abcdefghij'),
  'a megabyte of one letter': filled('a'),
};

describe('a hostile megabyte', () => {
  for (const [what, text] of Object.entries(HOSTILE))
    test(what, () => {
      const once = scrubText(text, registered).text;
      assert.equal(scrubText(once, registered).text, once, 'stays as it is');
      for (const value of [VALUES[0], VALUES[399]]) assert.ok(!once.includes(String(value)));
    });

  test('a long text with secrets here and there gives what its lines give', () => {
    const lines = Array.from({ length: 30_000 }, (_, n) =>
      n % 997 === 0
        ? `n=${n} password: hunter2${n}x and ${valueOf(n % 400)}`
        : `n=${n} nothing to be seen here`,
    );
    const each = lines.map((line) => scrubText(line, registered).text).join('\n');
    assert.equal(scrubText(lines.join('\n'), registered).text, each);
  });
});

describe('a stream with registered values of several words', () => {
  test('holds back what may be one of them, and nothing else', () => {
    const stream = createScrubStream(registered);
    assert.equal(stream.push('The quick '), 'The quick ');
    assert.equal(stream.push('brown first '), 'brown ');
    assert.equal(stream.push('fox '), 'first fox ');
    assert.equal(stream.push(`and ${KEY_FILE.slice(0, 500)}`), 'and ');
    assert.equal(stream.push(KEY_FILE.slice(500)), '');
    assert.equal(stream.push(' then'), '[REDACTED] ');
    assert.equal(stream.end(), 'then');
  });

  test('a value in base64 that is broken over lines is not half shown', () => {
    const value = valueOf(7);
    const broken = Buffer.from(value)
      .toString('base64')
      .replace(/(.{12})/g, '$1\n');
    for (const size of [1, 5, 13, 14]) {
      const stream = createScrubStream(registered);
      let out = '';
      for (let at = 0; at < broken.length; at += size) out += stream.push(broken.slice(at, at + size));
      out += stream.push(' after') + stream.end();
      assert.match(out, /^\[REDACTED\]\s*after$/, `in pieces of ${size}`);
    }
  });
});
