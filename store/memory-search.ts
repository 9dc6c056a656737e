/**
 * Searches of memory's index (TL memory_search): by words, weighted as BM25 does, with trigrams for words that
 * nothing has; by vectors. Each gives its own list, best first; domain/memory/fuse-hits.ts makes one of them.
 */
import { sql } from 'kysely';
import type { DocumentScope } from '#domain/document.ts';
import type { FoundBy } from '#domain/memory/fuse-hits.ts';
import { IS_MEMORY } from './document-scope.ts';
import { fromHalves, signsOf } from './memory-index-store.ts';
import type { Pool } from './pool.ts';
import { execute, readRow, readRows } from './statements.ts';
import { inTransaction } from './transaction.ts';
import { distanceFrom, isIndexed } from './vector-index.ts';

/** Which piece. */
export interface ChunkKey {
  /** Empty: the agent's own. */
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
/** Words of a question that are looked for, the rarest first. */
const WORDS = 24;
/** A word that more pieces have says little: they are not counted further. */
const MANY = 5_000;
/** Pieces that words are weighed in. */
const WEIGHED = 20_000;
/** Pieces whose sentences are looked at. */
const READ = 60;
/** Words that nothing has, each a look by trigrams; and how alike another word is at least (pg_trgm). */
const SLIPS = 3;
const ALIKE = 0.35;
/** Vectors that are compared whole: those whose signs differ the least. All, where there are no more. */
const COMPARED = 400;
/** Of the index, at least: the more, the less it misses. */
const LOOKED_AT = 200;
/** Models find any two texts somewhat alike: less is no find. */
const LEAST_LIKENESS = 0.2;
/** What a word counts in the text, and in path and heading: D, C, B, A of Postgres. */
const WEIGHTS = '{0.4,0.4,0.4,1}';

function isSearched({ tenant, agent, user, hidden }: Searched) {
  return sql`c.tenant_id = ${tenant} and c.agent_key = ${agent} and c.user_id in ('', ${user ?? ''})
    and (c.user_id || '/' || c.path) <> all (${hidden}::text[])`;
}

/** The agent's documents that the user has own ones of, and those that were written before or after the given times. */
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

export interface AskedWord {
  /** As the index has it. */
  readonly lexeme: string;
  /** As it was asked for, where nothing has that. */
  readonly meant?: string;
  /** Pieces that have it, at most MANY. */
  readonly pieces: number;
}

export interface AskedWords {
  /** Without those that every text has, the rarest first. */
  readonly words: readonly AskedWord[];
  /** In the index. */
  readonly pieces: number;
}

/** Words that nothing has, such as those with a slip of the pen, are taken for the most alike that something has. */
export async function askedWords(pool: Pool, scope: Searched, query: string): Promise<AskedWords> {
  const row = await readRow<AskedWords>(pool)`
    select (select count(*)::int from memory_chunks c where ${isSearched(scope)}) as pieces,
      (select coalesce(json_agg(w order by w.pieces), '[]') from (
        select lexeme, ${countOf(scope)} as pieces from unnest(to_tsvector('english', ${query})) limit ${WORDS}) w) as words`;
  const { words = [], pieces = 0 } = row ?? {};
  const known = words.filter((word) => word.pieces > 0);
  const slips = words.filter((word) => word.pieces === 0 && word.lexeme.length > 3).slice(0, SLIPS);
  if (slips.length === 0 || pieces === 0) return { words: known, pieces };
  const alike = await readRows<AskedWord>(pool)`
    select lexeme, meant, ${countOf(scope)} as pieces from unnest(${slips.map((slip) => slip.lexeme)}::text[]) s (meant), lateral (
      select w.lexeme from (select words from memory_chunks c where ${isSearched(scope)} and c.text %> s.meant limit ${PLACES}) c,
        unnest(c.words) w where similarity(w.lexeme, s.meant) >= ${ALIKE}
      order by similarity(w.lexeme, s.meant) desc, w.lexeme limit 1) a`;
  return { words: [...known, ...alike].toSorted((one, other) => one.pieces - other.pieces), pieces };
}

/** Of the `lexeme` of the statement around it. */
function countOf(scope: Searched) {
  return sql`(select count(*)::int from (select 1 from memory_chunks c where ${isSearched(scope)}
    and c.words @@ (${sql.raw(QUOTED)})::tsquery limit ${MANY}) found)`;
}

/** A lexeme as a tsquery writes it. */
const QUOTED = `'''' || replace(replace(lexeme, '\\', '\\\\'), '''', '''''') || ''''`;

/**
 * By inverse document frequency, with Postgres' own saturation of repeated words and its measure of length; the best of them by which
 * words stand together in one sentence or above it, and of those with the same words the later written first. Pieces that have only words which many
 * have are left out where rarer ones were asked for.
 */
export async function findByWords(
  pool: Pool,
  scope: Searched,
  { words, pieces }: AskedWords,
): Promise<readonly FoundBy<ChunkKey>[]> {
  if (words.length === 0) return [];
  const queries = words.map(({ lexeme }) => quoted(lexeme));
  const idf = words.map((word) => idfOf(word.pieces >= MANY ? pieces : word.pieces, pieces));
  const shown = words.map(({ lexeme, meant }) => (meant === undefined ? lexeme : `${lexeme} for ${meant}`));
  let reached = 0;
  const wanted = queries.filter((_, at) => (reached += words[at]?.pieces ?? 0) <= MANY || at === 0);
  const rows = await readRows<ChunkKey & { found: string[] }>(pool)`
    with asked as (
      select * from unnest(${queries}::text[]::tsquery[], ${idf}::float8[], ${shown}::text[]) t (q, idf, shown)),
    best as materialized (
      select c.user_id, c.path, c.n, c.text, ts_filter(c.words, '{a}') as above, s.* from (select * from memory_chunks c where ${isSearched(scope)}
          and c.words @@ ${wanted.join('|')}::tsquery limit ${WEIGHED}) c,
        lateral (select sum(idf * ts_rank(${WEIGHTS}::float4[], c.words, q, 1)) as score,
          array_agg(shown) filter (where c.words @@ q) as found from asked) s
      order by s.score desc limit ${READ})
    select b.user_id, b.path, b.n, b.found from best b
      join documents d on d.tenant_id = ${scope.tenant} and d.agent_key = ${scope.agent} and d.user_id = b.user_id
        and d.path = b.path,
      lateral (select max(near.score) as score from regexp_split_to_table(b.text, '\\n|[.!?] ') part,
        lateral (select to_tsvector('english', part) as line) l,
        lateral (select sum(idf) as score from asked where line @@ q or b.above @@ q) near) t
    order by coalesce(t.score, 0) desc, d.updated_at desc, b.score desc, b.user_id desc, b.path, b.n limit ${PLACES}`;
  return rows.map(({ found, ...item }) => ({ item, why: `words: ${found.join(', ')}` }));
}

/** Robertson and Spärck Jones, never negative. */
function idfOf(pieces: number, of: number): number {
  return Math.log(1 + (of - pieces + 0.5) / (pieces + 0.5));
}

function quoted(lexeme: string): string {
  return `'${lexeme.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** By cosine. Up to COMPARED vectors exactly; of more, those that are near by their signs, or by the index where there is one, are compared. */
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
    .filter(({ likeness }) => likeness >= LEAST_LIKENESS)
    .toSorted((one, other) => other.likeness - one.likeness)
    .slice(0, PLACES)
    .map(({ item, likeness }) => ({ item, why: `meaning ${likeness.toFixed(2)}` }));
}

interface VectorRow extends ChunkKey {
  readonly vector: Buffer;
}

/** Undefined where there is no index for it, or it has not come by enough of the memory. */
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
    // Without a way to sort the planner takes the index, whatever it thinks of its cost.
    await execute(tx)`select set_config('hnsw.ef_search', ${String(LOOKED_AT)}, true),
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

/** In no order; those that are gone meanwhile are left out. `around`: with so many of the pieces before and after each. */
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
