/**
 * SA-4: a subagent's approval requests reach those who watch its parent, say whose they are, and never wait forever.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('SA-4 approvals of subagents', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      agents: [{ key: 'brief', tools: { ask: [{ tool: 'poke', expires_seconds: 1 }] } }],
    });
  });
  after(() => stack.stop());

  const spawning = (task: string, label: string): string =>
    `spawn ${JSON.stringify({ task, label, action: 'run' })}\nthen\nDone.`;
  const onRequest = (session: string, type: string) =>
    stack.worker.until(`${type} on ${session}`, async () =>
      (await stack.worker.events(session)).find((event) => event.type === type),
    );

  it('are on the parent’s feed and in its list, name the subagent, and let it go on when approved', async () => {
    const { turn_id } = await stack.worker.say(
      'p',
      spawning('poke {"note":"child"}\nthen\nPoked.', 'poker'),
      { user: 'ann' },
    );
    const { data } = await onRequest('p', 'approval.requested');
    const id = String(data['approval_id']);
    const { body: list } = await stack.ask('GET', '/v1/approvals?session_key=p&status=pending');
    assert.deepEqual(
      list.data.map((one: { id: string }) => one.id),
      [id],
    );
    const { subagent, user, session_key } = list.data[0];
    assert.deepEqual([subagent.label, subagent.parent_session, user], ['poker', 'p', 'ann']);
    assert.deepEqual(data['subagent'], { id: subagent.id, label: 'poker', session_key });
    await stack.worker.approvalOf(session_key);
    const decided = await stack.ask('POST', `/v1/approvals/${id}/decision`, {
      body: { decision: 'approve' },
    });
    assert.equal(decided.status, 200);
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    assert.equal((await onRequest('p', 'approval.decided')).data['status'], 'approved');
    assert.equal(stack.worker.probes.effects.filter(({ note }) => note === 'child').length, 1);
    assert.match((await stack.worker.calls(turn_id))[0]?.result ?? '', /Full result:\nPoked\.$/);
  });

  it('are denied when nobody answers, and the subagent ends', async () => {
    const { turn_id } = await stack.worker.say(
      'quiet',
      spawning('poke {"note":"never"}\nthen\nGave up.', 'waiter'),
      {
        agent: 'brief',
      },
    );
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    assert.match((await stack.worker.calls(turn_id))[0]?.result ?? '', /Full result:\nGave up\.$/);
    assert.equal((await onRequest('quiet', 'approval.decided')).data['status'], 'expired');
    assert.equal(stack.worker.probes.effects.filter(({ note }) => note === 'never').length, 0);
  });
});
