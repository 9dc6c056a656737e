/**
 * DE-2: delegate_search by a provider's vectors: it finds meanings, requests a text once, and its failure is not the
 * call's.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type EmbeddingServer, startEmbeddingServer } from '#test/support/embedding-server.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('DE-2 delegate_search by a model', () => {
  let server: EmbeddingServer;
  let stack: Stack;
  before(async () => {
    server = await startEmbeddingServer([
      ['billing', 'Who is owed'],
      ['weather', 'rain'],
    ]);
    stack = await startStack({
      settings: `
models:
  embedding: local/small
  providers: { local: { type: openai-compatible, baseUrl: '${server.url}' } }
  prices: { local/small: { input: 100000, output: 0 } }
`,
      agents: [
        { key: 'clerk', description: 'billing of customers' },
        { key: 'sky', description: 'weather reports' },
        { key: 'thrifty', model: 'rehearsal/follow', budgets: [{ scope: 'turn', calls: 3 }] },
        { key: 'poor', model: 'rehearsal/follow', budgets: [{ scope: 'turn', calls: 1 }] },
      ],
    });
    for (const source of ['main', 'thrifty', 'poor'])
      for (const target of ['clerk', 'sky'])
        await stack.ask('POST', '/v1/agent-links', { body: { source, target } });
  });
  after(async () => {
    await server.close();
    await stack.stop();
  });

  async function found(session: string, query: string): Promise<string> {
    const { turn_id } = await stack.worker.say(
      session,
      `delegate_search ${JSON.stringify({ query })}\nthen\nDone.`,
    );
    await stack.worker.ended(turn_id);
    return (await stack.worker.calls(turn_id))[0]?.result ?? '';
  }
  const requests = (): readonly unknown[] => server.seen.map(({ body }) => body['input']);

  it('finds who is alike in meaning, though no word is the same', async () => {
    const text = await found('meaning', 'Who is owed?');
    assert.match(text, /^- clerk score=0\.40: billing of customers\n\nGive/);
    assert.deepEqual(requests(), [['Who is owed?', 'clerk\nbilling of customers', 'sky\nweather reports']]);
    assert.deepEqual([server.seen[0]?.path, server.seen[0]?.body['model']], ['/v1/embeddings', 'small']);
  });

  it('asks for a text once, and counts what it asked for as the agent’s use', async () => {
    assert.match(await found('again', 'Who is owed?'), /^- clerk/);
    assert.equal(requests().length, 1);
    assert.match(await found('other', 'rain'), /^- sky/);
    assert.deepEqual(requests().slice(1), [['rain']]);
    const { body } = await stack.ask('GET', '/v1/usage?by=agent,session,kind&model=local/small');
    const rows = body.data.map(
      ({ agent, session, kind, input_tokens, cost_usd }: Record<string, unknown>) => [
        agent,
        session,
        kind,
        input_tokens,
        cost_usd,
      ],
    );
    assert.deepEqual(rows, [
      ['main', 'meaning', 'embedding', 30, 3],
      ['main', 'other', 'embedding', 10, 1],
    ]);
  });

  it('DU-7 reserves before it asks, counts what was used, and goes by words without room', async () => {
    const search = `delegate_search ${JSON.stringify({ query: 'rain and more rain' })}\nthen\nDone.`;
    const { turn_id } = await stack.worker.say('thrifty', search, { agent: 'thrifty' });
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    assert.deepEqual(requests().slice(2), [['rain and more rain']]);
    const accounts = await stack.ask('GET', `/v1/budgets/accounts?subject=${turn_id}`);
    assert.deepEqual(
      accounts.body.data.map(({ spent, reserved }: Record<string, unknown>) => [spent, reserved]),
      [[3, 0]],
    );

    const other = `delegate_search ${JSON.stringify({ query: 'weather and rain reports' })}\nthen\nDone.`;
    const receipt = await stack.worker.say('poor', other, { agent: 'poor' });
    const [call] = await stack.worker.until('the search', async () => {
      const calls = await stack.worker.calls(receipt.turn_id);
      return calls[0]?.result ? calls : undefined;
    });
    assert.match(call?.result ?? '', /^- sky score=/);
    assert.equal(requests().length, 3, 'the provider is not asked');
    await stack.worker.temporal.stop(stack.tenant, 'poor', { turn_id: receipt.turn_id, level: 'now' });
    await stack.worker.ended(receipt.turn_id);
  });

  it('goes by words when the model fails, and does not ask it again at once', async () => {
    server.fail();
    assert.match(await found('fails', 'customers'), /^- clerk score=/);
    assert.match(await found('fails', 'reports of weather'), /^- sky score=/);
    assert.equal(requests().length, 4);
    // Its earlier vectors are still useful.
    assert.match(await found('fails', 'Who is owed?'), /^- clerk score=0\.40/);
  });
});
