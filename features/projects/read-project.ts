/**
 * Reads a folder of agents: `agents/NAME.md`, `skills/NAME/SKILL.md`, `schedules/NAME.md`. Tools are read apart,
 * because they are code.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { z } from 'zod';
import { agentCreateSchema } from '#domain/schema/agent.ts';
import { scheduleCreateSchema, timingProblem } from '#features/schedules/index.ts';
import { readFolder, readPublished, type SkillFile } from '#features/skills/index.ts';
import { type Page, parsedBy, type Path, readPage } from './read-page.ts';

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
  const read = <Item extends object>(
    kind: string,
    itemOf: (name: string, page: Page) => Item | readonly string[],
  ): Item[] =>
    namesIn(join(folder, kind), '.md').flatMap((file) => {
      const path = `${kind}/${file}.md`;
      const page = readPage(readFileSync(join(folder, path), 'utf8'));
      const item = typeof page === 'string' ? [page] : itemOf(file, page);
      if (!isProblems(item)) return [item];
      problems.push(...item.map((problem) => `${path}${problem}`));
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

function isProblems(item: object): item is readonly string[] {
  return Array.isArray(item);
}

function agentOf(key: string, page: Page): ProjectAgent | readonly string[] {
  const { fields, text } = page;
  if (fields['key'] !== undefined && fields['key'] !== key)
    return [page.wrong(['key'], `key is ${JSON.stringify(fields['key'])}; the name of the file is the key`)];
  if (fields['instructions'] !== undefined && text !== '')
    return [page.wrong(['instructions'], 'instructions are there twice: in the front matter and below it')];
  const instructions = text === '' ? {} : { instructions: text };
  return parsedBy(agentCreateSchema, { key, ...fields, ...instructions }, page);
}

/** The timing is one of `cron` (with `zone`), `every` and `at`. */
function scheduleOf(name: string, page: Page): ProjectSchedule | readonly string[] {
  const { fields, text } = page;
  const { cron, zone, every: _every, at: _at, ...rest } = fields;
  const timing = timingOf(fields);
  if (timing === undefined) return [': needs one of cron, every and at'];
  if (zone !== undefined && cron === undefined)
    return [page.wrong(['zone'], 'zone goes with cron; the time in at has its own offset')];
  const deliver = rest['session'] === undefined ? {} : { deliver: 'session' };
  if (rest['name'] !== undefined && rest['name'] !== name)
    return [
      page.wrong(['name'], `name is ${JSON.stringify(rest['name'])}; the name of the file is the name`),
    ];
  if (rest['message'] !== undefined && text !== '')
    return [page.wrong(['message'], 'message is there twice: in the front matter and below it')];
  const message = text === '' ? {} : { message: text };
  const schedule = { name, schedule: timing, ...deliver, ...rest, ...message };
  const read = parsedBy(scheduleCreateSchema, schedule, page, inFile);
  return isProblems(read) ? read : judgedTiming(read, page);
}

/** The time of another kind than cron may be over, as that of a schedule that has run. */
function judgedTiming(read: ProjectSchedule, page: Page): ProjectSchedule | readonly string[] {
  const problem = read.schedule.kind === 'cron' ? timingProblem(read.schedule, new Date()) : undefined;
  if (problem === undefined) return read;
  const [, field = '', words = problem] = /^(\w+): (.*)$/s.exec(problem) ?? [];
  const path = inFile(['schedule', field]);
  return [page.wrong(path, `${path.join('.')}: ${words}`)];
}

/** What the API calls otherwise. */
const IN_FILE: Readonly<Record<string, string>> = { expr: 'cron', tz: 'zone', every_seconds: 'every' };

function inFile(path: Path): Path {
  const [first, name = 'cron', ...more] = path;
  return first === 'schedule' ? [IN_FILE[String(name)] ?? name, ...more] : path;
}

function timingOf({ cron, zone = 'UTC', every, at }: Page['fields']): unknown {
  const timings = [
    cron !== undefined && { kind: 'cron', expr: cron, tz: zone },
    every !== undefined && { kind: 'every', every_seconds: every },
    at !== undefined && { kind: 'at', at: at instanceof Date ? at.toISOString() : at },
  ].filter((timing) => timing !== false);
  return timings.length === 1 ? timings[0] : undefined;
}
