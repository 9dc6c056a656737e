/**
 * Finds the session in which a chat continues. If the chat was handed over, that is the session of the agent that has
 * it now (DE-5).
 */
import { findHandoff } from '#store/assignments/handoff-store.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';

/**
 * Looks up a handoff only for messages that name their chat. A sender that names an agent gets that one, whatever the
 * route says.
 */
export async function followHandoff(
  db: TenantDb,
  session: string,
  message: {
    readonly agent?: string | undefined;
    readonly channel?: string | undefined;
    readonly chat_id?: string | undefined;
  },
): Promise<string> {
  const { agent, channel, chat_id } = message;
  if (agent !== undefined || channel === undefined || chat_id === undefined) return session;
  const route = await findHandoff(db, channel, chat_id);
  // If the agent was deleted, the chat belongs to its first session again.
  return route?.is_open ? route.session_key : session;
}
