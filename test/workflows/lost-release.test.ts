/** TE-2, DU-1: the end of a lead's turn of which its tasks did not hear, as after a kill of the Temporal server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { createTask } from '#store/teams/team-task-record.ts';
import { findTask } from '#store/teams/team-task-store.ts';
import { createLostRuns } from '#temporal/lost-runs.ts';
import { taskStart } from '#temporal/team-board.ts';
import { startStack } from '#test/support/stack.ts';

test('TE-2 a task whose creating turn has ended begins, although the signal of that was lost', async (t) => {
  const stack = await startStack({ agents: [{ key: 'member', type: 'open', model: 'rehearsal/follow' }] });
  t.after(() => stack.stop());
  const { pool, tenant, worker } = stack;
  const reach = stack.deps.temporal;
  await stack.ask('POST', '/v1/teams', { body: { key: 'crew', lead: 'main', members: ['member'] } });
  const db = forTenant(pool, tenant);
  const { turn_id } = await worker.say('lead', 'hold {"note":"open"}\nthen\nDone.');
  await worker.probes.untilHeld('open');
  const made = await createTask(db, 'crew', {
    subject: 'Waits',
    description: 'Worked.',
    priority: 0,
    blocked_by: [],
    require_approval: false,
    assignee: 'member',
    actor: 'agent:main',
    create_key: 'key',
    origin_session: 'lead',
    origin_turn: turn_id,
    context: undefined,
  });
  assert.ok(made.kind === 'created');
  const start = taskStart(tenant, 'crew', made.number);
  await reach.start(start);
  await worker.until(
    'the run of the task',
    async () => (await reach.stateOf(start.id)) === 'running' || undefined,
  );
  const { sweep } = createLostRuns({ pool, reach, now: Date.now });
  await sweep(0);
  // No turn of a member begins before the lead's turn has ended.
  assert.equal((await findTask(db, 'crew', made.number))?.status, 'pending');
  // The turn has used no tool of the board, so that its end signals no task.
  worker.probes.release('open');
  await worker.ended(turn_id);
  assert.equal((await findTask(db, 'crew', made.number))?.status, 'pending');
  await sweep(0);
  const task = await worker.until('the end of the task', async () => {
    const row = await findTask(db, 'crew', made.number);
    return row?.status === 'completed' ? row : undefined;
  });
  assert.match(task.result ?? '', /Worked\.$/);
  await sweep(0);
  assert.equal((await worker.turns(`team:crew:${made.number}:member`)).length, 1);
});
