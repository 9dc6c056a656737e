/** Outgoing webhooks: rows behind the definition, addresses judged, secrets sealed and told once. */
import { randomBytes, randomUUID } from 'node:crypto';
import { Failure } from '#domain/errors.ts';
import { judgeUrl } from '#domain/net/judge-url.ts';
import { webhooks } from '#domain/resource/webhooks.ts';
import { MAX_WEBHOOKS } from '#domain/webhook.ts';
import { tenantEgress } from '#policy/tenant-egress.ts';
import {
  deleteWebhook,
  type DeliveryRow,
  findDelivery,
  findWebhook,
  insertWebhook,
  listDeliveries,
  listWebhooks,
  openWebhook,
  redeliver,
  rotateWebhook,
  sealWebhook,
  updateWebhook,
  type WebhookRow,
} from '#store/webhook-store.ts';
import { startDueDeliveries } from '#temporal/start-deliveries.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { isTimeKeys, readPage } from '../pages.ts';
import { serveResource } from '../serve-resource.ts';

export function addRoutes(app: Api, deps: ApiDeps): void {
  const { pool, temporal, notifier } = deps;
  const { sealer } = deps.secrets;
  const startDue = () => startDueDeliveries(pool, temporal);
  notifier.whenDue(startDue);

  serveResource(
    app,
    webhooks,
    {
      listWebhooks: async ({ tenant }) => ({ data: (await listWebhooks(pool, tenant)).map(show) }),
      async getWebhook({ tenant, params }) {
        const row = await findWebhook(pool, tenant, params.id);
        return row && show(row);
      },
      async createWebhook({ tenant, by, body }) {
        const { secret = makeSecret(), agent, session_key, description, ...fields } = body;
        await refuseUrl(deps, tenant, fields.url);
        const id = randomUUID();
        const written = {
          ...fields,
          agent_key: agent ?? null,
          session_key: session_key ?? null,
          description: description ?? null,
          ...sealWebhook(sealer, tenant, id, { secret }),
        };
        const row = await insertWebhook(pool, tenant, id, written, by);
        if (!row)
          throw new Failure('Conflict', `A tenant has at most ${MAX_WEBHOOKS} webhooks; delete one first`);
        return { ...show(row), secret };
      },
      async updateWebhook({ tenant, params, body: { agent, ...given } }) {
        const old = await findWebhook(pool, tenant, params.id);
        if (!old) return undefined;
        if (given.url !== undefined) await refuseUrl(deps, tenant, given.url);
        const { enabled = null, ...fields } = given;
        const set = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
        const agent_key = agent === undefined ? old.agent_key : agent;
        const row = await updateWebhook(pool, tenant, params.id, { ...old, ...set, agent_key, enabled });
        return row && show(row);
      },
      async rotateWebhookSecret({ tenant, params, body }) {
        const old = await findWebhook(pool, tenant, params.id);
        if (!old) return undefined;
        const { secret = makeSecret(), both_for_seconds: seconds } = body;
        const until = new Date(Date.now() + seconds * 1000).toISOString();
        const before = { secret: openWebhook(sealer, tenant, old).secret, until };
        const sealed = sealWebhook(sealer, tenant, old.id, { secret, before });
        const row = await rotateWebhook(pool, tenant, old, sealed);
        if (!row)
          throw new Failure('Conflict', 'Its secret was changed at the same time; look and try again');
        return { ...show(row), secret };
      },
      deleteWebhook: async ({ tenant, params }) =>
        (await findWebhook(pool, tenant, params.id)) !== undefined && deleteWebhook(pool, tenant, params.id),
      listDeliveries: ({ tenant, params, query }) =>
        readPage(
          query,
          (limit, after) =>
            listDeliveries(
              pool,
              tenant,
              params.id,
              query.status,
              limit,
              after && [String(after[0]), String(after[1])],
            ),
          ({ time, id }) => [time, id],
          showDelivery,
          isTimeKeys,
        ),
      async redeliverFailed({ tenant, params }) {
        const redelivered = await redeliver(pool, tenant, params.id);
        await startDue();
        return { redelivered };
      },
      async redeliver({ tenant, params }) {
        await redeliver(pool, tenant, params.id, params.delivery);
        await startDue();
        const row = await findDelivery(pool, tenant, params.id, params.delivery);
        return row && showDelivery(row);
      },
    },
    ({ tenant }, id) => findWebhook(pool, tenant, id),
  );
}

function makeSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** What its name leads to is judged at each attempt. @throws Failure Unprocessable */
async function refuseUrl(deps: ApiDeps, tenant: string, url: string): Promise<void> {
  const verdict = judgeUrl(url, await tenantEgress(deps.pool, deps.policy.settings.egress, tenant));
  if (verdict.decision === 'allow') return;
  const errors = [{ pointer: 'body/url', message: verdict.reason }];
  throw new Failure('Unprocessable', `body/url: ${verdict.reason}`, { errors });
}

function show({ id, url, events, agent_key, session_key, description, ordered, ...row }: WebhookRow) {
  return {
    id,
    url,
    events,
    agent: agent_key,
    session_key,
    description,
    ordered,
    enabled: row.enabled,
    disabled_reason: row.disabled_reason,
    failing_since: row.failing_since?.toISOString() ?? null,
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
  };
}

export function showDelivery({ event_id, next_at, created_at, ended_at, ...row }: DeliveryRow) {
  return {
    ...row,
    event_id: Number(event_id),
    next_attempt_at: row.status === 'pending' ? next_at.toISOString() : null,
    created_at: created_at.toISOString(),
    ended_at: ended_at?.toISOString() ?? null,
  };
}
