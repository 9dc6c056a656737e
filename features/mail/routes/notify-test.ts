/** Tests whether those who are told of approvals are reached: by deliveries as events have them, from where they are sent. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '#domain/errors.ts';
import type { NotifyTest } from '#features/webhooks-out/schema.ts';
import { findDelivery, insertNotifyTests } from '#features/webhooks-out/store/webhook-store.ts';
import { startDueDeliveries } from '#features/webhooks-out/temporal.ts';
import type { ApiDeps } from '#api/deps.ts';

/** Above what one attempt may take. */
const PATIENCE_MS = 25_000;
const LOOK_MS = 250;

/** What is pending then is told as that. @throws Failure */
export async function notifyTest(
  { pool, temporal }: Pick<ApiDeps, 'pool' | 'temporal'>,
  tenant: string,
  to: string | undefined,
): Promise<NotifyTest[]> {
  const made = await insertNotifyTests(pool, tenant, to);
  if (made.length === 0)
    throw new Failure(
      'Unprocessable',
      to === undefined
        ? 'Nobody is told of approvals: add a webhook with the events approval.*, to an address or to mailto:'
        : `No webhook with the id or address ${to} is told of approvals`,
    );
  await startDueDeliveries(pool, temporal);
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    const rows = await Promise.all(made.map((one) => findDelivery(pool, tenant, one.webhook_id, one.id)));
    if (rows.every((row) => row?.status !== 'pending') || Date.now() > until)
      return made.map(({ id, webhook_id, url }, at) => ({
        webhook_id,
        url,
        delivery_id: id,
        // Of a webhook that was deleted meanwhile.
        status: rows[at]?.status ?? 'failed',
        last_status: rows[at]?.last_status ?? null,
        problem: rows[at]?.problem ?? null,
      }));
    await sleep(LOOK_MS);
  }
}
