/** `tempoclaw handoffs`: chats that were handed to another agent, and bringing one back. */
import type { Command } from 'commander';
import {
  type ApiOptions,
  createContext,
  pageQuery,
  type PageOptions,
  pathOf,
  printPage,
  withApiOptions,
  withPageOptions,
} from '#cli/command-context.ts';
import { printJson } from '#cli/output.ts';
import { agoWords } from '#cli/text.ts';
import type { HandoffRoute } from '#cli/wire.ts';

export function register(handoffs: Command): void {
  withPageOptions(handoffs.command('list', { isDefault: true }).description('by channel and chat')).action(
    list,
  );
  withApiOptions(
    handoffs
      .command('clear')
      .description('bring a chat back to the agent that it had first')
      .argument('<channel>')
      .argument('<chat>'),
  ).action(clear);
}

async function list(options: PageOptions): Promise<void> {
  const now = Date.now();
  await printPage<HandoffRoute>(
    createContext(options),
    pathOf('handoffs'),
    pageQuery(options),
    [
      { title: 'channel', cell: (one) => one.channel },
      { title: 'chat', cell: (one) => one.chat_id },
      { title: 'from', cell: (one) => one.from },
      { title: 'to', cell: (one) => one.to },
      { title: 'reason', cell: (one) => one.reason, flexible: true },
      { title: 'since', cell: (one) => agoWords(one.created_at, now) },
    ],
    'No chat was handed on.',
  );
}

async function clear(channel: string, chat: string, options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const query = new URLSearchParams({ channel, chat_id: chat }).toString();
  await client.delete(`${pathOf('handoffs')}?${query}`);
  if (json) printJson(out, { channel, chat_id: chat, cleared: true });
  else out.line(`${chat} of ${channel} goes to its first agent again`);
}
