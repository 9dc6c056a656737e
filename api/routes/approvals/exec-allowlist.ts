/** Serves the commands that are always allowed, from their rows. */
import { displayEntry } from '@tempoclaw/shell-judge';
import { type AllowlistRow, listAllowlist, revokeAllowlistEntry } from '#store/approvals/allowlist-store.ts';
import { execAllowlist } from '#domain/resource/exec-allowlist.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { Api, ApiDeps } from '../../deps.ts';
import { readTimePage } from '../../server/pages.ts';
import { serveResource } from '../../serve-resource.ts';

export function addRoutes(app: Api, { pool }: ApiDeps): void {
  serveResource(app, execAllowlist, {
    listExecAllowlist: ({ tenant, caller, query }) =>
      readTimePage(
        query,
        (limit, after) =>
          listAllowlist(forTenant(pool, tenant), { ...query, viewer: caller.user }, limit, after),
        (row) => [row.created_text, row.id],
        showEntry,
      ),
    deleteExecAllowlistEntry: ({ tenant, caller, by, params }) =>
      revokeAllowlistEntry(forTenant(pool, tenant), caller.user, params.id, by),
  });
}

function showEntry(row: AllowlistRow) {
  const { id, agent_key, user_id, tool, pattern, approval_id, created_by, created_at } = row;
  return {
    id,
    agent: agent_key,
    user: user_id,
    tool,
    allows: displayEntry(pattern),
    approval_id,
    created_by,
    created_at: created_at.toISOString(),
  };
}
