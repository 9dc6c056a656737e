/** `tempoclaw allowlist`: what people allowed always, and taking it back. */
import type { Command } from 'commander';
import {
  createContext,
  type PageOptions,
  pageQuery,
  pathOf,
  printPage,
  withApiOptions,
  withPageOptions,
  type ApiOptions,
} from '#cli/command-context.ts';

interface Entry {
  readonly id: string;
  readonly agent: string;
  readonly user: string | null;
  readonly tool: string;
  readonly allows: string;
  readonly created_by: string;
}

interface ListOptions extends PageOptions {
  readonly agent?: string;
  readonly user?: string;
}

export function register(allowlist: Command): void {
  withPageOptions(allowlist.command('list', { isDefault: true }).description('what runs without a question'))
    .option('--agent <key>', 'of this agent')
    .option('--user <id>', 'of this user')
    .action(list);
  withApiOptions(
    allowlist.command('revoke').description('ask again from the next call on').argument('<id>'),
  ).action(revoke);
}

async function list(options: ListOptions): Promise<void> {
  await printPage<Entry>(
    createContext(options),
    pathOf('exec-allowlist'),
    { ...pageQuery(options), agent: options.agent, user: options.user },
    [
      { title: 'id', cell: (entry) => entry.id },
      { title: 'agent', cell: (entry) => entry.agent },
      { title: 'user', cell: (entry) => entry.user ?? '(all)' },
      { title: 'tool', cell: (entry) => entry.tool },
      { title: 'allows', cell: (entry) => entry.allows, flexible: true },
      { title: 'by', cell: (entry) => entry.created_by },
    ],
    'Nothing was allowed always.',
  );
}

async function revoke(id: string, options: ApiOptions): Promise<void> {
  const { client, err } = createContext(options);
  await client.delete(pathOf('exec-allowlist', id));
  err.line(`${err.paint('green', '✔')} ${id} is asked about again`);
}
