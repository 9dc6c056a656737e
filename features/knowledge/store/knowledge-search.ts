/** Searches the knowledge graph: which entities are meant, what is near them, and what holds at a time. */
import { type RawBuilder, sql } from 'kysely';
import type { DocumentScope } from '#domain/files/document.ts';
import { nameKey } from '../contract.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { readRows } from '#store/postgres/statements.ts';
import type { Stored } from '#domain/schema/scalars.ts';
import type { entitySchema, relationSchema } from '../resource.ts';

/** Whose graph, at what time, and without which documents (`{user_id}/{path}`, hiddenDocuments). */
export interface KnowledgeView extends DocumentScope {
  readonly hidden: readonly string[];
  /** ISO 8601. */
  readonly at: string;
}

export type KnowledgeEntity = Stored<typeof entitySchema>;

export type KnowledgeRelation = Stored<typeof relationSchema>;

/** Entities that a search begins at. */
const BEGINNINGS = 20;
/** Words of a question that are searched for. */
const WORDS = 24;
/** Sources of an entity. */
const SOURCES = 5;

/** Facts `fact` that the view shows at any time. */
function isShown(fact: string, { hidden }: Pick<KnowledgeView, 'hidden'>): RawBuilder<unknown> {
  const row = sql.table(fact);
  if (hidden.length === 0) return sql`not ${row}.overruled`;
  return sql`(not ${row}.overruled and ${row}.user_id || '/' || coalesce(${row}.path, '') <> all (${hidden}::text[]))`;
}

/**
 * When facts `o` end the fact `f`: the same one is stated to end, or the entity has only one such relation and a later
 * one has begun. Of two that begin at once, the one that was written later is the later one.
 */
const END = sql`(case when o.to_id = f.to_id then o.valid_to else o.valid_from end)`;
const ENDS = sql`o.tenant_id = f.tenant_id and o.from_id = f.from_id and o.type = f.type and (
  (o.to_id = f.to_id and o.valid_to > f.valid_from)
  or (o.to_id <> f.to_id and o.is_single and (o.valid_from, o.id) > (f.valid_from, f.id)))`;

/** Relations `f` that hold at the view's time. */
function holds(view: KnowledgeView): RawBuilder<unknown> {
  return sql`f.type is not null and ${isShown('f', view)} and f.valid_from <= ${view.at}::timestamptz
    and (f.valid_to is null or f.valid_to > ${view.at}::timestamptz)
    and not exists (select from knowledge_facts o where ${ENDS} and ${isShown('o', view)} and ${END} <= ${view.at}::timestamptz)`;
}

const SOURCE = sql`case when p.path is not null then json_build_object('path', p.path, 'from', p.from_line + f.line,
  'to', p.from_line + f.to_line, 'revision', p.revision) end`;
/** For facts `f`: the parts `p` and documents `d` that state them. */
const PARTS = sql`
  left join knowledge_parts p on p.tenant_id = f.tenant_id and p.agent_key = f.agent_key and p.user_id = f.user_id
    and p.path = f.path and p.digest = f.part
  left join documents d on d.tenant_id = f.tenant_id and d.agent_key = f.agent_key and d.user_id = f.user_id and d.path = f.path`;

/** Rows of entities `e`. */
export function entitiesOf(view: Pick<KnowledgeView, 'hidden'>): RawBuilder<unknown> {
  return sql`select e.id::text as id, e.agent_key as agent, nullif(e.user_id, '') as user, e.name, e.type, e.hidden, e.changed_by,
      e.updated_at, s.sources, coalesce((select json_agg(json_build_object('id', m.id::text, 'name', m.name) order by m.at)
        from knowledge_merges m where m.tenant_id = e.tenant_id and m.into_id = e.id), '[]') as merged, s.outside or exists (select from knowledge_names n
        where n.tenant_id = e.tenant_id and n.entity_id = e.id and n.outside) as outside, array(select n.name from knowledge_names n
        where n.tenant_id = e.tenant_id and n.entity_id = e.id and n.name <> e.name order by n.name) as aliases
    from knowledge_entities e, lateral (
      select coalesce((json_agg(${SOURCE} order by f.id desc) filter (where p.path is not null)), '[]') as sources,
        coalesce(bool_or(d.outside), false) as outside
      from (select f.* from knowledge_facts f where f.tenant_id = e.tenant_id and f.from_id = e.id and f.type is null
        and ${isShown('f', view)} order by f.id desc limit ${SOURCES}) f ${PARTS}) s`;
}

/** Rows of relations `f`. */
export function relationsOf(view: Pick<KnowledgeView, 'hidden'>): RawBuilder<unknown> {
  return sql`select f.id::text as id, f.agent_key as agent, nullif(f.user_id, '') as user, f.type as relation, f.valid_from,
      least(f.valid_to, (select min(${END}) from knowledge_facts o where ${ENDS} and ${isShown('o', view)})) as valid_to,
      f.is_single as single, f.overruled as hidden, f.author, ${SOURCE} as source, coalesce(d.outside, false) as outside,
      json_build_object('id', f.from_id::text, 'name', a.name) as "from", json_build_object('id', f.to_id::text, 'name', b.name) as "to"
    from knowledge_facts f
      join knowledge_entities a on a.tenant_id = f.tenant_id and a.id = f.from_id
      join knowledge_entities b on b.tenant_id = f.tenant_id and b.id = f.to_id ${PARTS}`;
}

/**
 * Entities whose names have words of the question, or else are most similar to it. Those whose whole name is in it come
 * first, then the most similar. `*` is all. `id` is that one.
 */
export async function findEntities(
  pool: Pool,
  view: KnowledgeView,
  {
    query,
    type,
    id,
  }: { readonly query: string; readonly type: string | undefined; readonly id: string | undefined },
): Promise<readonly string[]> {
  const { tenant, agent, user } = view;
  const requests = (nameKey(query).match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, WORDS);
  const isWhole = sql`position(' ' || regexp_replace(n.key, '[^[:alnum:]]+', ' ', 'g') || ' ' in ${` ${requests.join(' ')} `}) > 0`;
  const find = async (named: RawBuilder<unknown>): Promise<readonly string[]> => {
    const rows = await readRows<{ id: string }>(pool)`
      select e.id::text as id from knowledge_names n join knowledge_entities e on e.tenant_id = n.tenant_id and e.id = n.entity_id
      where n.tenant_id = ${tenant} and n.agent_key = ${agent} and n.user_id in ('', ${user ?? ''}) and ${named}
        and not e.hidden and (${type}::text is null or e.type = ${type}) and (${id}::bigint is null or e.id = ${id}::bigint)
        and (exists (select from knowledge_facts f where f.tenant_id = e.tenant_id and f.from_id = e.id and ${isShown('f', view)})
          or exists (select from knowledge_facts f where f.tenant_id = e.tenant_id and f.to_id = e.id and ${isShown('f', view)}))
      group by e.id order by bool_or(${isWhole}) desc, max(greatest(word_similarity(n.name, ${query}), word_similarity(${query}, n.name))) desc, e.id
      limit ${BEGINNINGS}`;
    return rows.map((row) => row.id);
  };
  if (query === '*' || id !== undefined) return find(sql`true`);
  const words = requests.join('|');
  const byWord = await find(sql`n.words @@ to_tsquery('simple', ${words})`);
  return byWord.length > 0 ? byWord : find(sql`n.name %> ${query}`);
}

/**
 * Entities within `depth` relations of these, in either direction, in one recursive statement. The nearest come first,
 * and those in the order of `ids`. It finds each at most once a depth, the nearest first, so that it may stop when it
 * has enough.
 */
export function walkRelations(
  pool: Pool,
  view: KnowledgeView,
  ids: readonly string[],
  depth: number,
  max: number,
): Promise<{ readonly id: string; readonly depth: number }[]> {
  return readRows<{ id: string; depth: number }>(pool)`
    with recursive walk (id, depth) as (
      select id, 0 from unnest(${[...ids]}::bigint[]) id
      union
      select near.id, walk.depth + 1 from walk, lateral (
        select f.to_id as id from knowledge_facts f where f.tenant_id = ${view.tenant} and f.from_id = walk.id and ${holds(view)}
        union all
        select f.from_id from knowledge_facts f where f.tenant_id = ${view.tenant} and f.to_id = walk.id and ${holds(view)}) near
      where walk.depth < ${depth}::int)
    select id::text, min(depth) as depth from (select id, depth from walk limit ${max * (depth + 1)}) w
    group by w.id order by 2, array_position(${[...ids]}::bigint[], w.id), w.id limit ${max}`;
}

/** Returns them in no order. */
export function readEntities(
  pool: Pool,
  view: KnowledgeView,
  ids: readonly string[],
): Promise<KnowledgeEntity[]> {
  return readRows<KnowledgeEntity>(pool)`
    ${entitiesOf(view)} where e.tenant_id = ${view.tenant} and e.id = any (${[...ids]}::bigint[])`;
}

/** Returns relations between these entities that hold, those of the first entities first. */
export function readRelations(
  pool: Pool,
  view: KnowledgeView,
  ids: readonly string[],
  max: number,
): Promise<KnowledgeRelation[]> {
  const list = sql`${[...ids]}::bigint[]`;
  return readRows<KnowledgeRelation>(pool)`
    ${relationsOf(view)} where f.tenant_id = ${view.tenant} and f.from_id = any (${list}) and f.to_id = any (${list}) and ${holds(view)}
    order by least(array_position(${list}, f.from_id), array_position(${list}, f.to_id)), f.id limit ${max}`;
}
