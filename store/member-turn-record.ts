/** Where a team's member works on a task, and what it begins with. */
import { sql } from 'kysely';
import { teamRoot } from '#domain/budget.ts';
import type { MessageContext } from '#domain/turn.ts';
import { readBudgetRoot } from './budget-ledger.ts';
import { ofTask, type TaskKey } from './recorded-task.ts';
import { openSession, sayFirst, usedBy } from './session-writes.ts';
import type { Transaction } from './database.ts';

/** What a member begins with. */
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

/** Who has asked for the task. */
interface Origin {
  readonly origin_session: string | null;
  readonly origin_turn: string | null;
}

/**
 * The session that a member works on a task in, and the message that gives it the task: of this lease, so that a repeat
 * writes nothing. The lease is bound to the session, so that what the session says is known to come from its holder.
 * What the session uses counts for the team, and for the turn that made the task (DU-7). False when there is no such agent any more.
 */
export async function writeMemberTurn(tx: Transaction, key: TaskKey, turn: NewMemberTurn): Promise<boolean> {
  const [tenant_id] = key;
  const origin = await tx
    .selectFrom('team_tasks')
    .select(['origin_session', 'origin_turn', 'origin_context'])
    .where((is) => is.and(ofTask(key)))
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
      used: sql`${usedBy(tenant_id, [origin.origin_session, ...turn.reads])} || used`,
    })
    .where((is) => is.and({ tenant_id, key: turn.session }))
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  const { read } = origin.origin_context as MessageContext;
  if (read)
    await sql`select note_used(${tenant_id}, ${turn.session}, ${JSON.stringify(read)}::jsonb)`.execute(tx);
  await sayFirst(tx, tenant_id, { ...turn, message: turn.message_id });
  return true;
}

/** Leaves one that is there as it is. */
export async function openMemberSession(
  tx: Transaction,
  key: TaskKey,
  origin: Origin,
  { session, agent, title, context, bound }: Omit<NewMemberTurn, 'message_id' | 'text' | 'reads'>,
): Promise<Awaited<ReturnType<typeof boundTo>>> {
  const limits = await boundTo(tx, key, origin, bound);
  const { user, chat_id } = context;
  const root = limits.budget_root;
  await openSession(tx, key[0], {
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
  tx: Transaction,
  [tenant, team]: TaskKey,
  { origin_session, origin_turn }: Origin,
  bound: NewMemberTurn['bound'],
): Promise<{ readonly bound_context: string; readonly budget_root: string }> {
  const root = await readBudgetRoot(tx, tenant, origin_session, origin_turn);
  return { bound_context: JSON.stringify(bound), budget_root: JSON.stringify(teamRoot(root, team)) };
}
