import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { splitText } from '../rules/split-text.ts';

const FENCE = /^[ \t]*(?:`{3,}|~{3,}).*$/gm;

const CODE = /^[ \t]*(`{3,}|~{3,}).*\n(?:.*\n)*?\1$/gm;

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

/** What a reader reads: without the lines that open and close code, and without blanks. */
const words = (text: string): string => text.replaceAll(FENCE, '').replaceAll(/\s/g, '');

const word = fc.oneof(
  fc.stringMatching(/^[a-z]{1,12}$/),
  fc.constantFrom('👩‍👩‍👧', 'né\u0301e', '日本語', '𝐀𝐁', '&amp;', '<b>bold</b>', '2*3'),
  fc.constantFrom('**very bold words**', '[a link](https://example.com/a_b)', '`code of it`', '~~gone~~'),
);
const line = fc.array(word, { minLength: 1, maxLength: 14 }).map((all) => all.join(' '));
const paragraph = fc.array(line, { minLength: 1, maxLength: 4 }).map((all) => all.join('\n'));
const code = fc
  .tuple(fc.constantFrom('', 'ts', 'python'), fc.constantFrom('```', '````', '~~~'), paragraph)
  .map(([language, mark, body]) => `${mark}${language}\n${body.replaceAll('`', "'")}\n${mark}`);
const markdown = fc
  .array(fc.oneof(paragraph, code), { minLength: 1, maxLength: 8 })
  .map((all) => all.join('\n\n'));

describe('splitText', () => {
  it('leaves alone what fits, and makes nothing of nothing', () => {
    assert.deepEqual(splitText('Hello\n\nthere', 100), ['Hello\n\nthere']);
    assert.deepEqual(splitText(' \n\n ', 100), []);
  });

  it('cuts between paragraphs, else lines, else words', () => {
    assert.deepEqual(splitText('one two three\n\nfour five\nsix', 20), ['one two three', 'four five\nsix']);
    assert.deepEqual(splitText('one two three\nfour five six', 20), ['one two three', 'four five six']);
    assert.deepEqual(splitText('one two three four five six', 20), ['one two three four', 'five six']);
    assert.deepEqual(splitText('x'.repeat(25), 10), ['x'.repeat(10), 'x'.repeat(10), 'xxxxx']);
  });

  it('closes code that goes on, and opens it again in its language', () => {
    const lines = (from: number) => [0, 1, 2].map((at) => `const line${from + at} = 1;`).join('\n');
    assert.deepEqual(splitText(`\`\`\`ts\n${lines(1)}\n${lines(4)}\n\`\`\`\n\nDone.`, 70), [
      `\`\`\`ts\n${lines(1)}\n\`\`\``,
      `\`\`\`ts\n${lines(4)}\n\`\`\`\n\nDone.`,
    ]);
  });

  it('brings code within a list to the margin where it goes on', () => {
    const parts = splitText(
      '1. See\n\n    ```js\n    let aaaaaaaaaaaaaa;\n    let bbbbbbbbbbbbbb;\n    ```\n\n2. End',
      60,
    );
    assert.deepEqual(parts, [
      '1. See\n\n    ```js\n    let aaaaaaaaaaaaaa;\n    ```',
      '```js\nlet bbbbbbbbbbbbbb;\n```\n\n2. End',
    ]);
  });

  it('does not leave the head of a block of code behind', () => {
    assert.deepEqual(splitText('A sentence of some words.\n```ts\nconst a = 1;\nconst b = 2;\n```', 45), [
      'A sentence of some words.',
      '```ts\nconst a = 1;\nconst b = 2;\n```',
    ]);
  });

  it('keeps links, emphasis and code whole where they fit', () => {
    const parts = splitText('See **what is bold here** and [the page of it](https://example.com/x) now', 45);
    assert.deepEqual(parts, ['See **what is bold here** and', '[the page of it](https://example.com/x) now']);
  });

  it('measures a part as it is sent', () => {
    const escaped = (part: string) => part.replaceAll('&', '&amp;').length;
    const parts = splitText('& '.repeat(100), 60, escaped);
    assert.ok(
      parts.every((part) => escaped(part) <= 60),
      parts.join('|'),
    );
    assert.equal(words(parts.join('')), '&'.repeat(100));
  });

  it('does not fall to pieces where a character does not end', () => {
    const parts = splitText(`a${'\u0301'.repeat(1_000)}`, 100);
    assert.deepEqual(parts.map((part) => part.length).slice(0, 3), [100, 100, 100]);
  });

  it('loses no word, keeps the limit, closes all code and breaks no character, whatever comes', () => {
    fc.assert(
      fc.property(markdown, fc.integer({ min: 60, max: 400 }), (text, limit) => {
        const parts = splitText(text, limit);
        assert.equal(parts.map(words).join(''), words(text));
        for (const part of parts) {
          assert.ok(part.length <= limit, `${part.length} of ${limit}`);
          assert.equal((part.match(FENCE) ?? []).length % 2, 0, part);
          assert.ok(part.isWellFormed());
          assert.doesNotMatch(part, /^[\p{M}\u200d]|\u200d$/u);
          const prose = part.replaceAll(CODE, '');
          assert.equal(count(prose, /\*\*/g) % 2, 0, part);
          assert.equal(count(prose, /<\/?b>/g), count(prose, /</g), part);
          assert.equal(count(prose, /&amp;/g), count(prose, /&/g), part);
          assert.equal(count(prose, /\[a link\]\(https:\/\/example.com\/a_b\)/g), count(prose, /\[/g), part);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('reopens a block of code with no half of a character in its first line', () => {
    const parts = splitText(`~~~${'a'.repeat(29)}\u{1f600}\n${'code\n'.repeat(40)}~~~`, 100);
    assert.ok(parts.length > 2);
    assert.ok(parts.every((part) => part.isWellFormed()));
  });

  it('ends with any text at all, and loses nothing of it but blanks', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 600 }),
        fc.integer({ min: 40, max: 200 }),
        (text, limit) => {
          const parts = splitText(text, limit);
          assert.ok(parts.every((part) => part.length <= limit));
          if (!/[`~]{3}/.test(text))
            assert.equal(words(parts.join('')), words(text.replaceAll('\r\n', '\n')));
        },
      ),
    );
  });
});
