/** The two sides of the measurement of many agents: each starts a child, opens tasks to claim, and lets a team work. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type WorkflowHandle, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { createScrubber } from '#store/secrets/scrubber.ts';
import { insertAgent } from '#store/agent-store.ts';
import { findTeam, insertTeam } from '#store/teams/team-store.ts';
import { createTeamBoard } from '#temporal/team-board.ts';
import { assignmentWorkflowId } from '#domain/ids.ts';
import { taskWorkflowId } from '#domain/team/team.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { BARE_TASK } from './bare/contract.ts';
import { createBareTables } from './bare/tables.ts';
import { TENANT, textOf } from './contender.ts';
import { childrenOf, historyOf, type Run } from './model-calls.ts';
import { type Bench, untilCount } from './measure.ts';
import { type BenchStack, QUEUES } from './stack.ts';

/** The members whose tasks the team works on; the script names them. */
const MEMBERS = Array.from({ length: 5 }, (_, n) => `member-${n + 1}`);
export const CLAIMERS: readonly string[] = Array.from({ length: 50 }, (_, n) => `claimer-${n + 1}`);

export interface ManyAgents {
  readonly name: 'bare' | 'TempoClaw';
  /** Resolves when nothing runs any more, with the run of the agent that started a child. */
  spawn(): Promise<Run>;
  /** Opens a task that nobody has claimed; its workflow runs and is in the worker's cache. */
  openTask(): Promise<WorkflowHandle>;
  /** Resolves with the milliseconds it took, also when somebody else has the task. */
  claim(task: WorkflowHandle, member: string): Promise<{ readonly ms: number; readonly won: boolean }>;
  /** Milliseconds from the lead's message until the rows say that all tasks are completed. */
  team(tasksEach: number): Promise<number>;
}

export const TEAM_SIZE = MEMBERS.length;

export function createBareAgents({ client, pool }: BenchStack): ManyAgents {
  const tables = createBareTables(pool);
  const start = async (
    workflow: 'bareParent' | 'bareLead',
    work: Parameters<typeof textOf>[0],
  ): Promise<WorkflowHandle & { readonly firstExecutionRunId: string }> => {
    const conversation = `bare-${randomUUID()}`;
    await tables.write(conversation, 0, -1, { role: 'user', text: textOf(work) });
    return client.workflow.start(workflow, {
      workflowId: conversation,
      taskQueue: QUEUES.bare,
      args: [{ conversation }],
    });
  };
  return {
    name: 'bare',
    async spawn() {
      const handle = await start('bareParent', { steps: 1, tool: 'spawn' });
      await handle.result();
      const run = { workflowId: handle.workflowId, runId: handle.firstExecutionRunId };
      const [child] = childrenOf(await historyOf(client, run));
      if (child) await client.workflow.getHandle(child.workflowId).result();
      return run;
    },
    async openTask() {
      const task = `bare-task-${randomUUID()}`;
      await tables.addTask({ task, member: '' }, 'claims');
      const handle = await client.workflow.start('bareTask', {
        workflowId: task,
        taskQueue: QUEUES.bare,
        args: [{ task }],
      });
      await handle.query(BARE_TASK.state);
      return handle;
    },
    claim: (task, member) => timeClaim(task, BARE_TASK.claim, { member }),
    async team(tasksEach) {
      const began = performance.now();
      const handle = await start('bareLead', { steps: 2, tool: 'team_tasks', parallel: tasksEach });
      await untilCount(pool, tasksEach * TEAM_SIZE, BARE_DONE, [handle.workflowId]);
      const ms = performance.now() - began;
      await handle.result();
      return ms;
    },
  };
}

const BARE_DONE = `select count(*)::int from bare_tasks where team = $1 and status = 'completed'`;
const OURS_DONE = `select count(*)::int from team_tasks where origin_session = $1 and status = 'completed'`;
/** Counts the turn that delegated the work and the turn that its results started. */
const TURNS_OVER = `select count(*)::int from turns where session_key = $1 and status = 'completed'`;

/** Drives TempoClaw by what the API's routes call, as the other measurements do. */
export async function createOurAgents({ stack, ours, temporal }: Bench): Promise<ManyAgents> {
  const { client, pool } = stack;
  await makeTeams(stack);
  const scrubber = createScrubber();
  const board = createTeamBoard({ pool, scrubberOf: async () => scrubber, reach: temporal });
  const claims = await findTeam(forTenant(pool, TENANT), 'claims');
  if (!claims) throw new Error('the team of the claimers is not there');
  return {
    name: 'TempoClaw',
    async spawn() {
      const session = `bench-${randomUUID()}`;
      await ours.start({ steps: 1, tool: 'spawn' }, { session });
      await untilCount(pool, 2, TURNS_OVER, [session]);
      const { rows } = await pool.query<{ id: string }>(
        'select id from assignments where origin_session = $1',
        [session],
      );
      const parent = await client.workflow
        .getHandle(assignmentWorkflowId('subagent', rows[0]?.id ?? ''))
        .describe();
      const { workflowId, runId } = parent.raw.workflowExecutionInfo?.parentExecution ?? {};
      if (!workflowId || !runId) throw new Error(`${session} has started nothing`);
      return { workflowId, runId };
    },
    async openTask() {
      const task = await board.create(TENANT, claims, { subject: 'Any' }, { actor: 'bench' }, randomUUID());
      await board.begin(task);
      const handle = client.workflow.getHandle(taskWorkflowId(TENANT, task.team, task.number));
      while ((await handle.query('state')) === null) await sleep(10);
      return handle;
    },
    claim: (task, member) => timeClaim(task, 'claim', { by: { name: `agent:${member}`, member } }),
    async team(tasksEach) {
      const session = `bench-${randomUUID()}`;
      const began = performance.now();
      await ours.start(
        { steps: 2, tool: 'team_tasks', parallel: tasksEach },
        { session, agent: 'bench-lead' },
      );
      await untilCount(pool, tasksEach * TEAM_SIZE, OURS_DONE, [session]);
      const ms = performance.now() - began;
      await untilCount(pool, 2, TURNS_OVER, [session]);
      return ms;
    },
  };
}

async function makeTeams({ pool }: BenchStack): Promise<void> {
  if (await findTeam(forTenant(pool, TENANT), 'claims')) return;
  for (const key of ['bench-lead', ...MEMBERS, ...CLAIMERS])
    await insertAgent(forTenant(pool, TENANT), { key, type: 'open', model: 'rehearsal/bench-loop' }, 'bench');
  const teams = [
    { key: 'work', lead: 'bench-lead', members: MEMBERS },
    { key: 'claims', lead: 'bench', members: CLAIMERS },
  ];
  for (const team of teams) {
    const whole = { name: null, description: null, settings: {}, ...team };
    const written = await insertTeam(forTenant(pool, TENANT), whole, 'bench');
    if (written.kind !== 'written') throw new Error(`team ${team.key}: ${JSON.stringify(written)}`);
  }
}

async function timeClaim(
  task: WorkflowHandle,
  update: string,
  request: unknown,
): Promise<{ ms: number; won: boolean }> {
  const began = performance.now();
  const updateId = randomUUID();
  for (;;) {
    try {
      await task.executeUpdate(update, { args: [request], updateId });
      return { ms: performance.now() - began, won: true };
    } catch (error) {
      if (!(error instanceof WorkflowUpdateFailedError)) throw error;
      if (!isUnprocessed(error)) return { ms: performance.now() - began, won: false };
    }
  }
}

/**
 * A busy server gives up the update before or after a worker has processed it. A repeat under the same id shows which.
 */
function isUnprocessed({ cause }: WorkflowUpdateFailedError): boolean {
  return cause instanceof ApplicationFailure && cause.type === 'UnprocessedUpdate';
}
