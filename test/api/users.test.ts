/** IN-9: a key of a user reaches only that user's sessions, and what belongs to them; on the whole stack. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Answer, type Stack, startApi, startStack } from '#test/support/stack.ts';

describe('IN-9 keys of users', () => {
  let stack: Stack;
  let ann: string;
  let bob: string;
  let boss: string;
  /** What each of the two has, with ids of every noun. */
  const has = new Map<string, Record<string, string>>();
  before(async () => {
    stack = await startStack({ agents: [{ key: 'limited', budgets: [{ scope: 'session', calls: 100 }] }] });
    ann = await stack.makeKey(['read', 'run', 'approve'], { user: 'ann' });
    bob = await stack.makeKey(['read', 'run', 'approve'], { user: 'bob' });
    boss = await stack.makeKey(['admin'], { user: 'boss' });
    for (const [user, key] of [
      ['ann', ann],
      ['bob', bob],
    ] as const)
      has.set(user, await work(user, key));
  });
  after(() => stack.stop());

  const ask = (method: string, path: string, key: string, body?: object): Promise<Answer> =>
    stack.ask(method, path, { key, ...(body === undefined ? {} : { body }) });
  const names = async (path: string, key: string, field = 'key'): Promise<string[]> =>
    (await ask('GET', path, key)).body.data.map((one: Record<string, string>) => one[field]);

  /** A session with a turn, a call, a subagent and a budget, another that waits for an approval, and delegated work. */
  async function work(user: string, key: string): Promise<Record<string, string>> {
    const session = `of-${user}`;
    const answer = await ask('POST', `/v1/sessions/${session}/messages?wait=60`, key, {
      text: 'spawn {"action":"run","task":"Say hello."}\nthen\nDone.',
      agent: 'limited',
    });
    assert.equal(answer.body.status, 'completed', JSON.stringify(answer.body));
    const turn: string = answer.body.turn_id;
    const [call] = (await ask('GET', `/v1/turns/${turn}/tool-calls`, key)).body.data;
    const [subagent] = (await ask('GET', `/v1/sessions/${session}/subagents`, key)).body.data;
    await ask('POST', `/v1/sessions/asks-${user}/messages`, key, { text: `poke {"note":"${user}"}` });
    const approval = await stack.worker.approvalOf(`asks-${user}`);
    const ids = [stack.tenant, session, turn, user];
    await stack.pool.query(
      `insert into assignments (tenant_id, id, kind, origin_session, origin_turn, origin_call, link_id, source_key, target_key,
         session_key, depth, user_id, label, task, mode, announce, detached, timeout_seconds, context, bound, gates, details,
         status, ended_at)
       select $1, prefix || $4, kind, $2, $3, 'c', 'l', 'main', 'main', kind || ':' || $4, 1, $4, 'l', 't', 'sync', 'queue', false, 1,
         '{}', '{}', '[]', '{"evaluator": "main", "max_rounds": 1}', status, now()
       from (values ('del_', 'delegation', 'completed')) x (prefix, kind, status)`,
      ids,
    );
    return { session, turn, call: call.id, subagent: subagent.id, inner: subagent.session_key, approval };
  }

  it('get 404 for every noun of another user, and theirs as before; an admin and a key of nobody reach all', async () => {
    const service = await stack.makeKey(['read', 'run']);
    for (const [user, own, other] of [
      ['ann', ann, bob],
      ['bob', bob, ann],
    ] as const) {
      const { session, turn, call, subagent, inner } = has.get(user) ?? assert.fail();
      const reads = [
        ...[session, inner].flatMap((key) =>
          ['', '/messages', '/turns', '/subagents'].map(
            (part) => `/v1/sessions/${encodeURIComponent(key ?? '')}${part}`,
          ),
        ),
        `/v1/turns/${turn}`,
        `/v1/turns/${turn}/tool-calls`,
        `/v1/tool-calls/${call}/result`,
        `/v1/subagents/${subagent}`,
        `/v1/delegations/del_${user}`,
      ];
      for (const path of reads) {
        const refused = await ask('GET', path, other);
        assert.deepEqual([refused.status, refused.body.code], [404, 'NotFound'], path);
        for (const key of [own, boss, service, stack.key])
          assert.equal((await ask('GET', path, key)).status, 200, path);
      }
      assert.equal((await ask('GET', `/v1/sessions/${session}/events`, other)).status, 404);
      const writes: [string, object][] = [
        [`/v1/sessions/${session}/messages`, { text: 'hello' }],
        [`/v1/sessions/${session}/steer`, { text: 'hello' }],
        [`/v1/sessions/${session}/stop`, { level: 'all' }],
        [`/v1/subagents/${subagent}/stop`, {}],
        [`/v1/subagents/${subagent}/steer`, { message: 'x' }],
        [`/v1/delegations/del_${user}/stop`, {}],
        ['/v1/tools/peek/invoke', { args: { note: 'x' }, session_key: session }],
      ];
      for (const [path, body] of writes)
        assert.equal((await ask('POST', path, other, body)).status, 404, path);
      assert.equal((await ask('GET', `/v1/sessions/${session}/messages`, own)).body.data.length, 3);
    }
  });

  it('see lists of their own only, on full pages', async () => {
    for (const at of [1, 2, 3])
      for (const [user, key] of [
        ['ann', ann],
        ['bob', bob],
      ] as const)
        await ask('POST', `/v1/sessions/page-${user}-${at}/messages?wait=30`, key, { text: 'hi' });
    const seen: string[] = [];
    let after = '';
    do {
      const { body } = await ask('GET', `/v1/sessions?limit=2${after}`, ann);
      assert.ok(body.data.length === 2 || !body.has_more);
      seen.push(...body.data.map(({ key }: { key: string }) => key));
      after = body.next_cursor ? `&after=${encodeURIComponent(body.next_cursor)}` : '';
    } while (after !== '');
    const { inner = '' } = has.get('ann') ?? {};
    assert.deepEqual(
      seen.toSorted(),
      ['asks-ann', 'of-ann', 'page-ann-1', 'page-ann-2', 'page-ann-3', inner].toSorted(),
    );
    assert.deepEqual(await names('/v1/sessions?user=bob', ann), []);
    assert.deepEqual(await names('/v1/delegations', ann, 'id'), ['del_ann']);
    const used = await names('/v1/usage?by=session', ann, 'session');
    assert.ok(used.includes('of-ann') && used.every((key) => !key.includes('bob')), String(used));
    const subjects = await names('/v1/budgets/accounts', ann, 'subject');
    assert.ok(subjects.includes('of-ann') && !subjects.includes('of-bob'), String(subjects));
    for (const [path, field] of [
      ['/v1/delegations', 'id'],
      ['/v1/budgets/accounts', 'subject'],
    ] as const)
      assert.ok((await names(path, boss, field)).length >= 2, path);
  });

  it('AP-4 decide what names them without reading the session it is of', async () => {
    const { approval = '' } = has.get('bob') ?? {};
    assert.equal((await ask('GET', `/v1/approvals/${approval}`, ann)).status, 404);
    await stack.pool.query(
      `update approvals set terms = '{"approvers":{"users":["ann"]}}' where tenant_id = $1 and id = $2`,
      [stack.tenant, approval],
    );
    assert.equal((await ask('GET', `/v1/approvals/${approval}`, ann)).body.session_key, 'asks-bob');
    assert.equal((await ask('GET', '/v1/sessions/asks-bob', ann)).status, 404);
    const decided = await ask('POST', `/v1/approvals/${approval}/decision`, ann, { decision: 'approve' });
    assert.equal(decided.status, 200, JSON.stringify(decided.body));
  });

  it('cannot take a session by being quick: of two users who begin one at once, one gets it', async () => {
    for (let at = 0; at < 5; at += 1) {
      const path = `/v1/sessions/race-${at}/messages`;
      const answers = await Promise.all([ann, bob].map((key) => ask('POST', path, key, { text: 'mine' })));
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [202, 404]);
    }
  });

  it('what a Temporal client begins for a user is that user’s', async () => {
    const { turn_id } = await stack.worker.say('foreign', 'hello', { user: 'ann' });
    await stack.worker.ended(turn_id);
    assert.equal((await ask('GET', '/v1/sessions/foreign', ann)).body.user, 'ann');
    assert.equal((await ask('GET', '/v1/sessions/foreign', bob)).status, 404);
  });
});

describe('IN-9 shared by setting', () => {
  it('keys of users reach the sessions of all', async () => {
    const api = await startApi({ settings: { sharedSessions: true } });
    try {
      const ann = await api.makeKey(['read'], { user: 'ann' });
      await api.pool.query(
        "insert into sessions (tenant_id, key, agent_key, user_id) values ($1, 'theirs', 'main', 'bob')",
        [api.tenant],
      );
      assert.equal((await api.ask('GET', '/v1/sessions/theirs', { key: ann })).body.user, 'bob');
      assert.equal((await api.ask('GET', '/v1/sessions', { key: ann })).body.data.length, 1);
    } finally {
      await api.stop();
    }
  });
});
