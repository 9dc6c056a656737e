/** A team's task, made without an API; it waits for a claim, unless it has an assignee. */
import { createTeamBoard, type TaskDraft } from '#temporal/team-board.ts';
import { createScrubber } from '#store/secrets/scrubber.ts';
import { insertTeam } from '#store/teams/team-store.ts';
import { taskWorkflowId } from '#domain/team/team.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { LiveWorker } from './live-worker.ts';

/** Makes a task in a new team of this key, led by `main`; resolves with the workflow's id when it runs. */
export async function openTask(
  live: LiveWorker,
  key: string,
  members: readonly string[],
  fields: TaskDraft = { subject: 'For anybody' },
): Promise<{ readonly number: number; readonly workflowId: string }> {
  const { tenant, pool, temporal } = live;
  const team = { key, name: null, description: null, lead: 'main', members, settings: {} };
  const written = await insertTeam(forTenant(pool, tenant), team, 'test');
  if (written.kind !== 'written') throw new Error(JSON.stringify(written));
  const scrubber = createScrubber();
  const board = createTeamBoard({ pool, scrubberOf: async () => scrubber, reach: temporal });
  const task = await board.create(tenant, team, fields, { actor: 'test' }, 'first');
  await board.begin(task);
  return { number: task.number, workflowId: taskWorkflowId(tenant, key, task.number) };
}
