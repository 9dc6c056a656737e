/** Context files and memory as rows (VF-1, VF-2); each write is a version. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import {
  BOOTSTRAP_FILE,
  CONTEXT_FILES,
  DOCUMENT_LIMITS,
  type DocumentScope,
} from '#domain/files/document.ts';
import { Failure } from '#domain/errors.ts';
import { OUTSIDE_DOCUMENT, type UsedTools } from '#domain/policy/used-tools.ts';
import { isOwn } from './document-scope.ts';
import type { Pool } from '../postgres/pool.ts';
import { execute, readRow, readRows } from '../postgres/statements.ts';
import type { Transaction } from '../postgres/database.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';
import { inTransaction } from '../postgres/transaction.ts';
import type { Stored } from '#domain/schema/scalars.ts';
import type { documentSchema, versionSchema } from '#domain/resource/documents.ts';

export interface DocumentRow extends Stored<typeof documentSchema> {
  /** SHA-256 of the text, in hexadecimal. */
  readonly digest: string;
  /** What the session that wrote it had read from outside (PO-5). */
  readonly read: UsedTools;
}

export interface DocumentText extends DocumentRow {
  readonly text: string;
}

export type DocumentVersion = Stored<typeof versionSchema>;

export interface DocumentChange {
  readonly path: string;
  /** The author that is shown: a user, an agent, a key. */
  readonly author: string;
  /** Idempotency key (`{tenant}/{call}`): a call writes a document once, and its repeat returns `done`. */
  readonly call?: string | undefined;
  /** The write is refused unless the scope's own document has this revision; 0 means that it must not exist. */
  readonly expected?: number | undefined;
  /** Undefined keeps the value of the document that the scope sees. */
  readonly outside?: boolean | undefined;
  /**
   * What the writer had read from outside (PO-5). With `outside` undefined, that of the document that the scope sees is
   * kept.
   */
  readonly read?: UsedTools | undefined;
  /**
   * Maps the text that the scope sees (undefined when absent) to the new text of its own document; null removes it,
   * undefined changes nothing. Throws to refuse.
   */
  readonly by: (seen: string | undefined) => string | null | undefined;
}

export interface DocumentWritten {
  /** An earlier attempt of the call made the change, or there was nothing to change. */
  readonly done: boolean;
  readonly revision: number;
}

const COLUMNS = sql`path, nullif(user_id, '') as user, revision, octet_length(text) as bytes,
  encode(digest, 'hex') as digest, outside, read, updated_at`;

/**
 * The documents that a scope sees: its own rows before the agent's. A bootstrap file that a user has emptied hides the
 * agent's (VF-1).
 */
function seenBy({ tenant, agent, user, type = 'open' }: DocumentScope) {
  return sql`(select * from (
      select distinct on (path) * from documents
      where tenant_id = ${tenant} and agent_key = ${agent} and user_id in ('', ${user ?? ''})
        and (user_id = '' or ${type} = 'open' or path = 'USER.md' or path <> all (${CONTEXT_FILES}::text[]))
      order by path, user_id desc) first
    where not (path = ${BOOTSTRAP_FILE} and text = '')) seen`;
}

export function readDocument(
  pool: Pool,
  scope: DocumentScope,
  path: string,
): Promise<DocumentText | undefined> {
  return readRow<DocumentText>(pool)`select ${COLUMNS}, text from ${seenBy(scope)} where path = ${path}`;
}

/** Documents in the order of their paths. */
export function listDocuments(pool: Pool, scope: DocumentScope): Promise<readonly DocumentRow[]> {
  return readRows<DocumentRow>(pool)`select ${COLUMNS} from ${seenBy(scope)} order by path`;
}

/** The scope's own documents, seen or not, in the order of their paths. */
export function listOwnDocuments(
  pool: Pool,
  { tenant, agent, user }: DocumentScope,
): Promise<readonly DocumentRow[]> {
  return readRows<DocumentRow>(pool)`select ${COLUMNS} from documents
    where tenant_id = ${tenant} and agent_key = ${agent} and user_id = ${user ?? ''} order by path`;
}

/** Documents of these paths, cut after `max` + 1 characters. */
export function readDocuments(
  pool: Pool,
  scope: DocumentScope,
  paths: readonly string[],
  max: number,
): Promise<readonly DocumentText[]> {
  return readRows<DocumentText>(pool)`
    select ${COLUMNS}, left(text, ${max + 1}::int) as text from ${seenBy(scope)} where path = any (${[...paths]}::text[])`;
}

/** See documents_version.sql. */
export async function documentsVersion(
  pool: Pool,
  { tenant, agent, user }: DocumentScope,
): Promise<string | null> {
  const row = await readRow<{ version: string | null }>(pool)`
    select documents_version(${tenant}, ${agent}, ${user}) as version`;
  return row?.version ?? null;
}

/** A user's own documents for all agents, by agent and path. */
export function listDocumentsOfUser(
  db: TenantDb,
  user: string,
): Promise<readonly (DocumentRow & { readonly agent: string })[]> {
  return readRows<DocumentRow & { readonly agent: string }>(db)`
    select agent_key as agent, ${COLUMNS} from documents where tenant_id = ${db} and user_id = ${user}
    order by agent_key, path limit ${DOCUMENT_LIMITS.count}`;
}

/**
 * Versions of the scope's own document, including removed ones, newest first. Turns are included only for sessions that
 * `reader` may see; null means all.
 */
export function documentVersions(
  pool: Pool,
  { tenant, agent, user }: DocumentScope,
  path: string,
  reader: string | null,
): Promise<readonly DocumentVersion[]> {
  return readRows<DocumentVersion>(pool)`
    select v.revision, octet_length(v.text) as bytes, v.outside, v.author, v.created_at,
      case when t.id is not null then
        jsonb_build_object('session', t.session_key, 'turn', t.id, 'user', t.context ->> 'user') end as written_in
    from document_versions v
    left join tool_calls c on c.tenant_id = v.tenant_id and c.id = substr(v.call_id, length(v.tenant_id) + 2)
    left join turns t on t.tenant_id = c.tenant_id and t.id = c.turn_id
      and (${reader}::text is null or t.context ->> 'user' = ${reader})
    where v.tenant_id = ${tenant} and v.agent_key = ${agent} and v.user_id = ${user ?? ''} and v.path = ${path}
    order by v.revision desc`;
}

/** A version of the scope's own document; `text` is null when it was removed. */
export function readDocumentVersion(
  pool: Pool,
  { tenant, agent, user }: DocumentScope,
  path: string,
  revision: number,
): Promise<
  { readonly text: string | null; readonly outside: boolean; readonly read: UsedTools } | undefined
> {
  return readRow<{ text: string | null; outside: boolean; read: UsedTools }>(pool)`
    select text, outside, read from document_versions
    where tenant_id = ${tenant} and agent_key = ${agent} and user_id = ${user ?? ''} and path = ${path}
      and revision = ${revision}`;
}

/** The version of the scope's own document that a call wrote. */
export function readVersionOfCall(
  pool: Pool,
  { tenant, agent, user }: DocumentScope,
  path: string,
  call: string,
): Promise<{ readonly revision: number; readonly text: string | null } | undefined> {
  return readRow<{ revision: number; text: string | null }>(pool)`
    select revision, text from document_versions
    where tenant_id = ${tenant} and agent_key = ${agent} and user_id = ${user ?? ''} and path = ${path}
      and call_id = ${`${tenant}/${call}`}`;
}

/**
 * Changes the scope's own document. Writers of one scope wait for each other. Safe to repeat for a call. @throws
 * Failure Conflict when `expected` is not its revision, InvalidInput beyond DOCUMENT_LIMITS
 */
export function writeDocument(
  pool: Pool,
  scope: DocumentScope,
  change: DocumentChange,
): Promise<DocumentWritten> {
  return inTransaction(pool, (tx) => changeDocument(tx, scope, change));
}

/** The same as a part of a transaction. */
export async function changeDocument(
  tx: Transaction,
  scope: DocumentScope,
  change: DocumentChange,
): Promise<DocumentWritten> {
  const { tenant, agent, user } = scope;
  await execute(tx)`
      select pg_advisory_xact_lock(hashtextextended(${JSON.stringify(['documents', tenant, agent, user])}, 0))`;
  const newest = await newestVersion(tx, scope, change);
  if (newest.by_call !== null) return { done: true, revision: newest.by_call };
  const own = newest.removed ? 0 : newest.revision;
  if (change.expected !== undefined && change.expected !== own)
    throw new Failure(
      'Conflict',
      `${change.path} has revision ${own}, not ${change.expected}: read it again`,
    );
  const seen = await readRow<{ text: string; outside: boolean; read: UsedTools }>(tx)`
      select text, outside, read from ${seenBy(scope)} where path = ${change.path}`;
  const text = change.by(seen?.text);
  if (text === undefined) return { done: true, revision: newest.revision };
  const revision = newest.revision + 1;
  const { outside = seen?.outside ?? false } = change;
  const before = change.outside === undefined ? seen?.read : undefined;
  const read = outside ? { ...before, ...(change.read ?? FROM_OUTSIDE) } : {};
  await save(tx, scope, { ...change, outside, read }, text, revision);
  return { done: false, revision };
}

/** Workspaces show documents as files, and no new one can be a folder too. @throws Failure InvalidInput */
async function refuseNested(tx: Transaction, scope: DocumentScope, path: string): Promise<void> {
  const other = await readRow<{ path: string }>(tx)`
    select path from ${seenBy(scope)} where (starts_with(${path}, path || '/') or starts_with(path, ${`${path}/`}))
      and not exists (select from documents where ${isOwn(scope)} and path = ${path}) limit 1`;
  if (other)
    throw new Failure('InvalidInput', `there is ${other.path}: ${path} would make a file also a folder`);
}

async function newestVersion(
  tx: Transaction,
  { tenant, agent, user }: DocumentScope,
  change: DocumentChange,
) {
  const found = await readRow<{ revision: number; removed: boolean; by_call: number | null }>(tx)`
    select coalesce(max(revision), 0) as revision, max(revision) filter (where call_id = ${change.call}) as by_call,
      not exists (select from documents where tenant_id = ${tenant} and agent_key = ${agent} and user_id = ${user ?? ''}
        and path = ${change.path}) as removed
    from document_versions
    where tenant_id = ${tenant} and agent_key = ${agent} and user_id = ${user ?? ''} and path = ${change.path}`;
  return found ?? { revision: 0, removed: true, by_call: null };
}

async function save(
  tx: Transaction,
  scope: DocumentScope,
  { path, author, call, outside = false, read = {} }: DocumentChange,
  text: string | null,
  revision: number,
): Promise<void> {
  const { tenant, agent, user } = scope;
  const key = sql`${tenant}, ${agent}, ${user ?? ''}, ${path}`;
  const where = isOwn(scope);
  if (text === null) {
    await execute(tx)`delete from documents where ${where} and path = ${path}`;
  } else {
    checkSize(path, text);
    await refuseNested(tx, scope, path);
    await execute(tx)`
      insert into documents (tenant_id, agent_key, user_id, path, revision, text, digest, outside, read)
      values (${key}, ${revision}, ${text}, ${createHash('sha256').update(text).digest()}, ${outside}, ${JSON.stringify(read)})
      on conflict (tenant_id, agent_key, user_id, path) do update set revision = excluded.revision, text = excluded.text,
        digest = excluded.digest, outside = excluded.outside, read = excluded.read, updated_at = now()`;
    const count = await readRow<{ n: number }>(tx)`select count(*)::int as n from documents where ${where}`;
    if ((count?.n ?? 0) > DOCUMENT_LIMITS.count)
      throw new Failure(
        'InvalidInput',
        `there are ${DOCUMENT_LIMITS.count} documents already: remove one first`,
      );
  }
  await execute(tx)`
    insert into document_versions (tenant_id, agent_key, user_id, path, revision, text, outside, read, author, call_id)
    values (${key}, ${revision}, ${text}, ${outside}, ${JSON.stringify(read)}, ${author}, ${call})`;
  await execute(tx)`
    delete from document_versions where ${where} and path = ${path} and revision <= ${revision - DOCUMENT_LIMITS.versions}`;
}

/** @throws Failure InvalidInput beyond DOCUMENT_LIMITS */
export function checkSize(path: string, text: string): void {
  if (Buffer.byteLength(path) > DOCUMENT_LIMITS.path)
    throw new Failure('InvalidInput', `the path of a document has at most ${DOCUMENT_LIMITS.path} bytes`);
  if (Buffer.byteLength(text) > DOCUMENT_LIMITS.bytes)
    throw new Failure(
      'InvalidInput',
      `${path} would have ${Buffer.byteLength(text)} bytes; ${DOCUMENT_LIMITS.bytes} are the most`,
    );
}

/** For a document whose writer is unknown. */
const FROM_OUTSIDE: UsedTools = { [OUTSIDE_DOCUMENT]: 'a document from outside' };

/** What was read from outside before any document that the scope sees at or below the path was written; {} for none. */
export async function documentsRead(pool: Pool, scope: DocumentScope, path = ''): Promise<UsedTools> {
  const row = await readRow<{ read: UsedTools }>(pool)`
    select coalesce(jsonb_object_agg(r.key, r.value), '{}') as read from ${seenBy(scope)}, jsonb_each(seen.read) r
    where seen.outside and (${path} in ('', path) or starts_with(path, ${`${path}/`}))`;
  return row?.read ?? {};
}
