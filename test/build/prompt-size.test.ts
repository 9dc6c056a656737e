/** What a turn costs before it does anything, and that what its prompt omits is found and called. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startServer, type TestServer } from '#test/activities/model/provider-server.ts';
import { type SkillStack, startSkillStack } from '#test/support/skills.ts';

/** Searches for a tool, and calls it once it is described. */
const LOOKS = `
rules:
  - when: { step: 0, user: tools }
    reply: { text: '{{tools}}' }
  - when: { step: 0 }
    reply: { calls: [{ tool: tool_search, args: { query: be sent a message later } }] }
  - when: { step: 1, offers: cron }
    reply: { calls: [{ tool: cron, args: { action: list } }] }
  - when: { step: 1 }
    reply: { text: 'cron is not there' }
  - reply: { text: 'done' }
`;

/** A description as skills have it, which says when to use it. */
const DESCRIPTION =
  'Prepares the weekly report from the tickets, the time sheets and the notes of the last meetings, as a table and a summary for the people who could not be there. Use it when somebody asks for the state of the work, for a report, or for what has changed since last week; not for invoices.';
const SKILLS = Object.fromEntries(
  Array.from({ length: 10 }, (_, at) => [
    `weekly-report-${at}/SKILL.md`,
    `---\nname: weekly-report-${at}\ndescription: ${DESCRIPTION}\n---\nDo it.\n`,
  ]),
);

describe('the prompt of a turn', () => {
  let provider: TestServer;
  let skills: SkillStack;
  before(async () => {
    provider = await startServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const chunk = {
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
      };
      response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
    });
    const settings = `models:\n  providers:\n    chat: { type: openai, apiKey: planted-key, baseUrl: '${provider.url}', api: chat }\n`;
    skills = await startSkillStack(
      {
        settings,
        scripts: { looks: LOOKS },
        agents: [
          { key: 'usual', model: 'chat/gpt-4.1-mini' },
          { key: 'looks', model: 'rehearsal/looks' },
          { key: 'without', model: 'rehearsal/looks', tools: { deny: ['cron'] } },
          { key: 'inspects', model: 'rehearsal/inspect', tools: { allow: ['cron', 'canvas', 'datetime'] } },
        ],
      },
      SKILLS,
    );
  });
  after(async () => {
    await skills.stop();
    await provider.close();
  });

  it('is at most 4,000 tokens for a hello to an agent with all tools and ten skills', async () => {
    assert.equal((await skills.turn('hello', { agent: 'usual' })).text, 'Hello.');
    const [request] = provider.seen;
    assert.ok(request);
    const { tools, messages } = request.body as {
      readonly tools: readonly { readonly function: { readonly name: string } }[];
      readonly messages: readonly { readonly content: string }[];
    };
    const text = messages.map(({ content }) => content).join('\n');
    for (const at of Array.from({ length: 10 }).keys())
      assert.match(text, new RegExp(`weekly-report-${at}: Prep`));
    assert.match(text, /You have more tools[^\n]* cron, /);
    assert.ok(tools.some(({ function: { name } }) => name === 'tool_search'));
    // Four characters count as a token: tokenizers count less for schemas, whose words are common.
    const tokens = (JSON.stringify(tools).length + text.length) / 4;
    assert.ok(tokens <= 4_000, `${tokens}`);
  });

  it('leaves tools out that a model finds by tool_search and calls, unless it may not have them', async () => {
    const { text, calls } = await skills.turn('remind me', { agent: 'looks' });
    assert.equal(text, 'done');
    assert.deepEqual(
      calls.map(({ tool, ok }) => [tool, ok]),
      [
        ['tool_search', true],
        ['cron', true],
      ],
    );
    assert.doesNotMatch((await skills.turn('tools', { agent: 'looks' })).text, /cron/);
    const denied = await skills.turn('remind me', { agent: 'without' });
    assert.equal(denied.text, 'cron is not there');
    assert.doesNotMatch(denied.calls[0]?.result ?? '', /^tool: cron$/m);
  });

  it('has all tools of an agent that has few', async () => {
    const { text } = await skills.turn('tools', { agent: 'inspects' });
    assert.deepEqual(text.split(', ').toSorted(), ['canvas', 'cron', 'datetime']);
  });
});
