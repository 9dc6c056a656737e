/**
 * Handles a message that a page's server sends over the API in a channel of type `web`: by its agent, with its tools.
 */
import { placeOfChat } from '../contract.ts';
import { toolsFor } from '../rules/tools-for.ts';
import { Failure } from '#domain/errors.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import { findChannel } from '../store/channel-store.ts';
import { findSession } from '#store/turns/session-store.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';

/**
 * Leaves the message unchanged if the channel has another type or does not exist. @throws Failure Forbidden when it is
 * off
 */
export async function throughWebChannel(
  db: TenantDb,
  session: string,
  context: MessageContext,
): Promise<MessageContext> {
  const channel = context.channel === undefined ? undefined : await findChannel(db, context.channel);
  if (channel?.type !== 'web') return context;
  if (!channel.enabled) throw new Failure('Forbidden', `The channel ${channel.key} is off`);
  // A session that already exists stays with its agent.
  const isNew = context.agent === undefined && !(await findSession(db, session));
  const group = toolsFor(channel.settings, placeOfChat(context.chat_id ?? ''));
  return { ...context, ...(isNew && { agent: channel.agent_key }), ...(group && { group }) };
}
