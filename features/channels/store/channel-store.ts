/** Stores chat channels; each has a webhook of its own, which sends it events. */
import { insertWebhook, openWebhook, sealWebhook } from '#features/webhooks-out/index.ts';
import { sql } from 'kysely';
import {
  CHANNEL_EVENTS,
  type ChannelCredentials,
  type ChannelType,
  MAX_PAIRINGS,
  PAIRING_SECONDS,
  POSTED,
} from '../contract.ts';
import type { ChannelSettings } from '../schema.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { Sealer } from '#store/seal.ts';
import { affects, execute, type RowOf, readRow, readRows } from '#store/postgres/statements.ts';
import { type TenantDb, forTenant } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';

export interface ChannelRow extends RowOf<'channels', 'updated_at'> {
  readonly sealed: string;
  readonly enabled: boolean;
  readonly failing_since: Date | null;
  readonly failures: number;
  readonly retry_at: Date;
  readonly created_by: string;
  readonly created_at: Date;
}

export type PersonRow = RowOf<'channel_people', 'channel_key'>;

interface Written {
  readonly agent: string;
  readonly settings: ChannelSettings;
  readonly credentials: ChannelCredentials;
}

const CHANNELS = sql`select c.key, c.webhook_id, c.type, c.agent_key, c.settings, w.sealed, w.enabled, w.failing_since, w.failures,
    w.retry_at, w.created_by, w.created_at
  from channels c join webhooks w on w.tenant_id = c.tenant_id and w.id = c.webhook_id`;

/**
 * Returns undefined if the tenant has its maximum of webhooks and channels. @throws a violation when the key is taken
 */
export function insertChannel(
  pool: Pool,
  sealer: Sealer,
  tenant: string,
  {
    key,
    type,
    id,
    agent,
    settings,
    credentials,
  }: Written & { readonly key: string; readonly type: ChannelType; readonly id: string },
  by: string,
): Promise<ChannelRow | undefined> {
  return inTransaction(pool, async (tx) => {
    const isPosted = POSTED.has(type);
    const webhook = {
      url: `channel:${key}`,
      events: isPosted ? [...CHANNEL_EVENTS] : [],
      agent_key: null,
      session_key: null,
      user_id: null,
      description: null,
      ordered: true,
      channel_key: key,
      approval_agents: isPosted ? [...(settings.approvals_for ?? [])] : [],
      ...sealWebhook(sealer, tenant, id, credentials),
    };
    const made = await insertWebhook(forTenant(tx, tenant), id, webhook, by);
    if (!made) return undefined;
    await execute(tx)`
      insert into channels (tenant_id, key, webhook_id, type, agent_key, settings)
      values (${tenant}, ${key}, ${id}, ${type}, ${agent}, ${JSON.stringify(settings)}::jsonb)`;
    return readRow<ChannelRow>(tx)`${CHANNELS} where c.tenant_id = ${tenant} and c.key = ${key}`;
  });
}

/**
 * Closes its breaker. Fields that are absent stay unchanged. Returns undefined if there is no such channel, or its credentials were changed
 * since `old` was read.
 */
export function updateChannel(
  pool: Pool,
  sealer: Sealer,
  tenant: string,
  old: ChannelRow,
  { agent, settings, credentials, enabled }: Written & { readonly enabled: boolean | undefined },
): Promise<ChannelRow | undefined> {
  const { sealed, keyId } = sealWebhook(sealer, tenant, old.webhook_id, credentials);
  const agents = POSTED.has(old.type) ? [...(settings.approvals_for ?? [])] : [];
  return inTransaction(pool, async (tx) => {
    const isThere = await affects(tx)`
      update webhooks set sealed = ${sealed}, key_id = ${keyId}, approval_agents = ${agents}::text[],
        enabled = coalesce(${enabled}::boolean, enabled), disabled_reason = null, failures = 0, retry_at = now()
      where tenant_id = ${tenant} and id = ${old.webhook_id} and sealed = ${old.sealed}`;
    if (!isThere) return undefined;
    await execute(tx)`
      update channels set agent_key = ${agent}, settings = ${JSON.stringify(settings)}::jsonb, updated_at = now()
      where tenant_id = ${tenant} and key = ${old.key}`;
    return readRow<ChannelRow>(tx)`${CHANNELS} where c.tenant_id = ${tenant} and c.key = ${old.key}`;
  });
}

export function findChannel(db: TenantDb, key: string): Promise<ChannelRow | undefined> {
  return readRow<ChannelRow>(db)`${CHANNELS} where c.tenant_id = ${db} and c.key = ${key}`;
}

export function listChannels(db: TenantDb): Promise<ChannelRow[]> {
  return readRows<ChannelRow>(db)`${CHANNELS} where c.tenant_id = ${db} order by c.key`;
}

/** Its webhook must be deleted before. */
export function deleteChannel(db: TenantDb, key: string): Promise<boolean> {
  return affects(db)`delete from channels where tenant_id = ${db} and key = ${key}`;
}

/** `resolve` replaces `secret://NAME` with secrets. */
export async function openChannel(
  sealer: Pick<Sealer, 'open'>,
  resolve: (tenant: string, text: string) => Promise<string>,
  tenant: string,
  { webhook_id: id, sealed }: Pick<ChannelRow, 'webhook_id' | 'sealed'>,
): Promise<ChannelCredentials> {
  const input = openWebhook<ChannelCredentials>(sealer, tenant, { id, sealed });
  const opened = Object.entries(input).map(
    async ([name, text]) => [name, await resolve(tenant, text)] as const,
  );
  return Object.fromEntries(await Promise.all(opened));
}

export function findPerson(db: TenantDb, channel: string, person: string): Promise<PersonRow | undefined> {
  return readRow<PersonRow>(db)`
    select * from channel_people where tenant_id = ${db} and channel_key = ${channel} and person_id = ${person}`;
}

export function listPeople(
  db: TenantDb,
  channel: string,
  limit: number,
  after: string,
): Promise<PersonRow[]> {
  return readRows<PersonRow>(db)`
    select * from channel_people where tenant_id = ${db} and channel_key = ${channel} and person_id > ${after}
    order by person_id limit ${limit}`;
}

export function deletePerson(db: TenantDb, channel: string, person: string): Promise<boolean> {
  return affects(db)`
    delete from channel_people where tenant_id = ${db} and channel_key = ${channel} and person_id = ${person}`;
}

/**
 * The stranger's code: the current one while it is valid, else `code`. Returns undefined when the stranger got it less
 * than a minute ago. Only the newest strangers have codes.
 */
export async function offerPairing(
  db: TenantDb,
  channel: string,
  person: { readonly id: string; readonly name: string },
  code: string,
): Promise<string | undefined> {
  const row = await readRow<{ code: string }>(db)`
    with room as (
      delete from channel_pairings where tenant_id = ${db} and channel_key = ${channel} and person_id in (
        select person_id from channel_pairings
        where tenant_id = ${db} and channel_key = ${channel} and person_id <> ${person.id}
        order by created_at desc, person_id offset ${MAX_PAIRINGS - 1}))
    insert into channel_pairings as p (tenant_id, channel_key, person_id, name, code)
    values (${db}, ${channel}, ${person.id}, ${person.name}, ${code})
    on conflict (tenant_id, channel_key, person_id) do update set name = excluded.name, notified_at = now(),
      code = case when p.created_at > now() - make_interval(secs => ${PAIRING_SECONDS}) then p.code else excluded.code end,
      created_at = case when p.created_at > now() - make_interval(secs => ${PAIRING_SECONDS}) then p.created_at else now() end
    where p.notified_at < now() - interval '1 minute'
    returning code`;
  return row?.code;
}

/**
 * Returns undefined if nobody has the code, or it is too old. With a `person`, no code is needed. A code works once.
 */
export function pairPerson(
  db: TenantDb,
  channel: string,
  input: {
    readonly code: string | undefined;
    readonly person: string | undefined;
    readonly user: string;
    readonly may_decide: boolean;
  },
  by: string,
): Promise<PersonRow | undefined> {
  return inTransaction(db, async (tx) => {
    const offered = await readRow<{ person_id: string; name: string }>(tx)`
      delete from channel_pairings where tenant_id = ${tx} and channel_key = ${channel}
        and (person_id = ${input.person} or code = ${input.code} and created_at > now() - make_interval(secs => ${PAIRING_SECONDS}))
      returning person_id, name`;
    const person = offered?.person_id ?? input.person;
    if (person === undefined) return undefined;
    return readRow<PersonRow>(tx)`
      insert into channel_people (tenant_id, channel_key, person_id, name, user_id, may_decide, created_by)
      values (${tx}, ${channel}, ${person}, ${offered?.name ?? person}, ${input.user}, ${input.may_decide}, ${by})
      on conflict (tenant_id, channel_key, person_id) do update
        set user_id = excluded.user_id, may_decide = excluded.may_decide, created_by = excluded.created_by
      returning *`;
  });
}

/** Whether sessions have it as a label, which anybody may have set. A channel of that name would post for them. */
export async function isLabelInUse(db: TenantDb, key: string): Promise<boolean> {
  const row = await readRow(
    db,
  )`select 1 as found from sessions where tenant_id = ${db} and channel = ${key} limit 1`;
  return row !== undefined;
}

/** The chat in which a session of the channel posts; undefined when it has none. */
export async function placeOfSession(
  db: TenantDb,
  channel: string,
  session: string,
): Promise<string | undefined> {
  const row = await readRow<{ chat_id: string | null }>(db)`
    select chat_id from sessions where tenant_id = ${db} and key = ${session} and channel = ${channel}`;
  return row?.chat_id ?? undefined;
}

/** Whether the user personally has spoken there. */
export function hasSpokenIn(
  db: TenantDb,
  { channel, chatId, user }: { readonly channel: string; readonly chatId: string; readonly user: string },
): Promise<boolean> {
  return affects(db)`
    select from sessions where tenant_id = ${db} and channel = ${channel} and chat_id = ${chatId} and user_id = ${user} limit 1`;
}
