/**
 * The skills that an agent may use: those of the settings' folders, then published ones, then those of its workspace.
 * The first of a name counts, so that nothing an agent writes replaces what people provide.
 */
import { SKILL_FILE, type KnownSkill, mayUseSkill, type SkillAccess, SKILL_LIMITS } from '../rules/skill.ts';
import { basename } from 'node:path';
import { rankAgents, searchedText } from '#domain/assignment/rank-agents.ts';
import { readSkill } from '../policy/read-skill.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import { filesRead } from '#store/files/outside-file-store.ts';
import { readToolsVersion } from '#store/turns/tools-version.ts';
import {
  listSkills,
  noteSkill,
  publishSkill,
  rankTexts,
  readSkillFiles,
  type SkillRow,
  type SkillToPublish,
} from '../store.ts';
import type { Embed } from '#activities/model/embed.ts';
import type { ActivityDeps } from '#activities/activity-deps.ts';
import type { Files, FileScope } from '#activities/workspace/contract.ts';
import { createFolderSkills, type SkillFiles } from './folder-skills.ts';
import type { TreeFile } from '#domain/files/file-tree.ts';
import { readTree } from '#activities/workspace/read-tree.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

/** The caller; a RunningCall is one. */
export type SkillScope = Pick<
  RunningCall,
  'tenant' | 'agent' | 'user' | 'workspace' | 'workspaceFrom' | 'origins'
>;

export interface LoadedSkill {
  readonly body: string;
  /** Path below the workspace. */
  readonly folder: string;
  readonly files: readonly string[];
}

export interface Skills {
  /** Lists each once. `version` is that of the tenant's tools, as a row said a moment ago. */
  list(scope: SkillScope, version?: number): Promise<readonly KnownSkill[]>;
  /** Finds the current version. */
  find(scope: SkillScope, name: string): Promise<KnownSkill | undefined>;
  /** Returns the best first. */
  search(call: RunningCall, query: string, max: number): Promise<readonly (KnownSkill & { score: number })[]>;
  /**
   * Returns its text, with its folder in the workspace. Safe to repeat. @throws FileProblem; returns words when it no
   * longer exists.
   */
  load(call: RunningCall, skill: KnownSkill): Promise<LoadedSkill | string>;
  /** Notes that the turn uses it. Returns false when it already uses the maximum of others. */
  note(call: RunningCall, skill: KnownSkill): Promise<boolean>;
  /** @throws FileProblem. */
  readFolder(call: RunningCall, path: string): Promise<readonly TreeFile[]>;
  publish(tenant: string, skill: SkillToPublish): ReturnType<typeof publishSkill>;
}

/** Folders of a workspace for its own skills, and for unpacked ones. */
const OWN = 'skills';
const UNPACKED = '.skills';

/** Tenants whose published skills are in memory; the one that was read first is removed first. */
const MAX_TENANTS = 1_000;

export function createSkills(
  deps: Pick<ActivityDeps, 'pool' | 'scrubberOf'> & {
    readonly files: Files;
    /** Files of this machine, whether workspaces follow the work or not. */
    readonly hostFiles: SkillFiles;
    readonly embed: Embed;
    /** Folders of the settings. */
    readonly folders: readonly string[];
    readonly now: () => number;
  },
): Skills {
  const { pool, files, hostFiles, embed, scrubberOf, folders, now } = deps;
  const inFolders = createFolderSkills(now);
  const published = new Map<string, { readonly version: number; readonly skills: readonly Published[] }>();

  async function publishedOf(tenant: string, version: number): Promise<readonly Published[]> {
    if (version === 0) return [];
    const known = published.get(tenant);
    if (known && known.version >= version) return known.skills;
    const skills = (await listSkills(forTenant(pool, tenant))).map(asPublished);
    published.delete(tenant);
    published.set(tenant, { version, skills });
    const oldest = published.size > MAX_TENANTS ? published.keys().next().value : undefined;
    if (oldest !== undefined) published.delete(oldest);
    return skills;
  }

  async function list(scope: SkillScope, value?: number, isNew = false): Promise<readonly KnownSkill[]> {
    const { tenant, agent, user, workspace } = scope;
    const found = new Map<string, KnownSkill>();
    const add = (skill: KnownSkill): unknown => found.has(skill.name) || found.set(skill.name, skill);
    for (const root of folders)
      for (const skill of await inFolders.list(hostFiles, root, '.'))
        add({ ...skill, source: 'instance', brings: true, isListed: true, root });
    const version = value ?? (await readToolsVersion(forTenant(pool, tenant)));
    for (const { skill, access } of await publishedOf(tenant, version)) {
      if (!mayUseSkill(access, agent, user)) continue;
      const isGranted = mayUseSkill({ ...access, visibility: 'private' }, agent, user);
      add({ ...skill, isListed: skill.brings || isGranted });
    }
    // An agent writes these itself, so they add nothing to what it can do. A prompt does not wait for a workspace that
    // another worker has.
    const written = await inFolders.list(isNew ? files : hostFiles, workspace, OWN, isNew);
    const isListed = written.length > 0 && !(await isFromOutside(scope));
    for (const skill of written)
      add({ ...skill, source: 'workspace', brings: false, isListed, root: `${OWN}/${skill.name}` });
    return [...found.values()];
  }

  /** A prompt names no skill that was written after external text was read; the searcher of skills finds it. */
  async function isFromOutside({ tenant, workspace, workspaceFrom, origins }: SkillScope): Promise<boolean> {
    await origins?.read(OWN);
    const folders = workspaceFrom === undefined ? [workspace] : [workspace, workspaceFrom];
    const place = { tenant, workspaces: folders.map((each) => basename(each)), path: OWN };
    return Object.keys(await filesRead(pool, place)).length > 0;
  }

  return {
    list: (scope, version) => list(scope, version),

    async find(scope, name) {
      const required = name.trim().normalize('NFKC');
      const found = (await list(scope, undefined, true)).find((skill) => skill.name === required);
      if (found?.session !== undefined) await scope.origins?.readSessions([found.session]);
      return found;
    },

    async search(call, query, max) {
      const skills = await list(call);
      const searched = skills.map((skill) => ({ ...skill, key: skill.name, frontmatter: null }));
      const texts = searched.map(searchedText);
      const ranks = await rankTexts(pool, texts, query);
      const { text } = await scrubberOf(call.tenant);
      const place = { session: call.sessionKey, turn: call.turnId };
      const [expected, ...agents] = (await embed(call.tenant, place, [query, ...texts].map(text))) ?? [];
      const ranked = searched.map((skill, at) => ({ ...skill, rank: ranks[at] ?? 0 }));
      const best = rankAgents(ranked, query, max, expected && { query: expected, agents });
      await call.origins?.readSessions(best.flatMap(({ session }) => session ?? []));
      return best;
    },

    async load(call, skill) {
      if (skill.source === 'workspace') {
        const folder = skill.root ?? '';
        const text = await files.readBytes(call, `${folder}/${SKILL_FILE}`, SKILL_LIMITS.text);
        return opened(skill.name, text, folder, []);
      }
      const found =
        skill.source === 'instance'
          ? await readTree(hostFiles, { workspace: skill.root ?? '', idempotencyKey: '' }, skill.name)
          : await readSkillFiles(forTenant(pool, call.tenant), skill.name, skill.version ?? 0);
      const folder = `${UNPACKED}/${skill.name}${skill.version === undefined ? '' : `@${skill.version}`}`;
      // This restores whatever the agent has changed. They are from people, and not the session’s own words.
      const input = { ...call, origins: undefined };
      const leave = await files.keep?.(call);
      try {
        for (const file of found) await unpack(files, input, folder, file);
      } finally {
        await leave?.();
      }
      const text = found.find(({ path }) => path === SKILL_FILE)?.bytes;
      return opened(
        skill.name,
        text,
        folder,
        found.map(({ path }) => path),
      );
    },

    note: (call, skill) => noteSkill(forTenant(pool, call.tenant), call.callId, skill, SKILL_LIMITS.inUse),
    readFolder: (call, path) => readTree(files, call, path),
    publish: (tenant, skill) => publishSkill(forTenant(pool, tenant), skill),
  };
}

/** Published files have no modes; a script says by its first line that it can be started. */
async function unpack(
  files: Files,
  call: FileScope,
  folder: string,
  { path, bytes }: TreeFile,
): Promise<void> {
  const isProgram = bytes.subarray(0, 2).toString('latin1') === '#!';
  await files.write({ ...call, isProgram }, `${folder}/${path}`, bytes);
}

interface Published {
  readonly skill: Omit<KnownSkill, 'isListed'>;
  readonly access: SkillAccess;
}

function asPublished({ agreed: brings, published_by: publisher, ...row }: SkillRow): Published {
  const { name, description, allowed, version, visibility, grants, session_key } = row;
  const session = brings ? undefined : (session_key ?? undefined);
  const skill = {
    name,
    description,
    allowed,
    source: 'published',
    brings,
    version,
    publisher,
    session,
  } as const;
  return { skill, access: { visibility, grants } };
}

function opened(
  name: string,
  text: Buffer | undefined,
  folder: string,
  files: readonly string[],
): LoadedSkill | string {
  if (!text) return `the skill ${name} has no ${SKILL_FILE}, or one of more than ${SKILL_LIMITS.text} bytes`;
  const read = readSkill(text.toString('utf8'), name);
  return read.ok ? { body: read.body, folder, files } : `its ${SKILL_FILE} ${read.problems.join('; ')}`;
}
