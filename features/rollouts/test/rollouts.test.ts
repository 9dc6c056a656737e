/** DU-10: a revision is given to some sessions first, and put back; what runs keeps what it started with. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('DU-10 rollouts', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      agents: [{ key: 'twin' }, { key: 'moving', tools: {} }, { key: 'many', tools: {} }, { key: 'given' }],
      scripts: { other: 'rules:\n  - reply: { text: I am the other }\n' },
    });
  });
  after(() => stack?.stop());

  const ask = async (method: string, path: string, body?: object, status = 200): Promise<any> => {
    const answer = await stack.ask(method, path, body && { body });
    assert.equal(answer.status, status, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const start = (body: object, status = 201) => ask('POST', '/v1/rollouts', body, status);
  const back = (agent: string, body: object = {}) => ask('POST', `/v1/rollouts/${agent}/back`, body);
  /** Runs a turn; resolves with its row. */
  const turnOf = async (session: string, agent: string, text = 'hello') => {
    const { turn_id } = await stack.worker.say(session, text, { agent });
    await stack.worker.ended(turn_id);
    return ask('GET', `/v1/turns/${turn_id}`);
  };
  const revisionOf = async (session: string, agent: string) => (await turnOf(session, agent)).agent_revision;

  it('a running turn keeps its revision, model and tools when its agent is changed, and rules apply at once', async () => {
    const { turn_id } = await stack.worker.say(
      'moves',
      'hold {"note":"moves"}\nthen\npeek {"note":"a"}\nthen\nnudge {"note":"b"}',
      { agent: 'moving' },
    );
    await stack.worker.until('the held call', () => stack.worker.probes.held.get('moves'));
    await ask('PATCH', '/v1/agents/moving', { model: 'rehearsal/other', tools: { deny: ['nudge'] } });
    stack.worker.probes.release('moves');
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    const turn = await ask('GET', `/v1/turns/${turn_id}`);
    assert.equal(turn.agent_revision, 1);
    const steps = (await ask('GET', `/v1/turns/${turn_id}/steps`)).data;
    assert.deepEqual([...new Set(steps.map(({ model }: { model: string }) => model))], ['rehearsal/follow']);
    const calls = await stack.worker.calls(turn_id);
    assert.deepEqual(
      calls.map(({ tool, ok }) => [tool, ok]),
      [
        ['hold', true],
        ['peek', true],
        ['nudge', false],
      ],
    );
    const next = await turnOf('moves', 'moving');
    assert.deepEqual([next.agent_revision, next.text], [2, 'I am the other']);
  });

  it('a turn shows the policy and the version of tools that it started with', async () => {
    const before = (await turnOf('with', 'moving')).ran_with;
    await ask('PUT', '/v1/policy', { tools: { deny: ['exec'] } });
    const after = (await turnOf('with', 'moving')).ran_with;
    assert.equal(before.policy, undefined);
    assert.match(after.policy, /^[0-9a-f]{64}$/);
    await ask('PUT', '/v1/policy', {});
  });

  it('sessions and users that are named get the revision with its rules, all others do not', async () => {
    const made = await start({
      agent: 'twin',
      sessions: ['named'],
      users: ['ann'],
      change: { tools: { ask: [] } },
    });
    assert.deepEqual([made.base, made.revision, made.share, made.state], [1, 2, 0, 'running']);
    const named = await turnOf('named', 'twin', 'poke {"note":"named"}');
    assert.deepEqual([named.agent_revision, named.status], [2, 'completed']);
    assert.deepEqual(
      (await stack.worker.calls(named.id)).map(({ tool, verdict, ok }) => [tool, verdict, ok]),
      [['poke', 'allow', true]],
    );
    assert.equal(await revisionOf('unnamed', 'twin'), 1);
    const { turn_id } = await stack.worker.say('of-ann', 'hello', { agent: 'twin', user: 'ann' });
    await stack.worker.ended(turn_id);
    assert.equal((await ask('GET', `/v1/turns/${turn_id}`)).agent_revision, 2);
    // The base asks.
    const asks = await stack.worker.say('unnamed', 'poke {"note":"asks"}', { agent: 'twin' });
    await stack.worker.approvalOf('unnamed');
    assert.equal((await ask('GET', `/v1/turns/${asks.turn_id}`)).agent_revision, 1);
    await ask('POST', '/v1/sessions/unnamed/stop', { level: 'now' }, 202);
    assert.equal((await ask('GET', '/v1/agents/twin')).revision, 1);
  });

  it('while one is in force, the agent cannot be changed, deleted or rolled out otherwise, and answers say why', async () => {
    for (const [method, path, body] of [
      ['PATCH', '/v1/agents/twin', { name: 'other' }],
      ['DELETE', '/v1/agents/twin', undefined],
      ['POST', '/v1/agents/twin/back', {}],
      ['POST', '/v1/rollouts', { agent: 'twin', share: 1, change: { name: 'other' } }],
    ] as const)
      assert.match(
        (await ask(method, path, body, 409)).detail,
        /Revision 2 of twin is in a rollout \(0 %\).*rollouts finish twin, rollouts back twin/,
      );
  });

  it('back brings each session to the base with its next turn, also those that had the revision', async () => {
    const ended = await back('twin', { reason: 'it was rude' });
    assert.deepEqual([ended.state, ended.base], ['back', 1]);
    assert.equal(await revisionOf('named', 'twin'), 1);
    assert.match(
      (await ask('POST', '/v1/rollouts/twin/back', {}, 409)).detail,
      /No revision of twin is in a rollout: that of revision 2 was put back by/,
    );
    const changes = (await ask('GET', '/v1/rollouts/twin/changes')).data;
    assert.deepEqual(
      changes.map(({ number, action, reason }: Record<string, unknown>) => [number, action, reason]),
      [
        [2, 'back', 'it was rude'],
        [1, 'start', null],
      ],
    );
    // Its number stays taken.
    assert.equal((await ask('PATCH', '/v1/agents/twin', { name: 'Twin' })).revision, 3);
  });

  it('a revision that was put back can be rolled out again, and finished for all', async () => {
    assert.equal((await start({ agent: 'twin', revision: 2, share: 0 })).revision, 2);
    // It had the revision in the rollout before, which is over.
    assert.equal(await revisionOf('named', 'twin'), 3);
    const { state } = await ask('POST', '/v1/rollouts/twin/finish', {});
    assert.equal(state, 'finished');
    assert.equal(await revisionOf('named', 'twin'), 2);
    const agent = await ask('GET', '/v1/agents/twin');
    assert.deepEqual([agent.revision, agent.tools, agent.name], [2, { ask: [] }, undefined]);
  });

  it('agents back passes over a revision that only a rollout gave, unless it was finished', async () => {
    await ask('POST', '/v1/agents', { key: 'turned', name: 'one', model: 'rehearsal/follow' }, 201);
    const roll = (name: string) => start({ agent: 'turned', share: 10, change: { name } });
    await roll('two');
    await back('turned', {});
    await ask('PATCH', '/v1/agents/turned', { name: 'three' });
    const first = await ask('POST', '/v1/agents/turned/back', {});
    assert.deepEqual([first.revision, first.name], [4, 'one']);
    await roll('five');
    await ask('POST', '/v1/rollouts/turned/finish', {});
    await ask('PATCH', '/v1/agents/turned', { name: 'six' });
    assert.equal((await ask('POST', '/v1/agents/turned/back', {})).name, 'five');
  });

  it('agents back makes a new revision as an earlier one was, and compare shows what differs', async () => {
    const agent = await ask('POST', '/v1/agents/twin/back', { to: 1 });
    assert.deepEqual([agent.revision, agent.tools.ask[0].tool], [4, 'poke']);
    const list = (await ask('GET', '/v1/agents/twin/revisions')).data;
    assert.deepEqual(
      list.map(({ revision, current, fields }: Record<string, unknown>) => [revision, current, fields]),
      [
        [4, true, ['name']],
        [3, false, ['name', 'tools']],
        [2, false, ['tools']],
        [1, false, []],
      ],
    );
    assert.equal(list[0].digest, list[3].digest);
    const { fields } = await ask('GET', '/v1/agents/twin/revisions/1/compare/2');
    assert.deepEqual(
      fields.map(({ field, after }: Record<string, unknown>) => [field, after]),
      [['tools', { ask: [] }]],
    );
    assert.equal((await ask('GET', '/v1/agents/twin/revisions/3')).config.name, 'Twin');
    await ask('GET', '/v1/agents/twin/revisions/9', undefined, 404);
    await ask('POST', '/v1/agents/twin/back', { to: 9 }, 422);
  });

  it('of many who start, change or end one at the same moment one wins, and the others get Conflict', async () => {
    const count = (answers: readonly { status: number }[], status: number) =>
      answers.filter((answer) => answer.status === status).length;
    const post = (path: string, body: object) => stack.ask('POST', path, { body });
    const started = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        post('/v1/rollouts', { agent: 'given', change: { name: `n${at}` } }),
      ),
    );
    assert.deepEqual([count(started, 201), count(started, 409)], [1, 7]);
    const set = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        stack.ask('PATCH', '/v1/rollouts/given', { body: { share: 10 + at, number: 1 } }),
      ),
    );
    assert.deepEqual([count(set, 200), count(set, 409)], [1, 7]);
    const ended = await Promise.all(
      Array.from({ length: 8 }, (_, at) => post(`/v1/rollouts/given/${at % 2 ? 'finish' : 'back'}`, {})),
    );
    assert.deepEqual([count(ended, 200), count(ended, 409)], [1, 7]);
    const changes = (await ask('GET', '/v1/rollouts/given/changes')).data;
    assert.deepEqual(
      changes.map(({ number }: { number: number }) => number),
      [3, 2, 1],
    );
    const isFinished = changes[0].action === 'finish';
    assert.equal((await ask('GET', '/v1/agents/given')).revision, isFinished ? 2 : 1);
  });

  it('what would change all sessions, or nothing, cannot be rolled out', async () => {
    for (const [change, words] of [
      [{ sandbox: 'off' }, /sandbox of an agent are for all/],
      [{ model: 'rehearsal/follow' }, /Nothing would differ/],
      [{ model: 'nobody/nothing' }, /nobody/],
    ] as const)
      assert.match((await start({ agent: 'many', change }, 422)).detail, words);
    await start({ agent: 'absent', change: { name: 'x' } }, 404);
    // The agent is what is named first: a hook that cannot be called is of no use to it.
    const judge = { event: 'pre_tool_use', type: 'prompt', prompt: 'Is it safe?', model: 'nobody/nothing' };
    await start({ agent: 'absent', change: { hooks: [judge] } }, 404);
    await start({ agent: 'many', change: { hooks: [judge] } }, 422);
    await start({ agent: 'many', share: 5 }, 400);
    await start({ agent: 'many', share: 101, change: { name: 'x' } }, 400);
    await start({ agent: 'many', revision: 7 }, 422);
  });

  it('who has had the revision keeps it when the share is lowered, and a delegate follows its root', async () => {
    await start({ agent: 'many', share: 100, change: { name: 'Many' } });
    assert.equal(await revisionOf('kept', 'many'), 2);
    await ask('PATCH', '/v1/rollouts/many', { share: 0 });
    assert.equal(await revisionOf('kept', 'many'), 2);
    assert.equal(await revisionOf('fresh', 'many'), 1);
    const spawned = await turnOf('kept', 'many', 'spawn {"task":"Say hello.","label":"hello"}');
    const below = await stack.worker.until('the work below to end', async () => {
      const { rows } = await stack.pool.query<{ agent_revision: number }>(
        `select t.agent_revision from turns t join sessions s on s.key = t.session_key
         where s.budget_root ->> 'session' = 'kept' and t.ended_at is not null`,
      );
      return rows[0];
    });
    assert.deepEqual([spawned.agent_revision, below.agent_revision], [2, 2]);
    // Its result is a message, which begins one more turn.
    await stack.worker.until('its turn to end', async () =>
      (await stack.worker.turns('kept')).filter(({ ended_at }) => ended_at).length === 4 ? true : undefined,
    );
    const runs = await ask('GET', '/v1/rollouts/many/runs');
    assert.deepEqual(
      runs.revisions.map(({ revision, turns, completed }: Record<string, unknown>) => [
        revision,
        turns,
        completed,
      ]),
      [
        [1, 1, 1],
        [2, 5, 5],
      ],
    );
    await back('many');
  });
});
