/**
 * What the tools `message` and `create_forum_topic` do, only in channels of the caller's agent, and only where its user
 * may be.
 */
import { announceDeliveries } from '#features/webhooks-out/index.ts';
import { createHash } from 'node:crypto';
import type { Attachment } from '#domain/files/attachment.ts';
import { type ChannelPlace, chatIdOf, POSTED } from '../contract.ts';
import { SecretProblem } from '#domain/secret.ts';
import { type ToolFailure, toolError } from '#domain/tool.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import { insertDirectPost } from '../store/channel-post-store.ts';
import { type ChannelRow, hasSpokenIn, listChannels } from '../store/channel-store.ts';
import type { Scrubber } from '#store/secrets/scrubber.ts';
import { EgressError } from '@tempoclaw/egress';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { ChannelError } from './channel-error.ts';
import type { TopicOptions } from './channel-sender.ts';
import { type ChannelDeps, refusalWords, visitService } from './visit-service.ts';

type Caller = Pick<
  RunningCall,
  'tenant' | 'agent' | 'user' | 'roles' | 'sessionKey' | 'channel' | 'chatId' | 'callId'
>;

/** Where a message goes. */
export interface Target {
  readonly channel: ChannelRow;
  readonly place: ChannelPlace;
}

export interface OwnChannels {
  /**
   * Explains in words for the model if the agent or its user may not be there. Without `channel`, it is the channel of
   * the session.
   */
  target(call: Caller, channel: string | undefined, place: ChannelPlace): Promise<Target | ToolFailure>;
  /** Posts once for each call; if the service is away, the post is sent later. */
  say(call: Caller, target: Target, markdown: string, files?: readonly Attachment[]): Promise<void>;
  /** Returns undefined if its service has no topics. Not safe to repeat: each call makes one. */
  createTopic(
    call: Caller,
    target: Target,
    name: string,
    options: TopicOptions,
  ): Promise<string | ToolFailure>;
}

export function createOwnChannels(
  deps: ChannelDeps & { readonly scrubberOf: (tenant: string) => Promise<Scrubber> },
): OwnChannels {
  const { pool } = deps;
  return {
    async target(call, name = call.channel ?? undefined, place) {
      const own = (await listChannels(forTenant(pool, call.tenant))).filter(
        ({ key, type, agent_key, enabled }) =>
          enabled && POSTED.has(type) && (agent_key === call.agent || key === call.channel),
      );
      const channel = own.find(({ key }) => key === name);
      if (!channel) {
        const names = own.map(({ key }) => key).join(', ') || 'none';
        const problem =
          name === undefined
            ? 'this conversation is in no channel: name one'
            : `there is no channel ${name} of yours`;
        return toolError('NotFound', `${problem}; yours: ${names}`);
      }
      if (await mayReach(deps, call, channel, place)) return { channel, place };
      const chat = chatIdOf(place);
      return toolError(
        'PermissionDenied',
        `${chat} of ${channel.key} is no chat of ${call.user ?? 'this user'}; an operator lists it in the channel’s settings.targets`,
      );
    },
    async say(call, { channel, place }, markdown, files = []) {
      const stem = createHash('sha256').update(`${call.tenant}\n${call.callId}`).digest('hex').slice(0, 32);
      const { text } = await deps.scrubberOf(call.tenant);
      const post = {
        id: `msg_${stem}`,
        session: call.sessionKey,
        post: { place, markdown: text(markdown), files },
      };
      await insertDirectPost(forTenant(pool, call.tenant), channel.webhook_id, post);
      await announceDeliveries(pool);
    },
    async createTopic(call, { channel, place }, name, options) {
      let made: string | undefined;
      const { text } = await deps.scrubberOf(call.tenant);
      try {
        await visitService(deps, call.tenant, channel, async (sender, context) => {
          made = await sender.createTopic?.(context, place.chat, text(name), options);
        });
      } catch (error) {
        if (error instanceof SecretProblem) return toolError('ExecutionFailed', error.message);
        if (!(error instanceof ChannelError || error instanceof EgressError)) throw error;
        // Without an answer, the topic may have been made all the same.
        const code = error instanceof ChannelError ? 'ExecutionFailed' : 'OutcomeUnknown';
        return toolError(code, refusalWords(error));
      }
      return made ?? toolError('InvalidArgs', `${channel.type} has no topics that could be created`);
    },
  };
}

/**
 * Allows the user's current chat, those in which the user has spoken, and those that an operator lists; an admin may
 * reach all.
 */
async function mayReach(
  { pool }: ChannelDeps,
  { tenant, user, roles, channel: here, chatId }: Caller,
  { key, settings }: ChannelRow,
  place: ChannelPlace,
): Promise<boolean> {
  const chat = chatIdOf(place);
  if (roles.includes('admin') || (here === key && chatId !== null && [chat, place.chat].includes(chatId)))
    return true;
  if (here === key && chatId?.startsWith(`${place.chat}/`)) return true;
  if (settings.targets?.some((one) => one === chat || one === place.chat)) return true;
  return user !== null && hasSpokenIn(forTenant(pool, tenant), { channel: key, chatId: chat, user });
}
