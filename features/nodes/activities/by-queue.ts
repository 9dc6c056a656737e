/** Handles an invocation of a node that takes its work from a task queue: it is sent, awaited, and recorded. */
import { NODE_WORK, nodeWorkPlace } from '../contract/node.ts';
import { openPayload, sealPayload } from '#domain/payload-seal.ts';
import { nodeResultSchema } from '../schema.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import { endInvocation, giveUpInvocation, sendByQueue } from '../store/node-invocation-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { Sealer } from '#store/seal.ts';
import type { ActivitiesOnce, ActivityOnce } from '#temporal/activity-once.ts';
import { isStopped } from '#activities/attempt.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

export interface QueueParts {
  readonly pool: Pool;
  readonly sealer: Sealer;
  readonly once: ActivitiesOnce;
}

const UNSUPPORTED = {
  ok: false,
  code: 'ExecutionFailed',
  text: 'nodes on a task queue need Temporal Server 1.31 or later; nothing was done there',
} as const;

/**
 * Resolves when its row has the result; returns false immediately if the node is reached otherwise. Safe to repeat: it
 * starts once.
 */
export async function workByQueue(
  { pool, sealer, once }: QueueParts,
  { tenant, callId, signal }: Pick<RunningCall, 'tenant' | 'callId' | 'signal'>,
): Promise<boolean> {
  const due = await sendByQueue(pool, sealer, tenant, callId);
  if (!due) return false;
  const { node, queue, key, milliseconds, capability, params } = due;
  const id = `node/${tenant}/${callId}`;
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const bytes = await sealPayload(key, nodeWorkPlace(id, 'asked'), iv, {
    id: callId,
    capability,
    params,
    milliseconds,
  });
  try {
    const received = await once.run(activityOf({ id, queue, request: bytes }, milliseconds), signal);
    const result =
      received === 'unsupported'
        ? UNSUPPORTED
        : typeof received === 'string'
          ? undefined
          : // Another client of its queue may have sent it.
            await openPayload(key, nodeWorkPlace(id, 'result'), received.result).then(
              (value) => nodeResultSchema.safeParse(value).data,
              () => undefined,
            );
    if (result) await endInvocation(pool, sealer, tenant, node, callId, result);
    else await giveUpInvocation(forTenant(pool, tenant), callId, received === 'unsent');
    return true;
  } catch (error) {
    // The node is notified of a stop if possible; its row says that it may have been done.
    if (isStopped(signal)) await once.cancel(id).catch(() => undefined);
    throw error;
  }
}

/** Extra time, so that the node's own clock ends it first. */
const GRACE_MS = 5_000;

/**
 * `milliseconds`: what it may take, including its wait for the node. With 0 or less, the time is over, and it does not
 * start any more.
 */
function activityOf(
  work: Pick<ActivityOnce, 'id' | 'queue' | 'request'>,
  milliseconds: number,
): ActivityOnce {
  const { type, heartbeatMs } = NODE_WORK;
  const terms = {
    scheduleToStartTimeout: milliseconds,
    scheduleToCloseTimeout: milliseconds + GRACE_MS,
    heartbeatTimeout: heartbeatMs,
    retry: { maximumAttempts: 1 },
  };
  return {
    ...work,
    type,
    terms: milliseconds > 0 ? terms : undefined,
    isOver: milliseconds <= -GRACE_MS,
  };
}
