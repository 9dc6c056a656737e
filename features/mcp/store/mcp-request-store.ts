/** Stores requests for access to MCP servers (MC-3). Each is decided once, with the grant in the same transaction. */
import { sql } from 'kysely';
import { limitReached } from '#domain/errors.ts';
import { type RequestedAccess, grantWith, type McpGrant } from '../rules/grants.ts';
import type { McpRequestStatus } from '../schema/mcp-server.ts';
import { MAX_MCP_GRANTS, putMcpGrant } from './mcp-grant-store.ts';
import { lockMcpServer } from './mcp-server-store.ts';
import { below, execute, type PageEnd, readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import { unlessTaken } from '#store/postgres/unless-taken.ts';

export interface McpRequestRow extends RequestedAccess {
  readonly id: string;
  readonly server_id: string;
  readonly server: string;
  readonly reason: string;
  readonly status: McpRequestStatus;
  readonly requested_by: string;
  readonly created_at: Date;
  readonly created_text: string;
  readonly reviewed_by: string | null;
  readonly reviewed_at: Date | null;
  readonly review_reason: string | null;
}

export interface NewMcpRequest extends RequestedAccess, Pick<McpRequestRow, 'id' | 'reason'> {
  readonly by: string;
}

/** Pending requests of a server, each of which an admin must review. */
export const MAX_PENDING_REQUESTS = 200;

const COLUMNS = sql`r.id, r.server_id, s.name as server, r.kind, r.subject, r.tool_allow, r.reason, r.status, r.requested_by,
  r.created_at, r.created_at::text as created_text, r.reviewed_by, r.reviewed_at, r.review_reason`;
const FROM = sql`from mcp_access_requests r join mcp_servers s on s.tenant_id = r.tenant_id and s.id = r.server_id`;

/** Returns `taken` if a request for the same agent or user is already pending. */
export async function insertMcpRequest(
  db: TenantDb,
  server: string,
  { id, kind, subject, tool_allow, reason, by }: NewMcpRequest,
): Promise<McpRequestRow | 'taken' | 'full'> {
  const written = await unlessTaken(
    'full',
    inTransaction(db, async (tx) => {
      await lockMcpServer(tx, server);
      return readRow<{ id: string }>(tx)`
      insert into mcp_access_requests (tenant_id, id, server_id, kind, subject, tool_allow, reason, requested_by)
      select ${tx}, ${id}, ${server}, ${kind}, ${subject}, ${[...tool_allow]}, ${reason}, ${by}
      where (select count(*) from mcp_access_requests
             where tenant_id = ${tx} and server_id = ${server} and status = 'pending') < ${MAX_PENDING_REQUESTS}
      returning id`;
    }),
  );
  if (typeof written === 'string') return written;
  // Its server was removed in the meantime, and the request with it.
  return (await findMcpRequest(db, id)) ?? 'full';
}

export function findMcpRequest(db: TenantDb, id: string): Promise<McpRequestRow | undefined> {
  return readRow<McpRequestRow>(db)`
    select ${COLUMNS} ${FROM} where r.tenant_id = ${db} and r.id = ${id}`;
}

export interface McpRequestFilter {
  readonly status?: McpRequestStatus | undefined;
  readonly server?: string | undefined;
  /** Only those that this requester has made. */
  readonly by?: string | undefined;
}

/** Lists the newest first. */
export function listMcpRequests(
  db: TenantDb,
  { status, server, by }: McpRequestFilter,
  limit: number,
  after: PageEnd | undefined,
): Promise<McpRequestRow[]> {
  return readRows<McpRequestRow>(db)`
    select ${COLUMNS} ${FROM}
    where r.tenant_id = ${db} and (${status}::text is null or r.status = ${status})
      and (${server}::text is null or s.name = ${server}) and (${by}::text is null or r.requested_by = ${by})
      ${below('r.created_at', 'r.id', after)}
    order by r.created_at desc, r.id limit ${limit}`;
}

export interface McpReview {
  readonly status: Exclude<McpRequestStatus, 'pending'>;
  readonly reason: string | null;
  readonly by: string;
}

/**
 * Whether this review decided it: another may have been first. @throws Failure when the server cannot have another
 * grant; nothing is decided then.
 */
export function reviewMcpRequest(
  db: TenantDb,
  { id, server_id, server }: Pick<McpRequestRow, 'id' | 'server_id' | 'server'>,
  { status, reason, by }: McpReview,
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    // The lock comes before the request's, because a removal locks in this order. Reviews for one grant follow one
    // another.
    await execute(tx)`
      select from mcp_servers where tenant_id = ${tx} and id = ${server_id} for update`;
    const access = await readRow<RequestedAccess>(tx)`
      update mcp_access_requests set status = ${status}, reviewed_by = ${by}, reviewed_at = now(), review_reason = ${reason}
      where tenant_id = ${tx} and id = ${id} and status = 'pending' returning kind, subject, tool_allow`;
    if (!access || status === 'rejected') return access !== undefined;
    const before = await readRow<McpGrant>(tx)`
      select kind, subject, tool_allow, tool_deny, enabled, config_overrides from mcp_grants
      where tenant_id = ${tx} and server_id = ${server_id} and kind = ${access.kind} and subject = ${access.subject}`;
    if (!(await putMcpGrant(tx, server_id, { ...grantWith(before, access), by })))
      throw limitReached(MAX_MCP_GRANTS, `grants of ${server}`);
    return true;
  });
}
