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
    | 'hook'
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

/** Changed agents are for some sessions first: of 100 users, `share` get them. New agents are there for all. */
export interface Rollout {
  readonly share: number;
}

/**
 * What there is in the installation and not in the folder is left alone, except tools and hooks of the host. A change is
 * refused when somebody else has changed the same since it was planned.
 */
export async function planProject(
  client: Client,
  project: Project,
  rollout?: Rollout,
): Promise<readonly Change[]> {
  const plans = [
    ...project.skills.map((skill) => planSkill(client, skill)),
    ...project.agents.map((agent) => planAgent(client, agent, rollout)),
    ...project.schedules.map((schedule) => planSchedule(client, schedule)),
  ];
  return (await Promise.all(plans)).filter((change) => change !== undefined);
}

/** Fields of a row that no file sets. */
const OF_ROWS = new Set(['key', 'revision', 'created_at', 'updated_at', 'warnings']);

async function planAgent(
  client: Client,
  agent: ProjectAgent,
  rollout: Rollout | undefined,
): Promise<Change | undefined> {
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
  const body = { ...patch, revision: there.revision };
  return {
    kind: 'agent',
    name: key,
    action: 'change',
    fields,
    apply: () =>
      rollout
        ? client.send('POST', '/v1/rollouts', { agent: key, share: rollout.share, change: body })
        : client.send('PATCH', path, body),
  };
}

async function planSkill(client: Client, { name, files }: ProjectSkill): Promise<Change | undefined> {
  const path = pathOf('skills', name);
  const there = await orMissing(
    client.get<{
      readonly version: number;
      readonly files: readonly { readonly path: string; readonly content: string }[];
    }>(`${path}/files`),
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
    apply: () => client.send('PUT', path, { files, visibility: 'public', version: there?.version ?? 0 }),
  };
}

async function planSchedule(client: Client, schedule: ProjectSchedule): Promise<Change | undefined> {
  const { name, agent, schedule: timing, ...more } = schedule;
  const query = { name, ...(agent !== undefined && { agent }) };
  type There = Fields & { readonly id: string; readonly revision: number };
  const { data } = await client.get<{ readonly data: readonly There[] }>('/v1/schedules', query);
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
  const body = { ...patch, revision: there.revision };
  return { kind: 'schedule', name, action: 'change', fields, apply: () => client.send('PATCH', path, body) };
}

function differing(expected: Fields, there: Fields): Fields {
  return Object.fromEntries(
    Object.entries(expected).filter(
      ([field, value]) => value !== undefined && !isDeepStrictEqual(value, there[field] ?? undefined),
    ),
  );
}

type Named = Fields & { readonly name: string };

/** The tools and hooks of the host, which are registered together. */
export async function planCode(
  client: Client,
  host: string,
  { definitions, hooks }: { readonly definitions: readonly Named[]; readonly hooks: readonly Named[] },
): Promise<readonly Change[]> {
  const there = await orMissing(
    client.get<{ readonly tools: readonly Named[]; readonly hooks: readonly Named[] }>(
      pathOf('tool-hosts', host),
    ),
  );
  return [
    ...planNamed('tool', definitions, there?.tools ?? []),
    ...planNamed('hook', hooks, there?.hooks ?? []),
  ];
}

function planNamed(
  kind: 'tool' | 'hook',
  expected: readonly Named[],
  there: readonly Named[],
): readonly Change[] {
  const before = new Map(there.map((one) => [one.name, one]));
  const changes = expected.flatMap((one): readonly Change[] => {
    const old = before.get(one.name);
    before.delete(one.name);
    if (!old) return [{ kind, name: one.name, action: 'create', fields: [] }];
    const fields = Object.keys(differing(one, old));
    return fields.length === 0 ? [] : [{ kind, name: one.name, action: 'change', fields }];
  });
  const removed = [...before.keys()].map((name): Change => ({ kind, name, action: 'remove', fields: [] }));
  return [...changes, ...removed];
}
