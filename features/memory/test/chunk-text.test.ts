/** VF-2: the pieces of a document that a search finds. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { chunkText } from '../rules/chunk-text.ts';

const long = 'A sentence that goes on for a while, so that its section stands alone. '.repeat(3).trim();

describe('VF-2 pieces of a document', () => {
  test('stand below their headings and say their lines', () => {
    const text = `# Home\n${long}\n## Kitchen\n${long}\n### Tap\n${long}\n## Garden\n${long}\n`;
    assert.deepEqual(
      chunkText(text).map(({ from, to, heading }) => [from, to, heading]),
      [
        [1, 2, 'Home'],
        [3, 4, 'Home > Kitchen'],
        [5, 6, 'Home > Kitchen > Tap'],
        [7, 8, 'Home > Garden'],
      ],
    );
  });

  test('stand below their own headings also where a level is skipped, and read a heading as Markdown does', () => {
    const headings = (text: string) => chunkText(text).map(({ heading }) => heading);
    assert.deepEqual(headings(`# A\n${long}\n### B\n${long}\n### C\n${long}\n## D\n${long}`), [
      'A',
      'A > B',
      'A > C',
      'A > D',
    ]);
    assert.deepEqual(headings(`  # A ##\n${long}\n#B\n# C#\n${long}`), ['A', 'C#']);
    assert.deepEqual(headings(`# A\n~~~~\n\`\`\`\n~~~\n# no\n~~~~\n${long}\n# B\n${long}`), ['A', 'B']);
  });

  test('contain whole characters', () => {
    const chunks = chunkText(`a${'😀'.repeat(700)}`);
    assert.ok(chunks.length > 1 && chunks.every(({ text }) => text.isWellFormed()));
  });

  test('of several lines are short, and one long line is whole', () => {
    const sentence = 'Something was said.';
    const lines = [`${sentence} `.repeat(25).trim(), ...Array.from({ length: 12 }, () => sentence.repeat(4))];
    const chunks = chunkText(lines.join('\n'));
    assert.equal(chunks[0]?.text, lines[0]);
    assert.deepEqual(
      chunks.slice(1).map(({ from, to }) => to - from + 1),
      [3, 3, 3, 3],
    );
  });

  test('short sections stay together, and what stands in code is no heading', () => {
    const chunks = chunkText('# A\none\n# B\ntwo\n```\n# not this\n```\n');
    assert.deepEqual(
      chunks.map(({ heading, text }) => [heading, text]),
      [['A', '# A\none\n# B\ntwo\n```\n# not this\n```']],
    );
  });

  test('are bounded in length and number, whatever the text is, and leave nothing out', () => {
    const line = fc.oneof(
      fc.constantFrom('', '# H', '###### deep', '```', ' ', 'word'),
      fc.string({ maxLength: 3_000 }),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), (lines) => {
        const text = lines.join('\n');
        const chunks = chunkText(text);
        const all = text.split(/\r?\n/);
        for (const [index, { from, to, text: piece }] of chunks.entries()) {
          assert.ok(piece.length <= 901 && piece.trim() !== '');
          assert.ok(from >= (chunks[index - 1]?.to ?? 1) && to >= from && to <= all.length);
        }
        const kept = chunks.map((chunk) => chunk.text).join('');
        assert.equal(kept.replace(/\s/g, ''), text.replace(/\s/g, ''));
      }),
    );
    assert.ok(chunkText('# a\nx\n'.repeat(10_000)).length <= 60_000 / 80);
  });
});
