/** The session in which a chat goes on: where it was handed over, that of the agent that has it now (DE-5). */
import { findHandoff } from '#store/handoff-store.ts';
import type { Pool } from '#store/pool.ts';

/** Asks only about messages that name their chat. Who names an agent wants that one, whatever the route says. */
export async function followHandoff(
  pool: Pool,
  tenant: string,
  session: string,
  message: {
    readonly agent?: string | undefined;
    readonly channel?: string | undefined;
    readonly chat_id?: string | undefined;
  },
): Promise<string> {
  const { agent, channel, chat_id } = message;
  if (agent !== undefined || channel === undefined || chat_id === undefined) return session;
  const route = await findHandoff(pool, tenant, channel, chat_id);
  // The agent was deleted: the chat is its first session's again.
  return route?.is_open ? route.session_key : session;
}
