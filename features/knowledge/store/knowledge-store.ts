/**
 * The knowledge graph as people browse and correct it. A person's statement of a fact overrides what documents state
 * about the same.
 */
import { type RawBuilder, sql } from 'kysely';
import type { DocumentScope } from '#domain/files/document.ts';
import { Failure } from '#domain/errors.ts';
import { nameKey, typeKey } from '../contract.ts';
import { isOwn } from '#store/files/document-scope.ts';
import { addNames, judgeFacts, lockKnowledge } from './knowledge-index-store.ts';
import { entitiesOf, type KnowledgeEntity, type KnowledgeRelation, relationsOf } from './knowledge-search.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { Db, Transaction } from '#store/postgres/database.ts';
import { affects, execute, readRow, readRows } from '#store/postgres/statements.ts';
import { type TenantDb, forTenant } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import type { Kept } from '#domain/schema/scalars.ts';
import type { entityChangeSchema, relationChangeSchema } from '../resource.ts';

/** Whose entries are listed. `viewer` is a user who sees their own and those of agents; null means all. */
export interface KnowledgeFilter {
  readonly viewer: string | null;
  readonly agent?: string | undefined;
  readonly user?: string | undefined;
}

/** Rows of a page, by id; `after` is the last one of the previous page. */
interface Paged {
  readonly limit: number;
  readonly after: number;
}

/** Hides no documents. */
const ALL = { hidden: [] };

/** Matches rows `one`. */
function isListed(one: string, { viewer, agent, user }: KnowledgeFilter): RawBuilder<unknown> {
  const row = sql.table(one);
  return sql`(${viewer}::text is null or ${row}.user_id in ('', ${viewer})) and (${agent}::text is null or ${row}.agent_key = ${agent})
    and (${user}::text is null or ${row}.user_id = ${user})`;
}

export function listEntities(
  db: TenantDb,
  filter: KnowledgeFilter & { readonly name?: string | undefined },
  { limit, after }: Paged,
): Promise<KnowledgeEntity[]> {
  const key = filter.name === undefined ? null : nameKey(filter.name);
  return readRows<KnowledgeEntity>(db)`
    ${entitiesOf(ALL)} where e.tenant_id = ${db} and e.id > ${after} and ${isListed('e', filter)}
      and (${key}::text is null or exists (select from knowledge_names n where n.tenant_id = e.tenant_id and n.entity_id = e.id and n.key = ${key}))
    order by e.id limit ${limit}`;
}

export function findEntity(
  db: TenantDb<Db>,
  id: string,
  viewer: string | null,
): Promise<KnowledgeEntity | undefined> {
  return readRow<KnowledgeEntity>(db)`
    ${entitiesOf(ALL)} where e.tenant_id = ${db} and e.id = ${id}::bigint and ${isListed('e', { viewer })}`;
}

export type EntityChange = Kept<typeof entityChangeSchema>;

/** @throws Failure: Conflict when another entity of the type has one of its names */
export function changeEntity(
  pool: Pool,
  scope: DocumentScope,
  id: string,
  change: EntityChange,
  by: string,
): Promise<boolean> {
  return inTransaction(pool, async (tx) => {
    const { tenant } = scope;
    await lockKnowledge(tx, scope);
    const old = await findEntity(forTenant(tx, tenant), id, null);
    if (!old) return false;
    const { hidden = old.hidden, aliases = [...old.aliases, old.name] } = change;
    const name = change.name?.trim() ?? old.name;
    const type = typeKey(change.type?.trim() ?? old.type);
    const names = [name, ...aliases];
    await refuseTaken(tx, scope, id, type, names);
    if (change.aliases)
      await execute(tx)`
        delete from knowledge_names where tenant_id = ${tenant} and entity_id = ${id}::bigint and key <> all (${names.map(nameKey)}::text[])`;
    await addNames(tx, scope, id, type, names, false);
    await execute(tx)`
      update knowledge_entities set name = ${name}, type = ${type}, hidden = ${hidden}, changed_by = ${by}, updated_at = now()
      where tenant_id = ${tenant} and id = ${id}::bigint`;
    await judgeFacts(forTenant(tx, tenant), [id]);
    return true;
  });
}

async function refuseTaken(
  tx: Transaction,
  scope: DocumentScope,
  id: string,
  type: string,
  names: readonly string[],
): Promise<void> {
  const taken = await readRow<{ name: string; entity_id: string }>(tx)`
    select name, entity_id from knowledge_names where ${isOwn(scope)} and type = ${type} and key = any (${names.map(nameKey)}::text[])
      and entity_id <> ${id}::bigint limit 1`;
  if (taken)
    throw new Failure(
      'Conflict',
      `${taken.name} is a name of the entity ${taken.entity_id}: merge the two, if they are one`,
    );
}

/** Returns false if one of them is gone, or they have different owners. */
export function mergeEntities(
  pool: Pool,
  scope: DocumentScope,
  id: string,
  into: string,
  by: string,
): Promise<boolean> {
  const both = [id, into];
  const moved = (column: string) =>
    sql`case when f.${sql.ref(column)} = ${id}::bigint then ${into}::bigint else f.${sql.ref(column)} end`;
  const { tenant } = scope;
  const near = sql`f.tenant_id = ${tenant} and (f.from_id = ${id}::bigint or f.to_id = ${id}::bigint)`;
  return inTransaction(pool, async (tx) => {
    await lockKnowledge(tx, scope);
    const found = await execute(tx)`
      update knowledge_entities set changed_by = ${by}, updated_at = now() where ${isOwn(scope)} and id = any (${both}::bigint[])`;
    if (found < both.length) return false;
    const ids = (from: RawBuilder<unknown>) => sql`coalesce((select array_agg(id) from ${from}), '{}')`;
    // Facts between the two, and what a person states about both.
    await execute(tx)`
      with gone as (
        delete from knowledge_facts f where ${near} and (${moved('from_id')} = ${moved('to_id')} or (f.author is not null
          and exists (select from knowledge_facts o where o.tenant_id = f.tenant_id and o.author is not null and o.id <> f.id
            and o.type = f.type and o.from_id = ${moved('from_id')} and o.to_id = ${moved('to_id')})))
        returning *)
      insert into knowledge_merges (tenant_id, id, agent_key, user_id, into_id, name, type, hidden, names, from_facts, to_facts, removed, merged, last_fact, by)
      select tenant_id, id, agent_key, user_id, ${into}::bigint, name, type, hidden,
        array(select key from knowledge_names n where n.tenant_id = e.tenant_id and n.entity_id = e.id),
        ${ids(sql`knowledge_facts f where f.tenant_id = ${tenant} and f.from_id = ${id}::bigint`)},
        ${ids(sql`knowledge_facts f where f.tenant_id = ${tenant} and f.to_id = ${id}::bigint`)},
        coalesce((select jsonb_agg(to_jsonb(gone)) from gone), '[]'),
        ${ids(sql`knowledge_merges m where m.tenant_id = ${tenant} and m.into_id = ${id}::bigint`)},
        (select coalesce(max(id), 0) from knowledge_facts where tenant_id = ${tenant}), ${by}
      from knowledge_entities e where tenant_id = ${tenant} and id = ${id}::bigint`;
    await execute(tx)`
      update knowledge_merges set into_id = ${into}::bigint where tenant_id = ${tenant} and into_id = ${id}::bigint`;
    await execute(
      tx,
    )`update knowledge_facts f set from_id = ${moved('from_id')}, to_id = ${moved('to_id')} where ${near}`;
    await execute(tx)`
      update knowledge_names set entity_id = ${into}::bigint where tenant_id = ${tenant} and entity_id = ${id}::bigint`;
    await execute(tx)`delete from knowledge_entities where tenant_id = ${tenant} and id = ${id}::bigint`;
    await judgeFacts(forTenant(tx, tenant), [into]);
    return true;
  });
}

/**
 * Undoes a merge: the entity exists again by its id, with its names and facts. What documents have stated since about
 * the two is read again, because it cannot be told apart. Returns false if there was no such merge. Documents are locked
 * before the graph, as those who read them do.
 */
export function splitEntity(
  pool: Pool,
  scope: DocumentScope,
  into: string,
  id: string,
  by: string,
): Promise<boolean> {
  const { tenant } = scope;
  const mine = sql`tenant_id = ${tenant} and id = ${id}::bigint`;
  const merge = sql`(select * from knowledge_merges where ${mine}) m`;
  return inTransaction(pool, async (tx) => {
    await execute(tx)`select from documents where ${isOwn(scope)} order by path for update`;
    await lockKnowledge(tx, scope);
    const isMade = await affects(tx)`
      insert into knowledge_entities (tenant_id, id, agent_key, user_id, name, type, hidden, changed_by) overriding system value
      select tenant_id, id, agent_key, user_id, name, type, hidden, ${by} from ${merge}
      where ${isOwn(scope)} and into_id = ${into}::bigint`;
    if (!isMade) return false;
    await execute(tx)`
      update knowledge_names n set entity_id = m.id from ${merge}
      where n.tenant_id = m.tenant_id and n.entity_id = m.into_id and n.type = m.type and n.key = any (m.names)`;
    await readAgain(tx, scope, into, merge);
    for (const [end, facts] of [
      ['from_id', 'from_facts'],
      ['to_id', 'to_facts'],
    ] as const)
      await execute(tx)`
        update knowledge_facts f set ${sql.ref(end)} = m.id from ${merge}
        where f.tenant_id = m.tenant_id and f.id = any (m.${sql.ref(facts)})`;
    await execute(tx)`
      insert into knowledge_facts overriding system value
      select f.* from ${merge}, jsonb_populate_recordset(null::knowledge_facts, m.removed) f
      where f.path is null or exists (select from knowledge_parts p where p.tenant_id = f.tenant_id and p.agent_key = f.agent_key
        and p.user_id = f.user_id and p.path = f.path and p.digest = f.part) on conflict do nothing`;
    await execute(tx)`
      update knowledge_merges o set into_id = m.id from ${merge} where o.tenant_id = m.tenant_id and o.id = any (m.merged)`;
    await execute(tx)`delete from knowledge_merges where ${mine}`;
    await judgeFacts(forTenant(tx, tenant), [id, into]);
    return true;
  });
}

/** Parts of documents that were read since the merge and name the entity that stays. */
async function readAgain(
  tx: Transaction,
  scope: DocumentScope,
  into: string,
  merge: RawBuilder<unknown>,
): Promise<void> {
  await execute(tx)`
    with gone as (
      delete from knowledge_parts p using ${merge} where p.tenant_id = m.tenant_id and p.agent_key = m.agent_key and p.user_id = m.user_id
        and exists (select from knowledge_facts f where f.tenant_id = p.tenant_id and f.agent_key = p.agent_key and f.user_id = p.user_id
          and f.path = p.path and f.part = p.digest and ${into}::bigint in (f.from_id, f.to_id)
          and f.id > m.last_fact)
      returning p.path)
    update documents set extracted = null where ${isOwn(scope)} and path in (select path from gone)`;
}

export function listRelations(
  db: TenantDb,
  filter: KnowledgeFilter & { readonly entity?: string | undefined },
  { limit, after }: Paged,
): Promise<KnowledgeRelation[]> {
  const { entity } = filter;
  const near =
    entity === undefined ? sql`true` : sql`(f.from_id = ${entity}::bigint or f.to_id = ${entity}::bigint)`;
  return readRows<KnowledgeRelation>(db)`
    ${relationsOf(ALL)} where f.tenant_id = ${db} and f.id > ${after} and ${isListed('f', filter)} and ${near} order by f.id limit ${limit}`;
}

export function findRelation(
  db: TenantDb<Db>,
  id: string,
  viewer: string | null,
): Promise<KnowledgeRelation | undefined> {
  return readRow<KnowledgeRelation>(db)`
    ${relationsOf(ALL)} where f.tenant_id = ${db} and f.id = ${id}::bigint and ${isListed('f', { viewer })}`;
}

export type RelationChange = Kept<typeof relationChangeSchema>;

/** Returns the id of the person's new statement; undefined when the fact is gone. @throws Failure: Unprocessable */
export function correctRelation(
  pool: Pool,
  scope: DocumentScope,
  id: string,
  change: RelationChange,
  by: string,
): Promise<string | undefined> {
  return inTransaction(pool, async (tx) => {
    const { tenant } = scope;
    await lockKnowledge(tx, scope);
    const old = await readRow<{ from_id: string; type: string; to_id: string }>(tx)`
      select from_id, type, to_id from knowledge_facts where tenant_id = ${tenant} and id = ${id}::bigint and type is not null`;
    if (!old) return undefined;
    const type = change.relation === undefined ? old.type : typeKey(change.relation.trim());
    if (type !== old.type) await say(tx, scope, id, old.type, { hidden: true }, by);
    const text = await say(tx, scope, id, type, change, by);
    const isBackwards = affects(tx)`
      select 1 from knowledge_facts where tenant_id = ${tenant} and id = ${text}::bigint and valid_to <= valid_from`;
    if (await isBackwards) throw new Failure('Unprocessable', 'valid_to must be later than valid_from');
    await judgeFacts(forTenant(tx, tenant), [old.from_id]);
    return text;
  });
}

/** States the fact `id` with the change, in place of what people have stated about it. */
async function say(
  tx: Transaction,
  { tenant }: DocumentScope,
  id: string,
  type: string,
  change: RelationChange,
  by: string,
): Promise<string | undefined> {
  const until = change.valid_to === undefined ? sql`f.valid_to` : sql`${change.valid_to}::timestamptz`;
  const row = await readRow<{ id: string }>(tx)`
    insert into knowledge_facts (tenant_id, agent_key, user_id, from_id, type, to_id, valid_from, valid_to, is_single, author, denied)
    select f.tenant_id, f.agent_key, f.user_id, f.from_id, ${type}, f.to_id, coalesce(${change.valid_from}::timestamptz, f.valid_from), ${until},
      coalesce(${change.single}::boolean, f.is_single), ${by}, ${change.hidden ?? false}
    from knowledge_facts f where f.tenant_id = ${tenant} and f.id = ${id}::bigint
    on conflict (tenant_id, from_id, type, to_id) where author is not null do update set valid_from = excluded.valid_from,
      valid_to = excluded.valid_to, is_single = excluded.is_single, author = excluded.author, denied = excluded.denied
    returning id`;
  return row?.id;
}
