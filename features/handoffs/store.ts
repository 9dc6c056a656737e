/** Routes: where the messages of chats go (DE-5). */
import { sql } from 'kysely';
import type { HandoffRoute } from './contract.ts';
import { workContext } from '#domain/assignment/new-assignment.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import { readBudgetRoot } from '#store/budgets/budget-ledger.ts';
import { appendEvents, openSession, sayFirst } from '#store/turns/session-writes.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import { affects, readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';

export interface HandoffRouteRow extends HandoffRoute {
  readonly created_at: Date;
  /** False when the agent was deleted: the chat then goes to the default agent. */
  readonly is_open: boolean;
}

export interface NewHandoff extends Omit<HandoffRoute, 'session_key' | 'created_by'> {
  readonly session: string;
  /** Id of the call that hands it over. */
  readonly call: string;
  readonly old_session: string;
  readonly turn: string;
  readonly context: MessageContext;
  readonly user: string | null;
  readonly message: string;
  readonly text: string;
}

const ROUTES = sql`select channel, chat_id, from_key as from, to_key as to, session_key, reason, path, created_by, created_at,
    exists (select 1 from agents a where a.tenant_id = r.tenant_id and a.key = r.to_key and a.deleted_at is null) as is_open
  from handoff_routes r`;

export function findHandoff(
  db: TenantDb,
  channel: string,
  chatId: string,
): Promise<HandoffRouteRow | undefined> {
  return readRow<HandoffRouteRow>(db)`
    ${ROUTES} where tenant_id = ${db} and channel = ${channel} and chat_id = ${chatId}`;
}

export function listHandoffs(
  db: TenantDb,
  confinedTo: string | null,
  limit: number,
  [channel, chatId]: readonly [channel: string, chatId: string],
): Promise<readonly HandoffRouteRow[]> {
  return readRows<HandoffRouteRow>(db)`
    ${ROUTES} where tenant_id = ${db} and (channel, chat_id) > (${channel}, ${chatId})
      and (${confinedTo}::text is null or exists (select 1 from sessions s
        where s.tenant_id = ${db} and s.key = r.session_key and s.user_id = ${confinedTo}))
    order by channel, chat_id limit ${limit}`;
}

/**
 * Hands over a chat (DE-5): the route, the new session with its first message, and the event on the feed of the old
 * one, in one commit. The last one wins; the same call again changes nothing, also when another has handed the chat on
 * since. The conversation stays within the budget of the session in which it started.
 */
export function setHandoff(db: TenantDb, handoff: NewHandoff): Promise<void> {
  return inTransaction(db, async (tx) => {
    const { channel, chat_id, from, to, session, reason, old_session, turn } = handoff;
    const before = await readBudgetRoot(tx, old_session, turn);
    const { user, context, message, text } = handoff;
    const root = JSON.stringify({ session: before?.session, team: before?.team });
    const chat = { channel: context.channel, chat_id: context.chat_id };
    await openSession(tx, { session, agent: to, user, ...chat, title: reason, giver: old_session, root });
    if (!(await sayFirst(tx, { session, message, text, context: workContext(context) }))) return;
    const route = {
      from_key: from,
      to_key: to,
      session_key: session,
      reason,
      path: JSON.stringify(handoff.path),
      created_by: handoff.call,
    };
    await tx
      .insertInto('handoff_routes')
      .values({ ...route, tenant_id: db.tenant, channel, chat_id })
      .onConflict((on) =>
        on
          .columns(['tenant_id', 'channel', 'chat_id'])
          .doUpdateSet({ ...route, created_at: sql<Date>`now()` }),
      )
      .execute();
    const data = { from, to, session_key: session, reason, channel, chat_id };
    await appendEvents(tx, { session: old_session, turn }, [{ type: 'handoff', data }]);
  });
}

/** Whether the call with this first message has handed over its chat, whoever has the chat now. */
export function isHandedOver(db: TenantDb, message: string): Promise<boolean> {
  return affects(db)`
    select from messages where tenant_id = ${db} and id = ${message}`;
}

/** Which route of the chat is meant; any when absent. */
export interface ClearedRoute {
  /** That of a session of this user. */
  readonly confinedTo?: string | null;
  /** That of this session, so that a repeat leaves a newer one. */
  readonly session?: string | undefined;
  /** One that was there when this call began, so that another attempt of the call leaves a newer one. */
  readonly call?: string;
}

/** False when there was no such route. */
export function clearHandoff(
  db: TenantDb,
  channel: string,
  chatId: string,
  { confinedTo = null, session, call }: ClearedRoute = {},
): Promise<boolean> {
  return affects(db)`
    delete from handoff_routes r where tenant_id = ${db} and channel = ${channel} and chat_id = ${chatId}
       and (${confinedTo}::text is null or exists (select 1 from sessions s
         where s.tenant_id = ${db} and s.key = r.session_key and s.user_id = ${confinedTo}))
       and (${session ?? null}::text is null or r.session_key = ${session ?? null})
       and not exists (select 1 from tool_calls c
         where c.tenant_id = ${db} and c.id = ${call ?? null} and c.started_at < r.created_at)`;
}
