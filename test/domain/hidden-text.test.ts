import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cleanOutsideText, showHidden } from '#domain/text/hidden-text.ts';

/**
 * Characters of category Cf that are visible: the signs of Arabic, Syriac and Kaithi before or around numbers and
 * words.
 */
const SEEN_FORMATS = /[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}\u{1bca0}-\u{1bca3}]/u;

function codePoints(category: RegExp): string[] {
  return Array.from({ length: 0x110000 }, (_, code) => code)
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => String.fromCodePoint(code))
    .filter((char) => category.test(char));
}

const CATEGORIES: Readonly<Record<string, RegExp>> = {
  'format characters': /\p{Cf}/u,
  'private use': /\p{Co}/u,
  noncharacters: /\p{Noncharacter_Code_Point}/u,
  'variation selectors': /\p{Variation_Selector}/u,
  'default ignorable ones': /\p{Default_Ignorable_Code_Point}/u,
  controls: /(?![\t\n\v\f\r\u0085])\p{Cc}/u,
};

describe('SC-4 what people do not see of a text from outside', () => {
  for (const [name, category] of Object.entries(CATEGORIES))
    it(`is removed and shown to people as its code: all ${name}`, () => {
      const found = codePoints(category).filter((char) => !SEEN_FORMATS.test(char) || /\p{DI}/u.test(char));
      const remaining = found.filter((char) => cleanOutsideText(`一${char}二`) !== '一二');
      const unshown = found.filter((char) => showHidden(`a${char}b`) === `a${char}b`);
      assert.ok(found.length > 30);
      assert.deepEqual(
        [remaining.length, unshown.length],
        [0, 0],
        JSON.stringify([...remaining, ...unshown].slice(0, 9)),
      );
    });

  it('stays where a script or an emoji needs it, once, and so carries nothing', () => {
    const needed = 'می‌خواهم नमस्ते क्‍ष ශ්‍රී 👨‍👩‍👧 🏳️‍🌈 ❤️ 1️⃣ 👩🏽‍💻 ᠬᠠᠭᠠᠨ᠎ᠠ';
    assert.equal(cleanOutsideText(needed), needed);
    assert.equal(
      cleanOutsideText('م\u200c\u200d\u200cم é\u200c\u200dé ❤\ufe0f\ufe0e\ufe0f 1\ufe0f2'),
      'مم éé ❤ 12',
    );
    assert.equal(cleanOutsideText('葛\u{e0100}城 x\u{e0171}\u{e0135}y'), '葛城 xy');
  });

  it('is not tabs, lines, spaces and letters of any script', () => {
    const plain = 'a\tb\r\nc d\u00a0e\u3000f\n日本語 العربية עברית ไทย e\u0301 𝒳 ½ €';
    assert.equal(cleanOutsideText(plain), plain);
  });

  it('is a sequence that steers a terminal, with its own text', () => {
    for (const [sequence, remaining] of [
      ['\u001b[1;31mred\u001b[0m', 'red'],
      ['\u009b2Jx', 'x'],
      ['\u001b]0;title\u0007x', 'x'],
      ['\u001b]8;;https://a.example\u001b\\link\u001b]8;;\u001b\\', 'link'],
      ['\u001bPq#0\u001b\\x\u001b(B', 'x'],
      ['\u001b]0;no end\nx', '0;no end\nx'],
      ['ding\u0007', 'ding'],
    ] as const)
      assert.equal(cleanOutsideText(sequence).replace(/^\]/, ''), remaining, JSON.stringify(sequence));
  });

  it('is a carriage return that would hide a line; every other end of a line becomes a line feed', () => {
    assert.equal(cleanOutsideText('rm -rf /\rls\u2028a\u2029b\u0085c\vd\fe'), 'rm -rf /\nls\na\nb\nc\nd\ne');
  });

  it('is gone after once, whatever the text, and a megabyte of it ends', () => {
    for (const unit of ['\u001b]', '\u001b[', '\u009d', '\u200d', 'م\u200c', '❤️', '\u{e0101}', '\ud800\r']) {
      const once = cleanOutsideText(unit.repeat(300_000));
      assert.equal(cleanOutsideText(once), once);
    }
  });
});
