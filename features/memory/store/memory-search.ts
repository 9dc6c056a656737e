/**
 * Memory's index as searches read it (memory_search): which documents count, pieces by their vectors, and what is shown
 * of those found.
 */
import { sql } from 'kysely';
import type { DocumentScope } from '#domain/files/document.ts';
import type { FoundBy } from '../rules/fuse-hits.ts';
import { IS_MEMORY } from '#store/files/document-scope.ts';
import { fromHalves, signsOf } from './memory-index-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { execute, readRows } from '#store/postgres/statements.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import { distanceFrom, isIndexed } from './vector-index.ts';

/** Identifies a piece. */
export interface ChunkKey {
  /** Empty for the agent's own. */
  readonly user_id: string;
  readonly path: string;
  readonly n: number;
}

export interface ChunkRow extends ChunkKey {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly outside: boolean;
  readonly updated_at: Date;
}

/** A scope, and which of its documents are not searched. */
export interface Searched extends DocumentScope {
  /** `{user_id}/{path}`. */
  readonly hidden: readonly string[];
}

/** Places of a list that count. */
const PLACES = 50;
/** Vectors that are compared in full: those whose signs differ the least, or all if there are no more. */
const COMPARED = 400;
/** Smallest number of candidates from the index: the more, the less it misses. */
const MAX_EXAMINED = 200;
/** Models find any two texts somewhat similar; a lower similarity is no match. */
const MIN_LIKENESS = 0.2;
/** Pieces `c` of the scope. */
export function isSearched({ tenant, agent, user, hidden }: Searched) {
  return sql`c.tenant_id = ${tenant} and c.agent_key = ${agent} and c.user_id in ('', ${user ?? ''})
    and (c.user_id || '/' || c.path) <> all (${hidden}::text[])`;
}

/**
 * The agent's documents that the user's own ones replace, and those that were written before or after the requested
 * times.
 */
export async function hiddenDocuments(
  pool: Pool,
  { tenant, agent, user }: DocumentScope,
  { after, before }: { readonly after?: string | undefined; readonly before?: string | undefined },
): Promise<readonly string[]> {
  const rows = await readRows<{ key: string }>(pool)`
    select user_id || '/' || path as key from documents d
    where tenant_id = ${tenant} and agent_key = ${agent} and user_id in ('', ${user ?? ''}) and ${IS_MEMORY}
      and ((user_id = '' and ${user}::text is not null and exists (select from documents o where o.tenant_id = d.tenant_id
          and o.agent_key = d.agent_key and o.user_id = ${user} and o.path = d.path))
        or updated_at < ${after}::timestamptz or updated_at > ${before}::timestamptz)`;
  return rows.map(({ key }) => key);
}

/**
 * Compares by cosine. It compares up to COMPARED vectors exactly; of more, those that are near by their signs, or by
 * the index if there is one.
 */
export async function findByVector(
  pool: Pool,
  scope: Searched,
  model: string,
  vector: readonly number[],
): Promise<readonly FoundBy<ChunkKey>[]> {
  const rows =
    (await nearByIndex(pool, scope, model, vector)) ?? (await nearBySigns(pool, scope, model, vector));
  return rows
    .map(({ vector: bytes, ...item }) => ({ item, likeness: cosine(vector, fromHalves(bytes)) }))
    .filter(({ likeness }) => likeness >= MIN_LIKENESS)
    .toSorted((one, other) => other.likeness - one.likeness)
    .slice(0, PLACES)
    .map(({ item, likeness }) => ({ item, why: `meaning ${likeness.toFixed(2)}` }));
}

interface VectorRow extends ChunkKey {
  readonly vector: Buffer;
}

/** Returns undefined if there is no index for it, or the index has not reached enough of the memory. */
async function nearByIndex(
  pool: Pool,
  scope: Searched,
  model: string,
  vector: readonly number[],
): Promise<readonly VectorRow[] | undefined> {
  if (!vector.every(Number.isFinite) || !(await isIndexed(pool, vector.length, isSearched(scope))))
    return undefined;
  const { ofLength, distance } = distanceFrom(vector);
  const rows = await inTransaction(pool, async (tx) => {
    // Without a way to sort, the planner uses the index, whatever it estimates as its cost.
    await execute(tx)`select set_config('hnsw.ef_search', ${String(MAX_EXAMINED)}, true),
      set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('enable_sort', 'off', true)`;
    return readRows<VectorRow>(tx)`
      select c.user_id, c.path, c.n, c.vector from memory_vectors c
      where ${isSearched(scope)} and c.model = ${model} and ${ofLength} order by ${distance} limit ${PLACES}`;
  });
  return rows.length < PLACES ? undefined : rows;
}

function nearBySigns(
  pool: Pool,
  scope: Searched,
  model: string,
  vector: readonly number[],
): Promise<readonly VectorRow[]> {
  return readRows<VectorRow>(pool)`
    select v.user_id, v.path, v.n, v.vector from (
      select c.user_id, c.path, c.n from memory_vectors c where ${isSearched(scope)} and c.model = ${model}
        and length(c.signs) = ${vector.length}
      order by bit_count(c.signs # ${signsOf(vector)}::bit varying) limit ${COMPARED}) near
    join memory_vectors v on v.tenant_id = ${scope.tenant} and v.agent_key = ${scope.agent} and v.user_id = near.user_id
      and v.path = near.path and v.n = near.n`;
}

/** Both are of length 1. */
function cosine(one: readonly number[], other: Float16Array): number {
  return one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
}

/**
 * Returns them in no order, without those that are gone in the meantime. `around` adds this many of the pieces before
 * and after each.
 */
export function readChunks(
  pool: Pool,
  scope: DocumentScope,
  keys: readonly ChunkKey[],
  around: number,
): Promise<ChunkRow[]> {
  return readRows<ChunkRow>(pool)`
    select c.user_id, c.path, k.n, min(c.from_line) as "from", max(c.to_line) as "to",
      string_agg(c.text, E'\\n' order by c.n) as text, d.outside, d.updated_at
    from unnest(${keys.map(({ user_id }) => user_id)}::text[], ${keys.map(({ path }) => path)}::text[],
        ${keys.map(({ n }) => n)}::int[]) k (user_id, path, n)
      join memory_chunks c on c.tenant_id = ${scope.tenant} and c.agent_key = ${scope.agent} and c.user_id = k.user_id
        and c.path = k.path and c.n between k.n - ${around} and k.n + ${around}
      join documents d on d.tenant_id = c.tenant_id and d.agent_key = c.agent_key and d.user_id = c.user_id and d.path = c.path
    group by c.user_id, c.path, k.n, d.outside, d.updated_at`;
}
