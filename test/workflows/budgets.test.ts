/**
 * DU-7 on real turns: at the limit, people are asked or the work stops; a tree shares its root's budget; use is
 * reported.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

/** Three model calls: two with a tool, one that answers. */
const THREE_CALLS = 'peek {"note":"a"}\nthen\npeek {"note":"b"}\nthen\nDone.';

/** Refuses the first attempt without a word. */
const REFUSED = `
rules:
  - when: { attempt: 1 }
    reply: { error: { status: 429, message: Slow down., retry_after: 1ms } }
  - reply: { text: ok }
`;

describe('DU-7 budgets of turns', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      scripts: { refused: REFUSED },
      agents: [
        { key: 'asks', budgets: [{ scope: 'turn', calls: 1 }] },
        { key: 'flaky', model: 'rehearsal/flaky', budgets: [{ scope: 'turn', calls: 10 }] },
        { key: 'refused', model: 'rehearsal/refused', budgets: [{ scope: 'turn', calls: 10 }] },
        { key: 'stops', budgets: [{ scope: 'turn', calls: 2, on_limit: 'stop' }] },
        { key: 'shared', budgets: [{ scope: 'agent', calls: 1 }] },
        { key: 'leads', budgets: [{ scope: 'turn', calls: 4, on_limit: 'stop' }] },
        { key: 'member', type: 'open', model: 'rehearsal/follow' },
        { key: 'tree', budgets: [{ scope: 'turn', calls: 3, on_limit: 'stop' }] },
        {
          key: 'costly',
          exec: { security: 'full', ask: 'off' },
          budgets: [{ scope: 'turn', calls: 3, on_limit: 'stop' }],
        },
      ],
    });
  });
  after(() => stack.stop());

  const say = (session: string, text: string, agent: string) => stack.worker.say(session, text, { agent });
  async function askedFor(session: string, agent = 'asks') {
    const { turn_id } = await say(session, THREE_CALLS, agent);
    return { turn: turn_id, id: await stack.worker.approvalOf(session) };
  }
  const show = async (id: string) => (await stack.ask('GET', `/v1/approvals/${id}`)).body;
  const decide = (id: string, body: object, key = stack.key) =>
    stack.ask('POST', `/v1/approvals/${id}/decision`, { body, key });
  async function nextAsk(session: string, before: string): Promise<string> {
    return stack.worker.until('another question', async () => {
      const id = await stack.worker.approvalOf(session);
      return id === before ? undefined : id;
    });
  }

  it('asks who, how much and why, and goes on where it was when more is allowed', async () => {
    const { turn, id } = await askedFor('goes-on');
    const request = await show(id);
    assert.equal(request.tool, 'budget.more');
    assert.equal(request.summary, `budget: 1 calls more for turn ${turn}`);
    assert.match(request.reason, /^turn .* has used 1 calls of 1 calls \(budget agent:asks:turn:total\)/);
    assert.equal(request.args.more, 1);
    assert.equal((await decide(id, { decision: 'edit', args: { ...request.args, more: 10 } })).status, 200);
    const ended = await stack.worker.ended(turn);
    assert.deepEqual([ended.status, ended.text, ended.steps], ['completed', 'Done.', 3]);
  });

  it('asks again when what was allowed is used up', async () => {
    const { turn, id } = await askedFor('again');
    await decide(id, { decision: 'approve' });
    const second = await nextAsk('again', id);
    await decide(second, { decision: 'approve' });
    assert.equal((await stack.worker.ended(turn)).status, 'completed');
  });

  it('ends with what it has when more is denied', async () => {
    const { turn, id } = await askedFor('denied');
    await decide(id, { decision: 'reject', reason: 'no' });
    const { status, error } = await stack.worker.ended(turn);
    assert.deepEqual([status, error?.code], ['failed', 'BudgetExceeded']);
    assert.match(error?.message ?? '', /more was asked for and denied$/);
  });

  it('cannot be allowed always, answered, or changed into another budget', async () => {
    const { turn, id } = await askedFor('odd');
    const { args } = await show(id);
    for (const body of [
      { decision: 'approve_always' },
      { decision: 'respond', text: 'x' },
      { decision: 'edit', args: { ...args, subject: 'turn_other' } },
      { decision: 'edit', args: { ...args, more: -1 } },
    ])
      assert.equal((await decide(id, body)).status, 422, JSON.stringify(body));
    await decide(id, { decision: 'reject' });
    await stack.worker.ended(turn);
  });

  it('what many share is only for admins to widen', async () => {
    const { turn, id } = await askedFor('shares', 'shared');
    const key = await stack.makeKey(['read', 'approve'], { user: 'ann' });
    assert.equal((await decide(id, { decision: 'approve' }, key)).status, 403);
    assert.equal(
      (await decide(id, { decision: 'edit', args: { ...(await show(id)).args, more: 9 } })).status,
      200,
    );
    assert.equal((await stack.worker.ended(turn)).status, 'completed');
  });

  it('stops without asking where the budget says so', async () => {
    const { turn_id } = await say('stops', THREE_CALLS, 'stops');
    const { status, error, steps, text } = await stack.worker.ended(turn_id);
    assert.deepEqual([status, error?.code, steps], ['failed', 'BudgetExceeded', 2]);
    assert.match(text ?? '', /^This turn was ended by a limit: .*budget/);
    const accounts = await stack.ask('GET', `/v1/budgets/accounts?subject=${turn_id}`);
    const own = { budget: 'agent:stops:turn:total', subject: turn_id, since: '1970-01-01', measure: 'calls' };
    assert.deepEqual(accounts.body.data, [{ ...own, spent: 2, reserved: 0, extra: 0 }]);
  });

  const callsOf = async (turn: string): Promise<number[]> =>
    (
      await stack.pool.query<{ spent: number; reserved: number }>(
        `select spent::int, reserved::int from budget_accounts where tenant_id = $1 and subject = $2`,
        [stack.tenant, turn],
      )
    ).rows.flatMap(({ spent, reserved }) => [spent, reserved]);

  it('what a provider refused does not count, what broke off does', async () => {
    const refused = await say('refused', 'Hello.', 'refused');
    assert.equal((await stack.worker.ended(refused.turn_id)).status, 'completed');
    assert.deepEqual(await callsOf(refused.turn_id), [1, 0]);
    const cut = await say('cut', 'cut off', 'flaky');
    assert.equal((await stack.worker.ended(cut.turn_id)).status, 'completed');
    assert.deepEqual(await callsOf(cut.turn_id), [2, 0]);
  });

  it('a call over the API that no model answers spends nothing', async () => {
    const { body } = await stack.ask('POST', '/v1/tools/peek/invoke', {
      body: { args: { note: 'x' }, agent: 'stops' },
    });
    assert.equal(body.ok, true);
    assert.deepEqual(await callsOf(body.turn_id), [0, 0]);
  });

  for (const level of ['step', 'now'] as const)
    it(`a stop of the turn (${level}) takes the question back`, async () => {
      const { turn, id } = await askedFor(`stopped-${level}`);
      const stop = { turn_id: turn, level, by: 'ann' };
      await stack.worker.temporal.stop(stack.tenant, `stopped-${level}`, stop);
      assert.equal((await stack.worker.ended(turn)).status, 'stopped');
      assert.equal((await show(id)).status, 'withdrawn');
    });

  it('a costly tool that has no room does not run, and the model reads why', async () => {
    const run = 'exec {"command":"echo hi"}';
    const { turn_id } = await say('tool', `${run}\n${run}\n${run}\nthen\nSo be it.`, 'costly');
    assert.equal((await stack.worker.ended(turn_id)).error?.code, 'BudgetExceeded');
    const calls = await stack.worker.calls(turn_id);
    assert.deepEqual(calls.map(({ code }) => code).toSorted(), ['BudgetExceeded', null, null].toSorted());
    const refused = calls.find(({ code }) => code === 'BudgetExceeded');
    assert.match(refused?.result ?? '', /^BudgetExceeded: turn .* The call has not run\.$/);
  });

  it('a subagent uses the budget of the turn that started it', async () => {
    const task = JSON.stringify({
      task: 'peek {"note":"x"}\nthen\npeek {"note":"y"}\nthen\nDone.',
      label: 'kid',
      mode: 'sync',
    });
    const { turn_id } = await say('tree', `spawn ${task}\nthen\nOver.`, 'tree');
    const ended = await stack.worker.ended(turn_id);
    assert.equal(ended.error?.code, 'BudgetExceeded');
    assert.deepEqual(await callsOf(turn_id), [3, 0]);
    const [child] = (await stack.pool.query('select * from assignments where tenant_id = $1', [stack.tenant]))
      .rows;
    assert.equal(child.status, 'failed');
  });

  it('a team’s task uses the budget of the turn that made it, and of the team', async () => {
    const team = { key: 'crew', lead: 'leads', members: ['member'] };
    assert.equal((await stack.ask('POST', '/v1/teams', { body: team })).status, 201);
    const limit = { scope: 'team', subject: 'crew', calls: 100 };
    const made = await stack.ask('POST', '/v1/budgets', { body: limit });
    assert.equal(made.status, 201);
    const spent = async (): Promise<number> =>
      (await stack.ask('GET', `/v1/budgets/${made.body.id}`)).body.accounts[0]?.spent ?? 0;
    const status = (task: number, expected: string) =>
      stack.worker.until(`#${task} to be ${expected}`, async () => {
        const { body } = await stack.ask('GET', `/v1/teams/crew/tasks/${task}`);
        return body.status === expected ? body : undefined;
      });

    const task = { subject: 'Work', description: THREE_CALLS, assignee: 'member' };
    const create = `team_tasks ${JSON.stringify({ action: 'create', ...task })}`;
    const { turn_id } = await say(
      'leads',
      `team_tasks {"action":"list"}\nthen\n${create}\nthen\nGiven.`,
      'leads',
    );
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    await status(1, 'failed');
    assert.deepEqual(await callsOf(turn_id), [4, 0]);
    const [work] = await stack.worker.turns('team:crew:1:member');
    assert.equal(work?.error?.code, 'BudgetExceeded');
    assert.equal(await spent(), 1);

    const alone = await stack.ask('POST', '/v1/teams/crew/tasks', { body: task });
    await status(alone.body.number, 'completed');
    assert.ok((await spent()) >= 4);
    assert.equal((await stack.ask('DELETE', `/v1/budgets/${made.body.id}`)).status, 204);
  });

  it('tells use by agent, session, model and day', async () => {
    const { turn_id } = await say('use', 'Hello.', 'main');
    await stack.worker.ended(turn_id);
    const { status, body } = await stack.ask('GET', '/v1/usage?by=agent,session,model,day&session=use');
    assert.equal(status, 200);
    const [row] = body.data;
    assert.deepEqual(
      [row.agent, row.session, row.model, row.day, row.calls, row.unpriced_calls, row.cost_usd],
      ['main', 'use', 'rehearsal/follow', new Date().toISOString().slice(0, 10), 1, 0, 0],
    );
    assert.ok(row.input_tokens > 0 && row.output_tokens > 0);
    assert.equal((await stack.ask('GET', '/v1/usage?by=nobody')).status, 400);
    assert.equal((await stack.ask('GET', '/v1/usage?from=2020-01-01&to=2026-01-01')).status, 400);
    const other = await stack.makeTenant();
    assert.deepEqual((await stack.ask('GET', '/v1/usage', { key: other.key })).body.data, []);
  });
});
