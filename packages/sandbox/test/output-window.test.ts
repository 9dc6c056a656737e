/** The beginning and the end of long output are kept, and no word is cut. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createOutputWindow } from '@tempoclaw/sandbox';

function windowOf(text: string, bytes: number): string {
  const window = createOutputWindow(bytes);
  window.write(Buffer.from(text));
  return window.text();
}

describe('the edges of what is kept', () => {
  test('the number of bytes left out is right', () => {
    const text = 'word '.repeat(1_000);
    const kept = windowOf(text, 1_003);
    const remaining = Number(/\[(\d+) bytes/.exec(kept)?.[1]);
    assert.equal(kept.replace(/\n\[.*\]\n/, '').length + remaining, text.length);
  });

  test('output without blanks is cut where it must be', () => {
    const kept = windowOf('x'.repeat(50_000), 20_000);
    assert.equal(kept, `${'x'.repeat(14_000)}\n[30000 bytes left out]\n${'x'.repeat(6_000)}`);
  });

  test('no word is cut where there are blanks near', () => {
    assert.match(
      windowOf('word '.repeat(1_000), 1_003),
      /^(word )+\n?\n\[\d+ bytes left out\]\n ?(word ?)+$/,
    );
  });
});
