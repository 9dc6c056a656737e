/** Push notifications: a client names an address that is told of its task, as a webhook of the task's session. */
import { randomUUID } from 'node:crypto';
import type {
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import { RequestMalformedError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { judgeUrl } from '@tempoclaw/egress/rules';
import { signatureOf } from '#api/server/auth.ts';
import { hasEnded } from '#api/turn-wait.ts';
import type { EventType } from '#domain/event.ts';
import { deleteWebhook, insertWebhook, sealWebhook } from '#features/webhooks-out/index.ts';
import { tenantEgress } from '#policy/tenant-egress.ts';
import { forTenant, type TenantTx } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import { lockSession } from '#store/turns/session-writes.ts';
import type { TurnRow } from '#store/turns/turn-store.ts';
import {
  findPushConfig,
  hasTurnEnded,
  keepPushConfig,
  listPushConfigs,
  type PushConfig,
} from './push-store.ts';
import { PUSH, pushAddressOf, type PushSecrets } from './push-target.ts';
import { type A2aRequest, taskOr404 } from './tasks.ts';

const EVENTS: readonly EventType[] = [
  'turn.started',
  'approval.requested',
  'turn.completed',
  'turn.failed',
  'turn.stopped',
];
const MAX_CONFIGS = 10;
const MAX_URL = 2_000;
const MAX_SECRET = 4_000;
const ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** The same id again replaces the address. */
export async function createPushConfig(
  request: A2aRequest,
  { id, taskId, url, token, authentication }: TaskPushNotificationConfig,
): Promise<TaskPushNotificationConfig> {
  const { deps, caller } = request;
  const { tenant } = caller;
  const turn = await taskOr404(request, taskId);
  if (hasEnded(turn)) throw ended();
  const { scheme = '', credentials = '' } = authentication ?? {};
  const authorization = `${scheme} ${credentials}`.trim();
  if (!/^[\x20-\x7e]*$/.test(token + authorization) || token.length + authorization.length > MAX_SECRET)
    throw new RequestMalformedError(
      `token and authentication must be ASCII of at most ${MAX_SECRET} characters`,
    );
  const config = id === '' ? randomUUID() : id;
  if (!ID.test(config))
    throw new RequestMalformedError('id must be 1 to 128 letters, digits, ".", "_", ":" or "-"');
  await checkAddress(request, url);
  const webhook = randomUUID();
  const secrets: PushSecrets = { token, authorization };
  const written = {
    url: `${PUSH}${url}`,
    events: [...EVENTS],
    agent_key: null,
    session_key: turn.session_key,
    user_id: caller.user,
    description: `Tells an A2A client of ${turn.id}`,
    ordered: true,
    ...sealWebhook(deps.secrets.sealer, tenant, webhook, { ...secrets }),
  };
  const row = { id: config, turn_id: turn.id, webhook_id: webhook };
  const db = forTenant(deps.pool, tenant);
  const old = await inTransaction(db, async (tx) => {
    if (!(await insertWebhook(tx, webhook, written, signatureOf(caller))))
      throw new UnsupportedOperationError('The tenant has as many webhooks as it may; read the task instead');
    return replaceConfig(tx, turn, row);
  });
  if (old) await deleteWebhook(db, old.webhook_id);
  return showConfig({ ...row, url: written.url });
}

/** Returns what had the id before. The session is locked: an event is before all of this, or is sent to the webhook. */
async function replaceConfig(
  tx: TenantTx,
  { id: turn, session_key: session }: TurnRow,
  row: Omit<PushConfig, 'url'>,
): Promise<PushConfig | undefined> {
  await lockSession(tx, session);
  if (await hasTurnEnded(tx, turn)) throw ended();
  const configs = await listPushConfigs(tx, turn);
  const old = configs.find(({ id }) => id === row.id);
  if (!old && configs.length >= MAX_CONFIGS)
    throw new RequestMalformedError(`A task has at most ${MAX_CONFIGS} addresses`);
  await keepPushConfig(tx, row);
  return old;
}

const ended = (): UnsupportedOperationError =>
  new UnsupportedOperationError('The task has ended; there is nothing more to tell');

/** What its name resolves to is judged at each delivery. */
async function checkAddress({ deps: { pool, policy }, caller }: A2aRequest, url: string): Promise<void> {
  const isHttp = url.length <= MAX_URL && /^https?:$/.test(URL.parse(url)?.protocol ?? '');
  if (!isHttp) throw new RequestMalformedError('url must be an address of HTTP');
  const verdict = judgeUrl(url, await tenantEgress(pool, policy.settings.egress, caller.tenant));
  if (verdict.decision === 'deny') throw new RequestMalformedError(`url: ${verdict.reason}`);
}

export async function getPushConfig(
  request: A2aRequest,
  { taskId, id }: GetTaskPushNotificationConfigRequest,
): Promise<TaskPushNotificationConfig> {
  const turn = await taskOr404(request, taskId);
  const row = await findPushConfig(forTenant(request.deps.pool, request.caller.tenant), turn.id, id);
  if (!row) throw new TaskNotFoundError('The task has no push notifications of this id');
  return showConfig(row);
}

export async function showPushConfigs(
  request: A2aRequest,
  { taskId }: ListTaskPushNotificationConfigsRequest,
): Promise<ListTaskPushNotificationConfigsResponse> {
  const turn = await taskOr404(request, taskId);
  const rows = await listPushConfigs(forTenant(request.deps.pool, request.caller.tenant), turn.id);
  return { configs: rows.map(showConfig), nextPageToken: '' };
}

/** Safe to repeat. */
export async function deletePushConfig(
  request: A2aRequest,
  { taskId, id }: DeleteTaskPushNotificationConfigRequest,
): Promise<void> {
  await removeConfig(request, (await taskOr404(request, taskId)).id, id);
}

async function removeConfig({ deps, caller }: A2aRequest, turn: string, id: string): Promise<void> {
  const db = forTenant(deps.pool, caller.tenant);
  const row = await findPushConfig(db, turn, id);
  if (row) await deleteWebhook(db, row.webhook_id);
}

/** Its secrets are not shown. */
function showConfig({ id, turn_id: taskId, url }: PushConfig): TaskPushNotificationConfig {
  return { tenant: '', id, taskId, url: pushAddressOf(url) ?? url, token: '', authentication: undefined };
}
