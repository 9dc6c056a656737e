import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { messageText } from '../rules/message-text.ts';

describe('IN-4 files of a chat', () => {
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
