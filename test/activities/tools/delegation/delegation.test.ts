/** DE-3: DELEGATION.md in the prompt, and the search for agents. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('DE-3 delegate_search and DELEGATION.md', () => {
  let stack: Stack;
  const link = (body: Record<string, unknown>) => stack.ask('POST', '/v1/agent-links', { body });
  before(async () => {
    const many = Array.from({ length: 15 }, (_, index) => ({
      key: `clerk-${index}`,
      model: 'rehearsal/echo',
    }));
    stack = await startStack({
      agents: [
        { key: 'looker', model: 'rehearsal/inspect' },
        { key: 'translator', model: 'rehearsal/echo', description: 'translates letters into French' },
        { key: 'lawyer', model: 'rehearsal/echo', frontmatter: 'tags: contracts, law' },
        { key: 'hidden', model: 'rehearsal/echo', description: 'translates everything' },
        ...many,
      ],
    });
    for (const source of ['main', 'looker'])
      for (const target of ['translator', 'lawyer']) await link({ source, target });
    await link({ source: 'main', target: 'hidden', settings: { user_allow: ['bea'] } });
  });
  after(() => stack.stop());

  async function found(session: string, args: Record<string, unknown>): Promise<string> {
    const { turn_id } = await stack.worker.say(
      session,
      `delegate_search ${JSON.stringify(args)}\nthen\nDone.`,
      {
        user: 'ann',
      },
    );
    await stack.worker.ended(turn_id);
    return (await stack.worker.calls(turn_id))[0]?.result ?? '';
  }

  it('finds by description and by frontmatter, only agents that the user may ask', async () => {
    const french = await found('a', { query: 'French letters' });
    assert.match(french, /^- translator score=/);
    assert.doesNotMatch(french, /hidden/);
    assert.match(await found('b', { query: 'law of contracts' }), /^- lawyer score=/);
    assert.doesNotMatch(await found('c', { query: 'translates' }), /hidden/);
  });

  it('needs a query', async () => {
    assert.match(await found('d', {}), /query is required/);
  });

  it('the prompt lists up to 15 targets, and above that says to search', async () => {
    const system = async (session: string): Promise<string> => {
      const { turn_id } = await stack.worker.say(session, 'system', { agent: 'looker' });
      return (await stack.worker.ended(turn_id)).text ?? '';
    };
    const few = await system('few');
    assert.match(few, /# DELEGATION\.md/);
    assert.match(few, /- translator: translates letters into French/);
    for (let index = 0; index < 15; index += 1) await link({ source: 'looker', target: `clerk-${index}` });
    const many = await system('many');
    assert.match(many, /17 agents.*delegate_search/);
    assert.doesNotMatch(many, /- translator/);
  });
});
