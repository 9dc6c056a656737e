/** Starts the workflows of deliveries that are due: new ones, and those whose workflow Temporal has lost. */
import { deliveryWorkflowId, type DeliveryInput, WEBHOOK_DELIVERY } from './contract.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { claimDueDeliveries, type DueDelivery } from './store/webhook-delivery-store.ts';

/** Claims of one call; the next call finds what is due after them. */
const ROUNDS = 10;

/**
 * Returns how many. Throws Failures; what was claimed then is claimed again later. Safe to repeat, also concurrently.
 */
export async function startDueDeliveries(pool: Pool, reach: Pick<WorkflowReach, 'start'>): Promise<number> {
  let started = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const claimed = await claimDueDeliveries(pool);
    if (claimed.length === 0) break;
    const due = claimed.filter((delivery) => !delivery.held_back);
    await Promise.all(due.map((delivery) => start(reach, delivery)));
    started += due.length;
  }
  return started;
}

function start(
  reach: Pick<WorkflowReach, 'start'>,
  { tenant_id: tenant, id, redelivered, event, session_key: session }: DueDelivery,
): Promise<void> {
  const input: DeliveryInput = { tenant, id };
  const workflow = { type: WEBHOOK_DELIVERY, id: deliveryWorkflowId(id, redelivered), input, tenant };
  return reach.start(
    // A test belongs to no session.
    session === ''
      ? { ...workflow, summary: event }
      : { ...workflow, summary: `${event} of ${session}`, session },
  );
}
