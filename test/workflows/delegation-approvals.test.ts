/**
 * DE-2: an agent's approval requests reach those who watch the session that delegated the work, and say whose work it
 * is.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { linkMain } from '#test/support/assignments.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('DE-2 approvals of delegations', () => {
  let stack: Stack;
  before(async () => {
    const ask = [{ tool: 'poke', approvers: { users: ['ann'] } }];
    stack = await startStack({ agents: [{ key: 'taker', tools: { ask } }] });
    await linkMain(stack.pool, stack.tenant, ['taker']);
  });
  after(() => stack.stop());

  const onRequest = (session: string, type: string) =>
    stack.worker.until(`${type} on ${session}`, async () =>
      (await stack.worker.events(session)).find((event) => event.type === type),
    );

  it('are on the origin’s feed and in its list, name the delegation, and are decided by the user of the origin', async () => {
    const call = {
      agent_key: 'taker',
      task: 'poke {"note":"given"}\nthen\nPoked.',
      label: 'poker',
      mode: 'sync',
    };
    const { turn_id } = await stack.worker.say('p', `delegate ${JSON.stringify(call)}\nthen\nDone.`, {
      user: 'ann',
    });
    const { data } = await onRequest('p', 'approval.requested');
    const id = String(data['approval_id']);
    const ann = await stack.makeKey(['read', 'run', 'approve'], { user: 'ann' });
    const bob = await stack.makeKey(['read', 'run', 'approve'], { user: 'bob' });
    const path = '/v1/approvals?session_key=p&status=pending';
    const { body: list } = await stack.ask('GET', path, { key: ann });
    assert.deepEqual(
      list.data.map((one: { id: string }) => one.id),
      [id],
    );
    const { delegation, subagent, user, agent, session_key } = list.data[0];
    assert.deepEqual(
      [delegation.label, delegation.parent_session, user, agent],
      ['poker', 'p', 'ann', 'taker'],
    );
    assert.equal(subagent, null);
    assert.deepEqual(data['delegation'], { id: delegation.id, label: 'poker', session_key });
    await stack.worker.approvalOf(session_key);
    const decide = (key: string) =>
      stack.ask('POST', `/v1/approvals/${id}/decision`, { key, body: { decision: 'approve' } });
    assert.notEqual((await decide(bob)).status, 200);
    assert.equal((await decide(ann)).status, 200);
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    assert.equal((await onRequest('p', 'approval.decided')).data['status'], 'approved');
    assert.equal((await stack.worker.calls(turn_id))[0]?.result, 'Poked.');
  });
});
