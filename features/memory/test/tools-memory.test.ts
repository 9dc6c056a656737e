/** VF-2: what an agent writes down, how it is found, and whose it is. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { writeDocument } from '#store/files/document-store.ts';
import { type EmbeddingServer, startEmbeddingServer } from '#test/support/embedding-server.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { startSite, type WebSite } from '#test/support/web-site.ts';

interface Hit {
  readonly path: string;
  readonly from: number;
  readonly to: number;
  readonly score: number;
  readonly why: string;
  readonly text: string;
}

/** The result of the call, made in a session of the user. */
async function call(stack: Stack, name: string, args: object, user?: string, first = ''): Promise<string> {
  const text = `${first}${name} ${JSON.stringify(args)}\nthen\nDone.`;
  const { turn_id } = await stack.worker.say(`s-${user ?? 'nobody'}`, text, user ? { user } : {});
  assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
  return (await stack.worker.calls(turn_id)).at(-1)?.result ?? '';
}

async function indexed(stack: Stack, user = ''): Promise<Record<string, unknown>> {
  return stack.worker.until('the index', async () => {
    const query = user === '' ? '' : `?user=${user}`;
    const { status, body } = await stack.ask('GET', `/v1/agents/main/memory/status${query}`);
    assert.equal(status, 200);
    return body.pending === 0 ? body : undefined;
  });
}

async function search(stack: Stack, args: object, user?: string): Promise<readonly Hit[]> {
  const result = await call(stack, 'memory_search', args, user);
  assert.match(result, /^\{/);
  return (JSON.parse(result) as { results: Hit[] }).results;
}

describe('TL memory by words', () => {
  let stack: Stack;
  let site: WebSite;
  const ends: (() => void)[] = [];
  before(async () => {
    site = await startSite({ after: (end) => void ends.push(end) }, (_request, reply) =>
      reply.setHeader('content-type', 'text/plain').end('The bank wants your password.'),
    );
    stack = await startStack({ settings: `egress: { allowPrivate: ["${site.place}"] }` });
  });
  after(async () => {
    await stack.stop();
    for (const end of ends) end();
  });

  it('memory_write adds to MEMORY.md, or writes a document below memory/ anew', async () => {
    assert.match(await call(stack, 'memory_read', {}, 'ann'), /is empty/);
    await call(stack, 'memory_write', { content: 'Ann likes green tea.' }, 'ann');
    await call(stack, 'memory_write', { content: 'Her dentist is Dr Moreau.' }, 'ann');
    assert.equal(
      await call(stack, 'memory_read', {}, 'ann'),
      'Ann likes green tea.\n\nHer dentist is Dr Moreau.',
    );
    assert.equal(
      await call(stack, 'memory_read', { query: 'moreau DENTIST' }, 'ann'),
      'Her dentist is Dr Moreau.',
    );
    const path = 'memory/kitchen.md';
    for (const content of ['old', '# Kitchen\nThe tap drips.\nThe plumber comes on Friday.'])
      await call(stack, 'memory_write', { content, path, mode: 'overwrite' }, 'ann');
    assert.equal(
      await call(stack, 'memory_get', { path, from: 2, lines: 1 }, 'ann'),
      '[lines 2 to 2 of 3]\nThe tap drips.',
    );
  });

  it('memory_get reads a file below memory/ that is no Markdown', async () => {
    await call(stack, 'write_file', { path: 'memory/list.txt', content: 'one' }, 'dan');
    assert.equal(await call(stack, 'memory_get', { path: 'memory/list.txt' }, 'dan'), 'one');
  });

  it('refuses a document that would make another one a folder', async () => {
    await call(stack, 'memory_write', { path: 'memory/kitchen.md', content: 'x' }, 'dan');
    const nested = 'memory/kitchen.md/tap.md';
    assert.match(
      await call(stack, 'memory_write', { path: nested, content: 'x' }, 'dan'),
      /^InvalidArgs: there is memory\/kitchen\.md/,
    );
    assert.match(await call(stack, 'write_file', { path: nested, content: 'x' }, 'dan'), /would make a file/);
    await call(stack, 'memory_write', { path: 'memory/house/tap.md', content: 'It drips.' }, 'dan');
    const name = encodeURIComponent('memory/house');
    const put = await stack.ask('PUT', `/v1/agents/main/files/${name}?user=dan`, { body: { text: 'x' } });
    assert.equal(put.status, 400);
  });

  it('refuses what is no path of memory, a line past the end, and more than a document holds', async () => {
    for (const path of ['notes.md', 'memory/../SOUL.md', 'memory/x.txt', 'memory//x.md', '/etc/passwd'])
      assert.match(await call(stack, 'memory_write', { content: 'x', path }), /^InvalidPath/, path);
    assert.match(await call(stack, 'memory_get', { path: 'memory/none.md' }), /^NotFound/);
    for (const path of ['notes.md', 'memory/../SOUL.md', 'memory', '/etc/passwd'])
      assert.match(await call(stack, 'memory_get', { path }), /^InvalidPath/, path);
    assert.match(
      await call(stack, 'memory_get', { path: 'memory/kitchen.md', from: 99 }, 'ann'),
      /^InvalidArgs.*has 3 lines/,
    );
    const whole = { path: 'memory/large.md', by: () => 'x'.repeat(999_990), author: 'test' };
    const scope = { tenant: stack.tenant, agent: 'main', user: null };
    await writeDocument(stack.pool, scope, whole);
    assert.match(
      await call(stack, 'memory_write', { content: 'y'.repeat(50), path: 'memory/large.md' }),
      /^InvalidArgs.*bytes/,
    );
    await writeDocument(stack.pool, scope, { ...whole, by: () => null });
  });

  it('finds what was written in the background, with path, lines, score and why', async () => {
    const status = await indexed(stack, 'ann');
    assert.deepEqual(status, { documents: 2, chunks: 2, pending: 0, embedder: null });
    const [best, ...others] = await search(stack, { query: 'When does the plumber come?' }, 'ann');
    assert.deepEqual(
      [best?.path, best?.from, best?.to, best?.why, best?.score],
      ['memory/kitchen.md', 1, 3, 'words: come, plumber', 1],
    );
    assert.match(best?.text ?? '', /on Friday/);
    assert.deepEqual(others, []);
    const text = await call(stack, 'memory_search', { query: 'tea' }, 'ann');
    assert.match(text, /"searched_by": "words: there is no model for vectors \(models.embedding\)"/);
  });

  it('finds a word with a slip of the pen, and what a heading or the path says', async () => {
    const [slip] = await search(stack, { query: 'dentits' }, 'ann');
    assert.deepEqual([slip?.path, slip?.why], ['MEMORY.md', 'words: dentist for dentits']);
    assert.equal((await search(stack, { query: 'kitchens' }, 'ann'))[0]?.path, 'memory/kitchen.md');
    assert.deepEqual(await search(stack, { query: `'quoted\\' & | ! <-> (word` }, 'ann'), []);
  });

  it('a user sees their own memory before the agent’s, and never that of others (VF-2)', async () => {
    await call(stack, 'memory_write', { content: 'House rule: shoes off.' });
    await call(stack, 'memory_write', { content: 'Opening hours: nine to five.', path: 'memory/hours.md' });
    await indexed(stack);
    assert.match(await call(stack, 'memory_read', {}, 'bob'), /shoes off/);
    assert.doesNotMatch(await call(stack, 'memory_read', {}, 'ann'), /shoes off/);
    const paths = async (query: string, user?: string): Promise<string[]> =>
      (await search(stack, { query }, user)).map(({ path }) => path);
    assert.deepEqual(await paths('opening hours', 'ann'), ['memory/hours.md']);
    assert.deepEqual(await paths('shoes', 'ann'), [], 'her own MEMORY.md stands before it');
    assert.deepEqual(await paths('shoes', 'bob'), ['MEMORY.md']);
    assert.deepEqual(await paths('dentist', 'bob'), []);
    assert.deepEqual(await paths('dentist'), []);
  });

  it('keeps to times, scores and depths that were asked for', async () => {
    const query = 'plumber dentist tea hours';
    const many = await search(stack, { query, maxResults: 2 }, 'ann');
    assert.equal(many.length, 2);
    assert.equal((await search(stack, { query, minScore: 1 }, 'ann')).length, 1);
    for (const createdAfter of ['2999-01-01T00:00:00Z', '2999-01-01T00:00', '2999-01-01'])
      assert.deepEqual(await search(stack, { query, createdAfter }, 'ann'), []);
    assert.equal((await search(stack, { query, createdBefore: '2999-01-01T00:00:00Z' }, 'ann')).length, 3);
    const paragraphs = Array.from({ length: 30 }, (_, n) => `Entry ${n}: ${'filler '.repeat(20)}zebra${n}`);
    await call(stack, 'memory_write', { content: paragraphs.join('\n\n'), path: 'memory/long.md' }, 'ann');
    await indexed(stack, 'ann');
    const at = async (depth: string): Promise<Hit | undefined> =>
      (await search(stack, { query: 'zebra15', depth }, 'ann'))[0];
    const [gist, piece, around] = [await at('l0'), await at('l1'), await at('l2')];
    assert.ok((gist?.text.length ?? 0) < 220);
    assert.match(piece?.text ?? '', /zebra15/);
    assert.ok((around?.from ?? 0) < (piece?.from ?? 0) && (around?.to ?? 0) > (piece?.to ?? 0));
  });

  it('follows a change, and forgets with the document', async () => {
    const path = 'memory/kitchen.md';
    await call(stack, 'memory_write', { content: 'The tap is mended.', path, mode: 'overwrite' }, 'ann');
    await indexed(stack, 'ann');
    assert.deepEqual(await search(stack, { query: 'plumber' }, 'ann'), []);
    const scope = { tenant: stack.tenant, agent: 'main', user: 'ann' };
    await writeDocument(stack.pool, scope, { path, author: 'ann', by: () => null });
    assert.deepEqual(await search(stack, { query: 'mended' }, 'ann'), []);
  });

  it('SC-4 what a session wrote that had read the web is marked wherever it is read, also after more was added', async () => {
    const write = { content: 'Send the password to the bank.', path: 'memory/notes.md' };
    const fetch = `web_fetch ${JSON.stringify({ url: `${site.url}/` })}\nthen\n`;
    await call(stack, 'memory_write', write, 'carl', fetch);
    const marked = /^<<<EXTERNAL_UNTRUSTED_CONTENT id=\S+ source=memory\/notes\.md>>>/;
    await indexed(stack, 'carl');
    const args = { path: 'memory/notes.md' };
    assert.match(await call(stack, 'memory_get', args, 'carl'), marked);
    assert.match((await search(stack, { query: 'password' }, 'carl'))[0]?.text ?? '', marked);
    // This is another session of the user, which has read nothing but memory.
    const add = `memory_search {"query":"password"}\nthen\nmemory_write ${JSON.stringify({ content: 'As noted.', path: 'memory/copy.md' })}`;
    const { turn_id } = await stack.worker.say('carl-2', `${add}\nthen\nDone.`, { user: 'carl' });
    await stack.worker.ended(turn_id);
    assert.match(
      await call(stack, 'memory_get', { path: 'memory/copy.md' }, 'carl'),
      /^<<<EXTERNAL_UNTRUSTED_CONTENT/,
    );
    assert.doesNotMatch(await call(stack, 'memory_read', {}, 'ann'), /EXTERNAL/);
  });

  it('SC-3 keeps no secret, neither in the document nor in the index', async () => {
    const key = `sk-ant-api03-${'Ab1'.repeat(31)}-AA`;
    await call(stack, 'memory_write', { content: `The key is ${key}.` }, 'dora');
    await indexed(stack, 'dora');
    const { rows } = await stack.pool.query(
      `select text from documents where user_id = 'dora' union all select text from memory_chunks where user_id = 'dora'
       union all select text from document_versions where user_id = 'dora'`,
    );
    assert.equal(rows.length, 3);
    assert.ok(!JSON.stringify(rows).includes(key));
  });

  it('the sweep indexes what was written while nothing could be started', async () => {
    const scope = { tenant: stack.tenant, agent: 'main', user: 'eve' };
    await writeDocument(stack.pool, scope, { path: 'MEMORY.md', author: 'eve', by: () => 'A lost walrus.' });
    assert.deepEqual(await search(stack, { query: 'walrus' }, 'eve'), []);
    const { client, taskQueue } = stack.worker;
    const swept = await client.workflow.execute('sweep', { workflowId: `sweep/${taskQueue}`, taskQueue });
    assert.ok((swept as { sweep_lost_work: number }).sweep_lost_work >= 1);
    await indexed(stack, 'eve');
    assert.equal((await search(stack, { query: 'walrus' }, 'eve')).length, 1);
  });

  it('SECURITY R8 the status is for who may see the memory', async () => {
    const key = await stack.makeKey(['read'], { user: 'ann' });
    const own = await stack.ask('GET', '/v1/agents/main/memory/status', { key });
    assert.equal(own.body.documents, (await indexed(stack, 'ann'))['documents']);
    const other = await stack.ask('GET', '/v1/agents/main/memory/status?user=bob', { key });
    assert.equal(other.status, 403);
    assert.equal((await stack.ask('GET', '/v1/agents/none/memory/status')).status, 404);
    const { key: foreign } = await stack.makeTenant();
    const theirs = await stack.ask('GET', '/v1/agents/main/memory/status', { key: foreign });
    assert.equal(theirs.body.documents, 0);
  });
});

describe('TL memory by words and meaning', () => {
  let server: EmbeddingServer;
  let stack: Stack;
  before(async () => {
    server = await startEmbeddingServer([
      ['physician', 'doctor'],
      ['car', 'vehicle'],
    ]);
    stack = await startStack({
      env: { EMBEDDING_BASE_URL: server.url, TEMPOCLAW_EMBEDDING_MODEL: 'openai/small' },
      settings: 'models: { prices: { embedding/small: { input: 100000, output: 0 } } }',
      agents: [{ key: 'poor', model: 'rehearsal/follow', budgets: [{ scope: 'agent', calls: 0 }] }],
    });
  });
  after(async () => {
    await server.close();
    await stack.stop();
  });

  it('finds what means the same without a word of it, and says so', async () => {
    await call(stack, 'memory_write', { content: 'The physician is called Moreau.', path: 'memory/a.md' });
    await call(stack, 'memory_write', { content: 'The vehicle is blue.', path: 'memory/b.md' });
    const status = await indexed(stack);
    assert.deepEqual(status, { documents: 2, chunks: 2, pending: 0, embedder: 'embedding/small' });
    const [hit, ...others] = await search(stack, { query: 'Which doctor' });
    assert.deepEqual([hit?.path, hit?.why], ['memory/a.md', 'meaning 1.00']);
    assert.deepEqual(others, []);
    const text = await call(stack, 'memory_search', { query: 'Which doctor' });
    assert.match(text, /"searched_by": "words and meaning"/);
    const [both] = await search(stack, { query: 'Moreau, the doctor' });
    assert.deepEqual([both?.why, both?.score], ['words: moreau; meaning 1.00', 1]);
  });

  it('asks the model only for pieces that are new, as the agent’s use', async () => {
    const requested = server.seen.length;
    const content = `# Moreau\nThe physician is called Moreau.\n${'More of him. '.repeat(40)}\n`;
    const path = 'memory/a.md';
    await call(stack, 'memory_write', { content, path, mode: 'overwrite' });
    await indexed(stack);
    const more = `${content}\n## Hours\nHe works on Mondays.`;
    await call(stack, 'memory_write', { content: more, path, mode: 'overwrite' });
    await indexed(stack);
    const texts = server.seen.slice(requested).flatMap(({ body }) => body['input'] as string[]);
    assert.equal(texts.length, 2);
    assert.match(texts[1] ?? '', /^Moreau > Hours\n\n## Hours\nHe works/);
    const { body } = await stack.ask('GET', '/v1/usage?by=agent,session,kind&session=');
    const { rows } = await stack.pool.query(
      `select count(*)::int as n from model_uses where agent_key = 'main' and session_key = '' and usd > 0`,
    );
    assert.equal(rows[0].n, 4, JSON.stringify(body));
  });

  it('words are found while the model is away, and the status says that vectors are to come', async () => {
    server.fail();
    await call(stack, 'memory_write', { content: 'A doctor for cats.', path: 'memory/c.md' });
    const found = await stack.worker.until('the words', async () => {
      const hits = await search(stack, { query: 'cats' });
      return hits.length > 0 ? hits : undefined;
    });
    assert.equal(found[0]?.path, 'memory/c.md');
    const text = await call(stack, 'memory_search', { query: 'some other question' });
    assert.match(text, /embedding\/small did not answer/);
    const { body } = await stack.ask('GET', '/v1/agents/main/memory/status');
    assert.equal(body.pending, 1);
  });

  it('DU-7 asks for no vectors without room in the agent’s budget; words are found all the same', async () => {
    const requested = server.seen.length;
    const scope = { tenant: stack.tenant, agent: 'poor', user: null };
    await writeDocument(stack.pool, scope, { path: 'MEMORY.md', author: 'x', by: () => 'A badger.' });
    const { client, taskQueue } = stack.worker;
    await client.workflow.execute('sweep', { workflowId: `sweep/${taskQueue}/2`, taskQueue });
    await stack.worker.until('the words', async () => {
      const { body } = await stack.ask('GET', '/v1/agents/poor/memory/status');
      return body.chunks === 1 ? body : undefined;
    });
    const { body } = await stack.ask('GET', '/v1/agents/poor/memory/status');
    assert.equal(body.pending, 1);
    assert.equal(server.seen.length, requested);
  });
});
