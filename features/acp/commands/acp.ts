/** Implements `tempoclaw acp`: an agent of the Agent Client Protocol on stdio, for editors, until they close it. */
import { Readable, Writable } from 'node:stream';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import type { Command } from 'commander';
import { MAX_BODY_WITH_FILES } from '#api/sent-files.ts';
import { type ApiOptions, createContext } from '#cli/command-context.ts';
import { createAcpAgent } from '../acp-agent.ts';

interface AcpOptions extends ApiOptions {
  readonly agent: string;
}

export function register(command: Command): void {
  command.option('--agent <key>', 'who answers in new sessions', 'main').action(serve);
}

async function serve({ agent, ...options }: AcpOptions): Promise<void> {
  const { client, err } = createContext(options);
  const sessions = createAcpAgent({ client, defaultAgent: agent, warn: (line) => err.line(line) });
  // Only the protocol may write to stdout.
  const stream = ndJsonStream(
    Writable.toWeb(process.stdout),
    Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
    { maxMessageBytes: MAX_BODY_WITH_FILES },
  );
  const connection = sessions.app.connect(stream);
  await connection.closed;
  sessions.close();
}
