import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startApi, type TestApi } from '#test/support/stack.ts';

describe('IN-1 agents over HTTP', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  it('has the agent main from the start, on the model that needs no key', async () => {
    const { body } = await api.ask('GET', '/v1/agents/main');
    assert.equal(body.model, 'rehearsal/welcome');
    assert.equal(body.revision, 1);
    assert.equal((await api.ask('DELETE', '/v1/agents/main')).status, 409);
  });

  it('PO-2 says beside an agent which of its rules name no tool, when it is made, changed and shown', async () => {
    const body = { key: 'typo', model: 'rehearsal/echo', tools: { deny: ['web_fech', 'exec'] } };
    const words = [
      'tools.deny.0: "web_fech" matches no tool that there is now; did you mean web_fetch or web_search?',
    ];
    assert.deepEqual((await api.ask('POST', '/v1/agents', { body })).body.warnings, words);
    assert.deepEqual((await api.ask('GET', '/v1/agents/typo')).body.warnings, words);
    const mended = await api.ask('PATCH', '/v1/agents/typo', { body: { tools: { deny: ['web_fetch'] } } });
    assert.deepEqual(mended.body.warnings, []);
    await api.ask('DELETE', '/v1/agents/typo');
  });

  it('makes, changes and deletes an agent, each change a revision', async () => {
    const agent = {
      key: 'coder',
      name: 'Coder',
      model: ['rehearsal/echo', 'rehearsal/welcome'],
      tools: {
        profile: 'coding',
        ask: [{ tool: 'exec', args: { command: '*push*' }, reason: 'it is public' }],
      },
      exec: { security: 'allowlist', timeout_seconds: 20 },
      limits: { iterations: 30 },
    };
    const made = await api.ask('POST', '/v1/agents', { body: agent });
    assert.equal(made.status, 201);
    assert.equal(made.headers.get('location'), '/v1/agents/coder');
    assert.deepEqual(made.body.tools, agent.tools);
    assert.equal(made.body.type, 'open');
    assert.equal((await api.ask('POST', '/v1/agents', { body: agent })).status, 409);

    const changed = await api.ask('PATCH', '/v1/agents/coder', {
      body: { name: null, exec: { ask: 'always' } },
    });
    assert.equal(changed.body.revision, 2);
    assert.equal(changed.body.name, undefined);
    assert.deepEqual(changed.body.exec, { ask: 'always' });
    assert.deepEqual(changed.body.limits, agent.limits);
    const { rows } = await api.pool.query(
      "select revision, created_by from agent_revisions where agent_key = 'coder' order by revision",
    );
    assert.deepEqual(rows, [
      { revision: 1, created_by: 'key:test admin' },
      { revision: 2, created_by: 'key:test admin' },
    ]);

    assert.equal((await api.ask('DELETE', '/v1/agents/coder')).status, 204);
    assert.equal((await api.ask('GET', '/v1/agents/coder')).status, 404);
    const again = await api.ask('POST', '/v1/agents', { body: agent });
    assert.equal(again.status, 201);
    assert.equal(again.body.revision, 3);
  });

  it('keeps every one of 20 changes at once', async () => {
    await api.ask('POST', '/v1/agents', { body: { key: 'busy', model: 'rehearsal/echo' } });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_one, at) =>
        api.ask('PATCH', '/v1/agents/busy', { body: { name: `n${at}` } }),
      ),
    );
    const done = answers.filter(({ status }) => status === 200).length;
    assert.ok(answers.every(({ status }) => status === 200 || status === 409));
    assert.equal((await api.ask('GET', '/v1/agents/busy')).body.revision, done + 1);
  });

  it('changes an agent only in the revision that was seen, when the caller says so, also of many at once', async () => {
    await api.ask('POST', '/v1/agents', { body: { key: 'seen', model: 'rehearsal/echo' } });
    const change = (name: string, revision: number) =>
      api.ask('PATCH', '/v1/agents/seen', { body: { name, revision } });
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map((name) => change(name, 1)));
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409, 409, 409]);
    const { body } = await api.ask('GET', '/v1/agents/seen');
    assert.deepEqual(
      [body.name, body.revision],
      [answers.find(({ status }) => status === 200)?.body.name, 2],
    );
    assert.match((await change('late', 1)).body.detail, /revision 2 now, not 1/);
    assert.equal((await change('next', 2)).body.revision, 3);
  });

  it('refuses unknown fields, unknown models and rules that are none, naming the field', async () => {
    const cases: [unknown, number, string][] = [
      [{ key: 'a', model: 'rehearsal/echo', tool: {} }, 400, 'body/tool'],
      [{ key: 'a', model: 'rehearsal/echo', tools: { denny: [] } }, 400, 'body/tools/denny'],
      [{ key: 'a', model: 'rehearsal/echo', exec: { security: 'none' } }, 400, 'body/exec/security'],
      [{ key: 'a', model: 'rehearsal/echo', limits: { iterations: 1e9 } }, 400, 'body/limits/iterations'],
      [{ key: '../a', model: 'rehearsal/echo' }, 400, 'body/key'],
      [{ key: 'a', model: 'nonsense' }, 400, 'body/model'],
      [{ key: 'a', model: 'nobody/gpt' }, 422, 'body/model'],
      [{ key: 'a', model: ['rehearsal/echo', 'nobody/gpt'] }, 422, 'body/model/1'],
    ];
    for (const [body, status, pointer] of cases) {
      const answer = await api.ask('POST', '/v1/agents', { body });
      assert.equal(answer.status, status, JSON.stringify(body));
      assert.equal(answer.body.errors[0].pointer, pointer);
    }
    assert.equal((await api.ask('GET', '/v1/agents/a')).status, 404);
  });

  it('pages by cursor, and refuses a cursor that is none', async () => {
    for (const key of ['p1', 'p2', 'p3'])
      await api.ask('POST', '/v1/agents', { body: { key, model: 'rehearsal/echo' } });
    const first = await api.ask('GET', '/v1/agents?limit=2');
    assert.equal(first.body.has_more, true);
    const second = await api.ask('GET', `/v1/agents?limit=2&after=${first.body.next_cursor}`);
    const keys = [...first.body.data, ...second.body.data].map(({ key }) => key);
    assert.equal(new Set(keys).size, 4);
    assert.equal((await api.ask('GET', '/v1/agents?after=xyz')).status, 400);
    assert.equal((await api.ask('GET', '/v1/agents?limit=0')).status, 400);
    assert.equal((await api.ask('GET', '/v1/agents?limit=2&limit=3')).status, 400);
  });
});
