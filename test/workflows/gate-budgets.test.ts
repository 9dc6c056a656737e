/**
 * DU-7 at gates (DE-6): a command that exceeds a budget requests more, as a model call does, and continues or fails.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { QualityGate } from '#domain/gate/gate.ts';
import { approvalWorkflowId } from '#domain/ids.ts';
import { taskSessionKey } from '#domain/team/team.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const checks = (event: QualityGate['event']): QualityGate => ({
  event,
  type: 'command',
  command: 'true',
  block_on_failure: true,
});

describe('DU-7 a gate at the limit of a budget', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      agents: [
        {
          key: 'asks',
          quality_gates: [checks('turn.completed')],
          budgets: [{ scope: 'turn', calls: 1 }],
        },
        { key: 'gives', budgets: [{ scope: 'turn', calls: 2 }] },
        { key: 'delivers', model: 'rehearsal/echo', quality_gates: [checks('delegation.completed')] },
        {
          key: 'works',
          quality_gates: [checks('task.completed'), checks('task.completed')],
          budgets: [{ scope: 'agent', calls: 1 }],
        },
      ],
    });
    await stack.ask('POST', '/v1/agent-links', { body: { source: 'gives', target: 'delivers' } });
    await stack.ask('POST', '/v1/teams', { body: { key: 'crew', lead: 'main', members: ['works'] } });
  });
  after(() => stack.stop());

  const show = async (id: string) => (await stack.ask('GET', `/v1/approvals/${id}`)).body;
  const decide = async (id: string, decision: string): Promise<void> => {
    // The question is a row a moment before its workflow exists.
    await stack.worker.until('the workflow of the question', () =>
      stack.worker.client.workflow
        .getHandle(approvalWorkflowId(id))
        .describe()
        .then(
          () => true,
          () => undefined,
        ),
    );
    const { status, body } = await stack.ask('POST', `/v1/approvals/${id}/decision`, { body: { decision } });
    assert.equal(status, 200, JSON.stringify(body));
  };
  async function asked(session: string): Promise<{ turn: string; id: string }> {
    const { turn_id } = await stack.worker.say(session, 'Hello.', { agent: 'asks' });
    return { turn: turn_id, id: await stack.worker.approvalOf(session) };
  }

  it('of a turn: says who, how much and why, and judges when more is allowed', async () => {
    const { turn, id } = await asked('goes-on');
    const question = await show(id);
    assert.deepEqual(
      [question.tool, question.summary],
      ['budget.more', `budget: 1 calls more for turn ${turn}`],
    );
    assert.match(question.reason, /^turn .* has used 1 calls of 1 calls/);
    await decide(id, 'approve');
    const ended = await stack.worker.ended(turn);
    assert.equal(ended.status, 'completed', JSON.stringify(ended.error));
  });

  it('is a gate that broke when more is denied', async () => {
    const { turn, id } = await asked('denied');
    await decide(id, 'reject');
    const { error } = await stack.worker.ended(turn);
    assert.equal(error?.code, 'GateBlocked');
    assert.match(
      error?.message ?? '',
      /BudgetExceeded: turn .*; more was asked for and denied\. The command has not run\./,
    );
  });

  it('takes its question back when the turn is stopped', async () => {
    const { turn, id } = await asked('stopped');
    await stack.ask('POST', '/v1/sessions/stopped/stop', { body: { level: 'now' } });
    assert.equal((await stack.worker.ended(turn)).status, 'stopped');
    const question = await stack.worker.until('the question to be over', async () => {
      const found = await show(id);
      return found.status === 'pending' ? undefined : found;
    });
    assert.equal(question.status, 'withdrawn');
  });

  it('of a delegation, whose turn is over: the giver’s feed tells of the question', async () => {
    const script = `delegate ${JSON.stringify({ agent_key: 'delivers', task: 'Write.', mode: 'sync' })}\nthen\nDone.`;
    const { turn_id } = await stack.worker.say('gives', script, { agent: 'gives' });
    const event = await stack.worker.until('the question', async () => {
      const events = await stack.worker.events('gives');
      return events.find(({ type, data }) => type === 'approval.requested' && data['tool'] === 'budget.more');
    });
    assert.ok(event.data['delegation'], JSON.stringify(event.data));
    await decide(String(event.data['approval_id']), 'approve');
    const ended = await stack.worker.ended(turn_id);
    assert.equal(ended.status, 'completed', JSON.stringify(ended.error));
    const { body } = await stack.ask('GET', '/v1/delegations');
    assert.deepEqual(
      body.data.map(({ status }: { status: string }) => status),
      ['completed'],
    );
  });

  it('of a task that no turn has worked on', async () => {
    const { body: made } = await stack.ask('POST', '/v1/teams/crew/tasks', { body: { subject: 'A page' } });
    const path = `/v1/teams/crew/tasks/${made.number}`;
    const { body: held } = await stack.ask('POST', `${path}/claim`, { body: { member: 'works' } });
    const { token } = held.lease;
    const body = { member: 'works', token, text: 'Done by hand.' };
    assert.equal((await stack.ask('POST', `${path}/complete`, { body })).status, 202);
    const session = taskSessionKey('crew', made.number, 'works');
    const id = await stack.worker.until('the question', async () => {
      const { body: waiting } = await stack.ask('GET', `/v1/approvals?session_key=${session}`);
      return waiting.data[0]?.id as string | undefined;
    });
    assert.equal((await show(id)).summary, 'budget: 1 calls more for agent works');
    await decide(id, 'approve');
    const task = await stack.worker.until('the task to be completed', async () => {
      const { body: found } = await stack.ask('GET', path);
      return found.status === 'completed' ? found : undefined;
    });
    assert.equal(task.result, 'Done by hand.');
  });
});
