/** Sends an API decision (AP-2) to the approval's workflow, or answers it from its row when the workflow has ended. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ApprovalRow,
  findApproval,
  hasDecision,
  insertDecisionProof,
} from '#store/approvals/approval-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { alreadyDecided, type DecideInput, isSameDecision } from '#domain/approval/approval.ts';
import type { DecisionReceipt } from '#domain/schema/approval.ts';
import { requestProblem } from '#domain/approval/approval-decider.ts';
import { Failure } from '#domain/errors.ts';
import type { Scope } from '#domain/schema/api-key.ts';
import { type TenantDb, forTenant } from '#store/postgres/tenant-db.ts';
import type { ApiDeps } from '../deps.ts';
import { createConcurrencyLimit } from '../../domain/async/concurrency-limit.ts';

/**
 * How long a decision waits for its workflow. A worker, which may be busy, starts the workflow right after its row is
 * written. The row is settled right before the workflow ends.
 */
const NOT_THERE_MS = 20_000;
const AGAIN_MS = 150;

/** Who decides, according to the credential of the request. */
export interface DecisionSender {
  readonly by: string;
  readonly user: string | null;
  readonly scopes: readonly Scope[];
  /** None where the way of the decision knows no groups. */
  readonly groups?: readonly string[];
  readonly keyId: string | null;
  readonly via: 'api' | 'link';
  /** The link that this decision uses up. */
  readonly linkId?: string;
  /** See insertDecisionProof. */
  readonly sealedArgs?: string | undefined;
  /** Identifies the request. When it is sent again, it counts as the same decision. */
  readonly key?: string | undefined;
}

/**
 * Is safe to repeat: the first decision wins, and a repeat of it gets the same receipt. Throws AlreadyDecided (who and
 * when), ApprovalExpired, ApprovalWithdrawn, and what the workflow refuses. Without a sender, `by` is an unproven
 * claim.
 */
export function decideApproval(
  deps: Pick<ApiDeps, 'pool' | 'temporal'>,
  tenant: string,
  approval: ApprovalRow,
  decision: DecideInput,
  sender?: DecisionSender,
): Promise<DecisionReceipt> {
  return limit.pass(`${tenant}/${approval.id}`, async (waited) => {
    // A decision that went before this one may have settled it.
    const row = waited ? await readAgain(forTenant(deps.pool, tenant), approval.id) : approval;
    return send(deps, tenant, row, decision, sender);
  });
}

/** Stays under the ten updates that Temporal accepts of one run at a time, also with several API processes. */
const limit = createConcurrencyLimit(4);

async function send(
  deps: Pick<ApiDeps, 'pool' | 'temporal'>,
  tenant: string,
  approval: ApprovalRow,
  decision: DecideInput,
  sender: DecisionSender | undefined,
): Promise<DecisionReceipt> {
  const db = forTenant(deps.pool, tenant);
  // The workflow may end before it can answer the winner. The row then shows by this key who won.
  const key = sender?.key ?? randomUUID();
  if (approval.status !== 'pending')
    return answerFromRow(approval, decision, await isRecorded(deps.pool, approval, tenant, key));
  if (sender) {
    const { terms, user_id: requester, digest, escalated_at } = approval;
    const question = { terms, requester, digest, escalated: escalated_at !== null };
    // This check precedes Temporal, because a workflow accepts a limited number of messages.
    const problem = requestProblem(approval.id, decision, question, { ...sender, proof: 'key' });
    if (problem) throw new Failure(problem.type, problem.message);
    await insertDecisionProof(db, approval.id, key, sender);
  }
  for (let missingSince = Infinity; ; ) {
    const receipt = await deps.temporal.decide(approval.id, decision, key);
    if (receipt) return receipt;
    missingSince = Math.min(missingSince, Date.now());
    await sleep(AGAIN_MS);
    const row = await readAgain(db, approval.id);
    if (row.status !== 'pending')
      return answerFromRow(row, decision, await isRecorded(deps.pool, row, tenant, key));
    if (Date.now() - missingSince > NOT_THERE_MS) throw notThere(row);
  }
}

async function readAgain(db: TenantDb, id: string): Promise<ApprovalRow> {
  const row = await findApproval(db, id);
  if (!row) throw new Failure('NotFound', 'There is no approval with this id');
  return row;
}

function notThere(row: ApprovalRow): Failure {
  return row.is_over
    ? new Failure(
        'ApprovalExpired',
        `Approval ${row.id} expired at ${row.expires_at.toISOString()}; nothing has run`,
      )
    : new Failure(
        'Unavailable',
        `Nothing was decided: the workflow of approval ${row.id} does not run yet; decide again in a moment`,
      );
}

/** Whether the decision with this key counted, though its answer was lost when the workflow ended. */
async function isRecorded(pool: Pool, row: ApprovalRow, tenant: string, key: string): Promise<boolean> {
  return (
    row.decision_key === key || (isQuorum(row) && (await hasDecision(forTenant(pool, tenant), row.id, key)))
  );
}

function isQuorum({ terms }: ApprovalRow): boolean {
  return (terms.quorum ?? 1) > 1;
}

function answerFromRow(row: ApprovalRow, { decision }: DecideInput, isMine: boolean): DecisionReceipt {
  const by = row.decided_by ?? 'system';
  const at = (row.decided_at ?? row.expires_at).toISOString();
  if (row.status === 'expired')
    throw new Failure('ApprovalExpired', `Approval ${row.id} expired at ${at}; nothing has run`);
  if (row.status === 'withdrawn')
    throw new Failure(
      'ApprovalWithdrawn',
      by === 'system'
        ? `Approval ${row.id} was withdrawn at ${at}: its turn was stopped`
        : `Approval ${row.id} was withdrawn by ${by} at ${at}`,
    );
  const isMade = row.decision === decision || row.status === 'approved';
  if (isMine ? isMade : isSameDecision(decision, row.decision))
    return {
      approval_id: row.id,
      status: row.status,
      decision,
      decided_by: by,
      decided_at: at,
      already: isMine ? undefined : (true as const),
    };
  throw new Failure('AlreadyDecided', alreadyDecided(row.id, row.status, by, at), {
    decided_by: by,
    decided_at: at,
    decision: row.decision,
  });
}
