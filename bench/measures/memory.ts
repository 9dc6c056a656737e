/** Measures memory_search in a large memory: how long the first hits take, by words and with vectors. */
import { createSearchMemory } from '../../features/memory/activities/search-memory.ts';
import { createScrubber } from '#store/secrets/scrubber.ts';
import { saveVectors } from '../../features/memory/store/memory-index-store.ts';
import { TENANT } from '../contender.ts';
import type { Bench, Measure } from '../measure.ts';
import { shown, spreadOf } from '../report.ts';

const PIECES = 100_000;
const QUICK_PIECES = 2_000;
/** Pieces of a document, few enough that it stays below the size limit of one. */
const PIECES_A_DOCUMENT = 500;
const PIECES_AT_ONCE = 5_000;
const DIMENSIONS = 512;
const SEARCHES = 100;
const MODEL = 'bench/model';
const USER = 'large-memory';

export const memory: Measure = async (bench) => {
  const pieces = bench.quick ? QUICK_PIECES : PIECES;
  bench.log(`a memory of ${pieces} pieces`);
  const vectors = await fill(bench, pieces);
  const byWords = await timeSearches(bench, undefined);
  const byBoth = await timeSearches(bench, vectors);
  const row = (what: string, times: readonly number[]): string[] => [
    what,
    shown(spreadOf(times)),
    p95(times).toFixed(0),
  ];
  return {
    name: 'memory',
    title: 'A large memory',
    how: `memory_search over ${pieces} pieces of one memory, each of some 90 words drawn by Zipf's law with a vector of ${DIMENSIONS} numbers; three words a question, one of them misspelt in every fourth.`,
    columns: ['', 'ms', 'p95, ms'],
    rows: [row('by words', byWords), row('by words and meaning', byBoth)],
    goals: [
      { what: `memory_search of ${pieces} pieces, p95 in ms`, value: p95(byBoth), limit: 400, kind: 'max' },
    ],
  };
};

/**
 * Writes the pieces as the index would, by one statement; returns a vector near to one of the pieces for each question.
 */
async function fill(
  { stack: { pool } }: Bench,
  pieces: number,
): Promise<(question: number) => readonly number[]> {
  const key = [TENANT, 'bench', USER];
  await pool.query(
    `insert into documents (tenant_id, agent_key, user_id, path, revision, text, digest, indexed)
     select $1, $2, $3, 'memory/' || d || '.md', 1, 'x', 'x', 'x' from generate_series(1, $4::int) d`,
    [...key, pieces / PIECES_A_DOCUMENT],
  );
  // The pieces are written in parts, because statements have a time limit.
  for (let from = 0; from < pieces; from += PIECES_AT_ONCE)
    await pool.query(
      `insert into memory_chunks (tenant_id, agent_key, user_id, path, n, from_line, to_line, heading, text, above, terms, slips)
       select $1, $2, $3, 'memory/' || 1 + i / $5 || '.md', i % $5, i % $5 + 1, i % $5 + 1, '', 'x', '', (
         select string_agg('word' || floor(exp(random() * ln(20000)))::int || chr(97 + w % 26), ' ') from generate_series(1, 90) w where i >= 0), ''
       from generate_series($6::int, $4::int - 1) i`,
      [...key, Math.min(pieces, from + PIECES_AT_ONCE), PIECES_A_DOCUMENT, from],
    );
  const vectorOf = (seed: number): readonly number[] => {
    const values = Array.from(
      { length: DIMENSIONS },
      (_, at) => Math.sin((seed % 97) * (at + 1)) + Math.sin(seed * 7.3 + at * 1.7),
    );
    const length = Math.hypot(...values);
    return values.map((value) => value / length);
  };
  const scope = { tenant: TENANT, agent: 'bench', user: USER };
  for (let document = 0; document < pieces / PIECES_A_DOCUMENT; document += 1) {
    const place = { path: `memory/${document + 1}.md`, digest: Buffer.from('x') };
    const vectors = Array.from({ length: PIECES_A_DOCUMENT }, (_, n) =>
      vectorOf(document * PIECES_A_DOCUMENT + n),
    );
    await saveVectors(pool, scope, place, MODEL, vectors);
  }
  await pool.query('analyze memory_chunks, memory_vectors');
  return (question) => vectorOf((question * 977) % pieces);
}

async function timeSearches(
  { stack: { pool }, quick }: Bench,
  vectors: ((question: number) => readonly number[]) | undefined,
): Promise<readonly number[]> {
  let question = 0;
  const search = createSearchMemory({
    pool,
    scrubberOf: async () => createScrubber(),
    embed: async () => vectors && [vectors(question)],
    readers: () => [],
    models: { embedder: () => vectors && MODEL },
  });
  const caller = { tenant: TENANT, agent: 'bench', user: USER, sessionKey: 'bench', turnId: 'bench' };
  const times: number[] = [];
  for (; question < (quick ? 5 : SEARCHES); question += 1) {
    const word = (part: number): string =>
      `word${1 + ((question * 131 + part * 977) % 15_000)}${'abcdefgh'[question % 8]}`;
    const slip = question % 4 === 0 ? 'wrod77b' : word(3);
    const began = performance.now();
    await search(caller, `${word(1)} ${word(2)} ${slip}`, { max: 6, around: 0 });
    times.push(performance.now() - began);
  }
  return times;
}

function p95(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[Math.ceil(times.length * 0.95) - 1] ?? Number.NaN;
}
