/** message: posts in a chat service besides the answer, once for each call (IN-4). */
import { type MediaTools, withMediaProblems } from '#features/media/index.ts';
import { z } from 'zod';
import { defineTool, textField } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import type { OwnChannels } from '../activities/own-channels.ts';
import { type Attachment, MAX_ATTACHMENTS } from '#domain/files/attachment.ts';
import { chatIdOf, placeOfChat } from '../contract.ts';
import { toolError } from '#domain/tool.ts';

const input = z.object({
  action: z.literal('send').default('send').describe('send'),
  message: z
    .string()
    .min(1)
    .max(50_000)
    .describe('What to say, as Markdown; a long text goes in several messages'),
  media: z
    .array(z.string().min(1).max(1_000))
    .max(MAX_ATTACHMENTS)
    .default([])
    .describe(
      `Files to send along, at most ${MAX_ATTACHMENTS}: artifact:ID or a path of the workspace, 50 MB each`,
    ),
  channel: textField(64, 'Key of a channel of yours; that of this conversation unless given').optional(),
  target: textField(
    200,
    'The chat, as chat or chat/thread by the service’s ids; this one unless given',
  ).optional(),
  forward: z
    .boolean()
    .default(false)
    .describe('True for another chat than this one: only when your user asked for that'),
  forward_reason: textField(500, 'With forward: in which words your user asked for it').optional(),
});

interface MessageDeps extends MediaTools {
  readonly channels: OwnChannels;
  readonly keepFile: NonNullable<ToolDeps['keepFile']>;
}

export const tool = defineTool<z.infer<typeof input>, MessageDeps>({
  name: 'message',
  description:
    'Say something in a chat service, beside your answer: during long work, or in another chat when your user asks for that. Your answer itself is sent without it; a link to artifact:ID in it, such as [name](artifact:ID), sends that file.',
  keywords:
    'post send tell notify inform write announce ping slack telegram discord whatsapp channel group chat people update bob someone person friend mail email sms text him her them reply answer attachment file photo alert mattermost signal report result results summary',
  group: 'messaging',
  // Its row's id is derived from the call, so that it is posted once.
  replay: 'idempotent',
  input,
  limits: { duration: 'long', timeoutSeconds: 300 },
  parameterAliases: { content: 'message', chat_id: 'target' },
  forms: {
    clawft: {
      description: 'Send a message to a channel.',
      // In other systems, each call names its chat, and nothing says whose wish that is.
      toCanonical: (args) => ({ forward: true, forward_reason: 'the call names this chat', ...args }),
      input: z.object({
        channel: z.string().describe('Key of a channel of yours'),
        chat_id: z.string().describe('The chat, as chat or chat/thread by the service’s ids'),
        content: z.string().describe('What to say, as Markdown'),
      }),
    },
  },
  summary: ({ channel, target }) => [channel, target].filter(Boolean).join(' ') || 'here',
  async run(
    { channels, media, keepFile },
    { message, media: refs, channel, target, forward, forward_reason: reason },
    call,
  ) {
    if (message.trim() === '' || message.includes('\0'))
      return toolError('InvalidArgs', 'message must be text that is not empty');
    if (call.subagent)
      return toolError('PermissionDenied', 'a subagent speaks to whoever gave it its work, not to people');
    if (refs.some((ref) => /^https?:/i.test(ref)))
      return toolError(
        'InvalidArgs',
        'media are artifacts and files of the workspace; name an address in message',
      );
    const chat = target ?? call.chatId;
    if (!chat) return toolError('InvalidArgs', 'target is required: this conversation is in no chat');
    const isHere = chat === call.chatId && (channel ?? call.channel) === call.channel;
    if (!isHere && !(forward && reason?.trim()))
      return toolError(
        'InvalidArgs',
        'that is another chat: set forward and say in forward_reason how your user asked for it',
      );
    const found = await channels.target(call, channel, placeOfChat(chat));
    if ('ok' in found) return found;
    return withMediaProblems(async () => {
      const files: Attachment[] = [];
      for (const ref of refs) files.push(await keepFile(call, await media.open(call, ref)));
      await channels.say(call, found, message, files);
      return { ok: true, text: `It is on its way to ${chatIdOf(found.place)} of ${found.channel.key}.` };
    });
  },
});
