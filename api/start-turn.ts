/** Sends a message for the client of a protocol, which then follows the turn. */
import { Failure } from '#domain/errors.ts';
import { turnIdOf } from '#domain/ids.ts';
import { MAX_MESSAGE } from '#domain/schema/message.ts';
import { turnBeganAfter } from '#store/event-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { listTurns } from '#store/turns/turn-store.ts';
import type { ApiDeps } from './deps.ts';
import { reachableSession } from './found.ts';
import { type SentFile, withFiles } from './sent-files.ts';
import { type Caller, requireScope } from './server/auth.ts';
import { type Submission, submitMessage } from './submit-message.ts';
import type { StartedTurn } from './turn-follower.ts';

export interface TurnMessage extends Omit<Submission, 'confinedTo' | 'waitFor' | 'attachments'> {
  readonly files?: readonly SentFile[];
}

/**
 * Safe to repeat with the same id: the same turn answers, from its beginning. Throws as `submitMessage` does, and
 * Conflict while another turn of the session waits for people, because nobody would tell the client.
 */
export async function startTurn(
  deps: ApiDeps,
  caller: Caller,
  { files = [], ...message }: TurnMessage,
): Promise<StartedTurn> {
  const { id, session, text, mode } = message;
  if (text.length > MAX_MESSAGE)
    throw new Failure(
      'TooLarge',
      `The message has ${text.length} characters, with what was said before; ${MAX_MESSAGE} are possible`,
    );
  // Only the session of another user is found by neither, and refused below.
  const known = mode === 'steer' ? undefined : await reachableSession(deps.pool, caller, session);
  if (known?.open_status === 'waiting_approval' && known.open_turn !== turnIdOf(id))
    throw new Failure(
      'Conflict',
      `The conversation waits for an approval (turn ${known.open_turn}); decide it, then send the message again`,
    );
  const { receipt } = await submitMessage(deps, caller.tenant, {
    ...message,
    ...(await withFiles(deps, caller.tenant, { text, user: message.context.user, files })),
    confinedTo: caller.confinedTo,
  });
  return wholeTurn(deps, caller, session, receipt.turn_id);
}

/** From its beginning. */
export async function wholeTurn(
  { pool }: Pick<ApiDeps, 'pool'>,
  { tenant }: Caller,
  session: string,
  id: string,
): Promise<StartedTurn> {
  return { session, id, after: await turnBeganAfter(forTenant(pool, tenant), session, id) };
}

/**
 * The turn that runs, or else the last one, for a client that was cut off or loaded anew. Undefined when the caller
 * reaches none. Throws Forbidden for a key that may not read.
 */
export async function lastTurn(
  deps: Pick<ApiDeps, 'pool'>,
  caller: Caller,
  session: string,
): Promise<StartedTurn | undefined> {
  requireScope(caller, 'read');
  const row = await reachableSession(deps.pool, caller, session);
  const [last] = row ? await listTurns(forTenant(deps.pool, caller.tenant), session, 1, undefined) : [];
  return last && wholeTurn(deps, caller, session, row?.open_turn ?? last.id);
}
