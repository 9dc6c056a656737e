/** `tempoclaw handoffs`: the list of the definition, and bringing a chat back. */
import type { Command } from 'commander';
import { handoffs as resource } from '#domain/resource/handoffs.ts';
import { call } from '#cli/call.ts';
import { type ApiOptions, createContext, withApiOptions } from '#cli/command-context.ts';
import { printJson } from '#cli/output.ts';
import { addCommands } from '#cli/resource-commands.ts';

export function register(handoffs: Command): void {
  addCommands(handoffs, resource);
  withApiOptions(
    handoffs
      .command('clear')
      .description('bring a chat back to the agent that it had first')
      .argument('<channel>')
      .argument('<chat>'),
  ).action(clear);
}

async function clear(channel: string, chat: string, options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  await call(client, resource.operations.endHandoff, { query: { channel, chat_id: chat } });
  if (json) printJson(out, { channel, chat_id: chat, cleared: true });
  else out.line(`${chat} of ${channel} goes to its first agent again`);
}
