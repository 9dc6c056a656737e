/**
 * Reads a folder of GoClaw: its state (config.json, workspaces, skills, cron jobs), its exports of agents, skills and
 * MCP servers, unpacked, and its answer of GET /v1/tools/custom as custom_tools.json.
 */
import type { Fields } from '#domain/outside-value.ts';
import { customToolCreateSchema } from '#features/custom-tools/schema.ts';
import { mcpGrantPutSchema } from '#features/mcp/index.ts';
import { addChannel } from '../channels.ts';
import { addDocument, addDocumentsOf } from '../documents.ts';
import { createFindings, type Findings, keep, referencesFor, toName } from '../findings.ts';
import { addJob } from '../schedules.ts';
import { addServer } from '../servers.ts';
import { addSkill } from '../skill-folders.ts';
import type { SourceFolder } from '../source-folder.ts';
import { addAgent, recordOf } from './agents.ts';

/** The key of the agent that GoClaw has when its settings name none. */
const DEFAULT = 'default';

interface Reader {
  readonly findings: Findings;
  readonly source: SourceFolder;
  /** Keys of ours by GoClaw's keys and ids. */
  readonly agents: Map<string, string>;
  /** The agent of what names none. */
  usual: string;
}

export async function readGoclaw(source: SourceFolder): Promise<Findings> {
  const reader: Reader = { findings: createFindings(), source, agents: new Map(), usual: DEFAULT };
  const config = source.object('config.json');
  if (config) readConfig(reader, config);
  for (const folder of exportsOf(source)) readExport(reader, folder);
  for (const job of listOf(source.object('cron/jobs.json') ?? source.object('data/cron/jobs.json'), 'jobs'))
    readJob(reader, job);
  for (const folder of ['', 'mcp/']) {
    for (const server of source.lines(`${folder}servers.jsonl`))
      addServer(reader.findings, String(server['name']), server);
    for (const grant of source.lines(`${folder}grants.jsonl`)) readGrant(reader, grant);
  }
  for (const tool of listOf(source.object('custom_tools.json'), 'tools')) readTool(reader, tool);
  await readSkills(reader);
  return reader.findings;
}

const SECTIONS: Readonly<Record<string, string>> = {
  providers: 'keys of models are settings: set variables such as OPENAI_API_KEY (docs/models.md)',
  gateway: 'addresses, limits and origins of the API are settings (docs/operations.md)',
  tools: 'rules for all agents are the tenant’s policy: tempoclaw policy set (docs/policy.md)',
  sessions: 'a session belongs to one chat of a channel',
  tts: 'models that speak are settings (docs/media.md)',
  audio: 'models that hear are settings (docs/media.md)',
  telemetry: 'it is a setting (docs/telemetry.md)',
  hooks: 'hooks belong to agents and to the settings (docs/hooks.md)',
};

function readConfig(reader: Reader, config: Fields): void {
  const { findings, agents } = reader;
  const {
    agents: own,
    channels,
    tools,
    bindings,
    cron: _cron,
    data_dir: _dir,
    database: _database,
    ...rest
  } = config;
  const { defaults, list } = recordOf(own);
  const specs = Object.entries(recordOf(list));
  if (specs.length === 0 && recordOf(defaults)['model']) specs.push([DEFAULT, {}]);
  reader.usual = toName(
    (specs.find(([, spec]) => recordOf(spec)['default'] === true) ?? specs[0])?.[0] ?? DEFAULT,
  );
  for (const [name, spec] of specs) {
    const { provider, model, max_tokens, max_tool_iterations, agent_type } = recordOf(defaults);
    const usual = { provider, model, max_tokens, max_tool_iterations, agent_type };
    const key = addAgent(findings, name, { ...usual, ...recordOf(spec) });
    if (key === undefined) continue;
    agents.set(name, key);
    addWorkspace(reader, name, key);
  }
  const { mcp_servers, mcpServers = mcp_servers, ...toolRules } = recordOf(tools);
  for (const [name, server] of Object.entries(recordOf(mcpServers)))
    addServer(findings, name, recordOf(server));
  readChannels(reader, recordOf(channels), Array.isArray(bindings) ? bindings.map(recordOf) : []);
  for (const [name, value] of Object.entries({ ...rest, tools: toolRules }))
    if (Object.keys(recordOf(value)).length > 0)
      findings.remarks.push({ what: name, why: SECTIONS[name] ?? 'TempoClaw has nothing like it' });
}

/** The workspace of the usual agent is that of the installation. */
function addWorkspace({ findings, source, usual }: Reader, name: string, key: string): void {
  const own = [`agents/${name}`, `workspace-${name}`, `workspace/${name}`];
  const folders = [...own, ...(key === usual ? ['workspace', '.'] : [])];
  const folder = folders.find((one) => source.files(one).some((file) => file.endsWith('.md')));
  if (folder !== undefined) addDocumentsOf(findings, source, key, folder);
}

function readChannels(
  { findings, agents, usual }: Reader,
  channels: Fields,
  bindings: readonly Fields[],
): void {
  for (const [type, value] of Object.entries(channels)) {
    const {
      enabled,
      token: _token,
      bot_token: _bot,
      app_token: _app,
      allow_from,
      dm_policy,
      group_policy,
      require_mention,
      dm_stream,
      link_preview: _preview,
      reaction_level: _reactions,
      media_max_bytes: _bytes,
      group_stream: _stream,
      ...rest
    } = recordOf(value);
    if (enabled !== true) continue;
    const bound = bindings.find(({ match }) => recordOf(match)['channel'] === type)?.['agentId'];
    addChannel(findings, {
      type,
      agent: agents.get(String(bound)) ?? usual,
      people: dm_policy,
      groups: group_policy,
      requireMention: require_mention,
      allowFrom: allow_from,
      stream: dm_stream,
      rest,
    });
  }
}

/** The folder itself, folders in it, and folders in agents/, where one holds an agent.json. */
function exportsOf(source: SourceFolder): readonly string[] {
  const below = source.folders('agents').map((name) => `agents/${name}`);
  return ['.', ...source.folders('.'), ...below].filter((folder) =>
    source.files(folder).includes('agent.json'),
  );
}

/** Parts of an export that stay behind, by file or folder. */
const PARTS: Readonly<Record<string, string>> = {
  knowledge_graph: 'facts are drawn from memory anew (docs/knowledge.md)',
  workspace: 'files of workspaces are not imported; upload those that the agent needs',
  episodic: 'summaries of conversations are made from conversations',
  evolution: 'agents do not change themselves',
  vault: 'its documents are files; upload those that the agent needs',
  team: 'make the team with tempoclaw teams',
};

function readExport(reader: Reader, folder: string): void {
  const { findings, source, agents } = reader;
  const agent = source.object(`${folder}/agent.json`) ?? {};
  const { agent_id } = source.object(`${folder}/manifest.json`) ?? {};
  const name = String(agent['agent_key'] ?? '');
  const key = addAgent(findings, name, agent);
  if (key === undefined) return;
  agents.set(name, key).set(String(agent_id), key);
  for (const file of source.files(`${folder}/context_files`))
    addDocument(findings, key, file, source.text(`${folder}/context_files/${file}`) ?? '');
  for (const user of source.folders(`${folder}/user_context_files`))
    addDocumentsOf(findings, source, key, `${folder}/user_context_files/${user}`, user);
  const users = source.files(`${folder}/memory/users`).map((file) => `users/${file}`);
  for (const file of ['global.jsonl', ...users])
    for (const { path, content, user_id } of source.lines(`${folder}/memory/${file}`))
      addDocument(findings, key, memoryPath(String(path)), String(content), user_id ? String(user_id) : null);
  for (const job of source.lines(`${folder}/cron/jobs.jsonl`)) readJob(reader, { ...job, agentId: name });
  for (const part of source.folders(folder))
    if (PARTS[part] !== undefined) findings.remarks.push({ what: `agent ${key}: ${part}`, why: PARTS[part] });
}

/** GoClaw's memory may have any path; ours is below memory/. */
function memoryPath(path: string): string {
  return /^(?:MEMORY|memory)\.md$|^memory\//.test(path) ? path : `memory/${path}`;
}

/** A job of the file of GoClaw's service, or a line of an export. */
function readJob({ findings, agents, usual }: Reader, job: Fields): void {
  const payload = recordOf(job['payload']);
  const schedule = recordOf(job['schedule']);
  const isDelivered = job['deliver'] === true || payload['deliver'] === true;
  addJob(findings, {
    name: job['name'],
    agent: agents.get(String(job['agentId'] ?? job['agent_id'] ?? '')) ?? usual,
    message: payload['message'] ?? job['message'],
    kind: schedule['kind'] ?? job['schedule_kind'],
    expr: schedule['expr'] ?? job['cron_expression'],
    tz: schedule['tz'] ?? job['timezone'],
    everyMs: schedule['everyMs'] ?? job['interval_ms'],
    at: schedule['atMs'] ?? job['run_at'],
    deleteAfterRun: job['deleteAfterRun'] ?? job['delete_after_run'],
    ...(isDelivered && {
      channel: job['deliverChannel'] ?? payload['channel'],
      to: job['deliverTo'] ?? payload['to'],
    }),
  });
}

function readGrant({ findings, agents }: Reader, row: Fields): void {
  const server = toName(row['server_name']);
  const agent = agents.get(String(row['agent_key'])) ?? toName(row['agent_key']);
  const { enabled, tool_allow, tool_deny } = row;
  const grant = { enabled, tool_allow: tool_allow ?? [], tool_deny: tool_deny ?? [] };
  const grants: FoundGrantBody[] = [];
  if (keep(findings, grants, `grant of ${agent} on ${server}`, mcpGrantPutSchema, grant) && grants[0])
    findings.grants.push({ server, agent, grant: grants[0] });
}

type FoundGrantBody = Findings['grants'][number]['grant'];

function readTool({ findings, agents }: Reader, row: Fields): void {
  const { name, description, parameters, command, working_dir, timeout_seconds, env, agent_id, enabled } =
    row;
  const what = `tool ${String(name)}`;
  const agent = agent_id ? agents.get(String(agent_id)) : null;
  if (agent === undefined) {
    findings.remarks.push({ what, why: 'its agent is not in the folder; export the agent beside it' });
    return;
  }
  const known = Object.entries({ description, parameters, timeout_seconds, enabled }).filter(
    ([, value]) => value !== undefined && value !== null,
  );
  keep(findings, findings.tools, what, customToolCreateSchema, {
    name,
    command,
    ...Object.fromEntries(known),
    working_dir: working_dir || null,
    env: env ? referencesFor(env, String(name)) : null,
    agent_id: agent,
  });
}

async function readSkills({ findings, source }: Reader): Promise<void> {
  for (const folder of ['skills', 'workspace/skills', 'data/skills'])
    for (const name of source.folders(folder)) await addSkill(findings, source, `${folder}/${name}`, name);
  for (const store of ['skills-store', 'data/skills-store'])
    for (const name of source.folders(store)) {
      const newest = Math.max(...source.folders(`${store}/${name}`).map(Number).filter(Number.isInteger));
      if (Number.isFinite(newest)) await addSkill(findings, source, `${store}/${name}/${newest}`, name);
    }
}

function listOf(value: Fields | undefined, field: string): readonly Fields[] {
  const list = value?.[field];
  return Array.isArray(list) ? list.map(recordOf) : [];
}
