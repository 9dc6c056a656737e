/** Decides in the name of a caller. The key says who decides; the body says only what. */
import type { z } from 'zod';
import { type ApprovalRow, decisionPlace } from '#store/approvals/approval-store.ts';
import { type DecideInput, readDecision } from '#domain/approval/approval.ts';
import { isAgreement, votesNeeded } from '#domain/approval/approval-votes.ts';
import { Failure } from '#domain/errors.ts';
import type { DecisionReceipt, decisionSchema } from '#domain/schema/approval.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { refuseFrozen } from '#store/tenant-freeze.ts';
import { type Caller, signatureOf } from '../server/auth.ts';
import { decideApproval, type DecisionSender } from './decide-approval.ts';
import type { ApiDeps } from '../deps.ts';

export type DecisionBody = z.output<typeof decisionSchema>;

/**
 * Throws as `decideApproval` does. Counts the outcome in metrics. `key` identifies the request in case it is repeated.
 */
export function decideAs(
  deps: ApiDeps,
  caller: Caller,
  approval: ApprovalRow,
  body: DecisionBody,
  key?: string,
): Promise<DecisionReceipt> {
  const { user, keyId, groups } = caller;
  const scopes = [...caller.scopes];
  return sendDecision(deps, caller.tenant, approval, body, {
    by: signatureOf(caller),
    user,
    scopes,
    groups,
    keyId,
    via: 'api',
    key,
  });
}

export async function sendDecision(
  deps: ApiDeps,
  tenant: string,
  approval: ApprovalRow,
  { decision: word, scope, ...rest }: DecisionBody,
  sender: DecisionSender,
): Promise<DecisionReceipt> {
  // Links and buttons have no key that was checked for this.
  await refuseFrozen(forTenant(deps.pool, tenant));
  const decision = scope === 'always' ? 'approve_always' : readDecision(word);
  if (!decision) throw new Failure('InvalidInput', `${word} is not a decision`);
  const { args, reason, text } = rest;
  // A vote is for one call. If it does not say which, it is for the call that is current when it comes.
  const isQuorum = votesNeeded(approval.terms) > 1 && isAgreement(decision);
  const digest = rest.digest ?? (isQuorum ? approval.digest : undefined);
  const options = { args, reason, text, digest, decision, by: sender.by };
  const { input, sealedArgs } = await hide(deps, tenant, approval, options);
  try {
    const receipt = await decideApproval(deps, tenant, approval, input, { ...sender, sealedArgs });
    deps.metrics.decided(receipt.already ? 'repeated' : 'decided');
    return receipt;
  } catch (error) {
    deps.metrics.decided(
      error instanceof Failure && error.type !== 'Unavailable' ? 'refused' : 'unavailable',
    );
    throw error;
  }
}

/**
 * SC-3: a decision's words go into Temporal's history, so secrets in them are hidden. The real arguments of an edit are
 * sealed beside it.
 */
async function hide(
  { secrets }: ApiDeps,
  tenant: string,
  { id }: ApprovalRow,
  input: DecideInput,
): Promise<{ readonly input: DecideInput; readonly sealedArgs?: string }> {
  const scrubber = await secrets.vault.scrubberOf(tenant);
  const { reason, text, args } = input;
  const words = { ...input, reason: reason && scrubber.text(reason), text: text && scrubber.text(text) };
  if (args === undefined) return { input: words };
  const [shown, real] = [scrubber.args(args), JSON.stringify(args)];
  if (JSON.stringify(shown) === real) return { input: words };
  const sealedArgs = secrets.sealer.seal(real, decisionPlace(tenant, id));
  return { input: { ...words, args: shown }, sealedArgs };
}
