/** A long text is searched in faster ways than a short one, with the same result. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { registerValues, scrubText } from '@tempoclaw/scrubber';

const read = <Content>(name: string): Content =>
  JSON.parse(readFileSync(new URL(`./vectors/${name}`, import.meta.url), 'utf8')) as Content;

const { cases } = read<{ cases: { text: string }[] }>('scrub.json');
const corpus = read<{
  secrets: { text: string; secret_parts: string[] }[];
  lookalikes: { text: string }[];
}>('secrets-corpus.json');

/** It contains nothing about secrets, and is longer than what is treated as a short text. */
const PLAIN = 'Nothing is to be seen on this line.\n'.repeat(200);

describe('secrets within a long text', () => {
  const secrets = corpus.secrets.map(({ text, secret_parts }) =>
    text.replace('{{S}}', () => secret_parts.join('')),
  );
  const texts = [...[...cases, ...corpus.lookalikes].map(({ text }) => text), ...secrets];

  test('are those that each has by itself', () => {
    const registered = registerValues(['a-registered-value', 'another%20value']);
    assert.ok(texts.length > 50);
    for (const text of [
      ...texts,
      'a-registered-value',
      'x=another%2520value',
      'Digest Zm9vYmFyZm9vYmFyMDE=',
    ]) {
      const alone = scrubText(`\n${text}\n\n`, registered);
      const within = scrubText(`${PLAIN}\n${text}\n\n${PLAIN}`, registered);
      assert.equal(within.text, `${PLAIN}${alone.text}${PLAIN}`, text);
      assert.deepEqual(within.found, alone.found, text);
    }
  });

  test('64 hex digits are found wherever they begin, and 63, or those within a word, are not', () => {
    const digits = '0a1B'.repeat(16);
    for (let before = 0; before <= 130; before++) {
      const lead = ' '.repeat(before);
      assert.equal(scrubText(`${lead}${digits}`).text, `${lead}[REDACTED]`);
      assert.equal(scrubText(`${lead}0x${digits}f;`).text, `${lead}[REDACTED];`);
      for (const other of [digits.slice(1), `g${digits}`, `${digits}z`, `x${digits}`, `a0x${digits}`])
        assert.equal(scrubText(`${lead}${other}`).text, `${lead}${other}`);
    }
  });
});
