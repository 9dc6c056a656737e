/**
 * The Temporal contract: whatever another system sends to a task or starts is answered or refused, and stops no
 * workflow.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  WithStartWorkflowOperation,
  WorkflowFailedError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { type LiveWorker, startLiveWorker } from '#test/support/live-worker.ts';
import { openTask } from '#test/support/team-tasks.ts';

describe('what another system says to a task', () => {
  let live: LiveWorker;
  let task: { readonly number: number; readonly workflowId: string };
  before(async () => {
    live = await startLiveWorker({ agents: [{ key: 'rises', type: 'open', model: 'rehearsal/follow' }] });
    task = await openTask(live, 'foreign', ['rises']);
  });
  after(() => live.close());

  const by = { name: 'ci' };
  const ask = (action: string, request: unknown): Promise<any> =>
    live.client.workflow.getHandle(task.workflowId).executeUpdate(action, { args: [request] });

  const refused = (problem: RegExp) => (error: unknown) =>
    error instanceof WorkflowUpdateFailedError && problem.test((error.cause as Error).message);

  it('TE-4 fields of the wrong kind are refused by name', async () => {
    for (const [action, fields, problem] of [
      ['update', { subject: 5 }, /^subject must/],
      ['update', { subject: ' ' }, /^subject must/],
      ['update', { subject: 'z'.repeat(400) }, /^subject must/],
      ['update', { priority: 'high' }, /^priority must/],
      ['update', { blocked_by: ['1'] }, /^blocked_by must/],
      ['progress', { percent: '50' }, /^percent must/],
      ['comment', { text: { text: 5 } }, /^text must/],
      ['comment', { text: 'x', type: 'shout' }, /^type must/],
      ['comment', { text: '' }, /^text is required/],
      ['assign', { assignee: 5 }, /^assignee must/],
      ['attach', { file_id: {} }, /^file_id must/],
      ['claim', { by: { name: 'ci', member: 7 } }, /^by\.member must/],
      ['claim', { by: { name: 7 } }, /^by\.name is required/],
    ] as const)
      await assert.rejects(ask(action, { by, ...fields }), refused(problem), JSON.stringify(fields));
    for (const nothing of [null, 'claim', []])
      await assert.rejects(ask('claim', nothing), refused(/^ask with an object|^by\.name/));
  });

  it('TE-4 a text may be plain, and null counts as not given', async () => {
    const claimed = await ask('claim', { by: { name: 'ci', member: 'rises', token: null }, percent: null });
    assert.equal(claimed.status, 'in_progress');
    const done = await ask('complete', { by, text: 'It is done.', assignee: null });
    assert.equal(done.status, 'completed');
    const { rows } = await live.pool.query(
      'select result from team_tasks where tenant_id = $1 and number = $2',
      [live.tenant, task.number],
    );
    assert.equal(rows[0]?.result, 'It is done.');
  });

  it('TE-2 a run that is started as no task, or as another than its id names, refuses what came with it and ends', async () => {
    const { tenant } = live;
    const workflowId = `task/${tenant}.foreign/77`;
    for (const input of [
      null,
      {},
      { tenant, team: 'foreign', number: '77' },
      { tenant, team: 'foreign', number: 1 },
    ]) {
      const started = new WithStartWorkflowOperation('teamTask', {
        workflowId,
        taskQueue: live.taskQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
        args: [input],
      });
      const pending = live.client.workflow.executeUpdateWithStart('comment', {
        startWorkflowOperation: started,
        args: [{ by, text: 'Hello?' }],
      });
      await assert.rejects(pending, refused(/task\//), JSON.stringify(input));
      await assert.rejects((await started.workflowHandle()).result(), WorkflowFailedError);
    }
  });

  it('a workflow that only TempoClaw starts names what its input lacks, and ends', async () => {
    for (const type of ['approval', 'subagent', 'delegation', 'awaitSubagents', 'wait'])
      for (const args of [[], ['x'], [{}]]) {
        const handle = await live.client.workflow.start(type, {
          workflowId: `by-hand-${type}-${JSON.stringify(args)}`,
          taskQueue: live.taskQueue,
          args,
        });
        await assert.rejects(
          handle.result(),
          (error: unknown) =>
            error instanceof WorkflowFailedError &&
            /its input lacks \w+/.test((error.cause as Error).message),
        );
      }
  });
});
