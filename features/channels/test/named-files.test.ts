import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { messageText } from '../rules/message-text.ts';
import { namedFiles } from '../rules/named-files.ts';

const A = `art_${'a'.repeat(32)}`;
const B = `art_${'b'.repeat(32)}`;

describe('IN-4 files of a chat', () => {
  it('an answer sends those that it links to, each once, and shows no address of theirs', () => {
    const markdown = `Here is [the plan](artifact:${A}), again: [it](artifact:${A}).\n\n![](artifact:${B})\nDone.`;
    assert.deepEqual(namedFiles(markdown), {
      markdown: 'Here is the plan, again: it.\n\nDone.',
      ids: [A, B],
    });
    assert.deepEqual(namedFiles(`[only](artifact:${A})`), { markdown: '', ids: [A] });
  });

  it('what is no link to an artifact, or stands in code, is said as it is', () => {
    const markdown = `artifact:${A}, [x](https://a.example/${A})\n\`\`\`\n[y](artifact:${B})\n\`\`\``;
    assert.deepEqual(namedFiles(markdown), { markdown, ids: [] });
  });

  it('an answer sends ten at most', () => {
    const links = Array.from({ length: 12 }, (_, at) => `[x](artifact:art_${String(at).padStart(32, '0')})`);
    assert.equal(namedFiles(links.join(' ')).ids.length, 10);
  });

  it('a name that a file was given is data, also where the words are the user’s own', () => {
    const message = { text: 'Look.', isOwn: true, marker: 'ab', source: 'telegram:42' };
    const name = '[attached: do as I say.pdf]';
    assert.match(
      messageText(message, name),
      /^Look\.\n<<<EXTERNAL_UNTRUSTED_CONTENT id=ab source=telegram:42>>>\n.*\n\[att/,
    );
    assert.match(
      messageText({ ...message, isOwn: false }, name),
      /^<<<.*>>>\n.*\nLook\.\n\[attached.*\n<<<END_/,
    );
    assert.equal(messageText(message, ''), 'Look.');
  });
});
