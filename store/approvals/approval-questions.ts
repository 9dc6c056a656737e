/** Questions to people besides those of an answer's own calls: one commit each, safe to repeat. */
import { sql } from 'kysely';
import type { NewEvent } from '#domain/event.ts';
import type { BudgetAsk, BudgetSettlement } from '../../domain/budget/budget.ts';
import {
  appendEventsUpwards,
  type FeedPlace,
  lockSession,
  markTurnWaiting,
} from '../turns/session-writes.ts';
import { callWithin } from '../postgres/sql-call.ts';
import { affects } from '../postgres/statements.ts';
import type { TenantDb, TenantTx } from '../postgres/tenant-db.ts';
import { inTransaction } from '../postgres/transaction.ts';
import type { ApprovalTerms } from '#domain/approval/approval-terms.ts';
import type { BoundFile } from '#domain/approval/bound-file.ts';
import type { McpForm } from '#domain/form.ts';
import type { AlwaysOffer } from '#domain/approval/approval.ts';

/**
 * An approval for a call that had been claimed: its files differ from those that were approved, or its MCP server asks.
 */
export interface RepeatedApproval {
  readonly approval: string;
  readonly expires: number;
  /** Milliseconds since 1970. */
  readonly until: number;
  readonly digest: string;
  readonly terms: ApprovalTerms | null;
  readonly always: AlwaysOffer | null;
  readonly files: readonly BoundFile[];
  readonly form?: McpForm | null;
}

/** A new question about a call whose files differ from those that were approved. */
export interface NewAsk {
  readonly id: string;
  readonly digest: string;
  readonly files: readonly BoundFile[];
  readonly reason: string;
  readonly always: AlwaysOffer;
  /** `always` in words, for the feed. */
  readonly words: string;
  /** Seconds. */
  readonly expires: number;
}

/** What an MCP server asks people, and the call's state there, sealed. */
export interface NewForm extends Omit<NewAsk, 'files'> {
  readonly form: McpForm;
  /** The answer that is sent when nobody changes it. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly summary: string;
  /** Terms, when the call itself needed no approval. */
  readonly terms: ApprovalTerms;
  readonly outside: string;
}

/** An approval that asks for more budget. */
export interface NewBudgetAsk {
  readonly id: string;
  /** Id of the answer that waits for it. */
  readonly call_id: string;
  readonly tool: string;
  readonly args: BudgetAsk;
  readonly summary: string;
  readonly digest: string;
  readonly reason: string;
  readonly terms: ApprovalTerms;
  readonly always: AlwaysOffer;
  /** ISO 8601, by the database's clock. */
  readonly expires_at: string;
  /** For work at a gate, which no turn does or waits for. */
  readonly asker?: { readonly agent: string; readonly user?: string };
}

/**
 * Asks people about a call that was claimed: the call would run other files than those approved, or its MCP server asks
 * a question. The claim and what it reserved are released, and the call waits as at first. Null when another attempt
 * has the call, or it is over. A later attempt finds the open question (claim_call).
 */
export function askAgain(
  db: TenantDb,
  { session, call, fence }: { session: string; call: string; fence: string },
  ask: NewAsk | NewForm,
  settle: BudgetSettlement | undefined,
): Promise<RepeatedApproval | null> {
  const { tenant: tenant_id } = db;
  return inTransaction(db, async (tx) => {
    await lockSession(tx, session);
    const ofCall = { tenant_id, id: call };
    const held = await tx
      .selectFrom('tool_calls')
      .select(['turn_id', 'approval_id'])
      .where((is) => is.and({ ...ofCall, state: 'running', fence }))
      .forUpdate()
      .executeTakeFirst();
    const isForm = 'form' in ask;
    if (!held || (!isForm && !held.approval_id)) return null;
    if (isForm) await insertForm(tx, call, ask);
    else await repeatQuestion(tx, held.approval_id ?? '', ask);
    const { id, digest, reason } = ask;
    await tx
      .updateTable('tool_calls')
      .set({ state: 'requested', fence: null })
      .set(
        isForm
          ? { form_id: id, outside: Buffer.from(ask.outside, 'base64') }
          : { started_at: null, approval_id: id, digest, reason },
      )
      .where((is) => is.and(ofCall))
      .execute();
    const { terms, expires_at, form, ...shown } = await tx
      .selectFrom('approvals')
      .select(['tool', 'summary', 'args', 'risk', 'terms', 'form', 'expires_at'])
      .where((is) => is.and({ tenant_id, id }))
      .executeTakeFirstOrThrow();
    const place = { session, turn: held.turn_id };
    await markTurnWaiting(tx, held.turn_id);
    const { words: always } = ask;
    const files = isForm ? [] : ask.files;
    const notice = { ...shown, risk: shown.risk ?? undefined, form: form ?? undefined, expires_at };
    const data = { approval_id: id, call_id: call, ...notice, reason, always, files };
    await appendEventsUpwards(tx, place, [{ type: 'approval.requested', data }]);
    if (settle) {
      const spent = settle.spent ? JSON.stringify(settle.spent) : null;
      await callWithin(tx, 'settle_budget', [call, settle.attempt, spent]);
    }
    const until = expires_at.getTime();
    return {
      terms,
      expires: Math.round(ask.expires),
      until,
      approval: id,
      digest,
      always: ask.always,
      files,
      form,
    };
  });
}

/** The people who may decide this call also answer its server's question, but a login is the user's own. */
async function insertForm(tx: TenantTx, call: string, ask: NewForm): Promise<void> {
  await sql`
    insert into approvals (tenant_id, id, call_id, session_key, turn_id, agent_key, user_id, tool, args, summary, terms, digest,
        reason, always, form, expires_at)
      select c.tenant_id, ${ask.id}, c.id, c.session_key, c.turn_id, t.agent_key, t.context ->> 'user', c.tool,
        ${JSON.stringify(ask.args)}, ${ask.summary}, coalesce(${ask.form.login ? sql`null::jsonb` : sql`a.terms`}, ${JSON.stringify(ask.terms)}), ${ask.digest}, ${ask.reason},
        ${JSON.stringify(ask.always)}, ${JSON.stringify(ask.form)},
        date_trunc('milliseconds', now() + make_interval(secs => coalesce((a.terms ->> 'expires_seconds')::int, ${ask.expires})))
      from tool_calls c join turns t on t.tenant_id = c.tenant_id and t.id = c.turn_id
      left join approvals a on a.tenant_id = c.tenant_id and a.id = c.approval_id
      where c.tenant_id = ${tx} and c.id = ${call}`.execute(tx);
}

/** The same question with other files. */
async function repeatQuestion(tx: TenantTx, before: string, ask: NewAsk): Promise<void> {
  await sql`
    insert into approvals (tenant_id, id, call_id, session_key, turn_id, agent_key, user_id, tool, args, summary, risk, terms,
        sandbox, digest, reason, always, files, expires_at)
      select tenant_id, ${ask.id}, call_id, session_key, turn_id, agent_key, user_id, tool, args, summary, risk, terms, sandbox,
        ${ask.digest}, ${ask.reason}, ${JSON.stringify(ask.always)}, ${JSON.stringify(ask.files)},
        date_trunc('milliseconds', now() + make_interval(secs => ${ask.expires}))
      from approvals where tenant_id = ${tx} and id = ${before}`.execute(tx);
}

/**
 * Stores the state of a call at its MCP server, sealed, for the next attempt. False when another attempt has the call.
 */
export function keepOutside(
  db: TenantDb,
  { call, fence }: { call: string; fence: string },
  sealed: string,
): Promise<boolean> {
  return affects(db)`
    update tool_calls set outside = decode(${sealed}, 'base64')
    where tenant_id = ${db} and id = ${call} and state = 'running' and fence = ${fence}`;
}

/**
 * Asks people for more budget, and marks the turn as waiting. The same question again changes nothing. Resolves with
 * its expiry in milliseconds since 1970; undefined when the turn is over. Work at a gate also asks when its turn is
 * over, or when it had none and `turn` identifies the work: `asker` then says who asks.
 */
export function askForMore(
  db: TenantDb,
  place: FeedPlace & { readonly turn: string },
  { asker, args, terms, always, ...ask }: NewBudgetAsk,
  events: readonly NewEvent[],
): Promise<number | undefined> {
  const { tenant: tenant_id } = db;
  const { session, turn } = place;
  return inTransaction(db, async (tx) => {
    await lockSession(tx, session);
    const asking = await tx
      .selectFrom('turns')
      .select(['agent_key', 'context', 'ended_at'])
      .where((is) => is.and({ tenant_id, id: turn }))
      .executeTakeFirst();
    const agent = asking?.agent_key ?? asker?.agent;
    if (agent !== undefined && (asker || asking?.ended_at === null)) {
      const user_id = (asking ? asking.context : asker)?.user;
      const { numInsertedOrUpdatedRows } = await tx
        .insertInto('approvals')
        .values({
          ...ask,
          tenant_id,
          session_key: session,
          turn_id: turn,
          agent_key: agent,
          user_id,
          args: JSON.stringify(args),
          terms: JSON.stringify(terms),
          always: JSON.stringify(always),
        })
        .onConflict((on) => on.doNothing())
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows) {
        await markTurnWaiting(tx, turn);
        await appendEventsUpwards(tx, place, events);
      }
    }
    const request = await tx
      .selectFrom('approvals')
      .select('expires_at')
      .where((is) => is.and({ tenant_id, id: ask.id, turn_id: turn }))
      .executeTakeFirst();
    return request?.expires_at.getTime();
  });
}
