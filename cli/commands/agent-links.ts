/** `tempoclaw agent-links`: which agent may give work to which. */
import { type Command, Option } from 'commander';
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
import { printFields, printJson } from '#cli/output.ts';
import type { AgentLink } from '#cli/wire.ts';

interface LinkOptions extends ApiOptions {
  readonly direction?: string;
  readonly status?: string;
  readonly maxConcurrent?: string;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly role?: string;
  readonly description?: string;
}

export function register(links: Command): void {
  withPageOptions(
    links
      .command('list', { isDefault: true })
      .description('the links there are')
      .option('--agent <key>', 'those that it is one end of'),
  ).action(list);
  withApiOptions(links.command('show').description('one link').argument('<id>')).action(show);
  withLinkOptions(
    links
      .command('add')
      .description('let one agent give work to another')
      .argument('<source>')
      .argument('<target>'),
  ).action(add);
  withLinkOptions(
    links.command('set').description('change a link; what is not given stays').argument('<id>'),
  ).action(set);
  withApiOptions(links.command('delete').description('delete a link').argument('<id>')).action(remove);
}

function withLinkOptions(command: Command): Command {
  return withApiOptions(
    command
      .addOption(
        new Option('--direction <direction>', 'who may give work').choices([
          'outbound',
          'inbound',
          'bidirectional',
        ]),
      )
      .addOption(new Option('--status <status>').choices(['active', 'disabled']))
      .option('--max-concurrent <number>', 'at once over the link; 0: as many as the target takes')
      .option('--allow <user...>', 'only these users')
      .option('--deny <user...>', 'not these users')
      .option('--role <scope>', 'only turns of keys with this scope')
      .option('--description <text>', 'what the link is for'),
  );
}

async function list(options: PageOptions & { readonly agent?: string }): Promise<void> {
  await printPage<AgentLink>(
    createContext(options),
    pathOf('agent-links'),
    { ...pageQuery(options), agent: options.agent },
    [
      { title: 'link', cell: (one) => one.id },
      { title: 'source', cell: (one) => one.source },
      { title: 'target', cell: (one) => one.target },
      { title: 'direction', cell: (one) => one.direction },
      { title: 'status', cell: (one) => one.status },
      { title: 'at once', cell: (one) => one.max_concurrent || '-' },
    ],
    'No links.',
  );
}

async function show(id: string, options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const link = await client.get<AgentLink>(pathOf('agent-links', id));
  if (json) printJson(out, link);
  else printFields(out, { ...link, settings: JSON.stringify(link.settings) });
}

async function add(source: string, target: string, options: LinkOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const link = await client.post<AgentLink>(pathOf('agent-links'), { source, target, ...bodyOf(options) });
  if (json) printJson(out, link);
  else out.line(`${link.id}: ${source} may give work to ${target} (${link.direction}, ${link.status})`);
}

async function set(id: string, options: LinkOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const link = await client.patch<AgentLink>(pathOf('agent-links', id), bodyOf(options));
  if (json) printJson(out, link);
  else out.line(`${link.id} is changed (${link.direction}, ${link.status})`);
}

async function remove(id: string, options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  await client.delete(pathOf('agent-links', id));
  if (json) printJson(out, { id, deleted: true });
  else out.line(`${id} is deleted`);
}

function bodyOf({ direction, status, maxConcurrent, allow, deny, role, description }: LinkOptions) {
  const hasSettings = allow !== undefined || deny !== undefined || role !== undefined;
  return {
    direction,
    status,
    max_concurrent: maxConcurrent === undefined ? undefined : Number(maxConcurrent),
    description,
    settings: hasSettings
      ? {
          user_allow: allow,
          user_deny: deny,
          require_role: role,
        }
      : undefined,
  };
}
