/** Implements `tempoclaw handoffs`: the list of the definition, and returning a chat. */
import type { Command } from 'commander';
import { handoffs as resource } from '#domain/resource/handoffs.ts';
import { addApiCommand } from '#cli/api-commands.ts';
import { addCommands } from '#cli/resource-commands.ts';

export function register(handoffs: Command): void {
  addCommands(handoffs, resource);
  addApiCommand(handoffs, {
    word: 'clear',
    help: 'bring a chat back to the agent that it had first',
    ...resource.operations.endHandoff,
    arguments: ['channel', 'chat'],
    sends: ({ channel, chat }) => ({ channel, chat_id: chat }),
    answer: ({ channel, chat }) => ({ channel, chat_id: chat, cleared: true }),
    print: ({ out }, { channel, chat_id: chat }) =>
      out.line(`${chat} of ${channel} goes to its first agent again`),
  });
}
