/** The rows of chains. Statements that work over all tenants say so. */
import { sql } from 'kysely';
import type { Pool } from '#store/postgres/pool.ts';
import type { Db } from '#store/postgres/database.ts';
import { execute, readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantDb, TenantTx } from '#store/postgres/tenant-db.ts';
import { IS_THAWED } from '#store/tenant-freeze.ts';
import type { EntryLine, Head, UnchainedLine } from './chain.ts';
import { contentOf, finalRows } from './content.ts';

/** Rows that one transaction appends. */
const BATCH = 1_000;
/** Removals of at most 1,000 entries each. */
const REMOVALS = 20;
/** Entries of one page of an export: a row has some ten kilobytes at most. */
const PAGE = 500;
/** Rows without an entry that an export lists; it counts the others. */
const MAX_UNCHAINED = 1_000;
/** Tenants of one look. */
const TENANTS = 1_000;

/** Of all tenants: those for which something waits, whatever the number of tenants for which nothing does. */
export async function tenantsWaiting(pool: Pool): Promise<readonly string[]> {
  const rows = await readRows<{ id: string }>(pool)`
    with recursive waiting (id) as (
      (select least((select min(tenant_id) from evidence_pending), (select min(tenant_id) from evidence_removals)))
      union all
      select least((select min(tenant_id) from evidence_pending where tenant_id > w.id),
        (select min(tenant_id) from evidence_removals where tenant_id > w.id))
      from waiting w where w.id is not null)
    select w.id from waiting w join tenants t on t.id = w.id where t.frozen_at is null limit ${TENANTS}`;
  return rows.map(({ id }) => id);
}

/** The database's time; undefined when the tenant is frozen, or somebody else has the lock and it does not wait. */
export async function lockChain(tx: TenantTx, waits: boolean): Promise<Date | undefined> {
  if (waits) await readRow(tx)`select lock_evidence(${tx})`;
  const row = await readRow<{ at: Date }>(tx)`
    select date_trunc('milliseconds', clock_timestamp()) as at from tenants where id = ${tx} and frozen_at is null
      and (${waits} or pg_try_advisory_xact_lock(hashtextextended('tempoclaw evidence ' || ${tx}, 0)))`;
  return row?.at;
}

export interface PendingRow {
  /** A number, as text. */
  readonly id: string;
  readonly kind: string;
  readonly subject: string;
  readonly part: string;
  /** TempoClaw wrote the row, under its usual name or one that the address of the database gives all its programs. */
  readonly is_own: boolean;
}

/** In the order in which they became final, as far as that is known. */
export function readPending(tx: TenantTx): Promise<PendingRow[]> {
  return readRows<PendingRow>(tx)`
    select id::text, kind, subject, part, writer like 'tempoclaw%' or writer = current_setting('application_name') as is_own
    from evidence_pending where tenant_id = ${tx} order by evidence_pending.id limit ${BATCH}`;
}

export interface RemovalRow {
  readonly id: string;
  readonly seqs: readonly number[];
  readonly why: string;
}

export function readRemovals(tx: TenantTx): Promise<RemovalRow[]> {
  return readRows<RemovalRow>(tx)`
    select id::text, to_jsonb(seqs) as seqs, why from evidence_removals where tenant_id = ${tx}
    order by evidence_removals.id limit ${REMOVALS}`;
}

export async function removePending(
  tx: TenantTx,
  pending: readonly Pick<PendingRow, 'id'>[],
  removals: readonly Pick<RemovalRow, 'id'>[],
): Promise<void> {
  const ids = (rows: readonly { readonly id: string }[]) => sql`any (${rows.map(({ id }) => id)}::bigint[])`;
  await execute(tx)`delete from evidence_pending where tenant_id = ${tx} and id = ${ids(pending)}`;
  await execute(tx)`delete from evidence_removals where tenant_id = ${tx} and id = ${ids(removals)}`;
}

interface SaltedSubject extends Pick<PendingRow, 'kind' | 'subject' | 'part'> {
  readonly salt: string;
}

interface DigestedSubject extends SaltedSubject {
  readonly digest: string | null;
}

/**
 * The digests of rows that are not in the chain, in their order, each subject once; null for a row that is gone.
 */
export function readDigests(tx: TenantTx, rows: readonly SaltedSubject[]): Promise<DigestedSubject[]> {
  const column = (name: keyof SaltedSubject) => sql`${rows.map((row) => row[name])}::text[]`;
  return readRows<DigestedSubject>(tx)`
    select kind, subject, part, salt, digest from (
      select e.kind, e.subject, e.part, e.salt, e.nth, row_number() over (partition by e.kind, e.subject, e.part order by e.nth) as turn,
        encode(sha256(decode(e.salt, 'hex') || convert_to(${contentOf(tx.tenant)}, 'UTF8')), 'hex') as digest
      from unnest(${column('kind')}, ${column('subject')}, ${column('part')}, ${column('salt')})
        with ordinality as e (kind, subject, part, salt, nth)
      -- Looked up one by one: joined, all of the chain would be read for each batch.
      where (select true from evidence_entries x where x.tenant_id = ${tx} and x.kind = e.kind and x.subject = e.subject
        and x.part = e.part) is null) found
    where turn = 1 order by nth`;
}

export interface NewEntry extends Omit<EntryLine, 'salt'> {
  readonly salt: string;
  readonly subject: string | null;
  readonly part: string;
}

export async function insertEntries(tx: TenantTx, entries: readonly NewEntry[]): Promise<void> {
  await execute(tx)`
    insert into evidence_entries (tenant_id, seq, kind, subject, part, digest, previous, hash, salt, content, at)
    select ${tx}, seq, kind, subject, part, decode(digest, 'hex'), decode(previous, 'hex'), decode(hash, 'hex'),
      decode(salt, 'hex'), content, at
    from jsonb_to_recordset(${JSON.stringify(entries)}::jsonb) as e (seq bigint, kind text, subject text, part text, digest text,
      previous text, hash text, salt text, content text, at timestamptz)`;
}

export interface HeadRow extends Head {
  /** The private key. */
  readonly sealed: string;
}

export async function readHead(db: TenantDb<Db>): Promise<HeadRow | undefined> {
  const row = await readRow<Omit<HeadRow, 'tenant' | 'at'> & { readonly at: Date }>(db)`
    select seq::float8 as seq, encode(hash, 'hex') as hash, at, public_key, sealed,
      translate(encode(signature, 'base64'), E'\\n', '') as signature
    from evidence_heads where tenant_id = ${db}`;
  return row && { ...row, tenant: db.tenant, at: row.at.toISOString() };
}

export async function writeHead(tx: TenantTx, head: Head, sealed: string, keyId: string): Promise<void> {
  await execute(tx)`
    insert into evidence_heads (tenant_id, public_key, sealed, key_id, seq, hash, signature, at)
    values (${tx}, ${head.public_key}, ${sealed}, ${keyId}, ${head.seq}, decode(${head.hash}, 'hex'),
      decode(${head.signature}, 'base64'), ${head.at})
    on conflict (tenant_id) do update set seq = excluded.seq, hash = excluded.hash, signature = excluded.signature,
      at = excluded.at, public_key = excluded.public_key`;
}

/** In order. What each entry covers is read with it, in one statement, so that it is of one instant. */
export async function readEntries(db: TenantDb, after: number): Promise<EntryLine[]> {
  const rows = await readRows<Omit<EntryLine, 'at'> & { readonly at: Date }>(db)`
    select e.seq::float8 as seq, e.kind, encode(e.digest, 'hex') as digest, encode(e.previous, 'hex') as previous,
      encode(e.hash, 'hex') as hash, encode(e.salt, 'hex') as salt, e.at,
      case when e.salt is not null then coalesce(e.content, ${contentOf(db.tenant)}) end as content
    from evidence_entries e where e.tenant_id = ${db} and e.seq > ${after} order by e.seq limit ${PAGE}`;
  return rows.map(({ at, ...row }) => ({ ...row, at: at.toISOString() }));
}

/** Final rows that have no entry and get none. */
export function readUnchained(db: TenantDb): Promise<UnchainedLine['unchained'][]> {
  return readRows<UnchainedLine['unchained']>(db)`
    select f.kind, case f.part when '' then f.subject else f.subject || '/' || f.part end as subject from (${finalRows(db.tenant)}) f
    where not exists (select from evidence_entries e where e.tenant_id = ${db} and e.kind = f.kind and e.subject = f.subject and e.part = f.part)
      and not exists (select from evidence_pending p where p.tenant_id = ${db} and p.kind = f.kind and p.subject = f.subject and p.part = f.part)
    order by 1, 2 limit ${MAX_UNCHAINED}`;
}

export async function countWaiting(db: TenantDb): Promise<number> {
  const row = await readRow<{ count: number }>(db)`
    select count(*)::float8 as count from evidence_pending where tenant_id = ${db}`;
  return row?.count ?? 0;
}

/** Entries whose row is forgotten and gone name it no more. Returns how many; safe to repeat. */
export function unnameForgotten(db: TenantDb): Promise<number> {
  return execute(db)`
    update evidence_entries e set subject = null, part = ''
    where e.tenant_id = ${db} and e.salt is null and e.subject is not null and ${contentOf(db.tenant)} is null`;
}

/** Of all tenants that are not frozen. */
export async function tenantsWithForgotten(pool: Pool): Promise<readonly string[]> {
  const rows = await readRows<{ tenant_id: string }>(pool)`
    select distinct tenant_id from evidence_entries where salt is null and subject is not null and ${IS_THAWED}`;
  return rows.map(({ tenant_id }) => tenant_id);
}
