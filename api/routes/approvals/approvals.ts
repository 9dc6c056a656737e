/** Serves approvals: what waits for a person, and the decision. It also makes tokens for Temporal clients to decide with. */
import { randomBytes } from 'node:crypto';
import { decisionToken } from '#policy/decision-token.ts';
import {
  type ApprovalRow,
  findVisibleApproval,
  listApprovals,
  listDecisions,
} from '#store/approvals/approval-store.ts';
import { type Decider, deciderProblem } from '#domain/approval/approval-decider.ts';
import { Failure } from '#domain/errors.ts';
import { approvals } from '#domain/resource/approvals.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { readApprovalFilter } from '../../approvals/approval-filter.ts';
import { type Caller, requireOwnUser, signatureOf } from '../../server/auth.ts';
import { decideAs } from '../../approvals/decide-as.ts';
import { decideMany } from '../../approvals/decide-many.ts';
import type { Api, ApiDeps } from '../../deps.ts';
import { stemOf } from '../../server/idempotency.ts';
import { readCreatedPage } from '../../server/pages.ts';
import { serveResource } from '../../serve-resource.ts';
import { showApproval } from '../../approvals/show-approval.ts';
import { createTemporalLink } from '../../temporal-links.ts';

export function addRoutes(app: Api, deps: ApiDeps): void {
  const { pool } = deps;
  const link = createTemporalLink(deps.settings);
  const find = (caller: Caller, id: string) =>
    findVisibleApproval(forTenant(pool, caller.tenant), caller, id);

  serveResource(
    app,
    approvals,
    {
      listApprovals: ({ caller, db, query }) =>
        readCreatedPage(
          query,
          (limit, after) => listApprovals(db, caller, readApprovalFilter(query), limit, after),
          (row) => showApproval(row, link),
        ),
      async getApproval({ caller, db, params }) {
        const row = await find(caller, params.id);
        if (!row) return undefined;
        return { ...showApproval(row, link), decisions: await listDecisions(db, row.id) };
      },
      async decideApproval({ caller, params, body, request }) {
        const row = await find(caller, params.id);
        return row && decideAs(deps, caller, row, body, stemOf(request, caller, 'decision', row.id));
      },
      decideApprovals: ({ caller, body }) => decideMany(deps, caller, body),
      async createDecisionToken({ caller, tenant, params, body }) {
        const row = await find(caller, params.id);
        if (!row) return undefined;
        if (row.status !== 'pending') throw new Failure('Conflict', 'The approval does not wait any more');
        const by = body.by ?? caller.user ?? undefined;
        requireDecider(row, caller, by);
        const { decision, digest = row.digest } = body;
        if (digest !== row.digest)
          throw new Failure('Conflict', 'The call has been edited since you saw it; look at it again');
        const nonce = randomBytes(16).toString('base64url');
        const claims = { tenant, approval_id: row.id, decision, digest, by: by ?? null, nonce };
        return {
          approval_id: row.id,
          token: decisionToken(deps.tokenSecret, claims),
          decision,
          digest,
          by: by ?? null,
          expires_at: row.expires_at,
        };
      },
    },
    find,
  );
}

/** Ensures that a token grants no more than the key. Throws Forbidden, or Unprocessable for another user. */
function requireDecider(approval: ApprovalRow, caller: Caller, by: string | undefined): void {
  const { terms, user_id: requester, escalated_at } = approval;
  const isForOther = by !== undefined && by !== caller.user;
  if (isForOther) requireOwnUser(caller, by, 'tokens');
  const own = {
    by: signatureOf(caller),
    user: caller.user,
    scopes: [...caller.scopes],
    proof: 'key',
  } as const;
  const problemAs = (who: Decider): string | undefined =>
    deciderProblem({ terms, requester, escalated: escalated_at !== null }, who);
  // This is all that the token will prove of its sender.
  const proven: Decider =
    by === undefined
      ? { ...own, proof: 'claim' }
      : { by, user: by, scopes: ['approve'], proof: isForOther ? 'key' : 'token' };
  const problem = (isForOther ? undefined : problemAs(own)) ?? problemAs(proven);
  if (problem === undefined) return;
  if (isForOther) throw new Failure('Unprocessable', `${by} may not decide this approval: ${problem}`);
  throw new Failure('Forbidden', `A token of this key may not decide this approval: ${problem}`);
}
