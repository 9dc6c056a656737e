/** Decides approvals in the rows: one commit each, safe to repeat. */
import { type RawBuilder, sql } from 'kysely';
import { agreedPeople, isAgreement, votesNeeded } from '#domain/approval/approval-votes.ts';
import { BUDGET_ASK, type BudgetAsk } from '#domain/budget/budget.ts';
import type { NewEvent } from '#domain/event.ts';
import type { NoteApprovalInput, RefusedRequest, SettleApprovalResult } from '#domain/approval/approval.ts';
import { appendEvents, appendEventsUpwards, lockSession, settleCall } from '../turns/session-writes.ts';
import type { TenantDb, TenantTx } from '../postgres/tenant-db.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { refuseFrozen } from '../tenant-freeze.ts';
import type { NewRefusal, SettleRecord } from './settle-record.ts';

const CLOCK = sql<Date>`clock_timestamp()`;
const NOW = sql<Date>`now()`;

/** The result of a decision, and the session whose feed may have new events. */
export interface Answered<Result> {
  readonly session: string;
  readonly result: Result;
}

/**
 * Records a decision, and ends the approval once: with the first decision, or with the one that completes the quorum.
 * Later decisions get that outcome. An edit changes the call, so agreement to other arguments no longer counts. Without
 * a vote nothing is agreed in a quorum. The same commit uses up the link that a decision came by; a used link changes
 * nothing. Undefined when the approval does not exist. @throws Failure TenantFrozen, after which the caller tries again
 */
export function settleApproval(
  db: TenantDb,
  record: SettleRecord,
): Promise<Answered<SettleApprovalResult> | undefined> {
  return inTransaction(db, (tx) => settleWithin(tx, record));
}

/** The same as a part of a transaction. */
export async function settleWithin(
  tx: TenantTx,
  record: SettleRecord,
): Promise<Answered<SettleApprovalResult> | undefined> {
  const found = await lockApproval(tx, record.id);
  return found && { session: found.session_key, result: await settle(tx, found, record) };
}

type ApprovalRow = NonNullable<Awaited<ReturnType<typeof lockApproval>>>;

async function lockApproval(tx: TenantTx, id: string) {
  const approval = tx.selectFrom('approvals').where((is) => is.and({ tenant_id: tx.tenant, id }));
  const place = await approval.select('session_key').executeTakeFirst();
  if (!place) return undefined;
  await refuseFrozen(tx);
  await lockSession(tx, place.session_key);
  return approval.selectAll().forUpdate().executeTakeFirst();
}

async function settle(tx: TenantTx, found: ApprovalRow, record: SettleRecord): Promise<SettleApprovalResult> {
  if (found.status !== 'pending') {
    await deleteProofs(tx, found);
    return settledAs(found, found.decision_key === record.key);
  }
  if (record.vote && !(await takeLink(tx, found, record.key)))
    return { kind: 'refused', type: 'Conflict', message: 'this link was used, was revoked or has expired' };
  const { row, isNew } = await vote(tx, found, record);
  const quorum = record.status === 'approved' ? votesNeeded(row.terms) : 1;
  const agreed = quorum > 1 ? await agreedTo(tx, row) : [];
  if (agreed.length < quorum && quorum > 1)
    return {
      kind: 'counted',
      decision: record.decision ?? 'approve',
      by: record.by,
      at: new Date().toISOString(),
      approvals: agreed.length,
      quorum,
      already: !isNew,
      summary: row.summary,
      digest: row.digest,
    };
  return end(tx, row, record, quorum > 1 ? agreed.join(', ') : record.by);
}

async function end(
  tx: TenantTx,
  row: ApprovalRow,
  { status, decision, key, note, call, allow, by }: SettleRecord,
  signed: string,
): Promise<SettleApprovalResult> {
  const { tenant_id, id, call_id } = row;
  const place = { session: row.session_key, turn: row.turn_id };
  const isMore = status === 'approved' && row.tool === BUDGET_ASK;
  const ended = await tx
    .updateTable('approvals')
    .set({
      status,
      decision,
      decided_by: signed,
      decided_at: NOW,
      note,
      decision_key: key,
      changed_at: CLOCK,
    })
    .set({ used_at: isMore ? NOW : undefined })
    .where((is) => is.and({ tenant_id, id }))
    .returning(['status', 'decision', 'decided_by', 'decided_at', 'decision_key'])
    .executeTakeFirstOrThrow();
  await deleteProofs(tx, row);
  if (allow) {
    const { agent_key, user_id, tool } = row;
    await tx
      .insertInto('exec_allowlist')
      .values({ ...allow, tenant_id, agent_key, user_id, tool, approval_id: id, created_by: by })
      .onConflict((on) => on.doNothing())
      .execute();
  }
  const data = { approval_id: id, call_id, status, decision, by: signed, note };
  await appendEventsUpwards(tx, place, [{ type: 'approval.decided', data }]);
  // A question of an MCP server: the call continues with the answer, whatever it is.
  if (call && !row.form) await settleCall(tx, place, { ...call, id: call_id });
  await tx
    .updateTable('turns')
    .set({ status: 'running' })
    .where((is) => is.and({ tenant_id, id: row.turn_id, status: 'waiting_approval' }))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('approvals')
            .select('id')
            .where((is) => is.and({ tenant_id, turn_id: row.turn_id, status: 'pending' })),
        ),
      ),
    )
    .execute();
  // Accounts are locked after sessions, as everywhere.
  if (isMore) await allowMore(tx, row.args as BudgetAsk);
  return settledAs(ended, true);
}

function settledAs(
  {
    status,
    decision,
    decided_by,
    decided_at,
    decision_key,
  }: Pick<ApprovalRow, 'status' | 'decision' | 'decided_by' | 'decided_at' | 'decision_key'>,
  won: boolean,
): SettleApprovalResult {
  const at = (decided_at ?? new Date()).toISOString();
  return { kind: 'settled', status, decision, by: decided_by ?? '', at, won, key: decision_key };
}

/** All messages of the approval are processed, so none of its tokens is valid any more. */
async function deleteProofs(tx: TenantTx, { tenant_id, id }: ApprovalRow): Promise<void> {
  for (const table of ['decision_proofs', 'decision_tokens'] as const)
    await tx
      .deleteFrom(table)
      .where((is) => is.and({ tenant_id, approval_id: id }))
      .execute();
}

/** Adds to a budget's limit in the commit that settles the approval, so that it is added once. */
async function allowMore(tx: TenantTx, ask: BudgetAsk): Promise<void> {
  const { budget, subject, since, measure, more } = ask;
  await tx
    .insertInto('budget_accounts')
    .values({ tenant_id: tx.tenant, budget_id: budget, subject, since, measure, extra: more })
    .onConflict((on) =>
      on
        .columns(['tenant_id', 'budget_id', 'subject', 'since', 'measure', 'shard'])
        .doUpdateSet((is) => ({ extra: is('budget_accounts.extra', '+', is.ref('excluded.extra')) })),
    )
    .execute();
}

/**
 * Uses up the link (features/approval-links), if any, by which the decision with this key came. A repeat of the decision is accepted. False when
 * another decision has used the link, or when it has expired or was revoked.
 */
async function takeLink(tx: TenantTx, { tenant_id, id }: ApprovalRow, key: string): Promise<boolean> {
  const proof = await tx
    .selectFrom('decision_proofs')
    .select('link_id')
    .where((is) => is.and({ tenant_id, approval_id: id, key }))
    .executeTakeFirst();
  if (!proof?.link_id) return true;
  const { rows } = await sql`
    update approval_links set used_at = coalesce(used_at, now()), used_key = ${key}
      where tenant_id = ${tenant_id} and id = ${proof.link_id} and approval_id = ${id} and revoked_at is null
        and (used_key = ${key} or (used_key is null and expires_at > now())) returning 1`.execute(tx);
  return rows.length > 0;
}

/**
 * Records a decision, with its edit. A repeated request, and the same person agreeing to the same call again, change
 * nothing; `isNew` is false for the latter.
 */
async function vote(
  tx: TenantTx,
  row: ApprovalRow,
  { key, by, note, decision = 'approve', edit, vote: who }: SettleRecord,
): Promise<{ readonly row: ApprovalRow; readonly isNew: boolean }> {
  if (!who) return { row, isNew: true };
  const { tenant_id, id } = row;
  const agrees = isAgreement(decision);
  const before = await tx
    .selectFrom('approval_decisions')
    .select(['key', 'person', 'digest', sql<boolean>`${isVoteInForce('approval_decisions')}`.as('in_force')])
    .where((is) => is.and({ tenant_id, approval_id: id }))
    .execute();
  if (before.some((one) => one.key === key)) return { row, isNew: true };
  const repeats = (one: (typeof before)[number]): boolean =>
    one.in_force && one.person !== null && one.person === who.person && one.digest === row.digest;
  if (agrees && !edit && before.some(repeats)) return { row, isNew: false };
  const now = edit ? await edited(tx, row, edit) : row;
  await tx
    .updateTable('approvals')
    .set({ changed_at: CLOCK })
    .where((is) => is.and({ tenant_id, id }))
    .execute();
  const digest = agrees ? now.digest : null;
  await tx
    .insertInto('approval_decisions')
    .values({ ...who, tenant_id, approval_id: id, key, decision, by, digest, note })
    .execute();
  const quorum = votesNeeded(row.terms);
  if (agrees && quorum > 1) {
    const approvals = (await agreedTo(tx, now)).length;
    const shown = edit && { summary: now.summary, args: now.args };
    const counted = { decision, by, note, approvals, quorum, digest, ...shown };
    const data = { approval_id: id, call_id: row.call_id, ...counted };
    const place = { session: row.session_key, turn: row.turn_id };
    await appendEvents(tx, place, [{ type: 'approval.voted', data }]);
  }
  return { row: now, isNew: true };
}

/** Changes the call to its edited form. */
async function edited(
  tx: TenantTx,
  row: ApprovalRow,
  { args, digest, summary, sealed, files }: NonNullable<SettleRecord['edit']>,
): Promise<ApprovalRow> {
  const { tenant_id, id, call_id } = row;
  const call = { args: JSON.stringify(args), digest, summary };
  const args_sealed = sealed === null ? null : Buffer.from(sealed, 'base64');
  await tx
    .updateTable('approvals')
    .set({ ...call, files: files && JSON.stringify(files) })
    .set(row.form || row.terms.guarded ? { args_sealed } : {})
    .where((is) => is.and({ tenant_id, id }))
    .execute();
  if (!row.form)
    await tx
      .updateTable('tool_calls')
      .set({ ...call, args_sealed })
      .where((is) => is.and({ tenant_id, id: call_id, state: 'requested' }))
      .execute();
  return { ...row, args, digest, summary };
}

/**
 * Whether a decision that was made as a member of a group still counts: the newest token of its person has one of the
 * groups, and the person was not barred. `table` names rows of `approval_decisions`.
 */
export function isVoteInForce(table: string): RawBuilder<boolean> {
  const vote = sql.table(table);
  return sql`(${vote}.groups is null or exists (select from api_keys k where k.tenant_id = ${vote}.tenant_id
    and k.id = ${vote}.api_key_id and k.groups && ${vote}.groups and k.revoked_at is null))`;
}

/** The people who agreed to the present form of the call, and whose agreement still counts. */
async function agreedTo(tx: TenantTx, { tenant_id, id, digest }: ApprovalRow): Promise<readonly string[]> {
  const decisions = await tx
    .selectFrom('approval_decisions')
    .select(['person', 'by'])
    .where((is) => is.and({ tenant_id, approval_id: id, digest }))
    .where(isVoteInForce('approval_decisions'))
    .orderBy('at')
    .orderBy('by')
    .execute();
  return agreedPeople(decisions);
}

/**
 * Writes an event that an approval still waits: 'escalated' permits others to decide, once; 'reminded' only notifies.
 * False when there is nothing to do: it was decided, or its terms name nobody to escalate to.
 */
export function noteApproval(
  db: TenantDb,
  { approval_id, what, count, by }: NoteApprovalInput,
): Promise<Answered<boolean> | undefined> {
  return inTransaction(db, async (tx) => {
    const row = await lockApproval(tx, approval_id);
    if (!row) return undefined;
    const answer = (result: boolean): Answered<boolean> => ({ session: row.session_key, result });
    const escalates = what === 'escalated';
    if (escalates && row.escalated_at !== null) return answer(true);
    const isDue = escalates ? row.terms.escalate !== undefined : row.reminders < count;
    if (row.status !== 'pending' || !isDue) return answer(false);
    await tx
      .updateTable('approvals')
      .set({ ...(escalates ? { escalated_at: NOW } : { reminders: count }), changed_at: CLOCK })
      .where((is) => is.and({ tenant_id: db.tenant, id: approval_id }))
      .execute();
    const { call_id, summary, expires_at, terms } = row;
    const message = escalates ? { to: terms.escalate?.to, by } : { count };
    const event: NewEvent = {
      type: `approval.${what}`,
      data: { approval_id, call_id, summary, expires_at, ...message },
    };
    await appendEvents(tx, { session: row.session_key, turn: row.turn_id }, [event]);
    return answer(true);
  });
}

/** How many refused messages the feed reports: anyone who can reach Temporal can send any number of them. */
const MAX_REFUSAL_EVENTS = 20;

/** Records a message that changed nothing, once for its key. Undefined when the approval does not exist. */
export function noteRefusal(
  db: TenantDb,
  { id, key, before: known = 0, ...rest }: Omit<NewRefusal, 'tenant'>,
): Promise<Answered<RefusedRequest> | undefined> {
  return inTransaction(db, async (tx) => {
    const row = await lockApproval(tx, id);
    if (!row) return undefined;
    const session = row.session_key;
    const before = row.last_refused as (RefusedRequest & { readonly key: string }) | null;
    if (before?.key === key) return { session, result: before };
    const refused = { ...rest, at: new Date().toISOString() };
    const count = Math.max(row.refused, known) + 1;
    await tx
      .updateTable('approvals')
      .set({ refused: count, last_refused: JSON.stringify({ ...refused, key }), changed_at: CLOCK })
      .where((is) => is.and({ tenant_id: db.tenant, id }))
      .execute();
    if (count <= MAX_REFUSAL_EVENTS) {
      const data = { approval_id: id, call_id: row.call_id, ...rest, count };
      await appendEvents(tx, { session, turn: row.turn_id }, [{ type: 'approval.refused', data }]);
    }
    return { session, result: refused };
  });
}
