/** Measures knowledge_graph_search in a large graph: how long a walk over its relations takes. */
import { createSearchKnowledge } from '../../features/knowledge/activities/search-knowledge.ts';
import { TENANT } from '../contender.ts';
import type { Bench, Measure } from '../measure.ts';
import { shown, spreadOf } from '../report.ts';

const RELATIONS = 100_000;
const QUICK_RELATIONS = 2_000;
const RELATIONS_AN_ENTITY = 5;
const DEPTH = 3;
const SEARCHES = 100;
const USER = 'large-graph';

export const knowledge: Measure = async (bench) => {
  const relations = bench.quick ? QUICK_RELATIONS : RELATIONS;
  bench.log(`a graph of ${relations} relations`);
  const entities = relations / RELATIONS_AN_ENTITY;
  await fill(bench, entities, relations);
  const times = await timeSearches(bench, entities);
  const p95 = times.toSorted((one, other) => one - other)[Math.ceil(times.length * 0.95) - 1] ?? Number.NaN;
  return {
    name: 'knowledge',
    title: 'A large knowledge graph',
    how: `knowledge_graph_search by a name, to depth ${DEPTH}, in one user's graph of ${relations} relations among ${entities} entities, half of their ends drawn by Zipf's law, a tenth of them ended by later ones.`,
    columns: ['', 'ms', 'p95, ms'],
    rows: [['search', shown(spreadOf(times)), p95.toFixed(0)]],
    goals: [
      {
        what: `knowledge_graph_search at depth ${DEPTH} of ${relations} relations, p95 in ms`,
        value: p95,
        limit: 100,
        kind: 'max',
      },
    ],
  };
};

/** Writes the graph as extraction would, by one statement for each table. */
async function fill({ stack: { pool } }: Bench, entities: number, relations: number): Promise<void> {
  const owner = [TENANT, 'bench', USER];
  await pool.query(
    `insert into documents (tenant_id, agent_key, user_id, path, revision, text, digest, indexed, extracted)
     values ($1, $2, $3, 'memory/graph.md', 1, 'x', 'x', 'x', 'x')`,
    owner,
  );
  await pool.query(
    `insert into knowledge_parts (tenant_id, agent_key, user_id, path, digest, from_line, revision)
     values ($1, $2, $3, 'memory/graph.md', 'x', 1, 1)`,
    owner,
  );
  await pool.query(
    `with made as (
       insert into knowledge_entities (tenant_id, agent_key, user_id, name, type)
       select $1, $2, $3, 'entity' || n, 'thing' from generate_series(1, $4::int) n returning id, name)
     insert into knowledge_names (tenant_id, agent_key, user_id, type, key, name, entity_id, outside)
     select $1, $2, $3, 'thing', name, name, id, false from made`,
    [...owner, entities],
  );
  await pool.query(
    `with ids as (select array_agg(id order by id) as all_ids from knowledge_entities where tenant_id = $1 and user_id = $3)
     insert into knowledge_facts (tenant_id, agent_key, user_id, from_id, type, to_id, valid_from, is_single, path, part, line, to_line)
     select $1, $2, $3, all_ids[1 + floor(random() * $4)::int], 'relation' || n % 20,
       all_ids[case n % 2 when 0 then 1 + floor(random() * $4)::int else least($4, ceil(exp(random() * ln($4::float8))))::int end],
       now() - n % 1000 * interval '1 day', n % 10 = 0, 'memory/graph.md', 'x', 0, 0
     from ids, generate_series(1, $5::int) n`,
    [...owner, entities, relations],
  );
  // Autovacuum does this some time after so many writes.
  await pool.query('vacuum analyze knowledge_entities, knowledge_names, knowledge_facts');
}

async function timeSearches({ stack: { pool }, quick }: Bench, entities: number): Promise<readonly number[]> {
  const search = createSearchKnowledge(pool);
  const caller = { tenant: TENANT, agent: 'bench', user: USER };
  const at = new Date().toISOString();
  const times: number[] = [];
  for (let question = 0; question < (quick ? 5 : SEARCHES); question += 1) {
    const query = `entity${1 + ((question * 977) % entities)}`;
    const began = performance.now();
    await search(caller, { query, type: undefined, id: undefined, depth: DEPTH, at });
    times.push(performance.now() - began);
  }
  return times;
}
