/** Ends everything of a tenant that Temporal runs or would start, so that its rows can go on elsewhere. */
import {
  ScheduleNotFoundError,
  type ScheduleClient,
  type WorkflowClient,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { setTimeout as sleep } from 'node:timers/promises';
import { sessionWorkflowId } from '#domain/ids.ts';
import { AGENT_TURN } from '#domain/turn/turn.ts';

/**
 * Terminates the tenant's runs, and those with these ids, and deletes its Temporal Schedules; returns how many. Resolves
 * when Temporal lists none any more. Safe to repeat. @throws Failure
 */
export type EndRuns = (tenant: string, ids: readonly string[], reason: string) => Promise<number>;

interface Clients {
  readonly client: Pick<WorkflowClient, 'list' | 'getHandle'>;
  readonly schedule: Pick<ScheduleClient, 'list' | 'getHandle'>;
}

/** What has just started is listed a moment later. */
const LOOK_AGAIN_MS = 1_000;

export function runEnderOf(
  { client, schedule }: Clients,
  ask: <Result>(request: () => Promise<Result>) => Promise<Result>,
): EndRuns {
  async function endListed(tenant: string, reason: string): Promise<number> {
    let ended = 0;
    for await (const { scheduleId } of schedule.list({ query: `TempoclawTenant = '${tenant}'` })) {
      await ask(() => schedule.getHandle(scheduleId).delete().catch(unlessGone));
      ended += 1;
    }
    const query = `TempoclawTenant = '${tenant}' and ExecutionStatus = 'Running'`;
    for await (const { workflowId } of client.list({ query })) {
      await ask(() => client.getHandle(workflowId).terminate(reason).catch(unlessGone));
      ended += 1;
    }
    return ended;
  }

  return async (tenant, ids, reason) => {
    for (const id of ids)
      await ask(async () => void (await client.getHandle(id).terminate(reason).catch(unlessGone)));
    let ended = ids.length;
    for (let quiet = 0; quiet < 2; ) {
      const found = await endListed(tenant, reason);
      ended += found;
      quiet = found === 0 ? quiet + 1 : 0;
      if (quiet < 2) await sleep(LOOK_AGAIN_MS);
    }
    return ended;
  };
}

export async function listSessions(client: Pick<WorkflowClient, 'list'>, tenant: string): Promise<string[]> {
  const query = `TempoclawTenant = '${tenant}' and WorkflowType = '${AGENT_TURN.type}' and ExecutionStatus = 'Running'`;
  const prefix = sessionWorkflowId(tenant, '');
  const keys: string[] = [];
  for await (const { workflowId } of client.list({ query }))
    if (workflowId.startsWith(prefix)) keys.push(workflowId.slice(prefix.length));
  return keys;
}

function unlessGone(error: unknown): undefined {
  if (error instanceof WorkflowNotFoundError || error instanceof ScheduleNotFoundError) return undefined;
  throw error;
}
