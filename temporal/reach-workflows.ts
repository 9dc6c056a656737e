/**
 * General access to workflows (domain/workflow-reach.ts) for temporal/client.ts, which provides the client and its
 * deadlines.
 */
import { createHash } from 'node:crypto';
import { WithStartWorkflowOperation, type WorkflowClient } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';
import type { WorkflowReach, WorkflowStart } from '#domain/workflow-reach.ts';
import { refuseLarge } from './server-limits.ts';

const attribute = {
  tenant: defineSearchAttributeKey('TempoclawTenant', SearchAttributeType.KEYWORD),
  agent: defineSearchAttributeKey('TempoclawAgent', SearchAttributeType.KEYWORD),
  session: defineSearchAttributeKey('TempoclawSession', SearchAttributeType.KEYWORD),
  user: defineSearchAttributeKey('TempoclawUser', SearchAttributeType.KEYWORD),
  team: defineSearchAttributeKey('TempoclawTeam', SearchAttributeType.KEYWORD),
  state: defineSearchAttributeKey('TempoclawState', SearchAttributeType.KEYWORD),
} as const;

type Asks = <Result>(request: () => Promise<Result>, withinMs?: number) => Promise<Result>;

export function reachOf(
  client: WorkflowClient,
  taskQueue: string,
  ask: Asks,
  askRunning: <Result>(request: () => Promise<Result>, withinMs?: number) => Promise<Result | undefined>,
): WorkflowReach {
  return {
    ...startingReachOf(client, taskQueue, ask),
    async signal(workflowId, name, input) {
      refuseLarge(input);
      const sent = await askRunning(async () => {
        await client.getHandle(workflowId).signal(name, input);
        return true;
      });
      return sent ?? false;
    },
    async update<Result>(workflowId: string, name: string, input: unknown, key: string) {
      refuseLarge(input);
      return askRunning(() =>
        client.getHandle(workflowId).executeUpdate<Result, [unknown]>(name, { args: [input], updateId: key }),
      );
    },
    async cancel(workflowId) {
      const sent = await askRunning(async () => {
        await client.getHandle(workflowId).cancel();
        return true;
      });
      return sent ?? false;
    },
    async stateOf(workflowId, withinMs) {
      const found = await askRunning(() => client.getHandle(workflowId).describe(), withinMs);
      if (!found) return 'missing';
      return OVER.has(found.status.name) ? 'over' : 'running';
    },
  };
}

/** A run with another status continues, by itself or in the next run. */
const OVER: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TERMINATED', 'TIMED_OUT']);

const LABELS = ['tenant', 'team', 'session', 'agent', 'user'] as const;

/** Search attributes of a new workflow. */
export function searchAttributes(
  labels: Pick<WorkflowStart, (typeof LABELS)[number]>,
): TypedSearchAttributes {
  return new TypedSearchAttributes([
    ...LABELS.flatMap((label) => {
      const value = labels[label];
      return value === undefined ? [] : [{ key: attribute[label], value }];
    }),
    { key: attribute.state, value: 'running' },
  ]);
}

/** Bytes that Temporal takes for a fairness key. */
const MAX_FAIRNESS_KEY = 64;

/**
 * DU-12. Where tasks wait, each tenant's are taken in turn. What the workflow starts inherits it. Servers before 1.29, or
 * without `matching.enableFairness`, ignore it.
 */
function fairnessKeyOf(tenant: string): string {
  if (Buffer.byteLength(tenant) <= MAX_FAIRNESS_KEY) return tenant;
  return createHash('sha256').update(tenant).digest('hex');
}

type AnyWorkflow = (input: unknown) => Promise<unknown>;

function startingReachOf(
  client: WorkflowClient,
  taskQueue: string,
  ask: Asks,
): Pick<WorkflowReach, 'start' | 'updateWithStart' | 'signalWithStart'> {
  const options = ({ id, input, summary, ...labels }: WorkflowStart) => ({
    workflowId: id,
    taskQueue,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    args: [input] as [unknown],
    staticSummary: summary,
    typedSearchAttributes: searchAttributes(labels),
    priority: { fairnessKey: fairnessKeyOf(labels.tenant) },
  });
  return {
    start: (start) =>
      ask(async () => {
        await client.start<AnyWorkflow>(start.type, {
          ...options(start),
          workflowIdConflictPolicy: 'USE_EXISTING',
        });
      }),
    updateWithStart: <Result>(
      start: WorkflowStart,
      name: string,
      input: unknown,
      key: string,
      withinMs?: number,
    ) =>
      ask(
        () =>
          client.executeUpdateWithStart<AnyWorkflow, Result, [unknown]>(name, {
            updateId: key,
            args: [input],
            startWorkflowOperation: new WithStartWorkflowOperation<AnyWorkflow>(start.type, {
              ...options(start),
              workflowIdConflictPolicy: 'USE_EXISTING',
            }),
          }),
        withinMs,
      ),
    signalWithStart: (start, name, input) =>
      ask(async () => {
        await client.signalWithStart<AnyWorkflow, [unknown]>(start.type, {
          ...options(start),
          signal: name,
          signalArgs: [input],
        });
      }),
  };
}
