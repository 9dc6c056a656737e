/** Links that let one person decide one approval once; deciding (store/approvals/approval-record.ts) uses them up. */
import { anyOf, type RowParts } from '#store/row-parts.ts';
import type { Decision } from '#domain/approval/approval.ts';
import type { LinkDecision } from './schema.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { affects, readRow } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';

export interface NewApprovalLink {
  readonly id: string;
  readonly approvalId: string;
  /** sha256 of the token. */
  readonly hash: Buffer;
  /** The user who decides with it. */
  readonly user: string;
  readonly scopes: readonly string[];
  readonly decision: LinkDecision | null;
  readonly createdBy: string;
  /** Greatest lifetime in seconds; the link never outlives the approval. */
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
  /** Whether the link has expired, by the database's clock, or its creator may no longer create links. */
  readonly is_over: boolean;
  readonly used_at: Date | null;
  readonly revoked_at: Date | null;
  /** The decision that it was used for. */
  readonly made: Decision | null;
}

/** Greatest number of usable links of one approval. */
const MAX_OPEN = 100;

/**
 * Returns when the link ends; undefined when the approval is not pending or has too many links. The same link again
 * stays unchanged.
 */
export async function insertApprovalLink(db: TenantDb, link: NewApprovalLink): Promise<Date | undefined> {
  const row = await readRow<{ expires_at: Date }>(db)`
    insert into approval_links (tenant_id, id, approval_id, hash, user_id, scopes, decision, created_by, expires_at)
     select ${db}, ${link.id}, id, ${link.hash}, ${link.user}, ${link.scopes}, ${link.decision},
       ${link.createdBy}, least(expires_at, now() + make_interval(secs => ${link.seconds}))
     from approvals a where tenant_id = ${db} and id = ${link.approvalId} and status = 'pending'
       and (select count(*) from approval_links l where l.tenant_id = ${db} and l.approval_id = ${link.approvalId}
              and used_at is null and revoked_at is null and l.expires_at > now()) < ${MAX_OPEN}
     on conflict (tenant_id, id) do update set hash = excluded.hash returning expires_at`;
  return row?.expires_at;
}

/** The link with this hash, of any tenant: like a key, it determines the tenant. */
export function findApprovalLink(
  pool: Pool,
  parts: RowParts,
  hash: Buffer,
): Promise<ApprovalLinkRow | undefined> {
  const isOver = anyOf(parts.map(({ isLinkOver }) => isLinkOver));
  return readRow<ApprovalLinkRow>(pool)`
    select l.tenant_id, l.id, l.approval_id, l.user_id, l.scopes, l.decision, l.expires_at,
      l.expires_at <= now() or ${isOver} as is_over, l.used_at, l.revoked_at, d.decision as made
     from approval_links l
     left join approval_decisions d on d.tenant_id = l.tenant_id and d.approval_id = l.approval_id
       and d.key = l.used_key
     where l.hash = ${hash}`;
}

/** False when the approval has no such link. Revoking twice keeps the first time. */
export function revokeApprovalLink(db: TenantDb, approvalId: string, id: string): Promise<boolean> {
  return affects(db)`update approval_links set revoked_at = coalesce(revoked_at, now())
     where tenant_id = ${db} and approval_id = ${approvalId} and id = ${id}`;
}
