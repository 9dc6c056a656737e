/** DU-6: what cannot be forked is refused with what to do, nobody gains rights by a fork, and a repeat is one fork. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';
import { createForker, type Forker, write } from './support.ts';

describe('DU-6 forks that are refused or repeated', () => {
  let stack: Stack;
  let forker: Forker;
  before(async () => {
    stack = await startStack({
      agents: [
        { key: 'free', tools: {} },
        { key: 'asks', tools: { ask: [{ tool: 'poke' }] } },
      ],
    });
    forker = createForker(stack);
  });
  after(() => stack?.stop());

  const post = (session: string, body: object, options: object = {}) =>
    stack.ask('POST', `/v1/sessions/${session}/forks`, { body, ...options });
  const refused = async (session: string, body: object, status: number, words: RegExp, field?: string) => {
    const answer = await post(session, body);
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    assert.match(answer.body.detail, words);
    assert.equal(answer.body.errors?.[0].pointer, field && `body/${field}`);
  };

  it('names what is wrong with a request, and what to do', async () => {
    const { turn_id: turn } = await forker.send('wrong', [write('a.txt', 'a'), 'Done.']);
    await refused('nobody', {}, 404, /no session/);
    await refused('wrong', { turn_id: 'turn_unknown' }, 404, /no turn turn_unknown/, 'turn_id');
    await refused('wrong', { step: 3 }, 422, /steps 1 to 2/, 'step');
    await refused('wrong', { answer: { text: 'x' } }, 400, /name it/, 'step');
    await refused(
      'wrong',
      { call: { id: 'call_unknown', args: {} } },
      404,
      /no call call_unknown/,
      'call/id',
    );
    await refused('wrong', { step: 1, agent: 'nobody' }, 422, /no agent nobody/, 'agent');
    await refused('wrong', { turn_id: turn, key: 'wrong' }, 409, /choose another key/);
    const { body: script } = await stack.ask('POST', '/v1/replays', {
      body: { mode: 'script', script: { agent: 'free', tools: {} } },
    });
    await refused(script.session_key, {}, 422, /replay/);
  });

  it('forks a running turn at a step that has ended, and at no later one', async () => {
    const { body: sent } = await stack.ask('POST', '/v1/sessions/running/messages', {
      body: { text: `${write('r.txt', 'r')}\nthen\npoke {"note":"asked"}\nthen\nDone.`, agent: 'asks' },
    });
    const turn = sent.turn_id;
    await stack.worker.until('the question', async () =>
      (await stack.ask('GET', `/v1/turns/${turn}`)).body.status === 'waiting_approval' ? true : undefined,
    );
    await refused('running', {}, 409, /has not ended: name one of its steps/);
    await refused('running', { step: 3 }, 409, /calls of step 2 .* have not ended/, 'step');
    const fork = await forker.fork('running', { step: 2, answer: { text: 'Not that.' } });
    assert.equal((await forker.ended(fork.turn_id)).text, 'Not that.');
    // The fork asks for itself: a decision about the original is none about it.
    const { body: asks } = await post('running', { step: 2 });
    const question = await stack.worker.until('the question of the fork', async () => {
      const { body } = await stack.ask('GET', `/v1/approvals?status=pending&turn_id=${asks.turn_id}`);
      return body.data[0]?.id as string | undefined;
    });
    await stack.ask('POST', `/v1/approvals/${question}/decision`, { body: { decision: 'approve' } });
    assert.equal((await forker.ended(asks.turn_id)).status, 'completed');
    assert.equal((await stack.ask('GET', `/v1/turns/${turn}`)).body.status, 'waiting_approval');
  });

  it('a key of a user forks sessions of that user only, and not with another agent', async () => {
    const [ann, bob] = [
      await stack.makeKey(['run', 'read'], { user: 'ann' }),
      await stack.makeKey(['run', 'read'], { user: 'bob' }),
    ];
    const sent = await stack.ask('POST', '/v1/sessions/anns/messages?wait=60', {
      body: { text: 'poke {"note":"ann"}', agent: 'free' },
      key: ann,
    });
    assert.equal(sent.status, 200, JSON.stringify(sent.body));
    assert.equal((await post('anns', {}, { key: bob })).status, 404);
    assert.equal((await post('anns', { step: 1, agent: 'asks' }, { key: ann })).status, 403);
    const fork = await post('anns', { step: 1 }, { key: ann });
    assert.equal(fork.status, 201, JSON.stringify(fork.body));
    await forker.ended(fork.body.turn_id);
    const { body } = await stack.ask('GET', `/v1/sessions/${fork.body.session_key}`);
    assert.equal(body.user, 'ann');
    assert.equal((await stack.ask('GET', `/v1/sessions/${fork.body.session_key}`, { key: bob })).status, 404);
    const { rows } = await stack.pool.query('select context from turns where id = $1', [fork.body.turn_id]);
    assert.deepEqual([...rows[0].context.roles].sort(), ['read', 'run'], 'the rights of whoever asked');
  });

  it('the same request is one fork, by its key or by Idempotency-Key, also at once', async () => {
    await forker.send('same', ['poke {"note":"same"}', 'Done.']);
    const body = { step: 1, key: 'same-fork' };
    const answers = await Promise.all([post('same', body), post('same', body), post('same', body)]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201, 201, 201],
    );
    await forker.ended(answers[0]?.body.turn_id);
    assert.equal((await post('same', { ...body, step: 2 })).status, 409);
    const headers = { 'idempotency-key': 'fork-once' };
    const [first, second] = [
      await post('same', { step: 1 }, { headers }),
      await post('same', { step: 1 }, { headers }),
    ];
    assert.deepEqual(second.body.session_key, first.body.session_key);
    await forker.ended(first.body.turn_id);
    const { rows } = await stack.pool.query(
      `select count(*)::int as n from forks where from_session = 'same'`,
    );
    assert.equal(rows[0].n, 2);
    assert.equal(stack.worker.probes.effects.filter(({ note }) => note === 'same').length, 3);
  });

  it('sealed arguments are real ones in a fork, and hidden as before', async () => {
    await stack.ask('PUT', '/v1/secrets/FORK_TOKEN', { body: { value: 'hunter2-hunter2' } });
    const { turn_id: turn } = await forker.send('sealed', ['poke {"note":"plain"}', 'Done.']);
    const ran = (): number =>
      stack.worker.probes.effects.filter(({ note }) => note === 'hunter2-hunter2').length;
    const calls = [
      { tool: 'poke', args: { note: 'hunter2-hunter2' } },
      { tool: 'poke', args: { note: 'other' } },
    ];
    const first = await forker.fork('sealed', { turn_id: turn, step: 1, answer: { text: '', calls } });
    assert.equal(ran(), 1);
    const { session_key: key } = await forker.fork(first.session_key, {});
    const { rows } = await stack.pool.query(
      'select id, args::text as args, args_sealed is not null as sealed from tool_calls where session_key = $1 order by index',
      [key],
    );
    assert.deepEqual(
      rows.map(({ sealed }) => sealed),
      [true, false],
    );
    assert.doesNotMatch(JSON.stringify(rows), /hunter2/);
    // The changed call is the second; the first one runs again with what only its copy's sealed arguments have.
    await forker.fork(key, { call: { id: rows[1].id, args: { note: 'changed' } } });
    assert.equal(ran(), 2);
    const request = await stack.pool.query(
      `select to_jsonb(f)::text as row from forks f where tenant_id = $1`,
      [stack.tenant],
    );
    assert.doesNotMatch(JSON.stringify(request.rows), /hunter2/);
  });

  it('go when they are forgotten, and stay when the original is', async () => {
    await forker.send('origin', [write('o.txt', 'o'), 'Done.']);
    const { session_key: kept } = await forker.fork('origin', {});
    const { session_key: gone } = await forker.fork('origin', {});
    const isGone = (key: string) =>
      stack.worker.until(`${key} to be gone`, async () =>
        (await stack.ask('GET', `/v1/sessions/${key}`)).status === 404 ? true : undefined,
      );
    await stack.ask('DELETE', `/v1/sessions/${gone}`);
    await isGone(gone);
    await stack.ask('DELETE', '/v1/sessions/origin');
    await isGone('origin');
    assert.equal((await forker.transcript(kept)).length, 3);
    const { rows } = await stack.pool.query('select session_key from forks where from_session = $1', [
      'origin',
    ]);
    assert.deepEqual(rows, [{ session_key: kept }]);
    await forker.send(kept, ['read_file {"path":"o.txt"}']);
  });
});
