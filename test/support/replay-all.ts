/** Replays all that Temporal has of a tenant. */
import { type Client, isGrpcServiceError } from '@temporalio/client';
import type { ReplayWorkerOptions } from '@temporalio/worker';
import { type ReplayedHistory, replayHistories } from './replay.ts';

/** I5: what the worker did replays, whatever the test was about. */
export async function replayAll(
  client: Client,
  tenant: string,
  bundle: { readonly code: string },
  encoding: Pick<ReplayWorkerOptions, 'dataConverter'>,
  mayBlock: boolean,
): Promise<void> {
  const ids = `TempoclawTenant = '${tenant}' or TaskQueue = 'q-${tenant}'`;
  for await (const { error, workflowId } of replayHistories(
    bundle,
    historiesOf(client, ids),
    encoding,
    mayBlock,
  ))
    if (error) throw new Error(`${workflowId} does not replay`, { cause: error });
}

/** A code of gRPC. */
const NOT_FOUND = 5;

/** Runs that were removed stay listed for a while. */
async function* historiesOf(client: Client, query: string): AsyncGenerator<ReplayedHistory> {
  const runs: { readonly workflowId: string; readonly runId: string }[] = [];
  for await (const run of client.workflow.list({ query })) runs.push(run);
  for (let at = 0; at < runs.length; at += 8) {
    const found = runs.slice(at, at + 8).map(async ({ workflowId, runId }) => {
      try {
        return { workflowId, history: await client.workflow.getHandle(workflowId, runId).fetchHistory() };
      } catch (error) {
        const code: number | undefined = isGrpcServiceError(error) ? error.code : undefined;
        if (code === NOT_FOUND) return undefined;
        throw error;
      }
    });
    for (const one of await Promise.all(found)) if (one) yield one;
  }
}
