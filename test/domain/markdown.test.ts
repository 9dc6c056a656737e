/** IN-5: words of senders and models inside the Markdown of Temporal's web UI. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { markdownCode, markdownText } from '#domain/text/markdown.ts';

describe('IN-5 foreign words in current details', () => {
  it('plain words stay one line and make neither link, image, emphasis nor tag', () => {
    assert.equal(
      markdownText('# a\n![x](http://e) **b** <img>'),
      String.raw`# a !\[x\](http://e) \*\*b\*\* \<img\>`,
    );
  });

  it('code keeps its characters, and backticks in it do not end it', () => {
    assert.equal(markdownCode('exec: node -p "6 * 7"'), '`exec: node -p "6 * 7"`');
    assert.equal(markdownCode('exec: echo `id` ``'), '``` exec: echo `id` `` ```');
  });
});
