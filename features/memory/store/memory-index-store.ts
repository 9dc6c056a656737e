/**
 * Stores the index of memory (VF-2): pieces of documents and their vectors. Each is written only if the document still
 * has the same text.
 */
import type { MemoryReader } from '../memory-reader.ts';
import { type RawBuilder, sql } from 'kysely';
import type { DocumentScope } from '#domain/files/document.ts';
import type { MemoryStatus } from '../contract.ts';
import type { Chunk } from '../rules/chunk-text.ts';
import { searchTerms } from '#domain/text/search-terms.ts';
import { IS_MEMORY, isOwn } from '#store/files/document-scope.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { affects, execute, readRow, readRows } from '#store/postgres/statements.ts';
import type { Transaction } from '#store/postgres/database.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import { IS_THAWED } from '#store/tenant-freeze.ts';

type Vector = readonly number[];

export interface UnindexedText {
  readonly path: string;
  readonly digest: Buffer;
  readonly text: string;
}

/** A document whose current words are not in the index; undefined if there is none. */
export function unindexedText(pool: Pool, scope: DocumentScope): Promise<UnindexedText | undefined> {
  return readRow<UnindexedText>(pool)`
    select path, digest, text from documents d where ${isOwn(scope)} and indexed is distinct from digest and ${IS_MEMORY}
    order by path limit 1`;
}

/** Replaces the pieces; does nothing when the document has another text by now. Safe to repeat. */
export function saveChunks(
  pool: Pool,
  scope: DocumentScope,
  { path, digest }: Pick<UnindexedText, 'path' | 'digest'>,
  chunks: readonly Chunk[],
  readers: readonly MemoryReader[],
): Promise<void> {
  return inTransaction(pool, async (tx) => {
    if (!(await holdDocument(tx, scope, path, digest))) return;
    const { tenant, agent, user } = scope;
    await execute(tx)`delete from memory_chunks where ${isOwn(scope)} and path = ${path}`;
    await execute(tx)`
      insert into memory_chunks (tenant_id, agent_key, user_id, path, n, from_line, to_line, heading, text, above, terms, slips)
      select ${tenant}, ${agent}, ${user ?? ''}, ${path}, n - 1, c.from_line, c.to_line, c.heading, c.text, c.above, c.terms, ${SLIPS}
      from unnest(${chunks.map(({ from }) => from)}::int[], ${chunks.map(({ to }) => to)}::int[],
        ${chunks.map(({ heading }) => heading)}::text[], ${chunks.map(({ text }) => text)}::text[],
        ${chunks.map(({ heading }) => searchTerms(`${path}\n${heading}`))}::text[],
        ${chunks.map(({ text }) => searchTerms(text))}::text[])
        with ordinality c (from_line, to_line, heading, text, above, terms, n)`;
    await execute(tx)`
      update documents set indexed = digest, embedded = null where ${isOwn(scope)} and path = ${path}`;
    for (const reader of readers) await reader.indexed(tx, scope, path, chunks);
  });
}

export interface UnembeddedText {
  readonly path: string;
  readonly digest: Buffer;
  /** Texts in the order of `n`, which counts from 0 without a gap. */
  readonly texts: readonly string[];
}

/** A document whose words are in the index, and whose vectors of this model are not. */
export function unembeddedText(
  pool: Pool,
  scope: DocumentScope,
  model: string,
): Promise<UnembeddedText | undefined> {
  return readRow<UnembeddedText>(pool)`
    select d.path, d.digest, array(select concat_ws(E'\n', nullif(c.heading, ''), c.text) from memory_chunks c
      where c.tenant_id = d.tenant_id and c.agent_key = d.agent_key and c.user_id = d.user_id and c.path = d.path
      order by c.n) as texts
    from documents d where ${isOwn(scope)} and indexed = digest and embedded is distinct from ${model}::text
    order by d.path limit 1`;
}

/**
 * `vectors` have length 1, one for each piece. Does nothing when the document has another text by now. Safe to repeat.
 */
export function saveVectors(
  pool: Pool,
  scope: DocumentScope,
  { path, digest }: Pick<UnembeddedText, 'path' | 'digest'>,
  model: string,
  vectors: readonly Vector[],
): Promise<void> {
  return inTransaction(pool, async (tx) => {
    if (!(await holdDocument(tx, scope, path, digest))) return;
    const { tenant, agent, user } = scope;
    await execute(tx)`delete from memory_vectors where ${isOwn(scope)} and path = ${path}`;
    await execute(tx)`
      insert into memory_vectors (tenant_id, agent_key, user_id, path, n, model, signs, vector)
      select ${tenant}, ${agent}, ${user ?? ''}, ${path}, n - 1, ${model}, v.signs::bit varying, v.vector
      from unnest(${vectors.map(signsOf)}::text[], ${vectors.map(toHalves)}::bytea[])
        with ordinality v (signs, vector, n)`;
    await execute(tx)`update documents set embedded = ${model} where ${isOwn(scope)} and path = ${path}`;
  });
}

/** Whether it still has this text; if so, it keeps the text until the end of the transaction. */
function holdDocument(tx: Transaction, scope: DocumentScope, path: string, digest: Buffer): Promise<boolean> {
  return affects(tx)`
    select 1 from documents where ${isOwn(scope)} and path = ${path} and digest = ${digest} for update`;
}

/** Counts the scope's own documents. With `model` null, there are only words. */
export async function pendingCount(pool: Pool, scope: DocumentScope, model: string | null): Promise<number> {
  const row = await readRow<{ n: number }>(pool)`
    select count(*)::int as n from documents d where ${isOwn(scope)} and ${IS_MEMORY} and ${isPending(model)}`;
  return row?.n ?? 0;
}

function isPending(model: string | null) {
  return sql`(indexed is distinct from digest or (${model}::text is not null and embedded is distinct from ${model}::text))`;
}

/** Covers what the user sees: their own documents, and the agent's that no own document of the same path hides. */
export async function memoryStatus(
  pool: Pool,
  { tenant, agent, user }: DocumentScope,
  model: string | null,
): Promise<Omit<MemoryStatus, 'embedder'>> {
  const row = await readRow<Omit<MemoryStatus, 'embedder'>>(pool)`
    select count(*)::int as documents, count(*) filter (where ${isPending(model)})::int as pending,
      coalesce(sum((select count(*) from memory_chunks c where c.tenant_id = d.tenant_id and c.agent_key = d.agent_key
        and c.user_id = d.user_id and c.path = d.path)), 0)::int as chunks
    from (select distinct on (path) * from documents d where tenant_id = ${tenant} and agent_key = ${agent}
      and user_id in ('', ${user ?? ''}) and ${IS_MEMORY} order by path, user_id desc) d`;
  return row ?? { documents: 0, chunks: 0, pending: 0 };
}

/** Scopes of all tenants that have something to index, for the sweep. */
export async function scopesToIndex(
  pool: Pool,
  model: string | undefined,
  isUnread: RawBuilder<unknown>,
  limit: number,
): Promise<readonly DocumentScope[]> {
  return readRows<DocumentScope>(pool)`
    select tenant_id as tenant, agent_key as agent, nullif(user_id, '') as user from (
      select tenant_id, agent_key, user_id from documents d where indexed is distinct from digest and ${IS_MEMORY}
      union
      select tenant_id, agent_key, user_id from documents d where ${model}::text is not null and indexed is not null
        and embedded is distinct from ${model}::text
      union
      select tenant_id, agent_key, user_id from documents d where ${isUnread}) s
    where ${IS_THAWED} limit ${limit}`;
}

/** One bit for each number. */
export function signsOf(vector: Vector): string {
  return vector.map((value) => (value > 0 ? '1' : '0')).join('');
}

function toHalves(vector: Vector): Buffer {
  return Buffer.from(new Float16Array(vector).buffer);
}

export function fromHalves(bytes: Buffer): Float16Array {
  return new Float16Array(new Uint8Array(bytes).buffer);
}

/** Words of `c` with 5 to 30 letters, with each letter omitted. */
const SLIPS = sql`array_to_tsvector(array(select distinct overlay(lexeme placing '' from at for 1)
  from unnest(to_tsvector('english', c.above || ' ' || c.terms)) w, generate_series(1, length(lexeme)) at where lexeme ~ '^[^0-9]{5,30}$'))`;
