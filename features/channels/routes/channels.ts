/** Serves chat channels from their rows; credentials are sealed and never shown. */
import {
  announceDeliveries,
  deleteWebhook,
  listDeliveries,
  openWebhook,
  redeliver,
  showBreaker,
  showDelivery,
} from '#features/webhooks-out/index.ts';
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { type ChannelCredentials, type ChannelType, POSTED } from '../contract.ts';
import { Failure, limitReached } from '#domain/errors.ts';
import { withoutNulls } from '#domain/outside-value.ts';
import { type channels, channelsOf } from '../resource.ts';
import { type ChannelSettings, channelSettingsSchema, credentialProblem, splitSettings } from '../schema.ts';
import { SecretProblem } from '#domain/secret.ts';
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
import { type ChannelTypes, loadChannelTypes, type SettingsProblem } from './channel-types.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { isTimeKeys, readPage } from '#api/server/pages.ts';
import { type NamedAgent, requireAgents } from '#api/require-agents.ts';
import { type Call, serveResource } from '#api/serve-resource.ts';
import { OPERATOR_TENANT } from '#domain/tenant.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

export async function addRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool } = deps;
  const types = await loadChannelTypes(deps.features);
  const { sealer } = deps.secrets;
  const find = async (tenant: string, key: string) => {
    const row = await findChannel(forTenant(pool, tenant), key);
    return row && types[row.type] && row;
  };

  serveResource(
    app,
    channelsOf(deps.features),
    {
      listChannels: async ({ tenant, db }) => ({
        data: (await listChannels(db))
          .filter(({ type }) => types[type])
          .map((row) => show(types, tenant, row)),
      }),
      async getChannel({ tenant, params }) {
        const row = await find(tenant, params.key);
        return row && show(types, tenant, row);
      },
      createChannel: (call) => create(deps, types, call),
      async updateChannel({ tenant, db, params, body: { agent, settings = {}, enabled } }) {
        const old = await find(tenant, params.key);
        if (!old) return undefined;
        const before = openWebhook<ChannelCredentials>(sealer, tenant, {
          id: old.webhook_id,
          sealed: old.sealed,
        });
        const input = withoutNulls({ ...old.settings, ...before, ...settings });
        const written = await check(deps, types, tenant, old.type, input, Object.keys(settings).length > 0);
        const approvers = settings.approvals_for ? written.settings.approvals_for : undefined;
        await requireAgents(db, namedAgents(agent, approvers));
        const change = { agent: agent ?? old.agent_key, ...written, enabled };
        const row = await updateChannel(pool, sealer, tenant, old, change);
        if (!row) throw new Failure('Conflict', 'It was changed at the same time; look and try again');
        return show(types, tenant, row);
      },
      async deleteChannel({ db, params }) {
        // Also one of a type that is not in this build.
        const row = await findChannel(db, params.key);
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
        await announceDeliveries(pool);
        return { redelivered };
      },
    },
    ({ tenant }, key) => find(tenant, key),
  );
}

async function create(
  deps: ApiDeps,
  types: ChannelTypes,
  { tenant, db, by, body: { settings: input, ...body } }: Call<(typeof channels.operations)['createChannel']>,
) {
  const { pool, secrets } = deps;
  const written = await check(deps, types, tenant, body.type, input);
  await requireAgents(db, namedAgents(body.agent, written.settings.approvals_for));
  if (await isLabelInUse(db, body.key))
    throw new Failure(
      'Conflict',
      `Sessions name ${body.key} as their channel already, and what is answered there would be posted: delete them, or choose another key`,
    );
  const insert = insertChannel(pool, secrets.sealer, tenant, { ...body, ...written, id: randomUUID() }, by);
  const row = await unlessTaken('full', insert);
  if (row === 'taken') throw new Failure('Conflict', `There is a channel ${body.key} already`);
  if (row === 'full') throw limitReached(MAX_WEBHOOKS, 'webhooks and channels');
  return show(types, tenant, row);
}

/** @throws Failure Unprocessable */
async function connect({ settings, connectChannel }: ApiDeps, tenant: string, row: ChannelRow) {
  if (!POSTED.has(row.type))
    throw new Failure('Unprocessable', `A channel of type ${row.type} has no service to register with`);
  const base = settings.publicUrl?.replace(/\/+$/, '');
  const connected = await connectChannel(tenant, row.key, base && `${base}${inboundPath(tenant, row)}`);
  return connected && { ...connected, done: [...connected.done], todo: [...connected.todo] };
}

/** @throws Failure Unprocessable */
async function check(
  { pool, secrets: { vault } }: ApiDeps,
  types: ChannelTypes,
  tenant: string,
  type: ChannelType,
  input: Readonly<Record<string, unknown>>,
  isChanged = true,
): Promise<{ readonly settings: ChannelSettings; readonly credentials: ChannelCredentials }> {
  const { [type]: part } = types;
  if (!part) throw new Failure('Unprocessable', `There are no channels of type ${type}`);
  const names = [...part.credentials, ...part.settings];
  const other = Object.keys(input).find((name) => !names.includes(name));
  if (other !== undefined)
    throw wrongSettings(`is no setting of a channel of type ${type}: ${names.join(', ')}`, [other]);
  const read = channelSettingsSchema.safeParse(input);
  if (!read.success) throw wrongIssue(read.error);
  const { credentials, settings } = splitSettings(part.credentials, read.data);
  const missing = credentialProblem(part.credentials, credentials);
  if (missing !== undefined) throw wrongSettings(missing);
  const form = part.schema?.safeParse(settings);
  if (form?.error) throw wrongIssue(form.error);
  const opened: Record<string, string> = {};
  for (const [name, text] of Object.entries(credentials as ChannelCredentials))
    opened[name] = await open(vault, tenant, text);
  // What they name may be gone since; a channel must still be switched off.
  if (isChanged) refuseProblem(await part.problem?.(forTenant(pool, tenant), settings, opened));
  if (settings.approvals_for && settings.approvals_for.length > 0 && !settings.approvals_to)
    throw wrongSettings('needs approvals_to: the chat in which they are asked', ['approvals_for']);
  return { settings, credentials: credentials as ChannelCredentials };
}

/** @throws Failure Unprocessable */
function refuseProblem(problem: SettingsProblem | undefined): void {
  if (problem) throw wrongSettings(problem.message, [problem.field]);
}

/** @throws Failure Unprocessable */
function open(vault: ApiDeps['secrets']['vault'], tenant: string, text: string): Promise<string> {
  return vault.resolve(tenant, text).catch((error: unknown) => {
    throw error instanceof SecretProblem ? wrongSettings(error.message) : error;
  });
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

function show(types: ChannelTypes, tenant: string, row: ChannelRow) {
  return {
    ...row,
    ...showBreaker(row),
    agent: row.agent_key,
    credentials: types[row.type]?.credentials ?? [],
    inbound: inboundPath(tenant, row),
  };
}

function inboundPath(tenant: string, { key }: ChannelRow): string {
  return `/v1/channels/${key}/inbound${tenant === OPERATOR_TENANT ? '' : `?tenant=${tenant}`}`;
}

function showPerson(row: PersonRow) {
  return { ...row, person: row.person_id, user: row.user_id };
}
