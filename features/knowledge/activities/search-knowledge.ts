/** Finds entities and what is known around them (knowledge_graph_search), bounded, each fact with its source. */
import { hiddenDocuments, shownMemory } from '#features/memory/index.ts';
import { KNOWLEDGE_LIMITS, typeKey } from '../contract.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import {
  findEntities,
  type KnowledgeEntity,
  type KnowledgeRelation,
  type KnowledgeView,
  readEntities,
  readRelations,
  walkRelations,
} from '../store/knowledge-search.ts';
import type { Pool } from '#store/postgres/pool.ts';

export interface KnowledgeQuery {
  /** `*` means all. */
  readonly query: string;
  readonly type: string | undefined;
  readonly id: string | undefined;
  readonly depth: number;
  /** ISO 8601. */
  readonly at: string;
}

/** JSON for the model, marked as a whole if any of it is external; undefined when nothing is found. */
export type SearchKnowledge = (
  caller: Pick<RunningCall, 'tenant' | 'agent' | 'user'>,
  query: KnowledgeQuery,
) => Promise<string | undefined>;

/** Entities in one result. */
const ENTITIES = 50;
const RELATIONS = 100;

export function createSearchKnowledge(pool: Pool): SearchKnowledge {
  return async ({ tenant, agent, user }, query) => {
    const scope = { tenant, agent, user };
    const view: KnowledgeView = { ...scope, hidden: await hiddenDocuments(pool, scope, {}), at: query.at };
    const type = query.type && typeKey(query.type).slice(0, KNOWLEDGE_LIMITS.type);
    const started = await findEntities(pool, view, { ...query, type });
    if (started.length === 0) return undefined;
    const near = await walkRelations(pool, view, started, query.depth, ENTITIES + 1);
    const depths = new Map(near.slice(0, ENTITIES).map(({ id, depth }) => [id, depth]));
    const ids = [...depths.keys()];
    const [entities, relations] = await Promise.all([
      readEntities(pool, view, ids),
      readRelations(pool, view, ids, RELATIONS + 1),
    ]);
    const shown = {
      as_of: query.at,
      entities: entities
        .map((entity) => showEntity(entity, depths.get(entity.id) ?? 0))
        .toSorted((one, other) => one.depth - other.depth || ids.indexOf(one.id) - ids.indexOf(other.id)),
      relations: relations.slice(0, RELATIONS).map(showRelation),
      ...((near.length > ENTITIES || relations.length > RELATIONS) && {
        more: 'There is more: ask for one entity_id, or less depth.',
      }),
    };
    const outside = [...entities, ...relations].some((one) => one.outside);
    return shownMemory({ path: 'knowledge graph', outside }, JSON.stringify(shown, null, 1));
  };
}

function showEntity({ id, name, type, aliases, sources }: KnowledgeEntity, depth: number) {
  return { id, name, type, ...(aliases.length > 0 && { aliases }), depth, sources };
}

function showRelation({ from, relation, to, valid_from, valid_to, source, author }: KnowledgeRelation) {
  const time = { valid_from: valid_from.toISOString(), valid_to: valid_to?.toISOString() ?? null };
  const ids = { from_id: from.id, to_id: to.id };
  return {
    from: from.name,
    relation,
    to: to.name,
    ...ids,
    ...time,
    source: source ?? `said by ${author ?? ''}`,
  };
}
