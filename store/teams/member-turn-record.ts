/** The session where a team's member works on a task, and its first message. */
import { sql } from 'kysely';
import { teamRoot } from '#domain/budget/budget.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import { readBudgetRoot } from '../budgets/budget-ledger.ts';
import { ofTask, type TaskKey } from './recorded-task.ts';
import { openSession, sayFirst, usedBy } from '../turns/session-writes.ts';
import type { TenantTx } from '../postgres/tenant-db.ts';

/** The start of a member's turn. */
export interface NewMemberTurn {
  readonly session: string;
  readonly message_id: string;
  readonly agent: string;
  readonly title: string;
  readonly text: string;
  readonly context: MessageContext;
  readonly bound: Required<Pick<MessageContext, 'team'>>;
  /** Sessions whose results are in the text. */
  readonly reads: readonly string[];
}

/** The requester of the task. */
interface Origin {
  readonly origin_session: string | null;
  readonly origin_turn: string | null;
}

/**
 * Writes the session where a member works on a task, and the message that gives it the task: one per lease, so that a
 * repeat writes nothing. The lease is bound to the session, which proves that the session's messages come from the
 * holder. The session's use counts for the team, and for the turn that created the task (DU-7). False when the agent no
 * longer exists.
 */
export async function writeMemberTurn(tx: TenantTx, key: TaskKey, turn: NewMemberTurn): Promise<boolean> {
  const { tenant: tenant_id } = tx;
  const origin = await tx
    .selectFrom('team_tasks')
    .select(['origin_session', 'origin_turn', 'origin_context'])
    .where((is) => is.and(ofTask(tx, key)))
    .executeTakeFirstOrThrow();
  const agent = await tx
    .selectFrom('agents')
    .select('key')
    .where((is) => is.and({ tenant_id, key: turn.agent }))
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  const { bound_context, budget_root } = agent
    ? await openMemberSession(tx, key, origin, turn)
    : await boundTo(tx, key, origin, turn.bound);
  const { numUpdatedRows } = await tx
    .updateTable('sessions')
    .set({
      bound_context,
      budget_root,
      used: sql`${usedBy(tx, [origin.origin_session, ...turn.reads])} || used`,
    })
    .where((is) => is.and({ tenant_id, key: turn.session }))
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  const { read } = origin.origin_context as MessageContext;
  if (read) await sql`select note_used(${tx}, ${turn.session}, ${JSON.stringify(read)}::jsonb)`.execute(tx);
  await sayFirst(tx, { ...turn, message: turn.message_id });
  return true;
}

/** An existing session stays unchanged. */
export async function openMemberSession(
  tx: TenantTx,
  key: TaskKey,
  origin: Origin,
  { session, agent, title, context, bound }: Omit<NewMemberTurn, 'message_id' | 'text' | 'reads'>,
): Promise<Awaited<ReturnType<typeof boundTo>>> {
  const limits = await boundTo(tx, key, origin, bound);
  const { user, chat_id } = context;
  const root = limits.budget_root;
  await openSession(tx, {
    session,
    agent,
    user,
    channel: 'teammate',
    chat_id,
    title,
    bound,
    giver: origin.origin_session,
    root,
  });
  return limits;
}

async function boundTo(
  tx: TenantTx,
  [team]: TaskKey,
  { origin_session, origin_turn }: Origin,
  bound: NewMemberTurn['bound'],
): Promise<{ readonly bound_context: string; readonly budget_root: string }> {
  const root = await readBudgetRoot(tx, origin_session, origin_turn);
  return { bound_context: JSON.stringify(bound), budget_root: JSON.stringify(teamRoot(root, team)) };
}
