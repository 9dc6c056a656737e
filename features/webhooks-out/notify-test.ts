/** Tests whether notifications of approvals arrive: it makes deliveries as events do, sent from the same place. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '#domain/errors.ts';
import type { NotifyTest } from './schema.ts';
import { findDelivery, insertNotifyTests } from './store/webhook-store.ts';
import { announceDeliveries } from './announce-deliveries.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { serveResource } from '#api/serve-resource.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { approvalNotifications } from './resource.ts';

/** Longer than one attempt may take. */
const PATIENCE_MS = 25_000;
const LOOK_MS = 250;

export function addRoutes(app: Api, deps: ApiDeps): void {
  serveResource(app, approvalNotifications, {
    testNotifications: async ({ tenant, body }) => ({ data: await notifyTest(deps, tenant, body.to) }),
  });
}

/** A test that is pending then is reported as pending. @throws Failure */
async function notifyTest(
  { pool }: Pick<ApiDeps, 'pool'>,
  tenant: string,
  to: string | undefined,
): Promise<NotifyTest[]> {
  const db = forTenant(pool, tenant);
  const made = await insertNotifyTests(db, to);
  if (made.length === 0)
    throw new Failure(
      'Unprocessable',
      to === undefined
        ? 'Nobody is told of approvals: add a webhook with the events approval.*, to an address or to mailto:'
        : `No webhook with the id or address ${to} is told of approvals`,
    );
  await announceDeliveries(pool);
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    const rows = await Promise.all(made.map((one) => findDelivery(db, one.webhook_id, one.id)));
    if (rows.every((row) => row?.status !== 'pending') || Date.now() > until)
      return made.map(({ id, webhook_id, url }, at) => ({
        webhook_id,
        url,
        delivery_id: id,
        // The webhook was deleted in the meantime.
        status: rows[at]?.status ?? 'failed',
        last_status: rows[at]?.last_status ?? null,
        problem: rows[at]?.problem ?? null,
      }));
    await sleep(LOOK_MS);
  }
}
