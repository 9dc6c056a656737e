/** Skills that lie in a folder, one below it each: of a workspace, or of the settings. Looked at anew after some seconds, and read when changed. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readSkill } from '../policy/read-skill.ts';
import { SKILL_FILE, SKILL_LIMITS, type SkillFacts } from '../rules/skill.ts';
import { errnoOf, FileProblem } from '#activities/workspace/file-problem.ts';
import type { Files } from '#activities/workspace/files.ts';

export type SkillFiles = Pick<Files, 'list' | 'readBytes'>;

export interface FolderSkills {
  /** By name; those that cannot be read are left out. `isNew`: as they are now, and not some seconds ago. */
  list(files: SkillFiles, workspace: string, folder: string, isNew?: boolean): Promise<readonly SkillFacts[]>;
}

/** Of one folder; more are not looked at. */
const MAX_SKILLS = 200;
const LOOK_MS = 5_000;
/** Folders whose skills are in memory; the one looked at longest ago makes room. */
const MAX_FOLDERS = 1_000;

interface Known {
  readonly at: number;
  /** By folder: when and how large its SKILL.md was; null when it is none. */
  readonly files: ReadonlyMap<string, { readonly stamp: string; readonly skill: SkillFacts | null }>;
}

export function createFolderSkills(now: () => number): FolderSkills {
  const known = new Map<string, Known>();

  async function look(
    files: SkillFiles,
    workspace: string,
    folder: string,
    before: Known | undefined,
    isNew: boolean,
  ): Promise<Known['files']> {
    const scope = { workspace, idempotencyKey: '' };
    const top = join(workspace, folder);
    // The usual case, at one look: nothing is made and nothing is followed.
    if (!isNew && (await stampOf(top)) === undefined) return new Map();
    const { entries } = await files.list(scope, folder, MAX_SKILLS);
    const found = new Map<string, { stamp: string; skill: SkillFacts | null }>();
    for (const { name, kind } of entries) {
      const stamp = kind === 'folder' ? await stampOf(join(top, name, SKILL_FILE)) : undefined;
      if (stamp === undefined) continue;
      const old = before?.files.get(name);
      if (old?.stamp === stamp) found.set(name, old);
      else {
        const text = await files
          .readBytes(scope, `${folder}/${name}/${SKILL_FILE}`, SKILL_LIMITS.text)
          .catch(noFile);
        const read = text && readSkill(text.toString('utf8'), name);
        found.set(name, { stamp, skill: read?.ok ? read.skill : null });
      }
    }
    return found;
  }

  return {
    async list(files, workspace, folder, isNew = false) {
      const key = `${workspace}\0${folder}`;
      const before = known.get(key);
      const isFresh = before !== undefined && !isNew && now() - before.at < LOOK_MS;
      const current = isFresh
        ? before
        : {
            at: now(),
            files: (await look(files, workspace, folder, before, isNew).catch(noFile)) ?? new Map(),
          };
      known.delete(key);
      known.set(key, current);
      const oldest = known.size > MAX_FOLDERS ? known.keys().next().value : undefined;
      if (oldest !== undefined) known.delete(oldest);
      return [...current.files.values()].flatMap(({ skill }) => (skill === null ? [] : [skill]));
    },
  };
}

/** Changes with what is there. Says nothing of what it holds, which only `Files` opens. */
async function stampOf(path: string): Promise<string | undefined> {
  try {
    const { mtimeMs, ino, size } = await stat(path);
    return `${mtimeMs} ${ino} ${size}`;
  } catch (error) {
    if (errnoOf(error) !== undefined) return undefined;
    throw error;
  }
}

/** What may not be read is no skill. */
function noFile(error: unknown): undefined {
  if (error instanceof FileProblem) return undefined;
  throw error;
}
