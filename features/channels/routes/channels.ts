/** Serves chat channels from their rows; credentials are sealed and never shown. */
import {
  deleteWebhook,
  listDeliveries,
  openWebhook,
  redeliver,
  showDelivery,
  startDueDeliveries,
} from '#features/webhooks-out/index.ts';
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { CREDENTIALS, type ChannelCredentials, type ChannelType, POSTED } from '../contract.ts';
import { Failure } from '#domain/errors.ts';
import { withoutNulls } from '#domain/outside-value.ts';
import { channels } from '../resource.ts';
import {
  type ChannelSettings,
  channelSettingsSchema,
  credentialProblem,
  SETTINGS,
  splitSettings,
} from '../schema.ts';
import { SecretProblem } from '#domain/secret.ts';
import { type InboundWebhook, inboundWebhookSchema } from '#features/webhooks-in/schema.ts';
import { MAX_WEBHOOKS } from '#features/webhooks-out/contract.ts';
import {
  type ChannelRow,
  deleteChannel,
  deletePerson,
  findChannel,
  insertChannel,
  isLabelInUse,
  listChannels,
  listPeople,
  pairPerson,
  type PersonRow,
  updateChannel,
} from '../store/channel-store.ts';
import { unlessTaken } from '#store/postgres/unless-taken.ts';
import { isStandardSecret } from '#features/webhooks-in/index.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { isTimeKeys, readPage } from '#api/server/pages.ts';
import { type NamedAgent, requireAgents } from '#api/require-agents.ts';
import { type Call, serveResource } from '#api/serve-resource.ts';
import { OPERATOR_TENANT } from '#domain/tenant.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

export function addRoutes(app: Api, deps: ApiDeps): void {
  const { pool, temporal } = deps;
  const { sealer } = deps.secrets;
  const find = (tenant: string, key: string) => findChannel(forTenant(pool, tenant), key);

  serveResource(
    app,
    channels,
    {
      listChannels: async ({ tenant, db }) => ({
        data: (await listChannels(db)).map((row) => show(tenant, row)),
      }),
      async getChannel({ tenant, params }) {
        const row = await find(tenant, params.key);
        return row && show(tenant, row);
      },
      createChannel: (call) => create(deps, call),
      async updateChannel({ tenant, db, params, body: { agent, settings = {}, enabled } }) {
        const old = await find(tenant, params.key);
        if (!old) return undefined;
        const before = openWebhook<ChannelCredentials>(sealer, tenant, {
          id: old.webhook_id,
          sealed: old.sealed,
        });
        const input = withoutNulls({ ...old.settings, ...before, ...settings });
        const written = await check(deps, tenant, old.type, input);
        const approvers = settings.approvals_for ? written.settings.approvals_for : undefined;
        await requireAgents(db, namedAgents(agent, approvers));
        const change = { agent: agent ?? old.agent_key, ...written, enabled };
        const row = await updateChannel(pool, sealer, tenant, old, change);
        if (!row) throw new Failure('Conflict', 'It was changed at the same time; look and try again');
        return show(tenant, row);
      },
      async deleteChannel({ tenant, db, params }) {
        const row = await find(tenant, params.key);
        // Its row is deleted last: a repeated request deletes what a crash leaves.
        if (row) await deleteWebhook(db, row.webhook_id);
        return deleteChannel(db, params.key);
      },
      async connectChannel({ tenant, params }) {
        const row = await find(tenant, params.key);
        return row && connect(deps, tenant, row);
      },
      async pairChannelPerson({ db, by, params, body: { code, person, ...as } }) {
        const input = { ...as, code: code?.toUpperCase(), person };
        const row = await pairPerson(db, params.key, input, by);
        if (row) return showPerson(row);
        const errors = [{ pointer: 'body/code', message: 'no such code' }];
        throw new Failure('Unprocessable', 'Nobody has this code, or it is older than an hour', { errors });
      },
      listChannelPeople: ({ db, params, query }) =>
        readPage(
          query,
          (limit, after) => listPeople(db, params.key, limit, String(after?.[0] ?? '')),
          ({ person_id }) => [person_id],
          (keys) => keys.length === 1,
          showPerson,
        ),
      async deleteChannelPerson({ tenant, db, params: { key, person } }) {
        if (await deletePerson(db, key, person)) return true;
        if (await find(tenant, key))
          throw new Failure('NotFound', `Nobody is paired by the id ${person} there`);
        return false;
      },
      async listChannelDeliveries({ tenant, db, params, query }) {
        const id = (await find(tenant, params.key))?.webhook_id ?? '';
        return readPage(
          query,
          (limit, after) =>
            listDeliveries(db, id, query.status, limit, after && [String(after[0]), String(after[1])]),
          (row) => [row.time, row.id],
          isTimeKeys,
          showDelivery,
        );
      },
      async redeliverChannel({ tenant, db, params }) {
        const row = await find(tenant, params.key);
        if (!row) return undefined;
        const redelivered = await redeliver(db, row.webhook_id);
        await startDueDeliveries(pool, temporal);
        return { redelivered };
      },
    },
    ({ tenant }, key) => find(tenant, key),
  );
}

async function create(
  deps: ApiDeps,
  { tenant, db, by, body: { settings: input, ...body } }: Call<(typeof channels.operations)['createChannel']>,
) {
  const { pool, secrets } = deps;
  const written = await check(deps, tenant, body.type, input);
  await requireAgents(db, namedAgents(body.agent, written.settings.approvals_for));
  if (await isLabelInUse(db, body.key))
    throw new Failure(
      'Conflict',
      `Sessions name ${body.key} as their channel already, and what is answered there would be posted: delete them, or choose another key`,
    );
  const insert = insertChannel(pool, secrets.sealer, tenant, { ...body, ...written, id: randomUUID() }, by);
  const row = await unlessTaken('full', insert);
  if (row === 'taken') throw new Failure('Conflict', `There is a channel ${body.key} already`);
  if (row === 'full')
    throw new Failure('Conflict', `A tenant has at most ${MAX_WEBHOOKS} webhooks and channels`);
  return show(tenant, row);
}

/** @throws Failure Unprocessable */
async function connect({ settings, connectChannel }: ApiDeps, tenant: string, row: ChannelRow) {
  if (!POSTED.has(row.type))
    throw new Failure('Unprocessable', `A channel of type ${row.type} has no service to register with`);
  const base = settings.publicUrl?.replace(/\/+$/, '');
  const connected = await connectChannel(tenant, row.key, base && `${base}${show(tenant, row).inbound}`);
  return connected && { ...connected, done: [...connected.done], todo: [...connected.todo] };
}

/** @throws Failure Unprocessable */
async function check(
  { secrets: { vault } }: ApiDeps,
  tenant: string,
  type: ChannelType,
  input: Readonly<Record<string, unknown>>,
): Promise<{ readonly settings: ChannelSettings; readonly credentials: ChannelCredentials }> {
  const names = [...CREDENTIALS[type], ...SETTINGS[type]];
  const other = Object.keys(input).find((name) => !names.includes(name));
  if (other !== undefined)
    throw wrongSettings(`is no setting of a channel of type ${type}: ${names.join(', ')}`, [other]);
  const read = channelSettingsSchema.safeParse(input);
  if (!read.success) throw wrongIssue(read.error);
  const { credentials, settings } = splitSettings(type, read.data);
  const problem = credentialProblem(type, credentials);
  if (problem !== undefined) throw wrongSettings(problem);
  const form = type === 'webhook' ? inboundWebhookSchema.safeParse(settings) : undefined;
  if (form?.error) throw wrongIssue(form.error);
  for (const text of Object.values(credentials as ChannelCredentials))
    checkSecret(form?.data.signature, await open(vault, tenant, text));
  if (form?.data.action === 'schedule' && settings.allowed_tools)
    throw wrongSettings('means nothing with the action schedule, whose run has its own', ['allowed_tools']);
  if (settings.approvals_for && settings.approvals_for.length > 0 && !settings.approvals_to)
    throw wrongSettings('needs approvals_to: the chat in which they are asked', ['approvals_for']);
  return { settings, credentials: credentials as ChannelCredentials };
}

/** @throws Failure Unprocessable */
function open(vault: ApiDeps['secrets']['vault'], tenant: string, text: string): Promise<string> {
  return vault.resolve(tenant, text).catch((error: unknown) => {
    throw error instanceof SecretProblem ? wrongSettings(error.message) : error;
  });
}

/** @throws Failure Unprocessable */
function checkSecret(signature: InboundWebhook['signature'] | undefined, secret: string): void {
  if (signature !== 'standard' || isStandardSecret(secret)) return;
  const words =
    'must be whsec_ and base64, by which Standard Webhooks sign; name another signature: github, stripe or hmac';
  throw wrongSettings(words, ['secret']);
}

function wrongIssue({ issues: [issue] }: z.ZodError): Failure {
  return wrongSettings(issue?.message ?? 'cannot be read', issue?.path);
}

function wrongSettings(message: string, path: readonly PropertyKey[] = []): Failure {
  const pointer = ['body/settings', ...path.map(String)].join('/');
  return new Failure('Unprocessable', `${pointer}: ${message}`, { errors: [{ pointer, message }] });
}

/** The channel's own agent, and the agents whose approvals are asked there. */
function namedAgents(agent: string | undefined, approvers: readonly string[] = []): readonly NamedAgent[] {
  return [
    ['body/agent', agent],
    ...approvers.map((key, at) => [`body/settings/approvals_for/${at}`, key] as const),
  ];
}

function show(tenant: string, row: ChannelRow) {
  return {
    ...row,
    agent: row.agent_key,
    credentials: CREDENTIALS[row.type],
    inbound: `/v1/channels/${row.key}/inbound${tenant === OPERATOR_TENANT ? '' : `?tenant=${tenant}`}`,
  };
}

function showPerson(row: PersonRow) {
  return { ...row, person: row.person_id, user: row.user_id };
}
