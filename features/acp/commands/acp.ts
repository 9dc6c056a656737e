/** Implements `tempoclaw acp`: an agent of the Agent Client Protocol on stdio, for editors, until they close it. */
import { Readable, Writable } from 'node:stream';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import type { Command } from 'commander';
import { type ApiOptions, createContext } from '#cli/command-context.ts';
import { createAcpAgent } from '../acp-agent.ts';

interface AcpOptions extends ApiOptions {
  readonly agent: string;
}

/** A prompt with files of the editor; the API takes messages of 256 KB. */
const MAX_LINE = 4 * 1024 * 1024;

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
    { maxMessageBytes: MAX_LINE },
  );
  const connection = sessions.app.connect(stream);
  await connection.closed;
  sessions.close();
}
