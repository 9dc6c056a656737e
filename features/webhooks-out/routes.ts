/** Serves outgoing webhooks from their rows: addresses are judged, and secrets are sealed and shown once. */
import { HAS_DUE } from './store/delivery-queue-store.ts';
import { randomBytes, randomUUID } from 'node:crypto';
import { mailAddressOf } from './contract.ts';
import { Failure, fieldFailure, limitReached } from '#domain/errors.ts';
import { judgeUrl } from '@tempoclaw/egress/rules';
import { webhooks } from './resource.ts';
import { MAX_WEBHOOKS } from './contract.ts';
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
} from './store/webhook-store.ts';
import { announceDeliveries } from './announce-deliveries.ts';
import { showBreaker } from './breaker.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { isTimeKeys, readPage } from '#api/server/pages.ts';
import { requireAgents } from '#api/require-agents.ts';
import { refuseUnknownSecrets } from '#api/refuse-unknown-secrets.ts';
import { serveResource } from '#api/serve-resource.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';

/** Two writers may change the same webhook at once. The loser tries again, but not forever. */
const CHANGE_TRIES = 5;

export function addRoutes(app: Api, deps: ApiDeps): void {
  const { pool, notifier } = deps;
  const { sealer } = deps.secrets;
  const announce = () => announceDeliveries(pool);
  notifier.whenDue(HAS_DUE, announce);

  serveResource(
    app,
    webhooks,
    {
      listWebhooks: async ({ db }) => ({ data: (await listWebhooks(db)).map(show) }),
      async getWebhook({ db, params }) {
        const row = await findWebhook(db, params.id);
        return row && show(row);
      },
      async createWebhook({ tenant, db, by, body }) {
        const { secret = makeSecret(), agent, session_key, user, description, ...fields } = body;
        const target = { ...fields, user_id: user ?? null };
        await refuseTarget(deps, tenant, target);
        await refuseUnknownSecrets(db, [['body/url', target.url]]);
        await requireAgents(db, [['body/agent', agent]]);
        const id = randomUUID();
        const written = {
          ...target,
          ordered: isOrdered(fields),
          agent_key: agent ?? null,
          session_key: session_key ?? null,
          description: description ?? null,
          ...sealWebhook(sealer, tenant, id, { secret }),
        };
        const row = await inTransaction(db, (tx) => insertWebhook(tx, id, written, by));
        if (!row) throw limitReached(MAX_WEBHOOKS, 'webhooks and channels');
        return { ...show(row), secret };
      },
      async updateWebhook({ tenant, db, params, body: { agent, user, ...changes } }) {
        const { enabled = null, ...fields } = changes;
        const set = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
        for (let tries = 1; tries <= CHANGE_TRIES; tries += 1) {
          const old = await findWebhook(db, params.id);
          if (!old) return undefined;
          const agent_key = agent === undefined ? old.agent_key : agent;
          const user_id = user === undefined ? old.user_id : user;
          const made = { ...old, ...set, agent_key, user_id };
          if (changes.url ?? changes.events ?? user) await refuseTarget(deps, tenant, made);
          await refuseUnknownSecrets(db, [['body/url', changes.url]]);
          await requireAgents(db, [['body/agent', agent]]);
          const row = await updateWebhook(db, old, { ...made, ordered: isOrdered(made), enabled });
          if (row) return show(row);
        }
        throw new Failure('Conflict', 'The webhook is being changed by others at the same time; try again');
      },
      async rotateWebhookSecret({ tenant, db, params, body }) {
        const old = await findWebhook(db, params.id);
        if (!old) return undefined;
        const { secret = makeSecret(), both_for_seconds: seconds } = body;
        const until = new Date(Date.now() + seconds * 1000).toISOString();
        const before = { secret: openWebhook(sealer, tenant, old).secret, until };
        const sealed = sealWebhook(sealer, tenant, old.id, { secret, before });
        const row = await rotateWebhook(db, old, sealed);
        if (!row)
          throw new Failure('Conflict', 'Its secret was changed at the same time; look and try again');
        return { ...show(row), secret };
      },
      deleteWebhook: async ({ db, params }) =>
        (await findWebhook(db, params.id)) !== undefined && deleteWebhook(db, params.id),
      listDeliveries: ({ db, params, query }) =>
        readPage(
          query,
          (limit, after) =>
            listDeliveries(db, params.id, query.status, limit, after && [String(after[0]), String(after[1])]),
          ({ time, id }) => [time, id],
          isTimeKeys,
          showDelivery,
        ),
      async redeliverFailed({ db, params }) {
        const redelivered = await redeliver(db, params.id);
        await announce();
        return { redelivered };
      },
      async redeliver({ db, params }) {
        await redeliver(db, params.id, params.delivery);
        await announce();
        const row = await findDelivery(db, params.id, params.delivery);
        return row && showDelivery(row);
      },
    },
    ({ tenant }, id) => findWebhook(forTenant(pool, tenant), id),
  );
}

function makeSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** A mail about an end answers the mail that asked, so that one must be over. */
function isOrdered({ url, ordered }: Pick<WebhookRow, 'url' | 'ordered'>): boolean {
  return ordered || mailAddressOf(url) !== undefined;
}

/** What its name resolves to is judged at each attempt. @throws Failure Unprocessable */
async function refuseTarget(
  { pool, policy }: ApiDeps,
  tenant: string,
  { url, events, user_id: user }: Pick<WebhookRow, 'url' | 'events' | 'user_id'>,
): Promise<void> {
  const refuse = (field: string, message: string): never => {
    throw fieldFailure('Unprocessable', `body/${field}`, message);
  };
  if (mailAddressOf(url) !== undefined) {
    const other = events.find((kind) => !kind.startsWith('approval.'));
    if (other)
      refuse('events', `mails are of approvals only, not of ${other}: name approval.*, or some of it`);
    return;
  }
  if (user !== null) refuse('user', 'only a webhook to mailto: has a user, who decides by its links');
  const verdict = judgeUrl(url, await tenantEgress(pool, policy.settings.egress, tenant));
  if (verdict.decision === 'deny') refuse('url', verdict.reason);
}

function show(row: WebhookRow) {
  return { ...row, ...showBreaker(row), agent: row.agent_key, user: row.user_id };
}

export function showDelivery(row: DeliveryRow) {
  return { ...row, next_attempt_at: row.status === 'pending' ? row.next_at : null };
}
