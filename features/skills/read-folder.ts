/** Reads the folder of a skill, as publishing takes it. */
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { CliError } from '#cli/cli-error.ts';
import { SKILL_LIMITS } from './rules/skill.ts';

export interface SkillFile {
  /** Within the folder, with slashes. */
  readonly path: string;
  /** In base64. */
  readonly content: string;
}

/** Names that begin with a dot are skipped. */
export async function readFolder(folder: string): Promise<SkillFile[]> {
  const files: SkillFile[] = [];
  let width: number = SKILL_LIMITS.bytes;
  const below = async (at: string): Promise<void> => {
    const names = await readdir(at).catch(() => {
      throw new CliError(`${at} is no folder that can be read.`);
    });
    for (const name of names.filter((one) => !one.startsWith('.')).toSorted()) {
      const found = join(at, name);
      const path = relative(folder, found).replaceAll('\\', '/');
      const stat = await lstat(found);
      if (stat.isDirectory() && path.split('/').length <= SKILL_LIMITS.depth) {
        await below(found);
        continue;
      }
      width -= stat.size;
      if (!stat.isFile())
        throw new CliError(`${path} is a link, too deep or no plain file; put the file itself there.`);
      if (width < 0 || files.length === SKILL_LIMITS.files)
        throw new CliError(
          `A skill has at most ${SKILL_LIMITS.files} files and ${SKILL_LIMITS.bytes} bytes.`,
        );
      files.push({ path, content: (await readFile(found)).toString('base64') });
    }
  };
  await below(folder);
  return files;
}
