/** Reads a folder of clawft: `.clawft/` or the folder that holds it, with agents, skills, cron jobs and config.json. */
import { agentCreateSchema } from '#domain/schema/agent.ts';
import { type Fields, isRecord } from '#domain/outside-value.ts';
import { addChannel } from '../channels.ts';
import { addDocument, addDocumentsOf } from '../documents.ts';
import { createFindings, type Findings, keep, remarkRest, toName } from '../findings.ts';
import { addJob } from '../schedules.ts';
import { addServer } from '../servers.ts';
import { addSkill } from '../skill-folders.ts';
import type { SourceFolder } from '../source-folder.ts';

/** The key of the agent that clawft's defaults describe. An installation has a `main` of its own. */
const DEFAULT = 'clawft';

/** Names of tools in agents of clawft, which are those of Claude Code; its own names are a dialect of ours. */
const TOOLS: Readonly<Record<string, string>> = {
  Read: 'read_file',
  Write: 'write_file',
  Edit: 'edit',
  Bash: 'exec',
  Glob: 'glob',
  Grep: 'search',
  WebFetch: 'web_fetch',
  WebSearch: 'web_search',
};

export async function readClawft(source: SourceFolder): Promise<Findings> {
  const findings = createFindings();
  // A folder whose name begins with a dot is not listed.
  const base = source.object('.clawft/config.json') || source.folders('.clawft').length > 0 ? '.clawft/' : '';
  const config = source.object(`${base}config.json`) ?? {};
  const defaults = recordOf(recordOf(config['agents'])['defaults']);
  addUsualAgent(findings, source, base, defaults);
  await addAgents(findings, source, `${base}agents`, defaults);
  for (const name of source.folders(`${base}skills`))
    await addSkill(findings, source, `${base}skills/${name}`, name);
  const servers = either(recordOf(config['tools']), 'mcp_servers', 'mcpServers');
  // A workspace takes a server of the user away by null.
  for (const [name, server] of Object.entries(recordOf(servers)))
    if (isRecord(server)) {
      const { internalOnly, ...fields } = server;
      addServer(findings, name, { internal_only: internalOnly, ...fields }, { internal_only: true });
    }
  for (const job of jobsOf(source, base)) addCronJob(findings, job);
  for (const [type, channel] of Object.entries(recordOf(config['channels'])))
    if (isRecord(channel) && channel['enabled'] === true) addChat(findings, type, channel);
  remarkSections(findings, config);
  return findings;
}

/** An agent is a folder with a definition, its context files and skills, or a file. */
async function addAgents(
  findings: Findings,
  source: SourceFolder,
  agents: string,
  defaults: Fields,
): Promise<void> {
  for (const name of source.folders(agents)) {
    const path = ['agent.yaml', 'agent.yml', 'agent.json'].map((file) => `${agents}/${name}/${file}`);
    const found = path.map((one) => source.object(one)).find((one) => one !== undefined);
    if (!found) continue;
    const key = addAgent(findings, { name, ...found }, defaults);
    if (key === undefined) continue;
    addDocumentsOf(findings, source, key, `${agents}/${name}`);
    for (const skill of source.folders(`${agents}/${name}/skills`))
      await addSkill(findings, source, `${agents}/${name}/skills/${skill}`, skill);
  }
  for (const file of source.files(agents))
    if (/\.(?:ya?ml|json)$/.test(file)) {
      const name = file.replace(/\.\w+$/, '');
      addAgent(findings, { name, ...source.object(`${agents}/${file}`) }, defaults);
    }
}

/** Other systems write a field as `max_tokens` or `maxTokens`. */
function either(fields: Fields, one: string, other: string): unknown {
  return fields[one] ?? fields[other];
}

function recordOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

function addUsualAgent(findings: Findings, source: SourceFolder, base: string, defaults: Fields): void {
  if (!defaults['model']) return;
  const key = addAgent(findings, { name: DEFAULT }, defaults);
  if (key === undefined) return;
  const folders = [`${base}workspace`, base || '.'];
  for (const folder of folders) addDocumentsOf(findings, source, key, folder);
  const text = source.text('CLAWFT.md');
  if (text === undefined) return;
  if (findings.documents.some(({ agent, path }) => agent === key && path === 'AGENTS.md'))
    findings.remarks.push({
      what: 'CLAWFT.md',
      why: 'the agent has an AGENTS.md already; add the text to it',
    });
  else addDocument(findings, key, 'AGENTS.md', text);
  if (/^@\S/m.test(text))
    findings.remarks.push({
      what: 'CLAWFT.md: lines that begin with @',
      why: 'write the text of these files into AGENTS.md',
    });
}

const REASONS = {
  temperature: 'models run with their own',
  memory_window: 'a session keeps its whole conversation',
  memoryWindow: 'a session keeps its whole conversation',
  workspace: 'files of workspaces are not imported; upload those that the agent needs',
  skills: 'agents find imported skills by themselves',
} as const;

function addAgent(findings: Findings, fields: Fields, defaults: Fields): string | undefined {
  const { name, description, system_prompt, allowed_tools, max_turns, variables, model, ...own } = fields;
  const { model: usual, max_tokens, maxTokens, max_tool_iterations, maxToolIterations, ...more } = defaults;
  const key = toName(name);
  const what = `agent ${key || String(name)}`;
  const iterations = max_turns ?? max_tool_iterations ?? maxToolIterations;
  const tokens = max_tokens ?? maxTokens;
  const tools = Array.isArray(allowed_tools) ? allowed_tools.map((tool) => TOOLS[String(tool)] ?? tool) : [];
  const prompt = promptOf(system_prompt, recordOf(variables));
  const value = {
    key,
    model: model ?? usual,
    ...(description ? { description } : {}),
    ...(prompt ? { instructions: prompt } : {}),
    ...(tools.length > 0 ? { tools: { allow: tools } } : {}),
    limits: { ...(iterations ? { iterations } : {}), ...(tokens ? { output_tokens: tokens } : {}) },
    tool_names: 'clawft',
  };
  if (!keep(findings, findings.agents, what, agentCreateSchema, value)) return undefined;
  if (/\$ARGUMENTS|\$\{\d+\}/.test(prompt))
    findings.remarks.push({
      what: `${what}: $ARGUMENTS in its prompt`,
      why: 'what is said is a message; reword the prompt',
    });
  remarkRest(findings, what, { ...own, ...(name === DEFAULT && more) }, REASONS);
  return key;
}

/** Puts the variables of the agent into its prompt, as clawft does for each call. */
function promptOf(prompt: unknown, variables: Fields): string {
  return String(prompt ?? '').replace(/\$\{([A-Za-z_]\w*)\}/g, (whole, name: string) =>
    Object.hasOwn(variables, name) ? String(variables[name]) : whole,
  );
}

/** The log of its service, whose events are applied in their order, or the older file of its command line. */
function jobsOf(source: SourceFolder, base: string): readonly Fields[] {
  const jobs = new Map<unknown, Fields>();
  const older = source.object(`${base}cron.json`)?.['jobs'];
  for (const job of Array.isArray(older) ? older.map(recordOf) : []) jobs.set(job['id'], job);
  for (const { type, job, job_id, field, value } of source.lines(`${base}cron.jsonl`)) {
    const before = jobs.get(job_id);
    if (type === 'create' && isRecord(job)) jobs.set(job['id'], job);
    if (type === 'update' && before) jobs.set(job_id, { ...before, [String(field)]: value });
    if (type === 'delete') jobs.delete(job_id);
  }
  return [...jobs.values()];
}

function addCronJob(findings: Findings, job: Fields): void {
  const isText = typeof job['schedule'] === 'string';
  const schedule = isText ? { kind: 'cron', expr: job['schedule'] } : recordOf(job['schedule']);
  const { message, deliver, channel, to } = recordOf(job['payload']);
  const expr = exprOf(String(schedule['expr'] ?? ''));
  addJob(findings, {
    name: job['name'],
    agent: DEFAULT,
    message: job['prompt'] ?? message,
    kind: schedule['kind'],
    expr,
    tz: schedule['tz'],
    everyMs: schedule['every_ms'],
    at: schedule['at_ms'],
    deleteAfterRun: job['delete_after_run'],
    ...(deliver === true && { channel, to }),
  });
  // Its library counts the days of a week from Sunday as 1.
  if (isText && /\d/.test(expr.split(' ').at(-1) ?? ''))
    findings.remarks.push({
      what: `schedule ${toName(job['name'])}: day of the week`,
      why: `clawft counts Sunday as 1, and TempoClaw as 0: check ${expr}`,
    });
}

/** clawft may write seven fields, the year last; ours have no year. */
function exprOf(expr: string): string {
  const fields = expr.trim().split(/\s+/);
  const plain = fields.length === 7 && fields[6] === '*' ? fields.slice(0, 6) : fields;
  return (plain.length === 6 && plain[0] === '0' ? plain.slice(1) : plain).join(' ');
}

/** Fields that say how it is reached, which the settings of a channel of ours do in another way. */
const CONNECTION = /^(?:enabled|mode|.*token.*|.*env|.*secret.*|.*url|.*path|intents)$/i;

function addChat(findings: Findings, type: string, channel: Fields): void {
  const { dm, allow_from, allowFrom, group_policy, groupPolicy, ...rest } = channel;
  const direct = recordOf(dm);
  const allowed = allow_from ?? allowFrom ?? either(direct, 'allow_from', 'allowFrom');
  const isListed = direct['policy'] === 'allowlist' || (Array.isArray(allowed) && allowed.length > 0);
  const groups = group_policy ?? groupPolicy;
  addChannel(findings, {
    type,
    agent: DEFAULT,
    people: isListed ? 'allowlist' : 'pairing',
    groups,
    requireMention: groups !== 'open',
    allowFrom: allowed,
    stream: false,
    rest: Object.fromEntries(Object.entries(rest).filter(([name]) => !CONNECTION.test(name))),
  });
}

const SECTIONS: Readonly<Record<string, string>> = {
  providers: 'keys of models are settings: set variables such as OPENAI_API_KEY (docs/models.md)',
  gateway: 'addresses of the API are settings; a heartbeat belongs to an agent (docs/heartbeat.md)',
  delegation: 'link agents with tempoclaw agent-links (docs/delegation.md)',
  routing: 'an agent names its models in the order of fallback (docs/models.md)',
  voice: 'TempoClaw has nothing like it',
  kernel: 'TempoClaw has nothing like it',
};

function remarkSections({ remarks }: Findings, config: Fields): void {
  for (const [name, why] of Object.entries(SECTIONS))
    if (Object.keys(recordOf(config[name])).length > 0) remarks.push({ what: name, why });
  const { mcp_servers: _servers, mcpServers: _same, ...tools } = recordOf(config['tools']);
  if (Object.keys(tools).length > 0)
    remarks.push({
      what: 'tools',
      why: 'rules for all agents are the tenant’s policy: tempoclaw policy set (docs/policy.md)',
    });
}
