/**
 * Reads a folder of agents: `agents/NAME.md`, `skills/NAME/SKILL.md`, `schedules/NAME.md`. Tools are read apart,
 * because they are code.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { agentCreateSchema } from '#domain/schema/agent.ts';
import { isRecord } from '#domain/outside-value.ts';
import { scheduleCreateSchema, timingProblem } from '#features/schedules/index.ts';
import { readFolder, readPublished, type SkillFile } from '#features/skills/index.ts';

export type ProjectAgent = z.output<typeof agentCreateSchema>;
export type ProjectSchedule = z.output<typeof scheduleCreateSchema>;

export interface ProjectSkill {
  readonly name: string;
  readonly files: readonly SkillFile[];
}

export interface Project {
  readonly agents: readonly ProjectAgent[];
  readonly skills: readonly ProjectSkill[];
  readonly schedules: readonly ProjectSchedule[];
  /** Texts for people; each begins with the file, and its line where that is known. */
  readonly problems: readonly string[];
}

/** Files of each kind. */
const MAX_FILES = 1_000;

export async function readProject(folder: string): Promise<Project> {
  const problems: string[] = [];
  const read = <Item>(kind: string, itemOf: (name: string, page: Page) => Item | string): Item[] =>
    namesIn(join(folder, kind), '.md').flatMap((file) => {
      const path = `${kind}/${file}.md`;
      const page = readPage(readFileSync(join(folder, path), 'utf8'));
      const item = typeof page === 'string' ? page : itemOf(file, page);
      if (typeof item !== 'string') return [item];
      problems.push(`${path}${item.startsWith(':') ? '' : ': '}${item}`);
      return [];
    });
  const agents = read('agents', agentOf);
  const schedules = read('schedules', scheduleOf);
  const skills: ProjectSkill[] = [];
  for (const name of namesIn(join(folder, 'skills'), undefined)) {
    if (!existsSync(join(folder, 'skills', name, 'SKILL.md'))) {
      problems.push(`skills/${name}: has no SKILL.md`);
      continue;
    }
    const files = await readFolder(resolve(folder, 'skills', name));
    const problem = skillProblem(name, files);
    if (problem === undefined) skills.push({ name, files });
    else problems.push(`skills/${name}: ${problem}`);
  }
  return { agents, skills, schedules, problems };
}

/** Names of the files with this ending, without it; without an ending, of the folders. */
function namesIn(folder: string, ending: string | undefined): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !entry.name.startsWith('.'))
    .filter((entry) => (ending === undefined ? entry.isDirectory() : entry.name.endsWith(ending)))
    .map(({ name }) => (ending === undefined ? name : name.slice(0, -ending.length)))
    .toSorted()
    .slice(0, MAX_FILES);
}

/** Secrets are left to the installation, which knows more of them. */
function skillProblem(name: string, files: readonly SkillFile[]): string | undefined {
  const tree = files.map(({ path, content }) => ({ path, bytes: Buffer.from(content, 'base64') }));
  const read = readPublished(name, tree, () => false);
  return read.ok ? undefined : read.problem;
}

interface Page {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Front matter of YAML between two lines of ---, then text; or what is wrong, with its line. */
function readPage(content: string): Page | string {
  const [, front, text] = /^\uFEFF?---\r?\n(?:([^]*?)\r?\n)?---(?:\r?\n([^]*))?$/.exec(content) ?? [];
  if (text === undefined && front === undefined && !/^\uFEFF?---\r?\n---/.test(content))
    return ':1: must begin with front matter, between two lines of ---';
  const document = parseDocument(front ?? '', { prettyErrors: true });
  const [error] = document.errors;
  if (error) return `:${(error.linePos?.[0].line ?? 0) + 1}: ${error.message.split(/ at line \d|\n/)[0]}`;
  const fields: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
  if (!isRecord(fields)) return ':2: the front matter must hold names and values';
  return { fields, text: (text ?? '').trim() };
}

function agentOf(key: string, { fields, text }: Page): ProjectAgent | string {
  if (fields['key'] !== undefined && fields['key'] !== key)
    return `key is ${JSON.stringify(fields['key'])}; the name of the file is the key`;
  if (fields['instructions'] !== undefined && text !== '')
    return 'instructions are there twice: in the front matter and below it';
  const instructions = text === '' ? {} : { instructions: text };
  return parsedBy(agentCreateSchema, { key, ...fields, ...instructions });
}

/** The timing is one of `cron` (with `zone`), `every` and `at`. */
function scheduleOf(name: string, { fields, text }: Page): ProjectSchedule | string {
  const { cron: _cron, zone: _zone, every: _every, at: _at, ...rest } = fields;
  const timing = timingOf(fields);
  if (timing === undefined) return 'needs one of cron, every and at';
  const deliver = rest['session'] === undefined ? {} : { deliver: 'session' };
  if (rest['name'] !== undefined && rest['name'] !== name)
    return `name is ${JSON.stringify(rest['name'])}; the name of the file is the name`;
  if (rest['message'] !== undefined && text !== '')
    return 'message is there twice: in the front matter and below it';
  const message = text === '' ? {} : { message: text };
  const read = parsedBy(scheduleCreateSchema, {
    name,
    schedule: timing,
    ...deliver,
    ...rest,
    ...message,
  });
  // The time of another kind may be over, as that of a schedule that has run.
  if (typeof read === 'string' || read.schedule.kind !== 'cron') return read;
  return timingProblem(read.schedule, new Date()) ?? read;
}

function timingOf({ cron, zone = 'UTC', every, at }: Page['fields']): unknown {
  const timings = [
    cron !== undefined && { kind: 'cron', expr: cron, tz: zone },
    every !== undefined && { kind: 'every', every_seconds: every },
    at !== undefined && { kind: 'at', at: at instanceof Date ? at.toISOString() : at },
  ].filter((timing) => timing !== false);
  return timings.length === 1 ? timings[0] : undefined;
}

function parsedBy<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> | string {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  return parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'it'} ${message}`).join('; ');
}
