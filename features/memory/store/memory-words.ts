/**
 * Searches memory's index by words (memory_search) and weighs them as BM25 does. Words that occur nowhere are replaced
 * by the most similar ones.
 */
import { sql } from 'kysely';
import { deletions, editDistance } from '../rules/edit-distance.ts';
import type { WordMatch } from '../rules/rank-matches.ts';
import { questionTerms } from '#domain/text/search-terms.ts';
import { type ChunkKey, isSearched, type Searched } from './memory-search.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { readRow, readRows } from '#store/postgres/statements.ts';

/** Words of a question that are searched for, and as many identifiers that they may be parts of. */
const WORDS = 24;
/** A word that more pieces have says little, so they are not counted further, and count as a third of all. */
const MANY = 1_000;
/** Pieces in which words are weighed. */
const WEIGHED = 4_000;
/** Pieces whose sentences are read. */
const READ = 100;
/** Words that occur nowhere, each of which needs a query of its own; and pieces that are read for the intended word. */
const SLIPS = 4;
const MAX_EXAMINED = 50;
/** How many letters a word may have more than the intended one, because stems are shorter. */
const LONGER = 4;
/** The weights of a word in the text, and in path and heading: D, C, B, A of Postgres. */
const WEIGHTS = '{0.4,0.4,0.4,1}';
/** The weight of a word above a sentence, relative to a word in it. */
const ABOVE = 0.8;

export interface QueryWord {
  /** The word as the index has it. */
  readonly lexeme: string;
  /** The word as it was asked for, if it occurs nowhere. */
  readonly meant?: string;
  /** Pieces that have it, at most MANY. */
  readonly pieces: number;
}

export interface QueryWords {
  /** The words without those that every text has, the rarest first. */
  readonly words: readonly QueryWord[];
  /** Pieces in the index. */
  readonly pieces: number;
}

interface Word {
  readonly text: string;
  readonly lexeme: string;
}

export async function queryWords(pool: Pool, scope: Searched, query: string): Promise<QueryWords> {
  const { words, joined } = questionTerms(query);
  const texts = [...words.slice(0, WORDS), ...joined.slice(0, WORDS)];
  const lexemes = await readRows<Word>(pool)`
    select distinct on (lexeme) text, lexeme from unnest(${texts}::text[]) with ordinality t (text, n), unnest(to_tsvector('english', text)) l
    order by lexeme, n`;
  const { counts, pieces } = await countPieces(
    pool,
    scope,
    lexemes.map(({ lexeme }) => lexeme),
  );
  const counted = lexemes.map((word, at) => ({ ...word, pieces: counts[at] ?? 0 }));
  const known = counted.filter((word) => word.pieces > 0);
  const slips = counted
    .filter(({ text, pieces: found }) => found === 0 && words.includes(text) && /^\p{L}{4,}$/u.test(text))
    .slice(0, pieces === 0 ? 0 : SLIPS);
  const meant = await Promise.all(slips.map((slip) => meantBy(pool, scope, slip)));
  const found = meant.flatMap((lexeme, at) =>
    lexeme === undefined ? [] : [{ lexeme, meant: slips[at]?.text ?? '' }],
  );
  const added = found.filter(({ lexeme }) => !known.some((word) => word.lexeme === lexeme));
  const more =
    added.length === 0
      ? []
      : (
          await countPieces(
            pool,
            scope,
            added.map(({ lexeme }) => lexeme),
          )
        ).counts;
  const all = [...known, ...added.map((word, at) => ({ ...word, pieces: more[at] ?? 0 }))];
  return { words: all.toSorted((one, other) => one.pieces - other.pieces), pieces };
}

/**
 * For each lexeme, the pieces that have it, at most MANY; and all of the scope. Each is an index query of its own,
 * whatever the planner knows.
 */
async function countPieces(
  pool: Pool,
  scope: Searched,
  lexemes: readonly string[],
): Promise<{ readonly counts: readonly number[]; readonly pieces: number }> {
  const one = (
    lexeme: string,
  ) => sql`(select count(*)::int from (select 1 from memory_chunks c where ${isSearched(scope)}
    and c.words @@ ${quoted(lexeme)}::tsquery limit ${MANY}) found)`;
  const counts = sql.join([sql`null::int`, ...lexemes.map(one)]);
  const row = await readRow<{ counts: (number | null)[]; pieces: number }>(pool)`
    select array[${counts}] as counts, (select count(*)::int from memory_chunks c where ${isSearched(scope)}) as pieces`;
  return { counts: (row?.counts ?? []).slice(1).map(Number), pieces: row?.pieces ?? 0 };
}

/**
 * The existing word that differs in the fewest letters, if any is near enough. Two words that are one letter apart
 * become the same when a letter is omitted from one of them, or from both, and the index has its words with each letter
 * omitted.
 */
async function meantBy(pool: Pool, scope: Searched, { text, lexeme }: Word): Promise<string | undefined> {
  const shorter = deletions(text);
  const near = [text, lexeme, ...shorter, ...deletions(lexeme)].map(quoted).join('|');
  // The limit is outside: within, it makes the planner read the table instead of the index.
  const rows = await readRows<{ lexeme: string; is_shorter: boolean }>(pool)`
    with near as materialized (select words from memory_chunks c where ${isSearched(scope)}
      and (c.slips @@ ${near}::tsquery or c.words @@ to_tsquery('english', ${shorter.join('|')})))
    select distinct w.lexeme, w.lexeme = any (tsvector_to_array(to_tsvector('english', ${shorter.join(' ')}))) as is_shorter
    from (select words from near limit ${MAX_EXAMINED}) c, unnest(c.words) w
    where abs(length(w.lexeme) - ${text.length}) <= ${LONGER}`;
  const [best] = rows
    .map((row) => ({
      lexeme: row.lexeme,
      distance: row.is_shorter
        ? 1
        : Math.min(editDistance(text, row.lexeme), editDistance(lexeme, row.lexeme)),
    }))
    .toSorted((one, other) => one.distance - other.distance || (one.lexeme < other.lexeme ? -1 : 1));
  return best && best.distance <= (text.length < 6 ? 1 : 2) ? best.lexeme : undefined;
}

/**
 * Weighs by inverse document frequency: the words that are together in one sentence or above it, those of the piece,
 * and Postgres' own measure of length. Pieces with only common words are omitted if the question has rarer ones.
 * Returns them in no order.
 */
export async function findByWords(
  pool: Pool,
  scope: Searched,
  { words, pieces }: QueryWords,
): Promise<readonly WordMatch<ChunkKey>[]> {
  if (words.length === 0) return [];
  const queries = words.map(({ lexeme }) => quoted(lexeme));
  const idf = words.map((word) =>
    idfOf(word.pieces < MANY ? word.pieces : Math.max(MANY, pieces / 3), pieces),
  );
  const shown = words.map(({ lexeme, meant }) => (meant === undefined ? lexeme : `${lexeme} for ${meant}`));
  let reached = 0;
  const expected = queries.filter((_, at) => (reached += words[at]?.pieces ?? 0) <= MANY || at === 0);
  const rows = await readRows<ChunkKey & Omit<WordMatch<ChunkKey>, 'item' | 'why'> & { found: string[] }>(
    pool,
  )`
    with asked as (
      select * from unnest(${queries}::text[]::tsquery[], ${idf}::float8[], ${shown}::text[]) t (q, idf, shown)),
    best as materialized (
      select c.user_id, c.path, c.n, c.heading, c.text, c.terms, ts_filter(c.words, '{a}') as above, s.*
      from (select * from memory_chunks c where ${isSearched(scope)} and c.words @@ ${expected.join('|')}::tsquery limit ${WEIGHED}) c,
        lateral (select sum(idf * ts_rank(${WEIGHTS}::float4[], c.words, q, 1)) as rank, sum(idf) filter (where c.words @@ q) as whole,
          array_agg(shown) filter (where c.words @@ q) as found from asked) s
      order by s.rank desc limit ${READ})
    select b.user_id, b.path, b.n, b.found, b.heading, b.text, b.rank, b.whole, coalesce(near.score, 0) as near,
      coalesce(near.sentence, 0) as sentence, d.updated_at as written
    from best b
      join documents d on d.tenant_id = ${scope.tenant} and d.agent_key = ${scope.agent} and d.user_id = b.user_id
        and d.path = b.path
      left join lateral (
        select (part.n - 1)::int as sentence, sum(case when part.line @@ q then idf else idf * ${ABOVE} end) as score
        from (select n, to_tsvector('english', line) as line from string_to_table(b.terms, E'\n') with ordinality t (line, n)) part
          join asked on part.line @@ q or b.above @@ q
        group by part.n order by 2 desc, 1 limit 1) near on true`;
  return rows.map(({ user_id, path, n, found, ...match }) => ({
    ...match,
    item: { user_id, path, n },
    path,
    why: `words: ${found.join(', ')}`,
  }));
}

/** Robertson and Spärck Jones, never negative. */
function idfOf(pieces: number, of: number): number {
  return Math.log(1 + (of - pieces + 0.5) / (pieces + 0.5));
}

function quoted(lexeme: string): string {
  return `'${lexeme.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
