/**
 * DU-8: makes an agent from a file. Everything is checked before anything is written; a repeat does what is still
 * missing.
 */
import {
  findSkill,
  grantSkill,
  publishSkill,
  readPublished,
  type SkillToPublish,
} from '#features/skills/index.ts';
import { treeDigest } from '#store/files/tree-digest.ts';
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { AgentConfig } from '#domain/agent.ts';
import { documentKind } from '#domain/files/document.ts';
import { Failure } from '#domain/errors.ts';
import { EXPORT_LINES, type ExportLine, exportLineSchema, type Imported } from './schema.ts';
import { type AgentRow, findAgent, insertAgent, updateAgent } from '#store/agent-store.ts';
import { checkSize, listOwnDocuments, writeDocument } from '#store/files/document-store.ts';
import type { ApiDeps } from '#api/deps.ts';
import { refuseHooks } from '#api/refuse-hooks.ts';
import { refuseSecretDefinition } from '#api/server/refuse-secrets.ts';
import { checkModels, toConfig } from '#api/routes/agents.ts';
import { refuseInRollout } from '#domain/rollout.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

type Deps = Pick<ApiDeps, 'pool' | 'secrets' | 'documentWritten' | 'models' | 'policy'>;
type Hide = (text: string) => string;
type Numbered<One> = One & { readonly line: number };
type Line<Kind extends ExportLine['kind']> = Numbered<Extract<ExportLine, { readonly kind: Kind }>>;

export interface ImportRequest {
  readonly tenant: string;
  readonly by: string;
  readonly key: string;
  /** Whether existing things that differ are overwritten; otherwise, they are refused. */
  readonly replace: boolean;
  /**
   * Whether the file's marks count. Anybody can write a file with a digest that claims that a text is the agent's own,
   * or that a skill was approved.
   */
  readonly trusted: boolean;
}

interface PlannedSkill extends Numbered<SkillToPublish> {
  /** True if its newest version is already this one. */
  readonly isThere: boolean;
}

/** How many things that would be overwritten an error names. */
const NAMED = 10;

/** @throws Failure Unprocessable with the line and why, Conflict with what would be overwritten */
export async function importAgent(deps: Deps, request: ImportRequest, bytes: Buffer): Promise<Imported> {
  const { tenant, by, key, replace, trusted } = request;
  const { pool } = deps;
  const scrubber = await deps.secrets.vault.scrubberOf(tenant);
  const { text: hide } = scrubber;
  const lines = readLines(bytes);
  const conflicts: string[] = [];
  const config = toConfig({ ...lines.agent.agent, key });
  await atLine(1, async () => {
    refuseSecretDefinition(scrubber, config, 'agent');
    checkModels(deps, config);
    await refuseHooks(deps, tenant, config.hooks);
  });
  const old = await findAgent(forTenant(pool, tenant), key);
  const agent = old ? (isDeepStrictEqual(old.config, config) ? 'unchanged' : 'replaced') : 'made';
  if (old && agent === 'replaced') refuseInRollout(old);
  if (agent === 'replaced') conflicts.push(`the agent ${key}`);
  const documents = await planDocuments(deps, request, lines.documents, hide, conflicts);
  const skills = await planSkills(deps, request, lines.skills, hide, conflicts);
  if (conflicts.length > 0 && !replace) throw wouldOverwrite(conflicts);

  if (agent !== 'unchanged') await saveAgent(deps, request, old, config);
  for (const { line, user, path, outside, text } of documents) {
    const expected = replace ? undefined : 0;
    const change = { path, author: by, outside: outside || !trusted, expected, by: () => text };
    await atLine(line, () => writeDocument(pool, { tenant, agent: key, user }, change));
  }
  // One document of each owner is enough for what follows changes of memory.
  const remembered = documents.filter(({ path }) => documentKind(path) === 'memory');
  for (const [user, path] of new Map(remembered.map((document) => [document.user, document.path])))
    await deps.documentWritten({ tenant, agent: key, user }, path, false);
  for (const skill of skills) await atLine(skill.line, () => saveSkill(deps, request, skill));
  const published = skills.filter(({ isThere }) => !isThere).length;
  return { key, agent, documents: documents.length, skills: published };
}

interface Lines {
  readonly agent: Line<'agent'>;
  readonly documents: readonly Line<'document'>[];
  readonly skills: readonly Line<'skill'>[];
}

/** Checks that the lines are complete and as they were written, with each thing once. */
function readLines(bytes: Buffer): Lines {
  const text = bytes.toString('utf8').trimEnd();
  const [agent, ...rest] = text.split('\n', EXPORT_LINES).map(readLine);
  if (agent?.kind !== 'agent') throw refused(1, 'an export begins with its agent');
  const end = rest.pop();
  if (end?.kind !== 'end') throw refused(rest.length + 2, 'an export ends with its digest: it was cut off');
  const written = text.slice(0, text.lastIndexOf('\n') + 1);
  if (createHash('sha256').update(written).digest('hex') !== end.sha256)
    throw refused(end.line, 'the digest is not that of the lines before it: the file was changed');
  const documents = rest.filter((one) => one.kind === 'document');
  const skills = rest.filter((one) => one.kind === 'skill');
  if (documents.length + skills.length < rest.length) throw refused(1, 'a file has one agent and one end');
  refuseTwice(documents, ({ user, path }) => JSON.stringify([user, path]));
  refuseTwice(skills, ({ name }) => name);
  refuseNested(documents);
  return { agent, documents, skills };
}

function readLine(text: string, at: number): Numbered<ExportLine> {
  const line = at + 1;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refused(line, 'it is not JSON');
  }
  const read = exportLineSchema.safeParse(value);
  if (read.success) return { ...read.data, line };
  const [issue] = read.error.issues;
  throw refused(line, [...(issue?.path ?? []).slice(-1), issue?.message].join(': '));
}

function refuseTwice<One>(lines: readonly Numbered<One>[], nameOf: (one: One) => string): void {
  const seen = new Map<string, number>();
  for (const one of lines) {
    const other = seen.get(nameOf(one));
    if (other !== undefined) throw refused(one.line, `line ${other} is of the same`);
    seen.set(nameOf(one), one.line);
  }
}

/** In a workspace, a file cannot also be a folder. */
function refuseNested(documents: readonly Line<'document'>[]): void {
  const lineOf = new Map(documents.map(({ user, path, line }) => [JSON.stringify([user, path]), line]));
  for (const { line, user, path } of documents)
    for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) {
      const folder = path.slice(0, end);
      const other = [user, null].flatMap((owner) => lineOf.get(JSON.stringify([owner, folder])) ?? [])[0];
      if (other !== undefined) throw refused(line, `${path} would make ${folder} of line ${other} a folder`);
    }
}

/** The documents that differ from the file, or do not exist yet. */
async function planDocuments(
  { pool }: Deps,
  { tenant, key }: ImportRequest,
  lines: readonly Line<'document'>[],
  hide: Hide,
  conflicts: string[],
): Promise<readonly Line<'document'>[]> {
  const digests = new Map<string, string>();
  for (const user of new Set(lines.map((line) => line.user)))
    for (const { path, digest } of await listOwnDocuments(pool, { tenant, agent: key, user }))
      digests.set(JSON.stringify([user, path]), digest);
  const planned: Line<'document'>[] = [];
  for (const line of lines) {
    const { user, path } = line;
    const text = hide(line.text);
    await atLine(line.line, async () => checkSize(path, text));
    const there = digests.get(JSON.stringify([user, path]));
    if (there === createHash('sha256').update(text).digest('hex')) continue;
    if (there !== undefined) conflicts.push(user === null ? path : `${path} of ${user}`);
    planned.push({ ...line, text });
  }
  return planned;
}

async function planSkills(
  { pool }: Deps,
  { tenant, by, key, trusted }: ImportRequest,
  lines: readonly Line<'skill'>[],
  hide: Hide,
  conflicts: string[],
): Promise<readonly PlannedSkill[]> {
  const planned: PlannedSkill[] = [];
  for (const { line, name, visibility, owned, agreed, files: values } of lines) {
    const files = values.map(({ path, content }) => ({ path, bytes: Buffer.from(content, 'base64') }));
    const read = readPublished(name, files, (text) => hide(text) !== text);
    if (!read.ok) throw refused(line, read.problem);
    const there = await findSkill(forTenant(pool, tenant), read.skill.name);
    const isThere = there?.sha256 === treeDigest(files);
    if (there && !isThere) conflicts.push(`the skill ${there.name}`);
    const imported = { owner: owned ? `agent:${key}` : null, agreed: agreed && trusted };
    planned.push({ ...read.skill, visibility, files, by, imported, line, isThere });
  }
  return planned;
}

async function saveAgent(
  { pool }: Deps,
  { tenant, by }: ImportRequest,
  old: AgentRow | undefined,
  config: AgentConfig,
): Promise<void> {
  const db = forTenant(pool, tenant);
  const saved = old ? await updateAgent(db, old.revision, config, by) : await insertAgent(db, config, by);
  if (!saved)
    throw new Failure('Conflict', 'The agent is being changed by others at the same time; try again');
}

async function saveSkill(
  { pool }: Deps,
  { tenant, by, key }: ImportRequest,
  skill: PlannedSkill,
): Promise<void> {
  const db = forTenant(pool, tenant);
  if (!skill.isThere && typeof (await publishSkill(db, skill)) === 'string')
    throw new Failure('Unprocessable', 'there are as many skills, or versions of this one, as may be');
  const grant = { kind: 'agent', subject: key, by } as const;
  if (skill.visibility === 'private' && !(await grantSkill(db, skill.name, grant)))
    throw new Failure('Unprocessable', `the skill ${skill.name} has as many grants as may be`);
}

async function atLine<Result>(line: number, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Failure) throw new Failure(error.type, `Line ${line}: ${error.message}`);
    throw error;
  }
}

function refused(line: number, why: string): Failure {
  return new Failure('Unprocessable', `Line ${line}: ${why}`);
}

function wouldOverwrite(conflicts: readonly string[]): Failure {
  const more = conflicts.length - NAMED;
  const named = conflicts.slice(0, NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
  return new Failure('Conflict', `It would overwrite ${named}: replace them, or import it under another key`);
}
