/** Serves the making and the end of links that decide an approval. */
import { randomBytes } from 'node:crypto';
import { type ApprovalRow, findVisibleApproval } from '#store/approvals/approval-store.ts';
import { deciderProblem } from '#domain/approval/approval-decider.ts';
import { Failure } from '#domain/errors.ts';
import type { Scope } from '#domain/schema/api-key.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { type Caller, requireOwnUser } from '#api/server/auth.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { type Call, serveResource } from '#api/serve-resource.ts';
import { hashToken } from '../own-link.ts';
import { approvalLinks } from '../resource.ts';
import { insertApprovalLink, revokeApprovalLink } from '../store.ts';

export function addRoutes(app: Api, deps: ApiDeps): void {
  const find = (caller: Caller, id: string) =>
    findVisibleApproval(forTenant(deps.pool, caller.tenant), caller, id);
  serveResource(
    app,
    approvalLinks,
    {
      async createApprovalLink(call) {
        const row = await find(call.caller, call.params.id);
        return row && makeLink(deps, row, call);
      },
      async revokeApprovalLink({ db, params }) {
        if (await revokeApprovalLink(db, params.id, params.link)) return true;
        throw new Failure('NotFound', 'The approval has no such link');
      },
    },
    find,
  );
}

async function makeLink(
  { settings }: ApiDeps,
  { id: approvalId, terms, user_id: requester }: ApprovalRow,
  { caller, db, by, body, request }: Call<(typeof approvalLinks.operations)['createApprovalLink']>,
) {
  const { for: user, decision = null, expires_seconds: seconds = null } = body;
  requireOwnUser(caller, user, 'links');
  const scopes: Scope[] = caller.user === user ? [...caller.scopes] : ['approve'];
  // The token may be for people who may decide only later.
  const who = { by: user, user, scopes, proof: 'key' as const };
  const problem = deciderProblem({ terms, requester, escalated: true }, who);
  if (problem !== undefined)
    throw new Failure('Unprocessable', `${user} may not decide this approval: ${problem}`);
  const token = randomBytes(32).toString('base64url');
  const id = `lnk_${randomBytes(9).toString('hex')}`;
  const link = { id, approvalId, hash: hashToken(token), user, scopes, decision, createdBy: by, seconds };
  const expires = await insertApprovalLink(db, link);
  if (!expires)
    throw new Failure(
      'Conflict',
      'The approval does not wait any more, or has too many links that were not used',
    );
  const base = settings.publicUrl?.replace(/\/+$/, '') ?? `${request.protocol}://${request.host}`;
  return { id, url: `${base}/a/${token}`, for: user, decision, expires_at: expires };
}
