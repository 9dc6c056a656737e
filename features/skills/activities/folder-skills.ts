/**
 * Skills in a folder, one subfolder each, of a workspace or of the settings. They are checked again after some seconds,
 * and read when changed.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readSkill } from '../policy/read-skill.ts';
import { SKILL_FILE, SKILL_LIMITS, type SkillFacts } from '../rules/skill.ts';
import { errnoOf, FileProblem } from '#activities/workspace/file-problem.ts';
import type { Files } from '#activities/workspace/contract.ts';

export type SkillFiles = Pick<Files, 'list' | 'readBytes'>;

export interface FolderSkills {
  /** Skills by name, without unreadable ones. With `isNew`, they are current, and not some seconds old. */
  list(files: SkillFiles, workspace: string, folder: string, isNew?: boolean): Promise<readonly SkillFacts[]>;
}

/** Skills of one folder; further ones are not read. */
const MAX_SKILLS = 200;
const LOOK_MS = 5_000;
/** Folders whose skills are in memory; the one that was unused the longest is removed first. */
const MAX_FOLDERS = 1_000;

interface Known {
  readonly at: number;
  /** For each folder, the time and size of its SKILL.md; null when it has none. */
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
    // In the usual case, this one check suffices: nothing is created and no link is followed.
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

/** Changes with the file. It reveals nothing of the contents, which only `Files` opens. */
async function stampOf(path: string): Promise<string | undefined> {
  try {
    const { mtimeMs, ino, size } = await stat(path);
    return `${mtimeMs} ${ino} ${size}`;
  } catch (error) {
    if (errnoOf(error) !== undefined) return undefined;
    throw error;
  }
}

/** A file that may not be read is no skill. */
function noFile(error: unknown): undefined {
  if (error instanceof FileProblem) return undefined;
  throw error;
}
