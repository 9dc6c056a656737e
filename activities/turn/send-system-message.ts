/**
 * Wakes a session with a system message: its row first, with an id from the caller, then the session's workflow, then
 * the turn's row. A repeat with the same id wakes the session once.
 */
import type { Attachment } from '#domain/files/attachment.ts';
import { Failure } from '#domain/errors.ts';
import { sessionWorkflowId, turnIdOf } from '#domain/ids.ts';
import {
  INBOX_LIMITS,
  type MessageContext,
  type Receipt,
  type SubmitInput,
  type SubmitMode,
} from '#domain/turn/turn.ts';
import { tenantFrozen } from '#store/tenant-freeze.ts';
import { type TurnPlace, writeMessage } from '#store/turns/message-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { ActivityDeps } from '../activity-deps.ts';
import { insertQueuedTurn } from '#store/turns/turn-store.ts';

export interface SystemMessage {
  readonly tenant: string;
  readonly session: string;
  /** The same for each repeat; another one for each new message. */
  readonly messageId: string;
  readonly text: string;
  readonly attachments?: readonly Attachment[];
  readonly mode: Extract<SubmitMode, 'queue' | 'steer'>;
  /** Context of the turn that caused the message, so that the new turn has the same user and no more rights. */
  readonly context: MessageContext;
  /** The agent of a session that may not exist yet; without it the session must exist. */
  readonly agent?: string | undefined;
  /** The team that the session works for, whose budgets its use counts for. */
  readonly team?: string;
  /** The turn that caused the message: the new turn's use counts for that one too (DU-7). */
  readonly from?: TurnPlace | undefined;
  /** The text comes from the user. */
  readonly isOwn?: boolean | undefined;
  /** The session must be this user's, or new. */
  readonly confinedTo?: string | undefined;
  /** It begins new work, which a frozen tenant does not take. */
  readonly isNewWork?: boolean | undefined;
  /** The sessions whose text it contains; by default that of `from`. */
  readonly sourceSessions?: readonly string[] | undefined;
}

/**
 * Throws Failures: `Unavailable` and `QueueFull` are transient, so an activity that wakes is retried until it succeeds.
 */
export type SendSystemMessage = (wake: SystemMessage) => Promise<Receipt>;

export function createSendSystemMessage(
  deps: ActivityDeps & {
    /** Starts the session's workflow or finds it running, and submits the message. */
    readonly submit: (
      tenant: string,
      session: string,
      message: SubmitInput,
      labels: { readonly agent: string; readonly user?: string | undefined; readonly summary: string },
    ) => Promise<Receipt>;
  },
): SendSystemMessage {
  return async ({
    tenant,
    session,
    messageId: id,
    text: message,
    attachments = [],
    mode,
    context,
    agent,
    team,
    from,
    sourceSessions,
    isOwn,
    confinedTo,
    isNewWork,
  }) => {
    const db = forTenant(deps.pool, tenant);
    const { agent: _, ...rest } = context;
    const scrubber = await deps.scrubberOf(tenant);
    const text = scrubber.text(message);
    const request = agent === undefined ? rest : { ...rest, agent };
    const row = await writeMessage(db, {
      id,
      session,
      text,
      attachments: attachments.length > 0 ? attachments : undefined,
      mode,
      context: request,
      team,
      from,
      sourceSessions,
      isOwn,
      confinedTo,
      isNewWork,
    });
    if (row.frozen_for !== null && row.turn_id === null) throw tenantFrozen(tenant, row.frozen_for);
    if (row.agent_key === null)
      throw new Failure(
        'NotFound',
        agent === undefined ? `there is no session ${session} to wake` : `there is no agent ${agent}`,
      );
    // A message without a row must not reach the session.
    if (!row.written && row.session_key === null)
      throw row.is_foreign
        ? new Failure('NotFound', `there is no session ${session}`)
        : new Failure(
            'Conflict',
            `the session ${session} belongs to the agent ${row.agent_key}, not to ${agent}`,
          );
    const receipt: Receipt = { turn_id: row.turn_id ?? turnIdOf(id), message_id: id, mode, ahead: 0 };
    if (row.turn_id !== null) return { ...receipt, duplicate: true };
    const taken = await deps.submit(
      tenant,
      session,
      { id, mode, user: context.user, preview: scrubber.preview(text, INBOX_LIMITS.preview) },
      {
        agent: row.agent_key,
        user: context.user,
        summary: `${row.agent_key}: ${sessionWorkflowId(tenant, session)}`,
      },
    );
    if (taken.turn_id === turnIdOf(id)) {
      const { turn_id, ahead } = taken;
      const grown = await insertQueuedTurn(db, {
        id: turn_id,
        session,
        context: rest,
        ahead,
        messageId: id,
      });
      if (grown) deps.onWrite(tenant, session);
    }
    return taken;
  };
}
