/** Reads which of a folder's files are published as a skill, or why they are none. */
import { type TreeFile, treePathProblem } from '#domain/files/file-tree.ts';
import { SKILL_FILE, SKILL_LIMITS, type SkillFacts } from '../rules/skill.ts';
import { readSkill } from './read-skill.ts';

export type ReadPublished =
  | { readonly ok: true; readonly skill: SkillFacts }
  | { readonly ok: false; readonly problem: string };

/** `hasSecret`: published files are stored unchanged, so they must not contain anything that is hidden elsewhere. */
export function readPublished(
  folder: string,
  files: readonly TreeFile[],
  hasSecret: (text: string) => boolean,
): ReadPublished {
  const refused = (problem: string): ReadPublished => ({ ok: false, problem });
  if (files.length > SKILL_LIMITS.files) return refused(`a skill has at most ${SKILL_LIMITS.files} files`);
  if (new Set(files.map(({ path }) => path)).size < files.length) return refused('two files have one path');
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
  if (bytes > SKILL_LIMITS.bytes)
    return refused(`a skill has at most ${SKILL_LIMITS.bytes} bytes, and these are ${bytes}`);
  for (const file of files) {
    const problem = treePathProblem(file.path);
    if (problem !== undefined) return refused(`${file.path} ${problem}`);
    if (file.bytes.length > SKILL_LIMITS.fileBytes)
      return refused(`${file.path} has more than ${SKILL_LIMITS.fileBytes} bytes`);
    if (hasSecret(`${file.path}\n${file.bytes.toString('utf8')}`))
      return refused(`${file.path} holds a secret; name it as secret://NAME where it is needed`);
  }
  const text = files.find(({ path }) => path === SKILL_FILE)?.bytes;
  if (!text) return refused(`the folder has no ${SKILL_FILE}`);
  if (text.length > SKILL_LIMITS.text)
    return refused(`${SKILL_FILE} has more than ${SKILL_LIMITS.text} bytes`);
  const read = readSkill(text.toString('utf8'), folder);
  return read.ok ? { ok: true, skill: read.skill } : refused(`${SKILL_FILE} ${read.problems.join('; ')}`);
}
