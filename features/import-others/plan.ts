/** Compares what a folder holds with an installation. What is there already is changed only on request. */
import { isDeepStrictEqual } from 'node:util';
import type { Client } from '#cli/client.ts';
import { orMissing, pathOf } from '#cli/command-context.ts';
import type { Fields } from '#domain/outside-value.ts';
import { type Change, planProject } from '#features/projects/index.ts';
import { type Findings, type FoundDocument, type FoundGrant, secretsOf } from './findings.ts';

export interface ImportChange extends Change {
  /** Secrets that it refers to and that are not set. */
  readonly missing: readonly string[];
}

/** In the order in which they can be made. */
export async function planImport(client: Client, findings: Findings): Promise<readonly ImportChange[]> {
  const { agents, skills, schedules, documents, servers, grants, tools, channels } = findings;
  const set = await secretNames(client);
  const missing = (value: unknown) => secretsOf(value).filter((name) => !set.has(name));
  const plain = (change: Change): ImportChange => ({ ...change, missing: [] });
  const project = await planProject(client, { agents, skills, schedules: [], problems: [] });
  const timed = await planProject(client, { agents: [], skills: [], schedules, problems: [] });
  const plans: ImportChange[] = project.map(plain);
  for (const document of documents) plans.push(...(await planDocument(client, document)).map(plain));
  for (const server of servers) plans.push(...withMissing(await planServer(client, server), missing(server)));
  for (const grant of grants) plans.push(...(await planGrant(client, grant)).map(plain));
  for (const tool of tools) plans.push(...withMissing(await planTool(client, tool), missing(tool)));
  plans.push(...timed.map(plain));
  for (const channel of channels)
    plans.push(...withMissing(await planChannel(client, channel), missing(channel)));
  return plans;
}

function withMissing(changes: readonly Change[], missing: readonly string[]): ImportChange[] {
  return changes.map((change) => ({ ...change, missing }));
}

async function secretNames(client: Client): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  let after: string | undefined;
  do {
    const page: { readonly data: readonly { readonly name: string }[]; readonly next_cursor: string | null } =
      await client.get('/v1/secrets', { limit: 200, after });
    for (const { name } of page.data) names.add(name);
    after = page.next_cursor ?? undefined;
  } while (after !== undefined);
  return names;
}

async function planDocument(
  client: Client,
  { agent, user, path, text }: FoundDocument,
): Promise<readonly Change[]> {
  const query = user === null ? {} : { user };
  const at = `${pathOf('agents', agent, 'files')}/${encodeURIComponent(path)}`;
  const there = await orMissing(
    client.get<{ readonly text: string; readonly user: string | null }>(at, query),
  );
  // Without a file of his own, a user sees the agent's.
  const own = there?.user === user ? there : undefined;
  if (own?.text === text) return [];
  const name = `${path} of ${agent}${user === null ? '' : ` for ${user}`}`;
  const apply = () => client.send('PUT', at, { text }, query);
  return [{ kind: 'file', name, action: own ? 'change' : 'create', fields: own ? ['text'] : [], apply }];
}

/** Answers never have the values of env and headers, but their names. */
async function planServer(client: Client, server: Findings['servers'][number]): Promise<readonly Change[]> {
  const { name, env, headers, ...config } = server;
  const path = pathOf('mcp', 'servers', name);
  const there = await orMissing(client.get<Fields>(path));
  if (!there) return [create('mcp server', name, () => client.post('/v1/mcp/servers', server))];
  const expected = { ...config, env_names: Object.keys(env), header_names: Object.keys(headers) };
  const fields = differing(expected, there);
  return changed('mcp server', name, fields, () => client.send('PATCH', path, { ...config, env, headers }));
}

async function planGrant(client: Client, { server, agent, grant }: FoundGrant): Promise<readonly Change[]> {
  const path = pathOf('mcp', 'servers', server, 'grants');
  const there = await orMissing(client.get<{ readonly data: readonly Fields[] }>(path));
  const own = there?.data.find(({ kind, subject }) => kind === 'agent' && subject === agent);
  const apply = () => client.send('PUT', `${path}/agent/${encodeURIComponent(agent)}`, grant);
  const name = `${agent} on ${server}`;
  return own ? changed('grant', name, differing(grant, own), apply) : [create('grant', name, apply)];
}

async function planTool(client: Client, tool: Findings['tools'][number]): Promise<readonly Change[]> {
  const { name, env, ...config } = tool;
  const { tools } = await client.get<{ readonly tools: readonly (Fields & { readonly id: string })[] }>(
    '/v1/tools/custom',
    { name },
  );
  const [there] = tools;
  if (!there) return [create('custom tool', name, () => client.post('/v1/tools/custom', tool))];
  const fields = differing({ ...config, env_names: Object.keys(env ?? {}) }, there);
  const path = pathOf('tools', 'custom', there.id);
  return changed('custom tool', name, fields, () => client.send('PATCH', path, { ...config, env }));
}

async function planChannel(
  client: Client,
  channel: Findings['channels'][number],
): Promise<readonly Change[]> {
  const { key, agent, settings } = channel;
  const path = pathOf('channels', key);
  const there = await orMissing(client.get<{ readonly agent: string; readonly settings: Fields }>(path));
  if (!there) return [create('channel', key, () => client.post('/v1/channels', channel))];
  const shown = Object.fromEntries(
    Object.entries(settings).filter(([, value]) => secretsOf(value).length === 0),
  );
  const fields = [...differing({ agent }, there), ...differing(shown, there.settings)];
  return changed('channel', key, fields, () => client.send('PATCH', path, { agent, settings }));
}

function create(kind: Change['kind'], name: string, apply: () => Promise<unknown>): Change {
  return { kind, name, action: 'create', fields: [], apply };
}

function changed(
  kind: Change['kind'],
  name: string,
  fields: readonly string[],
  apply: () => Promise<unknown>,
): readonly Change[] {
  return fields.length === 0 ? [] : [{ kind, name, action: 'change', fields, apply }];
}

function differing(expected: Fields, there: Fields): readonly string[] {
  return Object.keys(expected).filter(
    (field) =>
      expected[field] !== undefined && !isDeepStrictEqual(expected[field] ?? null, there[field] ?? null),
  );
}
