/** Tokens with which another system decides an approval as a Temporal client (docs/temporal-contract.md). */
import { z } from 'zod';
import { decisionToken } from '#policy/decision-token.ts';
import type { ApprovalRow } from '#store/approval-store.ts';
import { type Decider, deciderProblem } from '#domain/approval-decider.ts';
import { Failure } from '#domain/errors.ts';
import { approvalTokenCreateSchema, approvalTokenSchema } from '#domain/schema/approval.ts';
import { type Caller, callerOf, requireOwnUser, signatureOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { approvalOr404 } from '../found.ts';
import { problems } from '../openapi.ts';

export function addApprovalTokenRoutes(app: Api, deps: ApiDeps): void {
  app.post(
    '/v1/approvals/:id/token',
    {
      config: { scope: 'approve', shownOnce: ['token'] },
      preValidation: async (request) => void (await approvalOr404(deps.pool, request)),
      schema: {
        tags: ['approvals'],
        operationId: 'createDecisionToken',
        summary: 'Make a token that decides an approval over Temporal',
        description:
          'For the update or signal `decide` of a Temporal client. It works for any decision until the approval ends. A key makes tokens for its own user; an admin’s for everybody.',
        params: z.object({ id: z.string() }),
        body: approvalTokenCreateSchema,
        response: {
          200: approvalTokenSchema,
          ...problems('NotFound', 'Conflict', 'Unprocessable', 'IdempotencyInFlight', 'IdempotencyMismatch'),
        },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const approval = await approvalOr404(deps.pool, request);
      if (approval.status !== 'pending') throw new Failure('Conflict', 'The approval does not wait any more');
      const by = request.body.by ?? caller.user ?? undefined;
      requireDecider(approval, caller, by);
      return {
        approval_id: approval.id,
        token: decisionToken(deps.tokenSecret, caller.tenant, approval.id, by),
        by: by ?? null,
        expires_at: approval.expires_at.toISOString(),
      };
    },
  );
}

/** Nobody gets more by a token than by the key: throws Forbidden, or Unprocessable for another user. */
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
  // All that the token will prove of its sender.
  const proven: Decider =
    by === undefined
      ? { ...own, proof: 'claim' }
      : { by, user: by, scopes: ['approve'], proof: isForOther ? 'key' : 'token' };
  const problem = (isForOther ? undefined : problemAs(own)) ?? problemAs(proven);
  if (problem === undefined) return;
  if (isForOther) throw new Failure('Unprocessable', `${by} may not decide this approval: ${problem}`);
  throw new Failure('Forbidden', `A token of this key may not decide this approval: ${problem}`);
}
