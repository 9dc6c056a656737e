/**
 * VF-2, DU-8: what an agent learns from one user, it finds again by meaning, and not for another user; also after a
 * restore from an export.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type EmbeddingServer, startEmbeddingServer } from '#test/support/embedding-server.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('VF-2 what an agent knows', () => {
  let server: EmbeddingServer;
  let stack: Stack;
  before(async () => {
    server = await startEmbeddingServer([['physician', 'doctor']]);
    stack = await startStack({
      env: { EMBEDDING_BASE_URL: server.url, TEMPOCLAW_EMBEDDING_MODEL: 'openai/small' },
      agents: [{ key: 'nurse' }],
    });
  });
  after(async () => {
    await server.close();
    await stack.stop();
  });

  async function call(agent: string, user: string, session: string, text: string): Promise<string> {
    const { turn_id } = await stack.worker.say(session, text, { agent, user });
    await stack.worker.ended(turn_id);
    return (await stack.worker.calls(turn_id))[0]?.result ?? '';
  }
  const indexed = (agent: string, user: string) =>
    stack.worker.until('the index', async () => {
      const { body } = await stack.ask('GET', `/v1/agents/${agent}/memory/status?user=${user}`);
      return body.pending === 0 && body.documents > 0 ? true : undefined;
    });
  const finds = (agent: string, user: string, session: string, query: string) =>
    call(agent, user, session, `memory_search ${JSON.stringify({ query })}`);

  it('finds what one user told it on another day, by meaning and by words, and knows nothing of it for another user', async () => {
    const learnt = { content: 'The physician of Ann is called Moreau.' };
    await call('nurse', 'ann', 'monday', `memory_write ${JSON.stringify(learnt)}`);
    await indexed('nurse', 'ann');
    const found = await finds('nurse', 'ann', 'tuesday', 'Which doctor');
    assert.match(found, /"why": "meaning 1\.00"/);
    assert.match(found, /The physician of Ann is called Moreau\./);
    assert.match(await finds('nurse', 'ann', 'tuesday-2', 'Moreau'), /"why": "words: moreau/);
    for (const query of ['Which doctor', 'Moreau'])
      assert.doesNotMatch(await finds('nurse', 'ben', `ben-${query.length}`, query), /Moreau\./);
  });

  it('is the same after a restore from an export', async () => {
    const headers = { authorization: `Bearer ${stack.key}` };
    const exported = await fetch(`${stack.url}/v1/agents/nurse/export?user=ann`, { headers });
    const restored = await fetch(`${stack.url}/v1/agents/restored/import`, {
      method: 'PUT',
      headers: { ...headers, 'content-type': 'application/x-ndjson' },
      body: await exported.text(),
    });
    assert.equal(restored.status, 200);
    await indexed('restored', 'ann');
    const found = await finds('restored', 'ann', 'restored-ann', 'Which doctor');
    assert.match(found, /"searched_by": "words and meaning"/);
    assert.match(found, /"why": "meaning 1\.00"/);
    assert.match(found, /The physician of Ann is called Moreau\./);
    assert.doesNotMatch(await finds('restored', 'ben', 'restored-ben', 'Which doctor'), /Moreau/);
  });
});
