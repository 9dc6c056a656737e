/** Compares a folder with an installation, and makes the installation as the folder is. Safe to repeat. */
import { isDeepStrictEqual } from 'node:util';
import { pathOf, orMissing } from '#cli/command-context.ts';
import type { Client } from '#cli/client.ts';
import type { Project, ProjectAgent, ProjectSchedule, ProjectSkill } from './read-project.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface Change {
  readonly kind:
    | 'agent'
    | 'skill'
    | 'schedule'
    | 'tool'
    | 'file'
    | 'mcp server'
    | 'grant'
    | 'custom tool'
    | 'channel';
  readonly name: string;
  readonly action: 'create' | 'change' | 'remove';
  /** The fields that differ. */
  readonly fields: readonly string[];
  /** Safe to repeat. Absent when another change brings it. */
  readonly apply?: () => Promise<unknown>;
}

/** What there is in the installation and not in the folder is left alone, except tools of the host. */
export async function planProject(client: Client, project: Project): Promise<readonly Change[]> {
  const plans = [
    ...project.skills.map((skill) => planSkill(client, skill)),
    ...project.agents.map((agent) => planAgent(client, agent)),
    ...project.schedules.map((schedule) => planSchedule(client, schedule)),
  ];
  return (await Promise.all(plans)).filter((change) => change !== undefined);
}

/** Fields of a row that no file sets. */
const OF_ROWS = new Set(['key', 'revision', 'created_at', 'updated_at', 'warnings']);

async function planAgent(client: Client, agent: ProjectAgent): Promise<Change | undefined> {
  const { key, ...expected } = agent;
  const path = pathOf('agents', key);
  const there = await orMissing(client.get<Fields & { readonly revision: number }>(path));
  if (!there)
    return {
      kind: 'agent',
      name: key,
      action: 'create',
      fields: [],
      apply: () => client.send('POST', '/v1/agents', agent),
    };
  const gone = Object.keys(there).filter(
    (field) => !OF_ROWS.has(field) && there[field] !== null && !Object.hasOwn(expected, field),
  );
  const patch = { ...differing(expected, there), ...Object.fromEntries(gone.map((field) => [field, null])) };
  const fields = Object.keys(patch);
  if (fields.length === 0) return undefined;
  // What somebody else has changed since the plan was shown is not overwritten.
  const body = { ...patch, revision: there.revision };
  return {
    kind: 'agent',
    name: key,
    action: 'change',
    fields,
    apply: () => client.send('PATCH', path, body),
  };
}

async function planSkill(client: Client, { name, files }: ProjectSkill): Promise<Change | undefined> {
  const path = pathOf('skills', name);
  const there = await orMissing(
    client.get<{ readonly files: readonly { readonly path: string; readonly content: string }[] }>(
      `${path}/files`,
    ),
  );
  const before = new Map(there?.files.map((file) => [file.path, file.content]));
  const after = new Map(files.map((file) => [file.path, file.content]));
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (file) => before.get(file) !== after.get(file),
  );
  if (there && changed.length === 0) return undefined;
  return {
    kind: 'skill',
    name,
    action: there ? 'change' : 'create',
    fields: there ? changed : [],
    apply: () => client.send('PUT', path, { files, visibility: 'public' }),
  };
}

async function planSchedule(client: Client, schedule: ProjectSchedule): Promise<Change | undefined> {
  const { name, agent, schedule: timing, ...more } = schedule;
  const query = { name, ...(agent !== undefined && { agent }) };
  const { data } = await client.get<{ readonly data: readonly (Fields & { readonly id: string })[] }>(
    '/v1/schedules',
    query,
  );
  const [there] = data;
  if (!there)
    return {
      kind: 'schedule',
      name,
      action: 'create',
      fields: [],
      apply: () => client.post('/v1/schedules', schedule),
    };
  const isSameTime = Object.keys(differing(timing, there['schedule'] as Fields)).length === 0;
  const patch = { ...differing(more, there), ...(!isSameTime && { schedule: timing }) };
  const fields = Object.keys(patch);
  if (fields.length === 0) return undefined;
  const path = pathOf('schedules', there.id);
  return { kind: 'schedule', name, action: 'change', fields, apply: () => client.send('PATCH', path, patch) };
}

function differing(expected: Fields, there: Fields): Fields {
  return Object.fromEntries(
    Object.entries(expected).filter(
      ([field, value]) => value !== undefined && !isDeepStrictEqual(value, there[field] ?? undefined),
    ),
  );
}

type Tool = Fields & { readonly name: string };

/** The tools of the host, which are registered together. */
export async function planTools(
  client: Client,
  host: string,
  tools: readonly Tool[],
): Promise<readonly Change[]> {
  const there = await orMissing(client.get<{ readonly tools: readonly Tool[] }>(pathOf('tool-hosts', host)));
  const before = new Map(there?.tools.map((tool) => [tool.name, tool]));
  const changes = tools.flatMap((tool): readonly Change[] => {
    const old = before.get(tool.name);
    before.delete(tool.name);
    if (!old) return [{ kind: 'tool', name: tool.name, action: 'create', fields: [] }];
    const fields = Object.keys(differing(tool, old));
    return fields.length === 0 ? [] : [{ kind: 'tool', name: tool.name, action: 'change', fields }];
  });
  const removed = [...before.keys()].map(
    (name): Change => ({ kind: 'tool', name, action: 'remove', fields: [] }),
  );
  return [...changes, ...removed];
}
