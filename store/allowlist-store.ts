/** What people allowed always: which calls of which agent, for which user (SH-2). */
import type { Pool } from './pool.ts';

export interface AllowlistRow {
  readonly id: string;
  readonly agent_key: string;
  readonly user_id: string | null;
  readonly tool: string;
  readonly pattern: string;
  readonly approval_id: string | null;
  readonly created_by: string;
  readonly created_at: Date;
  /** The same to the microsecond, for cursors. */
  readonly created_text: string;
}

export interface AllowlistFilter {
  /** A key of a user sees what is that user's or everybody's. */
  readonly viewer: string | null;
  readonly agent?: string | undefined;
  readonly user?: string | undefined;
}

const COLUMNS =
  'id, agent_key, user_id, tool, pattern, approval_id, created_by, created_at, created_at::text as created_text';

/** Those in force, newest first; `after` is [created_text, id] of the last one before. */
export async function listAllowlist(
  pool: Pool,
  tenant: string,
  { viewer, agent, user }: AllowlistFilter,
  limit: number,
  after: readonly [created: string, id: string] | undefined,
): Promise<AllowlistRow[]> {
  const { rows } = await pool.query<AllowlistRow>(
    `select ${COLUMNS} from exec_allowlist
     where tenant_id = $1 and revoked_at is null
       and ($2::text is null or user_id is null or user_id = $2)
       and ($3::text is null or agent_key = $3) and ($4::text is null or user_id = $4)
       and ($5::timestamptz is null or created_at < $5 or (created_at = $5 and id > $6))
     order by created_at desc, id limit $7`,
    [tenant, viewer, agent ?? null, user ?? null, after?.[0] ?? null, after?.[1] ?? null, limit],
  );
  return rows;
}

/** Takes it back from the next judged call on; false when the viewer has no such entry. Runs again safely. */
export async function revokeAllowlistEntry(
  pool: Pool,
  tenant: string,
  viewer: string | null,
  id: string,
  by: string,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `update exec_allowlist set revoked_at = coalesce(revoked_at, now()), revoked_by = coalesce(revoked_by, $4)
     where tenant_id = $1 and id = $3 and ($2::text is null or user_id = $2)`,
    [tenant, viewer, id, by],
  );
  return rowCount === 1;
}
