/** Questions that are put to people beside an answer's own calls: one commit each, safe to repeat. */
import { sql } from 'kysely';
import type { NewEvent } from '#domain/event.ts';
import type { BudgetSettlement, NewBudgetAsk } from './budget-ledger.ts';
import type { AskedAgain, NewAsk } from './call-claim.ts';
import type { Pool } from './pool.ts';
import { appendEventsUpwards, type FeedPlace, lockSession, markTurnWaiting } from './session-writes.ts';
import { callWithin } from './sql-call.ts';
import { inTransaction, type Transaction } from './transaction.ts';

/**
 * Asks people once more about a call that was claimed and has not run: what it would run is not what they approved. The claim and
 * what it held are given back, and the call waits as at first. Null when another attempt holds the call, or it is over. An attempt
 * that comes later finds it asked (claim_call).
 */
export function askAgain(
  pool: Pool,
  { tenant, session, call, fence }: { tenant: string; session: string; call: string; fence: string },
  ask: NewAsk,
  settle: BudgetSettlement | undefined,
): Promise<AskedAgain | null> {
  return inTransaction(pool, async (tx) => {
    await lockSession(tx, tenant, session);
    const ofCall = { tenant_id: tenant, id: call };
    const held = await tx
      .selectFrom('tool_calls')
      .select(['turn_id', 'approval_id'])
      .where((is) => is.and({ ...ofCall, state: 'running', fence }))
      .forUpdate()
      .executeTakeFirst();
    if (!held?.approval_id) return null;
    const asked = await repeatQuestion(tx, tenant, held.approval_id, ask);
    const { id, digest, reason } = ask;
    await tx
      .updateTable('tool_calls')
      .set({ state: 'requested', fence: null, started_at: null, approval_id: id, digest, reason })
      .where((is) => is.and(ofCall))
      .execute();
    const place = { tenant, session, turn: held.turn_id };
    await markTurnWaiting(tx, place);
    const { words: always, files } = ask;
    const data = { approval_id: id, call_id: call, ...asked.shown, reason, always, files };
    await appendEventsUpwards(tx, place, [{ type: 'approval.requested', data }]);
    if (settle) {
      const spent = settle.spent ? JSON.stringify(settle.spent) : null;
      await callWithin(tx, 'settle_budget', [tenant, call, settle.attempt, spent]);
    }
    return { ...asked.terms, approval: id, always: ask.always, files };
  });
}

/** The same question with other files. */
async function repeatQuestion(tx: Transaction, tenant: string, before: string, ask: NewAsk) {
  await sql`
    insert into approvals (tenant_id, id, call_id, session_key, turn_id, agent_key, user_id, tool, args, summary, risk, terms,
        sandbox, digest, reason, always, files, expires_at)
      select tenant_id, ${ask.id}, call_id, session_key, turn_id, agent_key, user_id, tool, args, summary, risk, terms, sandbox,
        ${ask.digest}, ${ask.reason}, ${JSON.stringify(ask.always)}, ${JSON.stringify(ask.files)},
        date_trunc('milliseconds', now() + make_interval(secs => ${ask.expires}))
      from approvals where tenant_id = ${tenant} and id = ${before}`.execute(tx);
  const { terms, expires_at, ...shown } = await tx
    .selectFrom('approvals')
    .select(['tool', 'summary', 'args', 'risk', 'terms', 'expires_at'])
    .where((is) => is.and({ tenant_id: tenant, id: ask.id }))
    .executeTakeFirstOrThrow();
  return {
    shown: { ...shown, risk: shown.risk ?? undefined, expires_at },
    terms: { terms, expires: Math.round(ask.expires), until: expires_at.getTime() },
  };
}

/**
 * Puts a question for more budget to people, and marks the turn as waiting. The same question again changes nothing. Resolves with
 * when it expires, in milliseconds since 1970; undefined when the turn is over. Work at a gate asks as well when its turn is over, or
 * when there was none and `turn` names the work: `asker` then says who asks.
 */
export function askForMore(
  pool: Pool,
  place: FeedPlace & { readonly turn: string },
  { asker, args, terms, always, ...ask }: NewBudgetAsk,
  events: readonly NewEvent[],
): Promise<number | undefined> {
  const { tenant, session, turn } = place;
  return inTransaction(pool, async (tx) => {
    await lockSession(tx, tenant, session);
    const asking = await tx
      .selectFrom('turns')
      .select(['agent_key', 'context', 'ended_at'])
      .where((is) => is.and({ tenant_id: tenant, id: turn }))
      .executeTakeFirst();
    const agent = asking?.agent_key ?? asker?.agent;
    if (agent !== undefined && (asker || asking?.ended_at === null)) {
      const user_id = (asking ? asking.context : asker)?.user;
      const { numInsertedOrUpdatedRows } = await tx
        .insertInto('approvals')
        .values({
          ...ask,
          tenant_id: tenant,
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
        await markTurnWaiting(tx, place);
        await appendEventsUpwards(tx, place, events);
      }
    }
    const asked = await tx
      .selectFrom('approvals')
      .select('expires_at')
      .where((is) => is.and({ tenant_id: tenant, id: ask.id, turn_id: turn }))
      .executeTakeFirst();
    return asked?.expires_at.getTime();
  });
}
