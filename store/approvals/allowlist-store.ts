/** Calls that people have allowed permanently, by agent and user (SH-2). */
import { sql } from 'kysely';
import { below, affects, readRows, type PageEnd, type RowOf } from '../postgres/statements.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';

export interface AllowlistRow extends RowOf<'exec_allowlist', 'revoked_by' | 'revoked_at'> {
  /** `created_at` to the microsecond, for cursors. */
  readonly created_text: string;
}

export interface AllowlistFilter {
  /** A user's key sees entries of that user and entries for everybody. */
  readonly viewer: string | null;
  readonly agent?: string | undefined;
  readonly user?: string | undefined;
}

const COLUMNS = sql`id, agent_key, user_id, tool, pattern, approval_id, created_by, created_at,
  created_at::text as created_text`;

/** Valid entries, newest first; `after` is [created_text, id] of the last one on the previous page. */
export function listAllowlist(
  db: TenantDb,
  { viewer, agent, user }: AllowlistFilter,
  limit: number,
  after: PageEnd | undefined,
): Promise<AllowlistRow[]> {
  return readRows<AllowlistRow>(db)`select ${COLUMNS} from exec_allowlist
     where tenant_id = ${db} and revoked_at is null
       and (${viewer}::text is null or user_id is null or user_id = ${viewer})
       and (${agent}::text is null or agent_key = ${agent}) and (${user}::text is null or user_id = ${user})
       ${below('created_at', 'id', after)}
     order by created_at desc, id limit ${limit}`;
}

/** Revokes an entry, effective from the next judged call; false when the viewer has no such entry. Safe to repeat. */
export function revokeAllowlistEntry(
  db: TenantDb,
  viewer: string | null,
  id: string,
  by: string,
): Promise<boolean> {
  return affects(db)`
    update exec_allowlist set revoked_at = coalesce(revoked_at, now()), revoked_by = coalesce(revoked_by, ${by})
     where tenant_id = ${db} and id = ${id} and (${viewer}::text is null or user_id = ${viewer})`;
}
