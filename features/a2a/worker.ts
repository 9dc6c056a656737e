/** Delivers push notifications, with the retries and breakers of webhooks. */
import { A2A_CONTENT_TYPE, StreamResponse, TaskState, type TaskStatus } from '@a2a-js/sdk';
import { EgressError } from '@tempoclaw/egress';
import type { WorkerPart } from '#domain/feature.ts';
import { type DeliveryBasis, type DeliveryOutcome, openWebhook } from '#features/webhooks-out/index.ts';
import { tenantEgress } from '#policy/tenant-egress.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findTurn } from '#store/turns/turn-store.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { prunePushConfigs, turnOfWebhook } from './push-store.ts';
import { pushAddressOf, type PushSecrets } from './push-target.ts';
import { statusOf } from './task.ts';

const LIMITS = { redirects: 0, bytes: 65_536, totalMs: 15_000, idleMs: 15_000 };

export function createWorkerPart(core: WorkerCore): WorkerPart {
  return {
    extends: {
      deliverer: {
        takes: ({ url, channel_key }) => channel_key === null && pushAddressOf(url) !== undefined,
        deliver: (tenant, delivery, signal) => deliver(core, tenant, delivery, signal),
      },
    },
    prune: () => prunePushConfigs(core.pool),
  };
}

async function deliver(
  { pool, sealer, egress, egressSettings }: WorkerCore,
  tenant: string,
  { webhook, stored }: DeliveryBasis,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const db = forTenant(pool, tenant);
  const taskId = await turnOfWebhook(db, webhook.id);
  const turn = taskId === undefined ? undefined : await findTurn(db, taskId);
  if (!turn || stored?.turn_id !== turn.id)
    return { answered: null, problem: 'not sent: it is of another task', isSilent: true };
  const status: TaskStatus =
    stored.type.startsWith('turn.') && stored.type !== 'turn.started'
      ? statusOf(turn, [])
      : {
          state: STATES[stored.type] ?? TaskState.TASK_STATE_WORKING,
          message: undefined,
          timestamp: stored.at,
        };
  const value = { taskId: turn.id, contextId: turn.session_key, status, metadata: undefined };
  const { token, authorization } = openWebhook<PushSecrets>(sealer, tenant, webhook);
  const rules = await tenantEgress(pool, egressSettings, tenant);
  const client = egress.open({ labels: { tenant, purpose: 'webhook' }, rules, limits: LIMITS });
  try {
    const response = await client.fetch(pushAddressOf(webhook.url) ?? '', {
      method: 'POST',
      body: JSON.stringify(StreamResponse.toJSON({ payload: { $case: 'statusUpdate', value } })),
      signal,
      headers: {
        'content-type': A2A_CONTENT_TYPE,
        ...(token && { 'x-a2a-notification-token': token }),
        ...(authorization && { authorization }),
      },
    });
    // The response body is not needed.
    await response.body?.cancel();
    const { ok, status: answered } = response;
    return { answered, problem: ok ? null : `it answered ${answered}`, isGone: answered === 410 };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof EgressError)) throw error;
    return { answered: null, problem: error.message.slice(0, 500) };
  } finally {
    await client.close();
  }
}

/** What is asked is in the task, for who may see it. */
const STATES: Readonly<Record<string, TaskState>> = {
  'approval.requested': TaskState.TASK_STATE_INPUT_REQUIRED,
};
