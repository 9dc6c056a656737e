/** Takes what a client of a protocol sends about calls that wait: results of its own tools, and decisions. */
import { Failure } from '#domain/errors.ts';
import { type ApprovalRow, findVisibleApproval } from '#store/approvals/approval-store.ts';
import { decidedAt } from '#store/event-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findOpenTurn } from '#store/turns/turn-store.ts';
import { decideAs } from './approvals/decide-as.ts';
import type { ApiDeps } from './deps.ts';
import { reachableSession } from './found.ts';
import { type Caller, requireScope } from './server/auth.ts';
import { lastEventOf, type StartedTurn } from './turn-follower.ts';

export interface CallAnswers {
  /** `call`: the id of the approval of a tool that the client runs. */
  readonly results: readonly { readonly call: string; readonly text: string }[];
  readonly decisions: readonly {
    readonly approval: string;
    readonly approve: boolean;
    readonly reason?: string | undefined;
  }[];
}

export interface AnsweredTurn extends StartedTurn {
  /** Ids of the calls that were decided, whose results the turn has next. */
  readonly decided: readonly string[];
}

/** Sends results and decisions; undefined when there are none. A repeated one changes nothing. */
export async function answerCalls(
  deps: ApiDeps,
  caller: Caller,
  { results, decisions }: CallAnswers,
): Promise<AnsweredTurn | undefined> {
  const required = [...results.map(({ call }) => call), ...decisions.map(({ approval }) => approval)];
  if (required.length === 0) return undefined;
  const rows = await Promise.all(required.map((id) => approvalOf(deps, caller, id)));
  const [first] = rows;
  if (!first || rows.some(({ turn_id: turn }) => turn !== first.turn_id))
    throw new Failure('InvalidInput', 'The results are of calls of several turns; send those of one');
  const started = {
    session: first.session_key,
    id: first.turn_id,
    after: await answeredAfter(deps, caller, rows),
    decided: rows.slice(results.length).map(({ call_id: call }) => call),
  };
  for (const [at, { text }] of results.entries()) {
    const row = rows[at];
    if (!row?.terms.client_tool)
      throw new Failure('InvalidInput', `${required[at]} is no call of a tool of yours; it needs a decision`);
    if (row.status === 'pending')
      await decideAs(deps, caller, row, { decision: 'respond', text: cutResult(text), digest: row.digest });
  }
  for (const [at, { approve, reason }] of decisions.entries()) {
    const row = rows[results.length + at];
    if (row?.status !== 'pending') continue;
    requireScope(caller, 'approve');
    const body = approve ? { decision: 'approve' as const } : { decision: 'reject' as const, reason };
    await decideAs(deps, caller, row, { ...body, digest: row.digest });
  }
  return started;
}

/** What follows answers that were all sent before is sent again. */
async function answeredAfter(
  deps: ApiDeps,
  { tenant }: Caller,
  rows: readonly ApprovalRow[],
): Promise<number> {
  const db = forTenant(deps.pool, tenant);
  const times = await Promise.all(rows.map((row) => decidedAt(db, row)));
  const isNew = times.some((at) => at === undefined);
  return isNew ? lastEventOf(deps, tenant, rows[0]?.session_key ?? '') : Math.max(...times.map(Number));
}

async function approvalOf(deps: ApiDeps, caller: Caller, id: string): Promise<ApprovalRow> {
  const row = await findVisibleApproval(forTenant(deps.pool, caller.tenant), caller, id);
  // Approvals of nobody's turns are seen by all, but only who reaches the conversation speaks in it.
  if (!row || !(await reachableSession(deps.pool, caller, row.session_key)))
    throw new Failure('NotFound', `There is no call ${id.slice(0, 200)}`);
  return row;
}

/** What a decision takes. */
const MAX_RESULT = 16_384;

function cutResult(text: string): string {
  if (text.length <= MAX_RESULT) return text || '(no output)';
  const end = `\n[cut: ${text.length} characters]`;
  return `${text.slice(0, MAX_RESULT - end.length)}${end}`;
}

/** A message would wait behind the turn, and its sender for an answer that nobody announces. */
export async function refuseWhileWaiting(
  { pool }: Pick<ApiDeps, 'pool'>,
  tenant: string,
  session: string,
): Promise<void> {
  const open = await findOpenTurn(forTenant(pool, tenant), session);
  if (open?.status === 'waiting_approval')
    throw new Failure(
      'Conflict',
      `The conversation waits for an approval (turn ${open.id}); decide it, then send the message again`,
    );
}
