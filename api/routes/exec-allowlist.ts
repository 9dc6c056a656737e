/** What was allowed always: rows behind the definition. */
import { type AllowlistRow, listAllowlist, revokeAllowlistEntry } from '#store/allowlist-store.ts';
import { execAllowlist } from '#domain/resource/exec-allowlist.ts';
import { shownEntry } from '#domain/shell/allowlist.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { isTimeKeys, readPage } from '../pages.ts';
import { serveResource } from '../serve-resource.ts';

export function addExecAllowlistRoutes(app: Api, { pool }: ApiDeps): void {
  serveResource(app, execAllowlist, {
    listExecAllowlist: ({ tenant, caller, query }) =>
      readPage(
        query,
        (limit, after) =>
          listAllowlist(
            pool,
            tenant,
            { viewer: caller.user, agent: query.agent, user: query.user },
            limit,
            after && [String(after[0]), String(after[1])],
          ),
        (row) => [row.created_text, row.id],
        showEntry,
        isTimeKeys,
      ),
    deleteExecAllowlistEntry: ({ tenant, caller, by, params }) =>
      revokeAllowlistEntry(pool, tenant, caller.user, params.id, by),
  });
}

function showEntry(row: AllowlistRow) {
  const { id, agent_key, user_id, tool, pattern, approval_id, created_by, created_at } = row;
  return {
    id,
    agent: agent_key,
    user: user_id,
    tool,
    allows: shownEntry(pattern),
    approval_id,
    created_by,
    created_at: created_at.toISOString(),
  };
}
