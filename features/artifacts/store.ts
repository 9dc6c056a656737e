/**
 * Artifacts (contract.ts) as rows; `files` contains their bytes once, however often they are uploaded. With an
 * object store, large ones are objects there. The row of `files` is written first, so that whatever a dead process has
 * left is found by it. The artifact's row is written last, so that it always has its bytes.
 */
import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { ObjectStore } from './objects/object-store.ts';
import type { Attachment } from '#domain/files/attachment.ts';
import { Failure } from '#domain/errors.ts';
import { imageProblem, readImage } from '#domain/model/image.ts';
import { detectType } from './detect-type.ts';
import { isUnneeded } from '#store/files/file-store.ts';
import type { Db } from '#store/postgres/database.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { execute, readRow, readRows, type RowOf } from '#store/postgres/statements.ts';
import { type TenantDb, forTenant } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import type { RowParts } from '#store/row-parts.ts';
import { IS_THAWED } from '#store/tenant-freeze.ts';
import { ARTIFACT_BYTES, ARTIFACTS_BYTES, plainFilename } from './contract.ts';

export type ArtifactRow = RowOf<'artifacts', 'brought_at'>;

export interface ArtifactPlaces {
  readonly pool: Pool;
  /** Undefined: all bytes are in Postgres. */
  readonly objects: ObjectStore | undefined;
}

export interface NewArtifact {
  readonly bytes: Buffer;
  /** Null means the tenant's. */
  readonly user: string | null;
  /** The type that the uploader states. */
  readonly type?: string | undefined;
  readonly filename?: string | undefined;
  /** Whether a text contains secrets: an image with such text is not shown to models. */
  readonly hasSecret: (text: string) => boolean;
  /** Limit on the total size of the artifacts of all users whose names have this prefix. */
  readonly within?: { readonly users: string; readonly bytes: number } | undefined;
}

/** Safe to repeat: the same file of the same user is one artifact. @throws Failure TooLarge, Unprocessable */
export async function putArtifact(
  { pool, objects }: ArtifactPlaces,
  tenant: string,
  artifact: NewArtifact,
): Promise<ArtifactRow> {
  const { bytes, user } = artifact;
  if (bytes.length === 0) throw new Failure('Unprocessable', 'The file is empty');
  if (bytes.length > ARTIFACT_BYTES)
    throw new Failure('TooLarge', `A file may have at most ${ARTIFACT_BYTES} bytes here`);
  const type = await detectType(bytes, artifact.type);
  if (type === undefined)
    throw new Failure(
      'Unprocessable',
      `The file is not what its content type says (${artifact.type?.slice(0, 100)}); send what it is, or application/octet-stream`,
    );
  const filename = plainFilename(artifact.filename);
  const digest = sha256(bytes);
  const id = `art_${sha256(JSON.stringify([tenant, user, filename, digest])).slice(0, 32)}`;
  await checkQuota(forTenant(pool, tenant), id, artifact);
  const facts = readImage(bytes);
  const isShown =
    imageProblem(facts, bytes.length) === undefined && !artifact.hasSecret(bytes.toString('latin1'));
  const { width, height } = (isShown && facts) || {};
  // Content that models see is read with each prompt, so it stays beside the transcript.
  const away = !isShown && bytes.length >= LARGE ? objects : undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const made = await keepBytes(pool, away, { tenant, digest, bytes });
    const row = await readRow<ArtifactRow>(pool)`
      insert into artifacts (tenant_id, id, user_id, type, filename, digest, size, width, height)
      select tenant_id, ${id}, ${user}::text, ${type}, ${filename}::text, digest, ${bytes.length}::int, ${width}::int, ${height}::int
      from files where tenant_id = ${tenant} and digest = ${digest} and made = ${made} for key share
      on conflict (tenant_id, id) do update set brought_at = now(), type = excluded.type
      returning id, user_id, type, filename, digest, size, width, height, created_at`;
    if (row) return row;
    // Objects written after the row was deleted would never be found.
    if (away)
      await execute(pool)`
        insert into gone_objects (tenant_id, digest, made) values (${tenant}, ${digest}, ${made})`;
  }
  throw new Failure('Unavailable', `The bytes of artifact ${id} are being removed; put it again`);
}

/** @throws Failure TooLarge */
async function checkQuota(
  db: TenantDb,
  id: string,
  { bytes, within = { users: '', bytes: ARTIFACTS_BYTES } }: NewArtifact,
): Promise<void> {
  const kept = await readRow<{ all: number; within: number; is_known: boolean }>(db)`
    select coalesce(sum(bytes), 0)::float8 as all,
      coalesce(sum(bytes) filter (where user_id <> '' and starts_with(user_id, ${within.users})), 0)::float8 as within,
      exists (select from artifacts where tenant_id = ${db} and id = ${id}) as is_known
    from artifact_sizes where tenant_id = ${db}`;
  // It is uploaded again, and takes no more room.
  if (kept?.is_known) return;
  if (kept && kept.all + bytes.length > ARTIFACTS_BYTES)
    throw new Failure(
      'TooLarge',
      `All artifacts together would have more than ${ARTIFACTS_BYTES} bytes; artifacts_days of the retention removes old ones`,
    );
  if (kept && kept.within + bytes.length > within.bytes)
    throw new Failure('TooLarge', 'There is no more room for files of people whom nobody has paired');
}

/** From this size in bytes on, an object is faster than a row. */
const LARGE = 262_144;
/** Bytes of one object, and the most that a process keeps of one in memory. */
const PIECE = 4 * 1024 * 1024;
/** A concurrent forgetting of the same bytes by another caller happens at most once. */
const ATTEMPTS = 3;

/**
 * Returns the `made` of the row, which distinguishes it and its objects from those of a later row with the same bytes.
 */
async function keepBytes(
  pool: Pool,
  objects: ObjectStore | undefined,
  { tenant, digest, bytes }: { readonly tenant: string; readonly digest: string; readonly bytes: Buffer },
): Promise<string> {
  const row = await readRow<{ made: string; is_here: boolean }>(pool)`
    insert into files (tenant_id, digest, bytes, in_store)
    values (${tenant}, ${digest}, ${objects ? null : bytes}, ${objects !== undefined})
    on conflict (tenant_id, digest) do update set needed_at = now(), bytes = coalesce(files.bytes, excluded.bytes),
      in_store = files.in_store or files.bytes is null and excluded.in_store
    returning made, bytes is not null as is_here`;
  if (!row) throw new Error(`the bytes ${digest} were not written`);
  // Also when objects may exist already: the process that started to write them may have died.
  if (!row.is_here)
    for (let at = 0; at < bytes.length; at += PIECE)
      await objects?.put(
        `${prefixOf(tenant, digest, row.made)}${at / PIECE}`,
        bytes.subarray(at, at + PIECE),
      );
  return row.made;
}

/**
 * Prefix of the keys of a file's objects. No two rows share it, so removing the objects of a deleted row affects no
 * later one.
 */
function prefixOf(tenant: string, digest: string, made: string): string {
  return `${tenant}/${digest}/${made}/`;
}

/** The prefixes of all files of the tenant whose bytes are only in the object store. */
export async function listPrefixes(db: TenantDb<Db>): Promise<string[]> {
  const rows = await readRows<{ digest: string; made: string }>(db)`
    select digest, made from files where tenant_id = ${db} and in_store and bytes is null`;
  return rows.map(({ digest, made }) => prefixOf(db.tenant, digest, made));
}

function sha256(data: Buffer | string): string {
  return createHash('sha256').update(data).digest('hex');
}

/**
 * Those among the ids that the user may read: their own and the tenant's. Undefined stands for a caller that may read
 * all.
 */
export function findArtifacts(
  db: TenantDb,
  ids: readonly string[],
  user: string | null | undefined,
): Promise<ArtifactRow[]> {
  return readRows<ArtifactRow>(db)`
    select id, user_id, type, filename, digest, size, width, height, created_at from artifacts
     where tenant_id = ${db} and id = any (${[...ids]})
       and (${user === undefined} or user_id is null or user_id = ${user ?? null})`;
}

/** The artifact in the form of messages. */
export function asAttachment({ id, filename, type, digest, size, width, height }: ArtifactRow): Attachment {
  return { artifact: id, name: filename, type, digest, size, width, height };
}

/** Undefined when the bytes were removed, or are being removed. */
export async function readWhole(
  places: ArtifactPlaces,
  tenant: string,
  { digest, size }: Pick<ArtifactRow, 'digest' | 'size'>,
): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  for await (const piece of readArtifact(places, tenant, digest, 0, size)) pieces.push(piece);
  const bytes = Buffer.concat(pieces);
  return bytes.length < size ? undefined : bytes;
}

/** Bytes from `from` up to but without `end`, in pieces. It ends early when they are removed meanwhile. */
export async function* readArtifact(
  { pool, objects }: ArtifactPlaces,
  tenant: string,
  digest: string,
  from: number,
  end: number,
): AsyncGenerator<Buffer> {
  // Each piece reads to the end of its object, so that each object is read once.
  for (let at = from, next = at; at < end; at = next) {
    const number = Math.floor(at / PIECE);
    next = Math.min((number + 1) * PIECE, end);
    const row = await readRow<{ made: string; piece: Buffer | null }>(pool)`
      select made, substring(bytes from ${at + 1}::int for ${next - at}::int) as piece from files
       where tenant_id = ${tenant} and digest = ${digest}`;
    if (!row) return;
    if (!row.piece && !objects) throw noStore();
    const whole = row.piece
      ? undefined
      : await objects?.get(`${prefixOf(tenant, digest, row.made)}${number}`);
    yield row.piece ?? whole?.subarray(at - number * PIECE, next - number * PIECE) ?? Buffer.alloc(0);
  }
}

function noStore(): Failure {
  return new Failure(
    'Unavailable',
    'The bytes of this artifact are in an object store that artifacts.store does not name any more',
  );
}

/** Files removed in one call. */
const REMOVED_AT_ONCE = 20;
/** Far longer than any write takes; after this time, removed keys are checked once more. */
const LONGEST_PUT = '1 hour';
/** Stores delete at most 1,000 keys at once. */
const KEYS = 1_000;

/**
 * Removes bytes in the object store that nothing references, as `removeUnneededFiles` does for rows. With a tenant it
 * also removes at once those that were just forgotten. Rows are deleted first, so that none is locked while the store
 * is called. `gone_objects` keeps the keys until the objects are gone and for a while longer, so that late writes of a
 * dying process are found. Returns the number of files processed. Safe to repeat.
 */
export async function removeUnneededObjects(
  { pool, objects, rows }: ArtifactPlaces & { readonly rows: RowParts },
  tenant?: string,
): Promise<number> {
  await removeRows(pool, isUnneeded(rows), tenant);
  const gone = await readRows<{ id: string; tenant_id: string; digest: string; made: string }>(pool)`
    select id, tenant_id, digest, made from gone_objects where (${tenant}::text is null or tenant_id = ${tenant})
       and (removed_at is null or removed_at < now() - ${LONGEST_PUT}::interval)
     order by id limit ${REMOVED_AT_ONCE}`;
  for (const { id, tenant_id, digest, made } of gone) {
    await removeObjects(objects, prefixOf(tenant_id, digest, made));
    const row = sql`tenant_id = ${tenant_id} and id = ${id}`;
    await execute(
      pool,
    )`delete from gone_objects where ${row} and removed_at < now() - ${LONGEST_PUT}::interval`;
    await execute(pool)`update gone_objects set removed_at = now() where ${row} and removed_at is null`;
  }
  return gone.length;
}

function removeRows(pool: Pool, isUnneeded: RawBuilder<unknown>, tenant: string | undefined): Promise<void> {
  const isMeant =
    tenant === undefined
      ? sql`${IS_THAWED} and needed_at < now() - interval '1 day'`
      : sql`tenant_id = ${tenant} and needed_at = '-infinity' and ${isUnneeded}`;
  return inTransaction(pool, async (tx) => {
    const old = await readRows<{ tenant_id: string; digest: string }>(tx)`
      select tenant_id, digest from files where in_store and ${isMeant}
       order by needed_at limit ${REMOVED_AT_ONCE} for update skip locked`;
    for (const { tenant_id, digest } of old) {
      const row = sql`tenant_id = ${tenant_id} and digest = ${digest}`;
      // The check comes after the lock, so that an artifact created meanwhile is seen.
      const gone = await execute(tx)`
        with gone as (delete from files where ${row} and ${isUnneeded} returning tenant_id, digest, made)
        insert into gone_objects (tenant_id, digest, made) select tenant_id, digest, made from gone`;
      if (gone === 0) await execute(tx)`update files set needed_at = now() where ${row}`;
    }
  });
}

async function removeObjects(objects: ObjectStore | undefined, prefix: string): Promise<void> {
  if (!objects) throw noStore();
  const keys: string[] = [];
  for await (const key of objects.list(prefix)) keys.push(key);
  for (let at = 0; at < keys.length; at += KEYS) await objects.remove(keys.slice(at, at + KEYS));
}
