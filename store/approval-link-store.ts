/** Links that let one person decide one approval, once; deciding (approval-record.ts) uses them up. */
import type { Decision } from '#domain/approval.ts';
import type { LinkDecision } from '#domain/schema/approval-link.ts';
import type { Pool } from './pool.ts';

export interface NewApprovalLink {
  readonly id: string;
  readonly approvalId: string;
  /** sha256 of the token. */
  readonly hash: Buffer;
  /** Who decides by it. */
  readonly user: string;
  readonly scopes: readonly string[];
  readonly decision: LinkDecision | null;
  readonly createdBy: string;
  /** At most; it never outlives the approval. */
  readonly seconds: number | null;
}

export interface ApprovalLinkRow {
  readonly tenant_id: string;
  readonly id: string;
  readonly approval_id: string;
  readonly user_id: string;
  readonly scopes: readonly string[];
  readonly decision: LinkDecision | null;
  readonly expires_at: Date;
  /** By the database's clock. */
  readonly is_over: boolean;
  readonly used_at: Date | null;
  readonly revoked_at: Date | null;
  /** What it was used for. */
  readonly made: Decision | null;
}

/** Links of one approval that still work. */
const MAX_OPEN = 100;

/** When it ends; undefined when the approval is not pending or has too many links. */
export async function insertApprovalLink(
  pool: Pool,
  tenant: string,
  link: NewApprovalLink,
): Promise<Date | undefined> {
  const { rows } = await pool.query<{ expires_at: Date }>(
    `insert into approval_links (tenant_id, id, approval_id, hash, user_id, scopes, decision, created_by, expires_at)
     select $1, $2, id, $4, $5, $6, $7, $8, least(expires_at, now() + make_interval(secs => $9))
     from approvals a where tenant_id = $1 and id = $3 and status = 'pending'
       and (select count(*) from approval_links l where l.tenant_id = $1 and l.approval_id = $3
              and used_at is null and revoked_at is null and l.expires_at > now()) < $10
     returning expires_at`,
    [
      tenant,
      link.id,
      link.approvalId,
      link.hash,
      link.user,
      link.scopes,
      link.decision,
      link.createdBy,
      link.seconds,
      MAX_OPEN,
    ],
  );
  return rows[0]?.expires_at;
}

/** The link with this hash, whichever tenant's: like a key, it is what names the tenant. */
export async function findApprovalLink(pool: Pool, hash: Buffer): Promise<ApprovalLinkRow | undefined> {
  const { rows } = await pool.query<ApprovalLinkRow>(
    `select l.tenant_id, l.id, l.approval_id, l.user_id, l.scopes, l.decision, l.expires_at, l.expires_at <= now() as is_over,
       l.used_at, l.revoked_at, d.decision as made
     from approval_links l
     left join approval_decisions d on d.tenant_id = l.tenant_id and d.approval_id = l.approval_id and d.key = l.used_key
     where l.hash = $1`,
    [hash],
  );
  return rows[0];
}

/** False when the approval has no such link. Revoking twice keeps the first time. */
export async function revokeApprovalLink(
  pool: Pool,
  tenant: string,
  approvalId: string,
  id: string,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `update approval_links set revoked_at = coalesce(revoked_at, now())
     where tenant_id = $1 and approval_id = $2 and id = $3`,
    [tenant, approvalId, id],
  );
  return rowCount === 1;
}
