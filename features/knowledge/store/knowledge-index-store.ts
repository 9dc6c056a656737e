/**
 * The knowledge graph as documents make it: what is still to be read, and the facts of a part. Facts are written only
 * if the document still has the same text.
 */
import type { Chunk } from '#features/memory/index.ts';
import { sql } from 'kysely';
import type { DocumentScope } from '#domain/files/document.ts';
import { type DrawnFacts, KNOWLEDGE_LIMITS, nameKey } from '../contract.ts';
import type { KnowledgeStatus } from '../resource.ts';
import { noteUses } from '#store/budgets/model-use-store.ts';
import type { ModelUse } from '#domain/budget/model-use.ts';
import { IS_MEMORY, isOwn } from '#store/files/document-scope.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { Db, Transaction } from '#store/postgres/database.ts';
import { execute, readRow, readRows } from '#store/postgres/statements.ts';
import { type TenantTx, forTenant } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';

/** For documents `d`: facts are to be extracted from it, and its current text was not read. */
export const IS_UNREAD = sql`(${IS_MEMORY} and d.extracted is distinct from d.digest and exists (select from agents a
  where a.tenant_id = d.tenant_id and a.key = d.agent_key and a.config -> 'knowledge' is not null and a.deleted_at is null))`;

/** Counts the owner's own documents. */
export async function unreadCount(db: Db, scope: DocumentScope): Promise<number> {
  const row = await readRow<{ n: number }>(db)`
    select count(*)::int as n from documents d where ${isOwn(scope)} and ${IS_UNREAD}`;
  return row?.n ?? 0;
}

/** Covers what the owner has directly, without documents that are removed. */
export async function knowledgeStatus(pool: Pool, scope: DocumentScope): Promise<KnowledgeStatus> {
  const row = await readRow<Omit<KnowledgeStatus, 'pending'>>(pool)`
    select (select count(*)::int from knowledge_entities where ${isOwn(scope)} and not hidden) as entities,
      (select count(*)::int from knowledge_facts where ${isOwn(scope)} and type is not null and not overruled) as relations`;
  return { entities: 0, relations: 0, ...row, pending: await unreadCount(pool, scope) };
}

export interface UnreadDocument {
  readonly path: string;
  readonly digest: Buffer;
  readonly revision: number;
  /** Pieces as the index of words has them, without secrets. */
  readonly chunks: readonly Omit<Chunk, 'to'>[];
}

/** A document whose words are in the index, and whose facts are not in the graph. */
export function unreadDocument(pool: Pool, scope: DocumentScope): Promise<UnreadDocument | undefined> {
  return readRow<UnreadDocument>(pool)`
    select d.path, d.digest, d.revision, coalesce((select json_agg(json_build_object('from', c.from_line, 'heading', c.heading,
        'text', c.text) order by c.n) from memory_chunks c where c.tenant_id = d.tenant_id and c.agent_key = d.agent_key
        and c.user_id = d.user_id and c.path = d.path), '[]') as chunks
    from documents d where ${isOwn(scope)} and d.indexed = d.digest and ${IS_UNREAD} order by d.path limit 1`;
}

/** A part as rows have it. */
export interface PartPlace {
  readonly digest: Buffer;
  readonly from: number;
}

/**
 * Removes facts of parts that the document no longer has, and updates where the others are. Runs within the change of
 * the index of words.
 */
export async function keepParts(
  tx: Transaction,
  scope: DocumentScope,
  path: string,
  parts: readonly PartPlace[],
): Promise<void> {
  // Before the facts of parts that go: who changes the graph locks it before facts, too.
  await lockKnowledge(tx, scope);
  const digests = parts.map(({ digest }) => digest);
  await execute(tx)`
    delete from knowledge_parts where ${isOwn(scope)} and path = ${path} and digest <> all (${digests}::bytea[])`;
  await execute(tx)`
    update knowledge_parts p set from_line = k.from_line
    from unnest(${digests}::bytea[], ${parts.map(({ from }) => from)}::int[]) k (digest, from_line)
    where ${isOwn(scope)} and path = ${path} and p.digest = k.digest and p.from_line <> k.from_line`;
  await removeUnnamed(tx, scope);
}

/** Digests of the parts that were read, and whether the limit allows more. */
export async function partsRead(
  pool: Pool,
  scope: DocumentScope,
  path: string,
): Promise<{ readonly digests: readonly Buffer[]; readonly isFull: boolean }> {
  const row = await readRow<{ digests: Buffer[]; facts: number }>(pool)`
    select array(select digest from knowledge_parts where ${isOwn(scope)} and path = ${path}) as digests,
      (select count(*)::int from knowledge_facts where ${isOwn(scope)}) as facts`;
  return { digests: row?.digests ?? [], isFull: (row?.facts ?? 0) >= KNOWLEDGE_LIMITS.facts };
}

/** Notes that all of it was read. Does nothing when the document has another text by now. */
export function noteRead(
  pool: Pool,
  scope: DocumentScope,
  { path, digest }: Pick<UnreadDocument, 'path' | 'digest'>,
): Promise<void> {
  return inTransaction(pool, async (tx) => {
    await execute(tx)`
      update documents set extracted = digest where ${isOwn(scope)} and path = ${path} and digest = ${digest}`;
    await removeUnnamed(tx, scope);
  });
}

export interface ReadPart extends PartPlace, DrawnFacts {
  /** The part's lines as they are there. */
  readonly texts: readonly string[];
}

/**
 * Saves the facts with the model's usage. Saves no facts when the document has another text by now, or another worker
 * was first.
 */
export function saveFacts(
  pool: Pool,
  scope: DocumentScope,
  { path, digest, revision }: UnreadDocument,
  part: ReadPart,
  uses: readonly ModelUse[],
): Promise<void> {
  return inTransaction(pool, async (tx) => {
    await noteUses(tx, scope, uses);
    const { tenant, agent, user } = scope;
    const document = await readRow<{ updated_at: Date; outside: boolean }>(tx)`
      select updated_at, outside from documents where ${isOwn(scope)} and path = ${path} and digest = ${digest} for update`;
    if (!document) return;
    const isFirst = await execute(tx)`
      insert into knowledge_parts (tenant_id, agent_key, user_id, path, digest, from_line, revision)
      values (${tenant}, ${agent}, ${user ?? ''}, ${path}, ${part.digest}, ${part.from}, ${revision})
      on conflict do nothing`;
    if (isFirst === 0) return;
    await lockKnowledge(tx, scope);
    const ids: string[] = [];
    for (const { type, names } of part.entities)
      ids.push(await entityOf(tx, scope, type, names, document.outside));
    const written = await writtenTimes(tx, scope, path, part.texts);
    const since = (line: number): string => (written[line] ?? document.updated_at).toISOString();
    const mentions = part.entities.map(({ line }, at) => ({
      from: ids[at],
      line,
      to_line: line,
      since: since(line),
    }));
    const relations = part.relations.map((one) => ({
      from: ids[one.from],
      type: one.type,
      to: ids[one.to],
      line: one.line,
      to_line: one.toLine,
      since: one.validFrom ?? beginning(since(one.line), one.validTo),
      until: one.validTo,
      single: one.isSingle,
    }));
    // Two names of one thing may be on both sides by now.
    const facts = [...mentions, ...relations.filter(({ from, to }) => from !== to)];
    await execute(tx)`
      insert into knowledge_facts (tenant_id, agent_key, user_id, from_id, type, to_id, valid_from, valid_to, is_single,
        path, part, line, to_line)
      select ${tenant}, ${agent}, ${user ?? ''}, f."from", f.type, f."to", f.since, f.until, coalesce(f.single, false),
        ${path}, ${part.digest}, f.line, f.to_line
      from rows from (jsonb_to_recordset(${JSON.stringify(facts)}::jsonb) as ("from" bigint, type text, "to" bigint, since timestamptz,
        until timestamptz, single boolean, line int, to_line int)) with ordinality f order by f.ordinality`;
    await judgeFacts(forTenant(tx, tenant), ids);
  });
}

/** If it had ended when it was written, its beginning is unknown, so it is found at any time before its end. */
function beginning(written: string, validTo: string | undefined): string {
  return validTo !== undefined && validTo <= written ? UNKNOWN : written;
}

/** The earliest date that a text may state (`isoTime` of drawn-facts.ts). */
const UNKNOWN = '1000-01-01T00:00:00.000Z';

/** Serializes changes of an owner's graph; the lock comes after that of the document's row. */
export async function lockKnowledge(tx: Transaction, { tenant, agent, user }: DocumentScope): Promise<void> {
  const key = JSON.stringify(['knowledge', tenant, agent, user]);
  await execute(tx)`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`;
}

/**
 * The entity of the type that has the first of these names, or another of them. It gets all of them. It is created if
 * there is none.
 */
async function entityOf(
  tx: Transaction,
  scope: DocumentScope,
  type: string,
  names: readonly string[],
  outside: boolean,
): Promise<string> {
  const keys = names.map(nameKey);
  const known = await readRow<{ id: string; names: number }>(tx)`
    select k.entity_id as id, (select count(*)::int from knowledge_names n where n.tenant_id = k.tenant_id and n.entity_id = k.entity_id) as names
    from knowledge_names k where ${isOwn(scope)} and type = ${type} and key = any (${keys}::text[])
    order by array_position(${keys}::text[], key) limit 1`;
  const id = known?.id ?? (await insertEntity(tx, scope, type, names[0] ?? ''));
  if ((known?.names ?? 0) < KNOWLEDGE_LIMITS.names) await addNames(tx, scope, id, type, names, outside);
  return id;
}

async function insertEntity(
  tx: Transaction,
  scope: DocumentScope,
  type: string,
  name: string,
): Promise<string> {
  const { tenant, agent, user } = scope;
  const row = await readRow<{ id: string }>(tx)`
    insert into knowledge_entities (tenant_id, agent_key, user_id, name, type)
    values (${tenant}, ${agent}, ${user ?? ''}, ${name}, ${type}) returning id`;
  if (!row) throw new Error('a new entity returned no row');
  return row.id;
}

/** Names that another entity of the type has stay with that entity. */
export async function addNames(
  tx: Transaction,
  { tenant, agent, user }: DocumentScope,
  id: string,
  type: string,
  names: readonly string[],
  outside: boolean,
): Promise<void> {
  await execute(tx)`
    insert into knowledge_names (tenant_id, agent_key, user_id, type, key, name, entity_id, outside)
    select ${tenant}, ${agent}, ${user ?? ''}, ${type}, n.key, n.name, ${id}::bigint, ${outside}
    from unnest(${names.map(nameKey)}::text[], ${[...names]}::text[]) n (key, name)
    on conflict do nothing`;
}

/** When each of the lines was first in the document, as far as its versions are kept. */
async function writtenTimes(
  tx: Transaction,
  scope: DocumentScope,
  path: string,
  lines: readonly string[],
): Promise<readonly (Date | null)[]> {
  const rows = await readRows<{ at: Date | null }>(tx)`
    select min(v.created_at) as at from unnest(${[...lines]}::text[]) with ordinality l (text, n)
      left join document_versions v on ${isOwn(scope)} and v.path = ${path} and position(l.text in v.text) > 0
    group by l.n order by l.n`;
  return rows.map(({ at }) => at);
}

/** Decides which of the facts that touch these entities are not shown. */
export async function judgeFacts(tx: TenantTx, ids: readonly string[]): Promise<void> {
  const near = sql`tenant_id = ${tx} and (from_id = any (${[...ids]}::bigint[]) or to_id = any (${[...ids]}::bigint[]))`;
  await execute(tx)`
    with judged as (
      select f.id, f.denied or (f.author is null and exists (select from knowledge_facts p where p.tenant_id = f.tenant_id
            and p.from_id = f.from_id and p.type = f.type and p.to_id = f.to_id and p.author is not null))
          or exists (select from knowledge_entities e where e.tenant_id = f.tenant_id and e.id in (f.from_id, f.to_id) and e.hidden)
          as overruled
      from (select * from knowledge_facts where ${near}) f)
    update knowledge_facts f set overruled = j.overruled from judged j
    where f.tenant_id = ${tx} and f.id = j.id and f.overruled <> j.overruled`;
}

/**
 * Removes entities that only denied facts name, with these facts. It waits until everything is read: until then, an
 * entity that will be named again keeps its corrections.
 */
async function removeUnnamed(tx: Transaction, scope: DocumentScope): Promise<void> {
  if ((await unreadCount(tx, scope)) > 0) return;
  await lockKnowledge(tx, scope);
  await execute(tx)`
    delete from knowledge_entities e where ${isOwn(scope)}
      and not exists (select from knowledge_facts f where f.tenant_id = e.tenant_id and f.from_id = e.id and not f.denied)
      and not exists (select from knowledge_facts f where f.tenant_id = e.tenant_id and f.to_id = e.id and not f.denied)`;
}

/** Does the same in a transaction of its own. Safe to repeat. */
export function removeUnnamedEntities(pool: Pool, scope: DocumentScope): Promise<void> {
  return inTransaction(pool, (tx) => removeUnnamed(tx, scope));
}
