/** Implements `tempoclaw chat`: talk to an agent with its steps live, approve in place, stop with Ctrl-C. */
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { createChat } from '../chat/chat.ts';
import { chatFromPipe } from '../chat/chat-pipe.ts';
import { chatAtTerminal } from '../chat/chat-terminal.ts';
import { EXIT, usageError } from '#cli/cli-error.ts';
import { type ApiOptions, createContext } from '#cli/command-context.ts';

export function register(command: Command): void {
  command
    .option('--session <key>', 'go on in this session (default: a new one)')
    .option('--agent <key>', 'who answers (default: main)')
    .action(chat);
}

async function chat(
  options: ApiOptions & { readonly session?: string; readonly agent?: string },
): Promise<void> {
  if (options.json) throw usageError('chat has no --json.', 'Use: tempoclaw run "text" --json');
  const context = createContext(options);
  const sessionKey = options.session ?? newSessionKey(new Date());
  const chat = createChat(context, sessionKey, options.agent);
  const isTerminal = context.canAsk && process.stdout.isTTY === true;
  process.exitCode = isTerminal
    ? await chatAtTerminal(chat, options.agent)
    : await chatFromPipe(chat, process.stdin);
  if (isTerminal && process.exitCode === EXIT.ok)
    context.err.line(context.err.paint('dim', `go on with: npx tempoclaw chat --session ${sessionKey}`));
}

function newSessionKey(now: Date): string {
  return `chat-${now.toISOString().slice(0, 10)}-${randomBytes(3).toString('hex')}`;
}
