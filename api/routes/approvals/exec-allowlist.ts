/** Serves the commands that are always allowed, from their rows. */
import { displayEntry } from '@tempoclaw/shell-judge';
import { type AllowlistRow, listAllowlist, revokeAllowlistEntry } from '#store/approvals/allowlist-store.ts';
import { execAllowlist } from '#domain/resource/exec-allowlist.ts';
import type { Api } from '../../deps.ts';
import { readCreatedPage } from '../../server/pages.ts';
import { serveResource } from '../../serve-resource.ts';

export function addRoutes(app: Api): void {
  serveResource(app, execAllowlist, {
    listExecAllowlist: ({ db, caller, query }) =>
      readCreatedPage(
        query,
        (limit, after) => listAllowlist(db, { ...query, viewer: caller.user }, limit, after),
        showEntry,
      ),
    deleteExecAllowlistEntry: ({ db, caller, by, params }) =>
      revokeAllowlistEntry(db, caller.user, params.id, by),
  });
}

function showEntry(row: AllowlistRow) {
  return { ...row, agent: row.agent_key, user: row.user_id, allows: displayEntry(row.pattern) };
}
