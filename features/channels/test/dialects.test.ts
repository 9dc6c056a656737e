import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { discordMarkdown } from '../discord/discord-markdown.ts';
import { slackMrkdwn } from '../slack/slack-mrkdwn.ts';
import { splitText } from '../rules/split-text.ts';
import { shownLength, telegramHtml } from '../telegram/telegram-html.ts';

const ANSWER = `# Result

**Three** of *four* ~~passed~~: \`npm test\` says so.
See [the log](https://ci.example/log?a=1&b=2) and https://ci.example.

- one
- two
  1. deep
- [x] done

> quoted

\`\`\`ts
if (a < b) go();
\`\`\`

| a | b |
|---|---|
| 1 | 2 |`;

const dialects = [slackMrkdwn, discordMarkdown, telegramHtml] as const;

describe('dialects of chat services', () => {
  it("Slack's mrkdwn", () => {
    assert.equal(
      slackMrkdwn(ANSWER),
      `*Result*

*Three* of _four_ ~passed~: \`npm test\` says so.
See <https://ci.example/log?a=1&amp;b=2|the log> and <https://ci.example>.

• one
• two
  1. deep
• ☑ done

> quoted

\`\`\`
if (a &lt; b) go();
\`\`\`

\`\`\`
| a | b |
|---|---|
| 1 | 2 |
\`\`\``,
    );
  });

  it("Discord's Markdown", () => {
    assert.equal(
      discordMarkdown(ANSWER),
      `# Result

**Three** of *four* ~~passed~~: \`npm test\` says so.
See [the log](<https://ci.example/log?a=1&b=2>) and <https://ci.example>.

- one
- two
  1. deep
- ☑ done

> quoted

\`\`\`ts
if (a < b) go();
\`\`\`

\`\`\`
| a | b |
|---|---|
| 1 | 2 |
\`\`\``,
    );
  });

  it("Telegram's HTML", () => {
    assert.equal(
      telegramHtml(ANSWER),
      `<b>Result</b>

<b>Three</b> of <i>four</i> <s>passed</s>: <code>npm test</code> says so.
See the log (https://ci.example/log?a=1&amp;b=2) and https://ci.example.

• one
• two
  1. deep
• ☑ done

<blockquote>quoted</blockquote>

<pre><code class="language-ts">if (a &lt; b) go();</code></pre>

<pre>| a | b |
|---|---|
| 1 | 2 |</pre>`,
    );
  });

  it('what a model writes calls nobody', () => {
    const calls = 'Hey <!channel> <!here|x> <@U123> <#C1> <!subteam^S1> @everyone @here <@&5> `<!channel>`';
    assert.doesNotMatch(slackMrkdwn(calls), /<[!@#]/);
    assert.equal(
      discordMarkdown('Hey @everyone, @Here <@123> <@&5> <#9> </go:1> <t:0>'),
      String.raw`Hey @​everyone, @​Here \<@123\> \<@&5\> \<#9\> \</go:1\> \<t:0\>`,
    );
    assert.doesNotMatch(discordMarkdown('`` x`<@1>` `` and\n```\n``` <@1> [a](b)\n```\n<@2>'), /(?<!\\)<@2/);
  });

  it('a link shows where it leads to when its words name a place', () => {
    for (const [words, host] of [
      ['https://bank.example', 'evil.example'],
      ['bank.example', 'evil.example'],
      ['**www.bank.example**', 'evil.example'],
      ['ｂａｎｋ．example', 'evil.example'],
      [String.raw`bank\.example`, 'evil.example'],
      ['bank&#46;example', 'evil.example'],
      ['bank**.**example', 'evil.example'],
      ['bank\u200b.example', 'evil.example'],
    ] as const)
      for (const dialect of dialects) {
        const shown = dialect(`[${words}](https://${host}/x)`);
        assert.match(shown, new RegExp(`\\(<?https://${host}/x>?\\)$`), shown);
        assert.doesNotMatch(shown, /\]\(|\|/);
      }
    assert.equal(
      slackMrkdwn('[see](https://a.example/x|https://b.example)'),
      '<https://a.example/x%7Chttps://b.example|see>',
    );
    assert.equal(slackMrkdwn('[see|here](https://a.example)'), '<https://a.example|see here>');
  });

  it('only addresses of the web are links', () => {
    for (const dialect of dialects) {
      assert.equal(dialect('[run](javascript:alert(1))'), 'run');
      assert.equal(dialect('[mail](tg://user?id=1)'), 'mail');
    }
  });

  it('marks of code stay what they are in code', () => {
    const marks = '``a ` b``';
    assert.equal(slackMrkdwn(marks), '```a ` b```');
    assert.equal(discordMarkdown(marks), '`` a ` b ``');
    assert.equal(telegramHtml(marks), '<code>a ` b</code>');
    const block = '~~~\nuse ``` or `\n~~~';
    for (const dialect of dialects)
      assert.equal(dialect(block).replaceAll('\u200b', '').includes('use ``` or `'), true);
    for (const dialect of [slackMrkdwn, discordMarkdown])
      assert.equal(dialect(block).match(/```/g)?.length, 2, 'nothing in it ends the block');
  });

  it('footnotes stay', () => {
    const notes = 'True[^1], and more[^2].\n\n[^1]: https://a.example/x\n[^2]: said';
    assert.equal(telegramHtml(notes), 'True[^1], and more[^2].\n\n[^1]: https://a.example/x\n\n[^2]: said');
    assert.equal(slackMrkdwn(notes), 'True[^1], and more[^2].\n\n[^1]: <https://a.example/x>\n\n[^2]: said');
  });

  it('marks within each other beyond all measure are shown as they are written', () => {
    for (const dialect of dialects) assert.ok(dialect('>'.repeat(4_096)).length >= 4_096);
  });

  it('any text at all is rendered, and nothing in it commands', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.constantFrom(
        '<!channel>',
        '<@U1>',
        '```',
        '`',
        '**',
        '[',
        '](https://e.example)',
        '<b>',
        '&lt;',
        '\n',
        '> ',
        '- ',
        '|',
        '\\',
      ),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }).map((all) => all.join('')),
        (text) => {
          assert.doesNotMatch(slackMrkdwn(text), /<(?!https?:\/\/[^<>]+>)/);
          assert.doesNotMatch(discordMarkdown(text), /@(?:everyone|here)/);
          assert.doesNotMatch(
            telegramHtml(text),
            /<(?!\/?(?:b|i|s|code|pre|blockquote)>|code class="language-)/,
          );
        },
      ),
      { numRuns: 500 },
    );
  });

  it('Telegram has no quote within a quote, and `www.` is one address', () => {
    assert.equal(telegramHtml('> a\n> > b'), '<blockquote>a\n\nb</blockquote>');
    assert.equal(telegramHtml('see www.a.example.'), 'see http://www.a.example.');
  });

  it('entities are the characters that they stand for, outside of code, and never marks of the service', () => {
    for (const [markdown, html] of [
      ['AT&amp;T &#60;b&#x3E;', 'AT&amp;T &lt;b&gt;'],
      ['`&amp;` &unknown;', '<code>&amp;amp;</code> &amp;unknown;'],
      ['[bank&#46;example](https://other.example)', 'bank.example (https://other.example)'],
    ] as const)
      assert.equal(telegramHtml(markdown), html);
    assert.equal(slackMrkdwn('&lt;!channel&gt;'), '&lt;!channel&gt;');
    assert.equal(discordMarkdown('&#64;everyone'), '@\u200beveryone');
  });

  it('a list keeps its numbers from zero', () => {
    assert.equal(slackMrkdwn('0. a\n1. b'), '0. a\n1. b');
  });

  it('a part is within the limit of Telegram as people see it, where an address is written out', () => {
    const markdown = '[www.a.example](https://b.example/path) '.repeat(150);
    const parts = splitText(markdown, 4_096, (part) => shownLength(telegramHtml(part)));
    assert.ok(parts.length > 1);
    for (const part of parts) assert.ok(shownLength(telegramHtml(part)) <= 4_096);
  });

  it('marks nested by the thousand are text, and a row of marks is a line', () => {
    for (const mark of ['- ', '1. ', '> ', '>- ', '* 1) > ']) {
      const markdown = `${mark.repeat(2_000)}end`;
      for (const render of dialects) {
        const shown = render(markdown);
        assert.ok(shown.length < markdown.length * 6 && shown.endsWith('end'), mark);
      }
    }
    assert.equal(slackMrkdwn(`a\n\n${'- '.repeat(30)}\n\nb`), 'a\n\n———\n\nb');
  });
});
