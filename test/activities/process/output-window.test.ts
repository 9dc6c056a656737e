/** F12: of long output, the beginning and the end are kept, and no word is cut in two. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { scrubText } from '@tempoclaw/scrubber';
import { createOutputWindow } from '@tempoclaw/sandbox';

const TOKEN = 'ghp_FAKEaB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3';

function windowOf(text: string, bytes: number): string {
  const window = createOutputWindow(bytes);
  window.write(Buffer.from(text));
  return window.text();
}

describe('F12 the edges of what is kept', () => {
  test('no part of a secret is left, wherever the cuts fall', () => {
    for (let lead = 0; lead < 120; lead++) {
      const text = `${'a '.repeat(250)}${'b'.repeat(lead)} ${TOKEN} ${'c '.repeat(400)}${TOKEN} ${'d '.repeat(120 - lead)}`;
      const kept = scrubText(windowOf(text, 1_000)).text;
      for (let part = 4; part + 8 <= TOKEN.length; part += 4)
        assert.ok(!kept.includes(TOKEN.slice(part, part + 8)), kept);
      assert.match(kept, /\n\[\d+ bytes left out\]\n/);
    }
  });
});
