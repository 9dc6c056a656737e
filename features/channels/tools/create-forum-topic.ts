/**
 * create_forum_topic: makes a new topic in a group of Telegram that has topics, or a thread in a channel of Discord.
 * Each has a conversation of its own.
 */
import { z } from 'zod';
import { defineTool, textField } from '#policy/define-tool.ts';
import type { OwnChannels } from '../activities/own-channels.ts';
import { toolError } from '#domain/tool.ts';

/** The colours that the Bot API accepts (core.telegram.org/bots/api#createforumtopic). */
const COLOURS: readonly number[] = [7322096, 16766590, 13338331, 9367192, 16749490, 16478047];

const input = z.object({
  chat_id: z.string().min(1).max(150).describe('The group or channel, by its id'),
  name: z.string().min(1).max(128).describe('Name of the topic; 1 to 128 characters, in Discord 100'),
  channel: textField(64, 'Key of a channel of yours; that of this conversation unless given').optional(),
  icon_color: z
    .int()
    .optional()
    .describe(`In Telegram, RGB of its icon: one of ${COLOURS.join(', ')}`),
  icon_custom_emoji_id: textField(100, 'In Telegram, a custom emoji as its icon, by its id').optional(),
});

export const tool = defineTool<z.infer<typeof input>, { readonly channels: OwnChannels }>({
  name: 'create_forum_topic',
  description:
    'Create a topic in a Telegram group that has topics, or a thread in a Discord channel. The bot must be allowed to do so there.',
  keywords: 'open new thread group channel forum discussion start release subject category room section',
  group: 'messaging',
  // The service makes another topic each time.
  replay: 'once',
  input,
  limits: { duration: 'long', timeoutSeconds: 60 },
  summary: ({ chat_id, name }) => `${name} in ${chat_id}`,
  async run(
    { channels },
    { chat_id, name, channel, icon_color: iconColor, icon_custom_emoji_id: iconEmoji },
    call,
  ) {
    if (iconColor !== undefined && !COLOURS.includes(iconColor))
      return toolError('InvalidArgs', `icon_color must be one of ${COLOURS.join(', ')}`);
    if (call.subagent) return toolError('PermissionDenied', 'a subagent has no chats of its own');
    const found = await channels.target(call, channel, { chat: chat_id });
    if ('ok' in found) return found;
    const made = await channels.createTopic(call, found, name, { iconColor, iconEmoji });
    if (typeof made !== 'string') return made;
    return { ok: true, text: `Created the topic ${name}: ${chat_id}/${made} is its chat.` };
  },
});
