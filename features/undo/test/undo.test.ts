/** DU-9: what a turn has done is reversed, newest first, each call once. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

const edit = (from: string, to: string): string =>
  `edit ${JSON.stringify({ path: 'notes.md', old_string: from, new_string: to })}`;
const write = (text: string): string => `write_file ${JSON.stringify({ path: 'notes.md', content: text })}`;
const remind = (name: string): string =>
  `cron ${JSON.stringify({ action: 'add', job: { name, message: 'tea', schedule: { kind: 'every', everyMs: 3_600_000 } } })}`;

describe('DU-9 undo of a turn', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      agents: [
        { key: 'asks', model: 'rehearsal/follow', tools: { ask: [{ tool: 'edit' }] } },
        { key: 'other', model: 'rehearsal/follow' },
      ],
    });
  });
  after(() => stack.stop());

  async function talk(session: string, steps: readonly string[], agent = 'main') {
    const { body, status } = await stack.ask('POST', `/v1/sessions/${session}/messages?wait=60`, {
      body: { text: steps.join('\nthen\n'), agent },
    });
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  }
  const say = async (...said: Parameters<typeof talk>): Promise<string> => (await talk(...said)).turn_id;
  const undo = async (turn: string, body: object = {}) =>
    stack.ask('POST', `/v1/turns/${turn}/undo?wait=60`, { body });
  // Tests read fields of answers of every shape.
  const plan = async (turn: string): Promise<any[]> =>
    (await stack.ask('GET', `/v1/turns/${turn}/undo`)).body.calls;
  const actionsOf = (calls: readonly { tool: string; action: string }[]): readonly string[] =>
    calls.map(({ tool, action }) => `${tool} ${action}`);
  const notes = async (session: string): Promise<string> =>
    (await talk(session, ['read_file {"path":"notes.md"}'])).text;

  it('shows what can be reversed and what not, and changes nothing', async () => {
    const turn = await say('plan', [write('one two'), edit('one', '1'), 'datetime {}', remind('plan')]);
    const before = await notes('plan');
    assert.deepEqual(actionsOf(await plan(turn)), [
      'cron reverse',
      'datetime nothing',
      'edit reverse',
      'write_file reverse',
    ]);
    assert.equal(await notes('plan'), before);
  });

  it('reverses the calls newest first, each once, however often it is asked for', async () => {
    await say('once', [write('one two')]);
    const turn = await say('once', [edit('one', '1'), edit('1 two', '1 2'), remind('once')]);
    const all = await Promise.all(Array.from({ length: 5 }, () => undo(turn)));
    const again = await undo(turn);
    assert.equal(again.status, 200);
    assert.equal(new Set(all.map(({ body }) => body.undo_turn_id)).size, 1);
    assert.deepEqual(actionsOf(again.body.calls), ['cron reversed', 'edit reversed', 'edit reversed']);
    assert.match(await notes('once'), /one two/);
    const { body: run } = await stack.ask('GET', `/v1/turns/${again.body.undo_turn_id}`);
    assert.deepEqual(
      [run.usage.cost_usd, run.usage.unpriced_calls],
      [0, 0],
      'no model, no price to be unknown',
    );
    const { rows } = await stack.pool.query(
      `select tool from tool_calls where turn_id = $1 order by step, index`,
      [again.body.undo_turn_id],
    );
    assert.deepEqual(rows, [{ tool: 'cron' }, { tool: 'edit' }, { tool: 'edit' }]);
    const { body } = await stack.ask('GET', '/v1/schedules');
    assert.ok(!body.data.some(({ name }: { name: string }) => name === 'once'));
  });

  it('leaves what has been changed since, says so, and reverses it when that is gone', async () => {
    await say('since', [write('one two')]);
    const turn = await say('since', [edit('one', '1')]);
    await say('since', [write('something else')]);
    const failed = await undo(turn);
    assert.equal(failed.body.status, 'completed');
    assert.deepEqual(actionsOf(failed.body.calls), ['edit reverse']);
    assert.match(failed.body.calls[0].reason, /could not reverse it/);
    assert.match(await notes('since'), /something else/);
    await say('since', [write('1 two')]);
    assert.deepEqual(actionsOf((await undo(turn)).body.calls), ['edit reversed']);
    assert.match(await notes('since'), /one two/);
  });

  it('goes on with what a request had claimed whose process died before it asked', async () => {
    await say('died', [write('one two')]);
    const turn = await say('died', [edit('one', '1'), edit('two', '2')]);
    const calls = await plan(turn);
    const undoTurn = `turn_${'ab'.repeat(16)}`;
    for (const [index, { call_id }] of calls.entries())
      await stack.pool.query(
        `insert into undone_calls (tenant_id, call_id, session_key, undo_turn_id, undo_call_id) values ($4, $1, 'died', $2, $3)`,
        [call_id, undoTurn, `call_${'ab'.repeat(16)}.1.${index}`, stack.tenant],
      );
    const { body } = await undo(turn);
    assert.equal(body.undo_turn_id, undoTurn);
    assert.deepEqual(actionsOf(body.calls), ['edit reversed', 'edit reversed']);
    assert.match(await notes('died'), /one two/);
  });

  it('asks people where the rules ask about the call that reverses', async () => {
    await say('asked', [write('one two')], 'asks');
    const { body: sent } = await stack.ask('POST', '/v1/sessions/asked/messages', {
      body: { text: edit('one', '1'), agent: 'asks' },
    });
    const approve = async (turn: string): Promise<void> => {
      const approval = await stack.worker.until('an approval', async () => {
        const { body } = await stack.ask('GET', `/v1/approvals?status=pending&turn_id=${turn}`);
        return body.data[0]?.id as string | undefined;
      });
      await stack.ask('POST', `/v1/approvals/${approval}/decision`, { body: { decision: 'approve' } });
    };
    await approve(sent.turn_id);
    const running = await stack.worker.until('the turn to end', async () => {
      const answer = await undo(sent.turn_id);
      return answer.status === 409 ? undefined : answer;
    });
    assert.equal(running.status, 202);
    assert.equal(running.body.status, 'waiting_approval');
    assert.deepEqual(actionsOf(running.body.calls), ['edit running']);
    await approve(running.body.undo_turn_id);
    await stack.worker.until('the reversal', async () =>
      (await plan(sent.turn_id))[0].action === 'reversed' ? true : undefined,
    );
  });

  it('refuses calls that it cannot reverse, and turns of others', async () => {
    const turn = await say('refused', [write('one'), 'exec {"command":"true"}']);
    const [ran] = await plan(turn);
    const refused = await undo(turn, { calls: [ran.call_id] });
    assert.equal(refused.status, 400);
    assert.match(refused.body.detail, /exec cannot reverse/);
    assert.equal((await undo(turn, { calls: ['call_of-nobody'] })).status, 400);
    const { key } = await stack.makeTenant();
    assert.equal((await stack.ask('GET', `/v1/turns/${turn}/undo`, { key })).status, 404);
    assert.equal((await stack.ask('POST', `/v1/turns/${turn}/undo`, { key, body: {} })).status, 404);
    const ann = await stack.makeKey(['read', 'run'], { user: 'ann' });
    assert.equal((await stack.ask('POST', `/v1/turns/${turn}/undo`, { key: ann, body: {} })).status, 404);
    const reader = await stack.makeKey(['read']);
    assert.equal((await stack.ask('POST', `/v1/turns/${turn}/undo`, { key: reader, body: {} })).status, 403);
  });
});
