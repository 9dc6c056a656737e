/** Implements `tempoclaw export`: it writes an agent as a file to standard output. */
import type { Command } from 'commander';
import { type ApiOptions, createContext, pathOf } from '#cli/command-context.ts';

export function register(command: Command): void {
  command
    .argument('<agent>')
    .option('--user <user...>', 'with the documents of these users')
    .action(async (agent: string, options: ApiOptions & { readonly user?: readonly string[] }) => {
      const { client, out } = createContext(options);
      const query = { user: options.user };
      const answer = await client.raw('GET', pathOf('agents', agent, 'export'), { query });
      out.stream.write(Buffer.from(await answer.arrayBuffer()));
    });
}
