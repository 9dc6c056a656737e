/** A skill's folder as files, on its way to being published or unpacked: bounded, without links, hidden files and what git obeys. */
import { SKILL_LIMITS, type SkillFile, skillPathProblem } from '../rules/skill.ts';
import { FileProblem } from '#activities/workspace/file-problem.ts';
import type { Entry, Files, FileScope } from '#activities/workspace/files.ts';
import { isGits } from '#activities/assignments/pass-files.ts';

/** Names that begin with a dot are passed over. @throws FileProblem that says which file cannot be part of it. */
export async function readSkillFolder(
  files: Pick<Files, 'list' | 'readBytes'>,
  scope: FileScope,
  folder: string,
): Promise<readonly SkillFile[]> {
  const found: SkillFile[] = [];
  let room: number = SKILL_LIMITS.bytes;

  async function readFile(path: string): Promise<void> {
    if (found.length === SKILL_LIMITS.files)
      throw refused(`the folder has more than ${SKILL_LIMITS.files} files, which is the most`);
    const bytes = await files.readBytes(scope, `${folder}/${path}`, Math.min(SKILL_LIMITS.fileBytes, room));
    if (!bytes)
      throw refused(
        `${path} is too large: a file has at most ${SKILL_LIMITS.fileBytes} bytes, the folder ${SKILL_LIMITS.bytes}`,
      );
    room -= bytes.length;
    found.push({ path, bytes });
  }

  async function readEntry({ name, kind }: Entry, below: string): Promise<void> {
    if (name.startsWith('.')) return;
    const path = below === '' ? name : `${below}/${name}`;
    const problem = skillPathProblem(path);
    if (problem !== undefined) throw refused(`${path} ${problem}`);
    if (isGits(name)) throw refused(`${path} is one of git's own files; leave it out`);
    if (kind === 'folder') return readBelow(path);
    if (kind !== 'file') throw refused(`${path} is a link or no plain file; put the file itself there`);
    return readFile(path);
  }

  async function readBelow(below: string): Promise<void> {
    const { entries, total } = await files.list(
      scope,
      below === '' ? folder : `${folder}/${below}`,
      MOST_NAMES,
    );
    if (total > MOST_NAMES) throw refused(`${below || 'the folder'} holds more than ${MOST_NAMES} names`);
    for (const entry of entries) await readEntry(entry, below);
  }

  await readBelow('');
  return found;
}

/** Of one folder, with those that are passed over. */
const MOST_NAMES = 2 * SKILL_LIMITS.files;

function refused(message: string): FileProblem {
  return new FileProblem('InvalidArgs', message);
}
