/**
 * Reads a folder of a workspace as plain files (domain/files/file-tree.ts): bounded, without links, hidden files and files
 * that git interprets.
 */
import { TREE_LIMITS, type TreeFile, treePathProblem } from '#domain/files/file-tree.ts';
import { isGits } from '../assignments/pass-files.ts';
import { FileProblem } from './file-problem.ts';
import type { Entry, Files, FileScope } from './contract.ts';

/** Names that start with a dot are skipped. @throws FileProblem that says which file cannot be part of it */
export async function readTree(
  files: Pick<Files, 'list' | 'readBytes'>,
  scope: FileScope,
  folder: string,
): Promise<readonly TreeFile[]> {
  const found: TreeFile[] = [];
  let remaining: number = TREE_LIMITS.bytes;

  async function readFile(path: string): Promise<void> {
    if (found.length === TREE_LIMITS.files)
      throw refused(`the folder has more than ${TREE_LIMITS.files} files, which is the most`);
    const bytes = await files.readBytes(
      scope,
      `${folder}/${path}`,
      Math.min(TREE_LIMITS.fileBytes, remaining),
    );
    if (!bytes)
      throw refused(
        `${path} is too large: a file has at most ${TREE_LIMITS.fileBytes} bytes, the folder ${TREE_LIMITS.bytes}`,
      );
    remaining -= bytes.length;
    found.push({ path, bytes });
  }

  async function readEntry({ name, kind }: Entry, below: string): Promise<void> {
    if (name.startsWith('.')) return;
    const path = below === '' ? name : `${below}/${name}`;
    const problem = treePathProblem(path);
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
      MAX_NAMES,
    );
    if (total > MAX_NAMES) throw refused(`${below || 'the folder'} holds more than ${MAX_NAMES} names`);
    for (const entry of entries) await readEntry(entry, below);
  }

  await readBelow('');
  return found;
}

/** Entries of one folder, including skipped ones. */
const MAX_NAMES = 2 * TREE_LIMITS.files;

function refused(message: string): FileProblem {
  return new FileProblem('InvalidArgs', message);
}
