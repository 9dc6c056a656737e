/** A decision by the API (AP-2): given to the approval's workflow, or answered from its row when that has ended. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApprovalRow, findApproval, hasDecision, insertDecisionProof } from '#store/approval-store.ts';
import type { Pool } from '#store/pool.ts';
import { type DecideInput, type DecisionReceipt, isSameDecision } from '#domain/approval.ts';
import { requestProblem } from '#domain/approval-decider.ts';
import { Failure } from '#domain/errors.ts';
import type { Scope } from '#domain/schema/api-key.ts';
import type { ApiDeps } from './deps.ts';
import { createConcurrencyLimit } from './concurrency-limit.ts';

/**
 * The workflow is started right after its row is written, by a worker that may be busy; its row is settled right before it ends. A decision
 * that comes before it waits for it so long.
 */
const NOT_THERE_MS = 20_000;
const AGAIN_MS = 150;

/** Who decides, by the credential that came with the request. */
export interface DecisionSender {
  readonly by: string;
  readonly user: string | null;
  readonly scopes: readonly Scope[];
  readonly keyId: string | null;
  readonly via: 'api' | 'link';
  /** Used up by the decision. */
  readonly linkId?: string;
  /** See insertDecisionProof. */
  readonly sealedArgs?: string | undefined;
  /** Names the request: sent once more it is no other decision. */
  readonly key?: string | undefined;
}

/**
 * Safe to repeat: the first decision wins, the same one again is told so. Throws AlreadyDecided (who and when),
 * ApprovalExpired, ApprovalWithdrawn, and what the workflow refuses. Without a sender `by` is a mere claim.
 */
export function decideApproval(
  deps: Pick<ApiDeps, 'pool' | 'temporal'>,
  tenant: string,
  approval: ApprovalRow,
  decision: DecideInput,
  sender?: DecisionSender,
): Promise<DecisionReceipt> {
  return limit.pass(`${tenant}/${approval.id}`, async (waited) => {
    // Those who were let in before may have settled it.
    const row = waited ? await readAgain(deps.pool, tenant, approval.id) : approval;
    return send(deps, tenant, row, decision, sender);
  });
}

/** Under the ten updates that Temporal takes of one run at a time, also with several API processes. */
const limit = createConcurrencyLimit(4);

async function send(
  deps: Pick<ApiDeps, 'pool' | 'temporal'>,
  tenant: string,
  approval: ApprovalRow,
  decision: DecideInput,
  sender: DecisionSender | undefined,
): Promise<DecisionReceipt> {
  // Its workflow may end before it can answer the one who won: then the row tells, by this key.
  const key = sender?.key ?? randomUUID();
  if (approval.status !== 'pending')
    return answerFromRow(approval, decision, await isRecorded(deps.pool, approval, tenant, key));
  if (sender) {
    const { terms, user_id: requester, digest, escalated_at } = approval;
    const question = { terms, requester, digest, escalated: escalated_at !== null };
    // Before Temporal, whose workflow takes so many messages only.
    const problem = requestProblem(approval.id, decision, question, { ...sender, proof: 'key' });
    if (problem) throw new Failure(problem.type, problem.message);
    await insertDecisionProof(deps.pool, tenant, approval.id, key, sender);
  }
  for (let missingSince = Infinity; ; ) {
    const receipt = await deps.temporal.decide(approval.id, decision, key);
    if (receipt) return receipt;
    missingSince = Math.min(missingSince, Date.now());
    await sleep(AGAIN_MS);
    const row = await readAgain(deps.pool, tenant, approval.id);
    if (row.status !== 'pending')
      return answerFromRow(row, decision, await isRecorded(deps.pool, row, tenant, key));
    if (Date.now() - missingSince > NOT_THERE_MS) throw notThere(row);
  }
}

async function readAgain(pool: Pool, tenant: string, id: string): Promise<ApprovalRow> {
  const row = await findApproval(pool, tenant, id);
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

/** Whether the decision with this key counted, though its answer was lost with the workflow's end. */
async function isRecorded(pool: Pool, row: ApprovalRow, tenant: string, key: string): Promise<boolean> {
  return row.decision_key === key || (isQuorum(row) && (await hasDecision(pool, tenant, row.id, key)));
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
  throw new Failure('AlreadyDecided', `Approval ${row.id} was ${row.status} by ${by} at ${at}`, {
    decided_by: by,
    decided_at: at,
    decision: row.decision,
  });
}
