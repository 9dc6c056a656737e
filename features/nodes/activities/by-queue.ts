/** Handles an invocation of a node that takes its work from a task queue: it is sent, awaited, and recorded. */
import { nodeWorkPlace } from '../contract/node.ts';
import { openFromNode, sealForNode } from '../contract/node-seal.ts';
import { nodeResultSchema } from '../schema.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import { endInvocation, giveUpInvocation, sendByQueue } from '../store/node-invocation-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { Sealer } from '#store/seal.ts';
import type { NodeQueues } from '../temporal.ts';
import { isStopped } from '#activities/attempt.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

export interface QueueParts {
  readonly pool: Pool;
  readonly sealer: Sealer;
  readonly nodeQueues: NodeQueues;
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
  { pool, sealer, nodeQueues }: QueueParts,
  { tenant, callId, signal }: Pick<RunningCall, 'tenant' | 'callId' | 'signal'>,
): Promise<boolean> {
  const due = await sendByQueue(pool, sealer, tenant, callId);
  if (!due) return false;
  const { node, queue, key, milliseconds, capability, params } = due;
  const id = `node/${tenant}/${callId}`;
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const bytes = await sealForNode(key, nodeWorkPlace(id, 'asked'), iv, {
    id: callId,
    capability,
    params,
    milliseconds,
  });
  try {
    const received = await nodeQueues.run({ id, queue, request: bytes, milliseconds }, signal);
    const result =
      received === 'unsupported'
        ? UNSUPPORTED
        : typeof received === 'string'
          ? undefined
          : // Another client of its queue may have sent it.
            await openFromNode(key, nodeWorkPlace(id, 'result'), received.result).then(
              (value) => nodeResultSchema.safeParse(value).data,
              () => undefined,
            );
    if (result) await endInvocation(pool, sealer, tenant, node, callId, result);
    else await giveUpInvocation(forTenant(pool, tenant), callId, received === 'unsent');
    return true;
  } catch (error) {
    // The node is notified of a stop if possible; its row says that it may have been done.
    if (isStopped(signal)) await nodeQueues.cancel(id).catch(() => undefined);
    throw error;
  }
}
