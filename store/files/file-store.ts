/** Bytes that are stored once by digest. */
import { anyOf, type RowParts } from '../row-parts.ts';
import { type RawBuilder, sql } from 'kysely';
import type { StoredImage } from '#domain/model/image.ts';
import type { Pool } from '../postgres/pool.ts';
import { execute, readRow, readRows } from '../postgres/statements.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';
import { IS_THAWED } from '../tenant-freeze.ts';

export async function readFiles(
  db: TenantDb,
  digests: readonly string[],
): Promise<ReadonlyMap<string, Buffer>> {
  const rows = await readRows<{ digest: string; bytes: Buffer }>(db)`
    select digest, bytes from files where tenant_id = ${db} and digest = any(${[...digests]})`;
  return new Map(rows.map(({ digest, bytes }) => [digest, bytes]));
}

/** The images of a call are counted from 1. */
export function findCallImage(
  db: TenantDb,
  call: string,
  number: number,
): Promise<
  { readonly type: StoredImage['type']; readonly bytes: Buffer; readonly session_key: string } | undefined
> {
  return readRow<{ type: StoredImage['type']; bytes: Buffer; session_key: string }>(db)`
    select c.images -> ${number - 1}::int ->> 'type' as type, f.bytes, c.session_key
     from tool_calls c join files f on f.tenant_id = c.tenant_id and f.digest = c.images -> ${number - 1}::int ->> 'digest'
     where c.tenant_id = ${db} and c.id = ${call}`;
}

/** A condition: no row that contains digests needs this row of `files`. */
export function isUnneeded(parts: RowParts): RawBuilder<unknown> {
  return sql`not exists (select from team_task_files t where t.tenant_id = files.tenant_id and t.digest = files.digest)
    and not exists (select from tool_calls c where c.tenant_id = files.tenant_id and c.images is not null
      and c.images @> jsonb_build_array(jsonb_build_object('digest', files.digest)))
    and not ${anyOf(parts.map(({ namesFile }) => namesFile))}`;
}

/** Files checked in one sweep. */
const MAX_EXAMINED = 200;

/**
 * Removes bytes in rows that nothing references; each row is checked once a day, and one that is being uploaded is
 * skipped. Returns the number removed. Safe to repeat, and to run concurrently.
 */
export function removeUnneededFiles(pool: Pool, parts: RowParts): Promise<number> {
  return execute(pool)`
    with old as (select tenant_id, digest from files where not in_store and ${IS_THAWED} and needed_at < now() - interval '1 day'
      order by needed_at limit ${MAX_EXAMINED} for update skip locked),
    unneeded as (select tenant_id, digest from files where (tenant_id, digest) in (select tenant_id, digest from old) and ${isUnneeded(parts)}),
    kept as (update files set needed_at = now() where (tenant_id, digest) in (
      select tenant_id, digest from old except select tenant_id, digest from unneeded))
    delete from files where (tenant_id, digest) in (select tenant_id, digest from unneeded)`;
}
