/**
 * Tests what people see of the knowledge graph, how they correct it, and that a correction outlasts what documents say.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Answer, type AskOptions, type Stack, startStack } from '#test/support/stack.ts';

const entities = [
  { name: 'Ann Lee', type: 'person', line: 1, aliases: ['Ann'] },
  { name: 'Anna', type: 'person', line: 1 },
  { name: 'Rome', type: 'place', line: 1 },
  { name: 'Oslo', type: 'place', line: 2 },
];
const relations = [
  { from: 'Ann Lee', relation: 'lives_in', to: 'Rome', line: 1, single: true, valid_from: '2020' },
  { from: 'Anna', relation: 'lives_in', to: 'Oslo', line: 2, single: true, valid_from: '2022' },
  { from: 'Anna', relation: 'knows', to: 'Ann Lee', line: 2 },
];
const SCRIPT = `rules:\n  - reply: { calls: [{ tool: record_facts, args: ${JSON.stringify({ entities, relations })} }] }\n`;

describe('TL knowledge over HTTP', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      scripts: { reader: SCRIPT },
      agents: [{ key: 'reads', knowledge: { model: 'rehearsal/reader' } }],
    });
  });
  after(() => stack.stop());

  /** The text does not matter: the script always records the same. */
  async function write(user: string | undefined, text: string): Promise<void> {
    const query = user === undefined ? '' : `?user=${user}`;
    const { status } = await stack.ask('PUT', `/v1/agents/reads/files/memory%2Fall.md${query}`, {
      body: { text },
    });
    assert.equal(status, 200);
    await stack.worker.until('the graph', async () => {
      const { body } = await stack.ask('GET', `/v1/agents/reads/knowledge/status${query}`);
      return body.pending === 0 ? true : undefined;
    });
  }

  const ask = (method: string, path: string, options: AskOptions = {}): Promise<Answer> =>
    stack.ask(method, `/v1/knowledge/${path}`, options);
  const idOf = async (user: string, name: string): Promise<string> =>
    (await ask('GET', `entities?user=${user}&name=${encodeURIComponent(name)}`)).body.data[0]?.id;
  async function relationsOf(user: string): Promise<Answer['body'][]> {
    return (await ask('GET', `relations?agent=reads&user=${user}`)).body.data;
  }
  const lines = async (user: string): Promise<string[]> =>
    (await relationsOf(user))
      .filter(({ hidden }) => !hidden)
      .map((one) => `${one.from.name} ${one.relation} ${one.to.name}`)
      .toSorted();

  it('lists entities and relations in pages, each with its source, and shows one', async () => {
    await write('ann', 'One.\nTwo.');
    const first = await ask('GET', 'entities?user=ann&limit=3');
    assert.equal(first.body.data.length, 3);
    const rest = await ask('GET', `entities?user=ann&limit=3&after=${first.body.next_cursor}`);
    assert.deepEqual([rest.body.data.length, rest.body.has_more], [1, false]);
    assert.equal((await ask('GET', 'entities?after=nonsense')).status, 400);
    const { status, body } = await ask('GET', `entities/${await idOf('ann', 'ANN')}`);
    assert.equal(status, 200);
    assert.deepEqual(
      [body.name, body.aliases, body.agent, body.user, body.hidden],
      ['Ann Lee', ['Ann'], 'reads', 'ann', false],
    );
    assert.deepEqual(body.sources, [{ path: 'memory/all.md', from: 1, to: 1, revision: 1 }]);
    const [lives] = await relationsOf('ann');
    assert.deepEqual(
      [lives.from.name, lives.to.name, lives.valid_from],
      ['Ann Lee', 'Rome', '2020-01-01T00:00:00.000Z'],
    );
    assert.equal((await ask('GET', `relations/${lives.id}`)).body.source.path, 'memory/all.md');
    assert.equal((await ask('GET', 'entities/none')).status, 404);
    const near = await ask('GET', `relations?entity=${await idOf('ann', 'Oslo')}`);
    assert.deepEqual(
      near.body.data.map((one: { to: { name: string } }) => one.to.name),
      ['Oslo'],
    );
  });

  it('merges two that are one: names and relations become the other’s, and a later fact ends the earlier one', async () => {
    const [one, other] = [await idOf('ann', 'Anna'), await idOf('ann', 'Ann Lee')];
    const merged = await ask('POST', `entities/${one}/merge`, { body: { into: other } });
    assert.deepEqual([merged.status, merged.body.id, merged.body.aliases], [200, other, ['Ann', 'Anna']]);
    assert.equal((await ask('GET', `entities/${one}`)).status, 404);
    assert.deepEqual(await lines('ann'), ['Ann Lee lives_in Oslo', 'Ann Lee lives_in Rome']);
    const ended = (await relationsOf('ann')).find(({ to }) => to.name === 'Rome');
    assert.equal(ended.valid_to, '2022-01-01T00:00:00.000Z');
    for (const into of [other, '999999999'])
      assert.equal((await ask('POST', `entities/${other}/merge`, { body: { into } })).status, 422);
    await write('ann', 'One.\nTwo, again.');
    assert.equal(await idOf('ann', 'Anna'), other, 'documents are read by what was said');
  });

  it('a merge is taken back, with what was said of each before and since', async () => {
    await write('eve', 'One.\nTwo.');
    const before = { lines: await lines('eve'), count: (await relationsOf('eve')).length };
    const [anna, ann] = [await idOf('eve', 'Anna'), await idOf('eve', 'Ann Lee')];
    const merge = () => ask('POST', `entities/${anna}/merge`, { body: { into: ann } });
    const split = (entity: string) => ask('POST', `entities/${ann}/split`, { body: { entity } });
    const wait = () =>
      stack.worker.until('the graph', async () => {
        const { body } = await stack.ask('GET', '/v1/agents/reads/knowledge/status?user=eve');
        return body.pending === 0 ? true : undefined;
      });
    assert.deepEqual((await merge()).body.merged, [{ id: anna, name: 'Anna' }]);
    const back = await split(anna);
    assert.deepEqual([back.status, back.body.id, back.body.name, back.body.aliases], [200, anna, 'Anna', []]);
    assert.deepEqual(await lines('eve'), before.lines);
    assert.equal((await relationsOf('eve')).length, before.count);
    const kept = await ask('GET', `entities/${ann}`);
    assert.deepEqual([kept.body.aliases, kept.body.merged], [['Ann'], []]);

    await merge();
    await write('eve', 'One, and more.\nTwo.');
    assert.ok((await lines('eve')).includes('Ann Lee lives_in Oslo'), 'read by what was said');
    assert.equal((await split(anna)).status, 200);
    await wait();
    assert.deepEqual(await lines('eve'), before.lines);
    assert.equal(await idOf('eve', 'Anna'), anna);
    assert.equal((await split(anna)).status, 422);
    assert.equal((await split('999999999')).status, 422);
  });

  it('a merge of what others were merged into is taken back with them', async () => {
    const [anna, ann, rome] = [
      await idOf('eve', 'Anna'),
      await idOf('eve', 'Ann'),
      await idOf('eve', 'Rome'),
    ];
    await ask('POST', `entities/${anna}/merge`, { body: { into: ann } });
    await ask('POST', `entities/${ann}/merge`, { body: { into: rome } });
    assert.equal((await ask('POST', `entities/${rome}/split`, { body: { entity: ann } })).status, 200);
    assert.deepEqual((await ask('GET', `entities/${ann}`)).body.merged, [{ id: anna, name: 'Anna' }]);
    assert.equal((await ask('POST', `entities/${ann}/split`, { body: { entity: anna } })).status, 200);
    assert.ok((await lines('eve')).includes('Anna lives_in Oslo'));
  });

  it('what is removed or corrected stays so when documents are read again, until it is taken back', async () => {
    const ann = await idOf('ann', 'Ann');
    const oslo = (await relationsOf('ann')).find(({ to }) => to.name === 'Oslo');
    assert.equal((await ask('DELETE', `relations/${oslo.id}`)).status, 204);
    assert.deepEqual(await lines('ann'), ['Ann Lee lives_in Rome']);
    const rome = (await relationsOf('ann')).find(({ to }) => to.name === 'Rome');
    assert.equal(rome.valid_to, null, 'what ended it is not so');
    const moved = await ask('PATCH', `relations/${rome.id}`, {
      body: { valid_to: '2023-05-01T00:00:00Z', relation: 'Works in' },
    });
    assert.deepEqual(
      [moved.body.relation, moved.body.author, moved.body.source],
      ['works_in', 'key:test admin', null],
    );
    const changed = await ask('PATCH', `entities/${ann}`, {
      body: { name: 'Ann Lee-Roy', aliases: ['Ann Lee', 'Ann'] },
    });
    assert.deepEqual([changed.body.name, changed.body.changed_by], ['Ann Lee-Roy', 'key:test admin']);
    assert.equal((await ask('DELETE', `entities/${await idOf('ann', 'Oslo')}`)).status, 204);
    await write('ann', 'Once more.\nTwo.');
    assert.deepEqual(
      (await lines('ann')).filter((line) => line.startsWith('Ann Lee-Roy')),
      ['Ann Lee-Roy works_in Rome'],
    );
    assert.equal((await ask('GET', `entities/${await idOf('ann', 'Oslo')}`)).body.hidden, true);
    assert.equal((await ask('GET', `entities/${ann}`)).body.name, 'Ann Lee-Roy');
    const back = await ask('PATCH', `entities/${await idOf('ann', 'Oslo')}`, { body: { hidden: false } });
    assert.equal(back.body.hidden, false);
    assert.ok((await lines('ann')).includes('Anna lives_in Oslo'), 'of her who has her name again');
  });

  it('refuses what cannot be, and says why', async () => {
    const ann = await idOf('ann', 'Ann');
    const taken = await ask('PATCH', `entities/${ann}`, { body: { name: 'Rome', type: 'place' } });
    assert.equal(taken.status, 409);
    assert.match(taken.body.detail, /Rome is a name of the entity \d+: merge the two/);
    for (const body of [{ name: ' ' }, { aliases: Array(50).fill('x') }, { colour: 'red' }])
      assert.equal((await ask('PATCH', `entities/${ann}`, { body })).status, 400);
    const [one] = await relationsOf('ann');
    // A day is its first moment, as in searches.
    const backwards = { valid_from: '2024-01-01', valid_to: '2023-01-01T00:00:00Z' };
    assert.equal((await ask('PATCH', `relations/${one.id}`, { body: backwards })).status, 422);
    const soon = await ask('PATCH', `relations/${one.id}`, { body: { valid_to: 'soon' } });
    assert.equal(soon.status, 400);
    assert.match(soon.body.detail, /such as 2026-05-01/);
    assert.equal((await ask('DELETE', 'relations/999999999')).status, 404);
  });

  it('SECURITY R8 a key of a user sees and changes the user’s own, and only sees the agent’s', async () => {
    await write(undefined, 'Of the agent.');
    await write('bob', 'Of Bob.');
    const key = await stack.makeKey(['read', 'run'], { user: 'bob' });
    const { body } = await ask('GET', 'entities', { key });
    assert.deepEqual(
      new Set(body.data.map(({ user }: { user: string | null }) => user)),
      new Set(['bob', null]),
    );
    const anns = await idOf('ann', 'Ann');
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/merge'],
    ] as const)
      assert.equal(
        (await ask(method, `entities/${anns}${path}`, { key, body: method === 'GET' ? undefined : {} }))
          .status,
        404,
      );
    const own = body.data.find(({ user }: { user: string | null }) => user === 'bob');
    const agents = body.data.find(({ user }: { user: string | null }) => user === null);
    assert.equal((await ask('DELETE', `entities/${own.id}`, { key })).status, 204);
    assert.equal((await ask('DELETE', `entities/${agents.id}`, { key })).status, 403);
    const merge = { body: { into: agents.id } };
    assert.equal(
      (await ask('POST', `entities/${own.id}/merge`, merge)).status,
      422,
      'one owner’s do not become another’s',
    );
  });

  it('goes when the user is forgotten', async () => {
    const { body } = await stack.ask('DELETE', '/v1/users/bob');
    const receipt = await stack.worker.until('the receipt', async () => {
      const shown = await stack.ask('GET', `/v1/forgettings/${body.id}`);
      return shown.body.status === 'done' ? shown.body : undefined;
    });
    assert.ok(receipt.removed.documents > 0 && receipt.removed.knowledge > 0);
    for (const table of ['entities', 'names', 'facts', 'parts']) {
      const { rows } = await stack.pool.query(`select distinct user_id from knowledge_${table} order by 1`);
      assert.deepEqual(
        rows.map(({ user_id }) => user_id),
        ['', 'ann', 'eve'],
        table,
      );
    }
  });
});
