import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { columnsOf } from '#cli/text.ts';
import { createWrapper, wrapText } from '#cli/wrap.ts';

describe('IN-6 text at a terminal', () => {
  test('breaks between words, keeps indentation and the beginning of lines, and loses no word', () => {
    assert.equal(wrapText('one two three four', 9), 'one two\nthree\nfour');
    assert.equal(wrapText('  - a list of words\nnext', 12), '  - a list\n  of words\nnext');
    assert.equal(wrapText('  │ what it printed', 12), '  │ what it\n  │ printed');
  });

  test('counts wide characters twice, and marks and colours not at all', () => {
    assert.equal(columnsOf('日本語'), 6);
    assert.equal(columnsOf('e\u0301'), 1);
    assert.equal(columnsOf('👩‍👩‍👧'), 2);
    assert.equal(wrapText('日本語の文章です。', 8), '日本語の\n文章で\nす。');
    assert.equal(wrapText('\u001b[2mone two\u001b[22m three', 8), '\u001b[2mone two\u001b[22m\nthree');
  });

  test('a word that is wider than a line is left in one piece, for who copies it', () => {
    const address = 'http://127.0.0.1:8233/namespaces/default';
    assert.equal(wrapText(`see ${address} now`, 20), `see\n${address}\nnow`);
  });

  test('text in pieces is broken as the whole is, wherever it is cut', () => {
    const text = fc
      .array(fc.constantFrom('a', 'word', 'longer', ' ', '  ', '\n', '語', '。', 'é'), { maxLength: 40 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(
        text,
        fc.array(fc.nat(100), { maxLength: 8 }),
        fc.integer({ min: 5, max: 30 }),
        (all, cuts, columns) => {
          const at = [0, ...cuts.map((cut) => cut % (all.length + 1)).toSorted((a, b) => a - b), all.length];
          const pieces = at.slice(1).map((end, i) => all.slice(at[i], end));
          const whole = createWrapper(() => columns);
          const parts = createWrapper(() => columns);
          const expected = whole.push(all) + whole.flush();
          assert.equal(pieces.map((piece) => parts.push(piece)).join('') + parts.flush(), expected);
          for (const line of expected.split('\n'))
            assert.ok(columnsOf(line) <= columns || !/\S\s+\S/.test(line));
          assert.equal(expected.replaceAll(/\s/g, ''), all.replaceAll(/\s/g, ''));
        },
      ),
    );
  });
});
