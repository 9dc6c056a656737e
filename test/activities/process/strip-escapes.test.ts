/** F12: escape sequences are removed, text stays, and no output takes long. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { stripEscapes } from '#activities/process/strip-escapes.ts';

describe('F12 escape sequences', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['\u001b[1;31mred\u001b[0m', 'red'],
    ['\u001b[2K\u001b[1Gline', 'line'],
    ['\u001b]0;title\u0007text', 'text'],
    ['\u001b]8;;https://a.example\u001b\\link\u001b]8;;\u001b\\', 'link'],
    ['\u001b(Bplain', 'plain'],
    ['\u001b7save\u001b8', 'save'],
    ['no escapes [31m here', 'no escapes [31m here'],
    ['\u001b', ''],
    ['\u001b]never ends', 'never ends'],
  ];
  for (const [value, expected] of cases)
    test(`${JSON.stringify(value)} becomes ${JSON.stringify(expected)}`, () => {
      assert.equal(stripEscapes(value), expected);
    });

  test('colours, cursor moves and links go as Node’s own function lets them go', () => {
    for (const [text] of cases.slice(0, 4)) assert.equal(stripEscapes(text), stripVTControlCharacters(text));
  });

  test('megabytes of sequences that never end are done in one pass', () => {
    // Quadratic code does not finish these.
    assert.equal(stripEscapes('\u001b['.repeat(1_000_000)), '');
    assert.equal(stripEscapes('\u001b]8;;'.repeat(500_000)).includes('\u001b'), false);
    assert.equal(stripEscapes(`\u001b]${'x'.repeat(2_000_000)}`).length, 2_000_000);
  });
});
