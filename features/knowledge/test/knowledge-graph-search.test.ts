/** Tests what a model extracts from memory, how it is found, whose it is, and what is removed with its documents. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { writeDocument } from '#store/files/document-store.ts';
import { type Answer, type Stack, startStack } from '#test/support/stack.ts';

interface Relation {
  readonly from: string;
  readonly relation: string;
  readonly to: string;
  readonly valid_from: string;
  readonly valid_to: string | null;
  readonly source: {
    readonly path: string;
    readonly from: number;
    readonly to: number;
    readonly revision: number;
  };
}

interface Found {
  readonly entities: readonly {
    readonly id: string;
    readonly name: string;
    readonly type: string;
    readonly aliases?: readonly string[];
    readonly depth: number;
    readonly sources: readonly Relation['source'][];
  }[];
  readonly relations: readonly Relation[];
  readonly more?: string;
}

type Drawn = readonly [word: string, args: object];

const person = (name: string, line = 1, aliases?: readonly string[]) => ({
  name,
  type: 'person',
  line,
  aliases,
});
const place = (name: string, line = 1) => ({ name, type: 'place', line });
const lives = (from: string, to: string, line = 1, more = {}) => ({
  from,
  relation: 'lives in',
  to,
  line,
  single: true,
  ...more,
});

/** What the scripted model records for notes that have the word. */
const DRAWN: readonly Drawn[] = [
  [
    'likes kiwis',
    {
      entities: [
        person('Ann Lee', 2, ['Ann']),
        { name: 'Acme', type: 'Organization', line: 3 },
        person('Bo Roy', 3),
      ],
      relations: [
        { from: 'Ann', relation: 'works at', to: 'Acme', line: 3 },
        { from: 'Bo Roy', relation: 'owns', to: 'acme', line: 3, to_line: 4, valid_from: '2019-05' },
      ],
    },
  ],
  ['moved to Rome', { entities: [person('ann', 1), place('Rome')], relations: [lives('ann', 'Rome', 1)] }],
  [
    'left Paris',
    {
      entities: [person('Ann Lee'), place('Paris')],
      relations: [lives('Ann Lee', 'Paris', 1, { valid_from: '2020-01-01' })],
    },
  ],
  [
    'works no more',
    {
      entities: [person('Ann'), { name: 'ACME', type: 'organization', line: 1 }],
      relations: [{ from: 'Ann', relation: 'works_at', to: 'ACME', line: 1, valid_to: '2021-06-30' }],
    },
  ],
  [
    'house cat',
    {
      entities: [{ name: 'Tom', type: 'animal', line: 1 }, place('Kitchen')],
      relations: [lives('Tom', 'Kitchen')],
    },
  ],
  [
    'hostile',
    {
      entities: [
        person(`\u0000 Mallory ${'x'.repeat(500)}`),
        { name: 7, type: 'person', line: 1 },
        person('Key sk-ant-api03-' + 'Ab1'.repeat(31) + '-AA'),
        ...Array.from({ length: 200 }, (_, n) => person(`Clone ${n}`, 1_000)),
      ],
      relations: [
        lives('nobody', 'nowhere'),
        lives('Clone 1', 'Clone 1'),
        lives('Clone 1', 'Clone 2', 999),
        'x',
      ],
    },
  ],
  ['two Maiers', { entities: [person('Anna Maier'), person('Otto Maier')], relations: [] }],
  [
    'once lived',
    {
      entities: [person('Ida'), place('Graz')],
      relations: [lives('Ida', 'Graz', 1, { valid_to: '2015-06-30' })],
    },
  ],
  ['nonsense', { entities: 'none', relations: { a: 1 } }],
];

const READER = `rules:\n${DRAWN.map(
  ([word, args]) =>
    `  - when: { offers: record_facts, user: ${JSON.stringify(word)} }\n    reply: { calls: [{ tool: record_facts, args: ${JSON.stringify(args)} }] }\n`,
).join('')}  - when: { user: silence }\n    reply: { text: I would rather talk. }
  - when: { user: fails once, attempt: 1 }\n    reply: { error: { code: Filtered, message: No. } }
  - reply: { calls: [{ tool: record_facts, args: { entities: [], relations: [] } }] }\n`;

describe('TL knowledge_graph_search', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      scripts: { reader: READER },
      settings: 'models: { prices: { rehearsal/reader: { input: 1000, output: 1000 } } }',
      agents: [
        { key: 'reads', model: 'rehearsal/follow', knowledge: { model: 'rehearsal/reader' } },
        { key: 'tried', model: 'rehearsal/follow', knowledge: { model: 'rehearsal/notes' } },
        { key: 'plain', model: 'rehearsal/follow' },
        { key: 'poor', knowledge: { model: 'rehearsal/reader' }, budgets: [{ scope: 'agent', calls: 0 }] },
      ],
    });
  });
  after(() => stack.stop());

  async function write(path: string, text: string, user?: string, agent = 'reads'): Promise<void> {
    const query = user ? `?user=${user}` : '';
    const { status, body } = await stack.ask(
      'PUT',
      `/v1/agents/${agent}/files/${encodeURIComponent(path)}${query}`,
      {
        body: { text },
      },
    );
    assert.equal(status, 200, JSON.stringify(body));
    await read(user, agent);
  }

  function read(user?: string, agent = 'reads'): Promise<Answer['body']> {
    return stack.worker.until('the graph', async () => {
      const { status, body } = await stack.ask(
        'GET',
        `/v1/agents/${agent}/knowledge/status${user ? `?user=${user}` : ''}`,
      );
      assert.equal(status, 200, JSON.stringify(body));
      return body.pending === 0 ? body : undefined;
    });
  }

  async function say(args: object, user?: string, agent = 'reads'): Promise<string> {
    const text = `knowledge_graph_search ${JSON.stringify(args)}\nthen\nDone.`;
    const { turn_id } = await stack.worker.say(
      `${agent}-${user ?? 'nobody'}`,
      text,
      user ? { user, agent } : { agent },
    );
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    return (await stack.worker.calls(turn_id)).at(-1)?.result ?? '';
  }

  async function search(args: object, user?: string): Promise<Found> {
    const result = await say(args, user);
    if (result.startsWith('Nothing of that name')) return { entities: [], relations: [] };
    assert.match(result, /^\{/);
    return JSON.parse(result) as Found;
  }

  const lines = (found: Found): string[] =>
    found.relations.map((one) => `${one.from} ${one.relation} ${one.to}`).toSorted();

  it('finds what the model drew from memory, merged by name, type and alias, with its source', async () => {
    await write('memory/ann.md', '# Ann\nAnn Lee likes kiwis.\nShe works at Acme.\nBo Roy owns it.', 'ann');
    await write('memory/rome.md', 'Ann moved to Rome.', 'ann');
    const found = await search({ query: 'What does ann do?' }, 'ann');
    const [ann, ...others] = found.entities;
    assert.deepEqual([ann?.name, ann?.type, ann?.aliases, ann?.depth], ['Ann Lee', 'person', ['Ann'], 0]);
    assert.deepEqual(
      ann?.sources.map((source) => [source.path, source.from, source.to, source.revision]),
      [
        ['memory/rome.md', 1, 1, 1],
        ['memory/ann.md', 2, 2, 1],
      ],
    );
    assert.deepEqual(
      others.map(({ name, depth }) => `${name} ${depth}`),
      ['Acme 1', 'Rome 1', 'Bo Roy 2'],
    );
    assert.deepEqual(lines(found), ['Ann Lee lives_in Rome', 'Ann Lee works_at Acme', 'Bo Roy owns Acme']);
    const owns = found.relations.find(({ relation }) => relation === 'owns');
    assert.deepEqual(owns?.source, { path: 'memory/ann.md', from: 3, to: 4, revision: 1 });
    assert.deepEqual([owns?.valid_from, owns?.valid_to], ['2019-05-01T00:00:00.000Z', null]);
  });

  it('a later fact ends an earlier one that it contradicts, and as_of gives what held at a time', async () => {
    await write('memory/paris.md', 'Ann left Paris, where she lived from 2020.', 'ann');
    const homes = async (as_of?: string): Promise<string[]> => {
      const { relations } = await search({ query: 'Ann Lee', max_depth: 1, as_of }, 'ann');
      return relations.flatMap((one) =>
        one.relation === 'lives_in' ? [`${one.to} ${one.valid_to !== null}`] : [],
      );
    };
    assert.deepEqual(await homes(), ['Rome false']);
    assert.deepEqual(await homes('2020-06-01T00:00:00+02:00'), ['Paris true']);
    assert.deepEqual(await homes('2019-01-01T00:00:00Z'), []);
    await stack.ask('DELETE', `/v1/agents/reads/files/${encodeURIComponent('memory/rome.md')}?user=ann`);
    await read('ann');
    assert.deepEqual(await homes(), ['Paris false'], 'what had ended it is gone with its document');
    await write('memory/end.md', 'Ann works no more at Acme since mid 2021, as of old.', 'ann');
    const { relations } = await search({ query: 'Acme', max_depth: 1, as_of: '2021-07-01' }, 'ann');
    assert.deepEqual(
      relations.map(({ relation }) => relation),
      ['owns'],
    );
  });

  it('a changed document takes its old facts with it, and asks the model only for parts that are new', async () => {
    const filler = (name: string) => `${name} ${'is a long story without a fact. '.repeat(80)}`;
    const uses = async (): Promise<number> => {
      const { rows } = await stack.pool.query(
        `select count(*)::int as n from model_uses where kind = 'knowledge' and agent_key = 'reads' and session_key = '' and usd > 0`,
      );
      return rows[0].n as number;
    };
    const story = [filler('One'), filler('Two'), filler('Three'), filler('Four')].join('\n\n');
    const before = await uses();
    await write('memory/story.md', `${story}\n\nTom is the house cat.`, 'bob');
    const first = (await uses()) - before;
    assert.ok(first > 1, `${first} parts`);
    assert.deepEqual(lines(await search({ query: 'tom' }, 'bob')), ['Tom lives_in Kitchen']);
    await write('memory/story.md', `\n${story}\n\nTom moved out.`, 'bob');
    const again = (await uses()) - before - first;
    assert.ok(again >= 1 && again < first, `${again} of ${first} parts`);
    assert.deepEqual(await search({ query: 'tom' }, 'bob'), { entities: [], relations: [] });
    const { body } = await stack.ask('GET', '/v1/knowledge/entities?agent=reads&user=bob');
    assert.deepEqual(body.data, [], 'nothing names him any more');
  });

  it('VF-2 a user finds their own facts and the agent’s, never those of others, and not of a document that theirs stands before', async () => {
    await write('memory/pets.md', 'Tom is the house cat.');
    assert.deepEqual(lines(await search({ query: 'Tom' }, 'carl')), ['Tom lives_in Kitchen']);
    assert.deepEqual((await search({ query: 'Ann Acme Rome' }, 'carl')).entities, []);
    assert.deepEqual((await search({ query: 'Ann' })).entities, []);
    await write('memory/pets.md', 'Carl has no pets.', 'carl');
    assert.deepEqual((await search({ query: 'Tom' }, 'carl')).entities, []);
    assert.deepEqual(lines(await search({ query: 'Tom' }, 'dee')), ['Tom lives_in Kitchen']);
    const anns = (await search({ query: 'Ann' }, 'ann')).entities[0]?.id ?? '';
    assert.match(anns, /^\d+$/);
    assert.deepEqual((await search({ query: 'x', entity_id: anns }, 'carl')).entities, []);
    const other = await stack.makeTenant();
    assert.deepEqual((await stack.ask('GET', '/v1/knowledge/entities', { key: other.key })).body.data, []);
    assert.equal((await stack.ask('GET', `/v1/knowledge/entities/${anns}`, { key: other.key })).status, 404);
  });

  it('a name that stands whole in the question comes before one that shares a word with it', async () => {
    await write('memory/maiers.md', 'There are two Maiers.', 'max');
    const names = async (query: string): Promise<string[]> =>
      (await search({ query }, 'max')).entities.map(({ name }) => name);
    assert.deepEqual(await names('Where is Otto Maier?'), ['Otto Maier', 'Anna Maier']);
    assert.deepEqual(await names('anna maier'), ['Anna Maier', 'Otto Maier']);
  });

  it('what the notes say only the end of held before it, and holds no more', async () => {
    await write('memory/ida.md', 'Ida once lived in Graz.', 'max');
    assert.deepEqual(lines(await search({ query: 'Ida', as_of: '2014-01-01T00:00:00Z' }, 'max')), [
      'Ida lives_in Graz',
    ]);
    assert.deepEqual(lines(await search({ query: 'Ida' }, 'max')), []);
  });

  it('begins at a type or an id, finds names with a slip of the pen, and gives all for *', async () => {
    const names = async (args: object): Promise<string[]> =>
      (await search(args, 'ann')).entities
        .filter(({ depth }) => depth === 0)
        .map(({ name }) => name)
        .toSorted();
    assert.deepEqual(await names({ query: '*', entity_type: 'Organization' }), ['Acme']);
    assert.deepEqual(await names({ query: '*', entity_type: 'person' }), ['Ann Lee', 'Bo Roy']);
    assert.deepEqual(await names({ query: '*', entity_type: '' }), await names({ query: '*' }));
    assert.deepEqual(await names({ query: 'Acmee' }), ['Acme']);
    assert.deepEqual(await names({ query: `roy's & | ! ' (\\` }), ['Bo Roy']);
    const [acme] = (await search({ query: 'Acme' }, 'ann')).entities;
    const near = await search({ query: '-', entity_id: acme?.id, max_depth: 1 }, 'ann');
    assert.deepEqual(
      near.entities.map(({ name }) => name),
      ['Acme', 'Ann Lee', 'Bo Roy'],
    );
    assert.match(await say({ query: 'Acme', max_depth: 6 }, 'ann'), /^InvalidArgs/);
    assert.match(await say({ query: 'Acme', as_of: 'yesterday' }, 'ann'), /^InvalidArgs/);
    assert.match(await say({ query: 'Acme', entity_id: '1; drop' }, 'ann'), /^InvalidArgs/);
  });

  it('SC-3 takes what the model says as data: bounded, without secrets, and of what is no fact nothing', async () => {
    await write('memory/evil.md', 'This is hostile.', 'eve');
    const { body } = await stack.ask('GET', '/v1/agents/reads/knowledge/status?user=eve');
    assert.ok(body.entities > 40 && body.entities <= 60, String(body.entities));
    assert.equal(body.relations, 1);
    const { rows } = await stack.pool.query(`select name from knowledge_entities where user_id = 'eve'`);
    assert.ok(rows.every(({ name }) => name.length <= 200));
    assert.doesNotMatch(JSON.stringify(rows), /sk-ant-api03-Ab1/);
    const found = await search({ query: 'Clone 1', max_depth: 1 }, 'eve');
    assert.deepEqual(
      found.relations.map(({ source }) => [source.from, source.to]),
      [[1, 1]],
    );
    for (const text of ['What nonsense.', 'Only silence.', 'It fails once.'])
      await write('memory/evil.md', text, 'eve');
    assert.equal((await read('eve')).entities, 0);
  });

  it('SC-4 what came from outside is marked, also in what a session writes that has found it', async () => {
    const scope = { tenant: stack.tenant, agent: 'reads', user: 'fay' };
    await writeDocument(stack.pool, scope, {
      path: 'memory/web.md',
      author: 'x',
      outside: true,
      by: () => 'Tom is the house cat.',
    });
    const { client, taskQueue } = stack.worker;
    await client.workflow.execute('sweep', { workflowId: `sweep/${taskQueue}`, taskQueue });
    await read('fay');
    assert.match(
      await say({ query: 'Tom' }, 'fay'),
      /^<<<EXTERNAL_UNTRUSTED_CONTENT id=\S+ source=knowledge_graph>>>/,
    );
    const text =
      'knowledge_graph_search {"query":"Tom"}\nthen\nmemory_write {"content":"As found.","path":"memory/copy.md"}\nthen\nDone.';
    const { turn_id } = await stack.worker.say('fay-2', text, { user: 'fay', agent: 'reads' });
    await stack.worker.ended(turn_id);
    const { body } = await stack.ask('GET', '/v1/agents/reads/files/memory%2Fcopy.md?user=fay');
    assert.equal(body.outside, true);
  });

  it('draws nothing where the agent has no model for it, DU-7 nor without room in its budget, and begins once there is one', async () => {
    await write('memory/cat.md', 'Tom is the house cat.', undefined, 'plain');
    assert.match(await say({ query: 'Tom' }, undefined, 'plain'), /^Nothing of that name/);
    const scope = { tenant: stack.tenant, agent: 'poor', user: null };
    await writeDocument(stack.pool, scope, {
      path: 'MEMORY.md',
      author: 'x',
      by: () => 'Tom is the house cat.',
    });
    const { body } = await stack.ask('PATCH', '/v1/agents/plain', {
      body: { knowledge: { model: 'nobody/none' } },
    });
    assert.equal(body.errors?.[0]?.pointer, 'body/knowledge/model');
    await stack.ask('PATCH', '/v1/agents/plain', { body: { knowledge: { model: 'rehearsal/reader' } } });
    const { client, taskQueue } = stack.worker;
    await client.workflow.execute('sweep', { workflowId: `sweep/${taskQueue}/2`, taskQueue });
    await read(undefined, 'plain');
    assert.match(await say({ query: 'Tom' }, undefined, 'plain'), /lives_in/);
    await stack.worker.until('the words', async () => {
      const status = await stack.ask('GET', '/v1/agents/poor/memory/status');
      return status.body.pending === 0 ? true : undefined;
    });
    assert.equal((await stack.ask('GET', '/v1/agents/poor/knowledge/status')).body.pending, 1);
    const { rows } = await stack.pool.query(`select 1 from model_uses where agent_key = 'poor'`);
    assert.equal(rows.length, 0);
  });

  it('MO-2 is tried without a key: the script notes reads plain lines', async () => {
    await write('memory/people.md', '# People\n\nAnn works at Acme.\n', undefined, 'tried');
    assert.match(
      await say({ query: 'Where does Ann work?' }, undefined, 'tried'),
      /"from": "Ann",\s+"relation": "works_at",\s+"to": "Acme"[^]*"path": "memory\/people\.md",\s+"from": 3/,
    );
  });
});
