/** DE-6: at `task.completed`, a member's work is judged before it is the task's result. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { QualityGate } from '#domain/gate/gate.ts';
import { taskSessionKey } from '#domain/team/team.ts';
import { DRAFTS } from '#test/support/gate-scripts.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const on = (gate: Omit<QualityGate, 'event' | 'type'>): QualityGate => ({
  event: 'task.completed',
  type: 'command',
  ...gate,
});

describe('DE-6 gates on tasks', () => {
  let stack: Stack;
  const gated: Record<string, QualityGate> = {
    revised: on({ command: 'grep -q improved', max_retries: 1, block_on_failure: true }),
    blocked: on({ command: 'echo never good >&2; exit 1', block_on_failure: true }),
    hasty: on({ command: 'test -f proof', block_on_failure: true }),
  };
  before(async () => {
    stack = await startStack({
      scripts: { drafts: DRAFTS },
      agents: Object.entries(gated).map(([key, gate]) => ({
        key,
        model: key === 'hasty' ? 'rehearsal/follow' : 'rehearsal/drafts',
        quality_gates: [gate],
        tools: {},
      })),
    });
    const members = Object.keys(gated);
    const made = await stack.ask('POST', '/v1/teams', { body: { key: 'crew', lead: 'main', members } });
    assert.equal(made.status, 201, JSON.stringify(made.body));
  });
  after(() => stack.stop());

  async function ended(assignee: string, description: string) {
    const body = { subject: 'A page', description, assignee };
    const made = await stack.ask('POST', '/v1/teams/crew/tasks', { body });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const path = `/v1/teams/crew/tasks/${made.body.number}`;
    const task = await stack.worker.until('the end of the task', async () => {
      const { body: found } = await stack.ask('GET', path);
      return found.status === 'completed' || found.status === 'failed' ? found : undefined;
    });
    const session = taskSessionKey('crew', made.body.number, assignee);
    const [turn] = await stack.worker.turns(session);
    return { task, turn, session };
  }

  it('the member revises in its turn, and only what has passed is the result', async () => {
    const { task, turn } = await ended('revised', 'Write it.');
    assert.deepEqual([task.status, task.result], ['completed', 'the improved draft']);
    assert.equal(turn?.steps, 2);
  });

  it('what a gate blocks fails the task, says why, and is no result', async () => {
    const { task } = await ended('blocked', 'Write it.');
    assert.equal(task.status, 'failed');
    assert.match(task.reason, /blocked by quality gate .*: never good/);
    assert.doesNotMatch(JSON.stringify(task), /first draft/);
  });

  it('a member cannot complete its task past the gates; they look into the workspace of the team', async () => {
    const write = 'write_file {"path":"proof","content":"x"}';
    const complete = 'team_tasks {"action":"complete","result":"Unseen."}';
    const { task, turn } = await ended('hasty', `${write}\nthen\n${complete}\nthen\nSeen.`);
    assert.deepEqual([task.status, task.result], ['completed', 'Seen.']);
    const calls = await stack.worker.calls(turn?.id ?? '');
    assert.match(
      calls.find(({ tool }) => tool === 'team_tasks')?.result ?? '',
      /^PermissionDenied: quality gates judge the result of this task/,
    );
  });

  it('nor another task that nobody has', async () => {
    const body = { subject: 'Free', description: 'x' };
    const { number } = (await stack.ask('POST', '/v1/teams/crew/tasks', { body })).body;
    const complete = `team_tasks ${JSON.stringify({ action: 'complete', task_id: String(number), result: 'Unseen.' })}`;
    const write = 'write_file {"path":"proof","content":"x"}';
    const { turn } = await ended('hasty', `${write}\nthen\n${complete}\nthen\nSeen.`);
    const calls = await stack.worker.calls(turn?.id ?? '');
    assert.match(
      calls.find(({ tool }) => tool === 'team_tasks')?.result ?? '',
      /^PermissionDenied: quality gates judge your results/,
    );
    const { body: free } = await stack.ask('GET', `/v1/teams/crew/tasks/${number}`);
    assert.deepEqual([free.status, free.owner], ['pending', null]);
  });
});
