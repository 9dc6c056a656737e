/** Sessions of browsers, and the links that begin them. Tokens are stored as hashes. */
import { sql } from 'kysely';
import type { ApiKeyRow } from '#store/api-key-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { affects, execute, readRow } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';

/** Sessions of one key; the one that was unused for the longest ends when another begins. */
const MAX_SESSIONS = 100;
/** Links of one key that are neither used nor over. */
const MAX_LINKS = 20;
/** Requests that were sent before a browser got its new token arrive within this time. */
const GRACE = sql`interval '1 minute'`;

export interface ConsoleSessionRow {
  readonly id: string;
  readonly expires_at: Date;
  /** Whether to note that the browser is active and has its newest token. */
  readonly is_due: boolean;
  /** Whether its token was replaced, and the browser has used the new one: somebody else has a copy. */
  readonly is_replayed: boolean;
  readonly key: ApiKeyRow;
}

const IS_KEY_IN_FORCE = sql`k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`;

/** Once a minute, and when the token of the last rotation comes for the first time. */
const IS_DUE = sql`(s.used_at < now() - interval '1 minute' or (s.previous_hash is not null and s.previous_until is null))`;

const isInForce = (idleMinutes: number) =>
  sql`s.expires_at > now() and s.used_at > now() - make_interval(mins => ${idleMinutes}) and ${IS_KEY_IN_FORCE}`;

/** The session of a token, of any tenant: like a key, the token determines the tenant. */
export async function findConsoleSession(
  pool: Pool,
  hash: Buffer,
  idleMinutes: number,
): Promise<ConsoleSessionRow | undefined> {
  const row = await readRow<ApiKeyRow & Record<'session_id' | 'ends_at' | 'is_due' | 'is_replayed', unknown>>(
    pool,
  )`
    select s.id as session_id, s.expires_at as ends_at, s.hash = ${hash} and ${IS_DUE} as is_due,
      s.hash <> ${hash} and s.previous_until <= now() as is_replayed,
      k.tenant_id, k.id, k.name, k.user_id, k.hash, k.scopes, k.groups, k.created_at, k.expires_at, k.revoked_at,
      (select frozen_for from tenants t where t.id = k.tenant_id)
     from console_sessions s join api_keys k on k.tenant_id = s.tenant_id and k.id = s.key_id
     where (s.hash = ${hash} or s.previous_hash = ${hash}) and ${isInForce(idleMinutes)}`;
  if (!row) return undefined;
  const { session_id, ends_at, is_due, is_replayed, ...key } = row;
  return {
    id: String(session_id),
    expires_at: ends_at as Date,
    is_due: is_due === true,
    is_replayed: is_replayed === true,
    key,
  };
}

export function isSessionInForce(db: TenantDb, id: string, idleMinutes: number): Promise<boolean> {
  return affects(db)`
    select 1 from console_sessions s join api_keys k on k.tenant_id = s.tenant_id and k.id = s.key_id
     where s.tenant_id = ${db} and s.id = ${id} and ${isInForce(idleMinutes)}`;
}

/** Whether the key has a session in force. */
export function hasSession(db: TenantDb, keyId: string, idleMinutes: number): Promise<boolean> {
  return affects(db)`
    select 1 from console_sessions s join api_keys k on k.tenant_id = s.tenant_id and k.id = s.key_id
     where s.tenant_id = ${db} and s.key_id = ${keyId} and ${isInForce(idleMinutes)} limit 1`;
}

/** Notes that the browser is active and has its newest token. */
export async function touchSession(db: TenantDb, id: string): Promise<void> {
  await execute(db)`
    update console_sessions set used_at = now(),
       previous_until = case when previous_hash is null then null else coalesce(previous_until, now() + ${GRACE}) end
     where tenant_id = ${db} and id = ${id}`;
}

/** Ends the sessions beyond the limit, in the same statement. */
export async function insertSession(
  db: TenantDb,
  session: { readonly id: string; readonly keyId: string; readonly hash: Buffer; readonly hours: number },
): Promise<Date> {
  const row = await readRow<{ expires_at: Date }>(db)`
    with ended as (
      delete from console_sessions where tenant_id = ${db} and id in (
        select id from console_sessions where tenant_id = ${db} and key_id = ${session.keyId}
          order by used_at desc offset ${MAX_SESSIONS - 1})
    )
    insert into console_sessions (tenant_id, id, key_id, hash, expires_at)
     values (${db}, ${session.id}, ${session.keyId}, ${session.hash}, now() + make_interval(hours => ${session.hours}))
     returning expires_at`;
  if (!row) throw new Error('the insert of a session returned no row');
  return row.expires_at;
}

/**
 * Replaces the token, unless it was replaced within the last minute. The old one stays valid until the browser uses the
 * new one, so that a lost answer does not end the session. Returns whether `next` is the session's token now.
 */
export function rotateSession(db: TenantDb, id: string, sent: Buffer, next: Buffer): Promise<boolean> {
  return affects(db)`
    update console_sessions set hash = ${next}, previous_hash = ${sent}, previous_until = null, rotated_at = now()
     where tenant_id = ${db} and id = ${id} and rotated_at < now() - ${GRACE}
       and (hash = ${sent} or (previous_hash = ${sent} and previous_until is null))`;
}

export async function deleteSession(db: TenantDb, id: string): Promise<void> {
  await execute(db)`delete from console_sessions where tenant_id = ${db} and id = ${id}`;
}

/** Returns when the link ends; undefined when the key has too many. */
export async function insertLink(
  db: TenantDb,
  link: { readonly keyId: string; readonly hash: Buffer; readonly minutes: number },
): Promise<Date | undefined> {
  const row = await readRow<{ expires_at: Date }>(db)`
    insert into console_links (tenant_id, hash, key_id, expires_at)
     select ${db}, ${link.hash}, ${link.keyId}, now() + make_interval(mins => ${link.minutes})
     where (select count(*) from console_links where tenant_id = ${db} and key_id = ${link.keyId}
              and used_at is null and expires_at > now()) < ${MAX_LINKS}
     returning expires_at`;
  return row?.expires_at;
}

/** Uses the link up and returns its key: of any tenant, because the link determines the tenant. One caller gets it. */
export function takeLink(pool: Pool, hash: Buffer): Promise<ApiKeyRow | undefined> {
  return readRow<ApiKeyRow>(pool)`
    update console_links l set used_at = now() from api_keys k
     where l.hash = ${hash} and l.used_at is null and l.expires_at > now()
       and k.tenant_id = l.tenant_id and k.id = l.key_id and ${IS_KEY_IN_FORCE}
     returning k.tenant_id, k.id, k.name, k.user_id, k.hash, k.scopes, k.groups, k.created_at, k.expires_at, k.revoked_at,
       (select frozen_for from tenants t where t.id = k.tenant_id)`;
}

/** Why a link cannot be used, of any tenant; undefined when there is no such link. */
export async function linkProblem(pool: Pool, hash: Buffer): Promise<'used' | 'over' | undefined> {
  const row = await readRow<{ is_used: boolean }>(pool)`
    select used_at is not null as is_used from console_links where hash = ${hash}`;
  return row && (row.is_used ? 'used' : 'over');
}
