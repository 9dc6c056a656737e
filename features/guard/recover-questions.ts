/**
 * Asks people again where nothing asks them: the API process may have died between the row and the start of its workflow,
 * and the program that would have repeated the request as well.
 */
import { createConcurrencyLimit } from '#domain/async/concurrency-limit.ts';
import { approvalWorkflowId } from '#domain/ids.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { questionStart } from './question-start.ts';
import { findGuardedCall, type OldQuestion, oldQuestions } from './store.ts';

export interface RecoverDeps {
  readonly pool: Pool;
  readonly reach: Pick<WorkflowReach, 'stateOf' | 'start' | 'cancel'>;
}

/** Longer than a request needs to start its workflow. */
const LOST_SECONDS = 60;
/** Rows read at a time. */
const PAGE = 500;
/** Questions checked at the same time: each is a request to Temporal. */
const MAX_CHECKS = 16;

/** Of all tenants. Returns how many it started or withdrew. Safe to repeat, also concurrently. @throws Failure */
export async function recoverQuestions(deps: RecoverDeps): Promise<number> {
  const limit = createConcurrencyLimit(MAX_CHECKS);
  let count = 0;
  for (let after: OldQuestion | undefined; ; ) {
    const page = await oldQuestions(deps.pool, LOST_SECONDS, after, PAGE);
    const found = await Promise.all(page.map((one) => limit.pass('check', () => recoverQuestion(deps, one))));
    count += found.filter(Boolean).length;
    after = page.at(-1);
    if (page.length < PAGE) return count;
  }
}

async function recoverQuestion({ pool, reach }: RecoverDeps, question: OldQuestion): Promise<boolean> {
  const { tenant_id: tenant, call_id, approval_id, is_ended } = question;
  const id = approvalWorkflowId(approval_id);
  const isRunning = (await reach.stateOf(id)) === 'running';
  if (!isRunning) {
    // A run that ends by itself has recorded that first.
    const row = await findGuardedCall(forTenant(pool, tenant), call_id);
    const start = row && questionStart(tenant, row);
    if (!start) return false;
    await reach.start(start);
  }
  // Nobody waits for the decision: the request that ended the call did not reach the workflow.
  if (is_ended) await reach.cancel(id);
  return is_ended || !isRunning;
}
