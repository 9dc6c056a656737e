/** skill_search: full text and similarity together, of words or by a provider's model, over what the caller may use. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { embedText, similarity } from '#domain/text/embed-text.ts';
import { type EmbeddingServer, startEmbeddingServer } from '#test/support/embedding-server.ts';
import { type SkillStack, skillText, startSkillStack } from '#test/support/skills.ts';

const INSTALLED = Object.fromEntries(
  ['billing', 'weather', 'tea', 'coffee', 'letters', 'maps', 'rollback'].map((name) => [
    `${name}/SKILL.md`,
    skillText(name),
  ]),
);

describe('TL skill_search', () => {
  let skills: SkillStack;
  let server: EmbeddingServer;
  before(async () => {
    server = await startEmbeddingServer([
      ['billing', 'Who is owed'],
      ['weather', 'rain'],
    ]);
    const settings = `
models:
  embedding: local/small
  providers: { local: { type: openai-compatible, baseUrl: '${server.url}' } }
  prices: { local/small: { input: 100000, output: 0 } }

`;
    skills = await startSkillStack({ settings }, INSTALLED);
  });
  after(async () => {
    await server.close();
    await skills.stop();
  });
  const found = async (args: object): Promise<string> =>
    (await skills.one(`skill_search ${JSON.stringify(args)}`)).result ?? '';

  it('finds by meaning what has no word of the query', async () => {
    assert.match(
      await found({ query: 'Who is owed?' }),
      /^- billing: Knows billing \(score 0\.40\)\n\nRead one with use_skill/,
    );
  });

  it('words that every text has do not count, and words are taken by their stems', async () => {
    assert.match(await found({ query: 'how do I find the coffees for all of us' }), /^- coffee: /);
    assert.match(await found({ query: 'roll back a deployment' }), /^- rollback: /);
    assert.equal(
      similarity(embedText('what is it for, and how do I do this?'), embedText('What it is for and how')),
      0,
    );
  });

  it('finds by words, five at most unless asked', async () => {
    const lines = (text: string): number => text.match(/^- /gm)?.length ?? 0;
    assert.match(await found({ query: 'maps or tea' }), /^- maps[\s\S]*- tea/);
    assert.equal(lines(await found({ query: 'knows' })), 5);
    assert.equal(lines(await found({ query: 'knows', max_results: 2 })), 2);
    assert.match(await found({ query: ' ' }), /InvalidArgs: query is required/);
  });
});
