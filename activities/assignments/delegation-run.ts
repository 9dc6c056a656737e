/** What a delegation's workflow asks of the world: its row's begin and end, and the message that tells of it (DE-2). */
import {
  DELEGATION_LIMITS,
  type DelegationActivities,
  type FinishDelegationInput,
  type FinishedDelegation,
} from '#domain/delegation.ts';
import { delegationResults, syncDelegationText, whyNot } from '#domain/delegation-words.ts';
import { GATE_WORDS, gateWarnings } from '#domain/gate.ts';
import { announcementIdOf } from '#domain/ids.ts';
import { LOST_END } from '#domain/lost-work.ts';
import { MODEL_RESULT_BYTES } from '#domain/tool.ts';
import { activityFailure, failingAs, recordFailure } from '../activity-failure.ts';
import { cutText } from '#domain/cut-text.ts';
import type { DelegationEnd, DelegationRow, DelegationStore, WorkEnd } from '#store/delegation-store.ts';
import type { GateRow } from '#store/gate-store.ts';
import type { WakeSession } from '../turn/wake-session.ts';

export interface DelegationRunDeps {
  readonly delegations: DelegationStore;
  readonly gateRows: (tenant: string, ownerId: string) => Promise<readonly GateRow[]>;
  readonly wake: WakeSession;
  /** Ends what still runs in a session, and all that it has started. */
  readonly stopSession: (tenant: string, session: string, by: string) => Promise<void>;
}

export function createDelegationActivities(deps: DelegationRunDeps): DelegationActivities {
  return {
    begin_delegation: failingAs(recordFailure, ({ tenant, delegation_id }) =>
      deps.delegations.begin(tenant, delegation_id),
    ),
    has_pending_work: failingAs(recordFailure, ({ tenant, session_key }) =>
      deps.delegations.hasPendingWork(tenant, session_key),
    ),
    finish_delegation: failingAs(recordFailure, (input) => finish(deps, input)),
    announce_delegations: failingAs(activityFailure, ({ tenant, delegation_id }) =>
      announceDelegations(deps, tenant, delegation_id),
    ),
  };
}

async function finish(deps: DelegationRunDeps, input: FinishDelegationInput): Promise<FinishedDelegation> {
  const { tenant, delegation_id: id } = input;
  const row = await deps.delegations.find(tenant, id);
  // Its tenant was deleted under it: nobody is left to be told.
  if (!row) return { status: input.status, ok: false, untold: 0 };
  // Before the record, so that who reads the end may rely on theirs being near.
  if (input.status !== 'completed') await deps.stopSession(tenant, row.session_key, input.by ?? 'system');
  const work = await deps.delegations.workEnd(tenant, row.session_key);
  const checks = row.gates.length > 0 ? await deps.gateRows(tenant, id) : [];
  const finished = await deps.delegations.finish(tenant, id, endOf(input, row, work, checks));
  if (!finished) return { status: input.status, ok: false, untold: 0 };
  if (finished.pending) return { status: input.status, ok: false, untold: 0, pending: true };
  const status = finished.row.status as FinishedDelegation['status'];
  return { status, ok: status === 'completed', untold: finished.untold };
}

function endOf(
  input: FinishDelegationInput,
  row: DelegationRow,
  work: WorkEnd | undefined,
  checks: readonly GateRow[],
): DelegationEnd {
  if (input.lost) return LOST_END;
  const end = {
    status: input.status,
    result: work?.status === 'completed' ? work.text : null,
    error: errorOf(input, work, checks),
    warnings: input.status === 'completed' ? gateWarnings(checks) : [],
    by: input.by ?? null,
    silent: input.silent ?? false,
  };
  return { ...end, call: callResult({ ...row, ...end, target_key: row.target_key }) };
}

function errorOf(
  { status, blocked, reason }: FinishDelegationInput,
  work: WorkEnd | undefined,
  checks: readonly GateRow[],
): DelegationEnd['error'] {
  if (status !== 'failed') return null;
  if (blocked) {
    const check = checks.find(({ gate, attempt }) => gate === blocked.gate && attempt === blocked.attempt);
    const why = check?.feedback ?? 'it did not pass';
    const message = GATE_WORDS.blocked(check?.name ?? `${blocked.gate}`, why, blocked.attempt);
    return { code: 'GateBlocked', message };
  }
  return work?.error ?? { code: 'ExecutionFailed', message: reason ?? 'it ended without an answer' };
}

function callResult(row: DelegationRow): DelegationEnd['call'] {
  switch (row.status) {
    case 'completed':
      return {
        ok: true,
        text: cutText(syncDelegationText(row), MODEL_RESULT_BYTES, `/v1/delegations/${row.id}`).text,
      };
    case 'cancelled':
      return { ok: false, code: 'Cancelled', text: `Cancelled: Delegation '${row.id}' was cancelled.` };
    case 'timeout':
      return {
        ok: false,
        code: 'Timeout',
        text: `Timeout: agent "${row.target_key}" was ended after ${row.timeout_seconds} s.`,
      };
    default:
      return {
        ok: false,
        code: 'ExecutionFailed',
        text: `ExecutionFailed: [Delegation to ${row.target_key} failed: ${whyNot(row)}]`,
      };
  }
}

/**
 * Exactly once: the rows are claimed first, and each message has an id that follows from its claim. One message for all,
 * unless there are too many for one.
 */
export async function announceDelegations(
  deps: Pick<DelegationRunDeps, 'delegations' | 'wake'>,
  tenant: string,
  by: string,
): Promise<void> {
  for (let part = 0; ; part += 1) {
    const claim = part === 0 ? by : `${by}.${part}`;
    const claimed = await deps.delegations.claimResults(tenant, by, claim, DELEGATION_LIMITS.told);
    if (!claimed) return;
    const [first] = claimed.told;
    await deps.wake({
      tenant,
      session: claimed.session,
      messageId: announcementIdOf(claim),
      text: delegationResults(claimed.told),
      mode: 'queue',
      context: claimed.context,
      from: first && { session: claimed.session, turn: first.origin_turn },
    });
    if (claimed.more === 0) return;
  }
}
