/**
 * The AGENTS.md of a repository or a folder in it: the nearest one above the file applies, and the model is informed of
 * it once.
 */
import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FileScope } from './contract.ts';
import { shown } from './file-problem.ts';

const GUIDE = 'AGENTS.md';
/** Number of folders of sessions that a worker keeps in memory; dropped ones are reported again. */
const REMEMBERED = 10_000;

export interface FolderGuides {
  /**
   * `inside`: relative to `root`, a file or, with a final `.`, a folder. Undefined when there is none, or the session
   * knows it.
   */
  of(scope: FileScope, root: string, inside: string): Promise<string | undefined>;
}

export function createFolderGuides(): FolderGuides {
  const notified = new Set<string>();
  return {
    async of({ sessionKey, documents }, root, inside) {
      if (sessionKey === undefined) return undefined;
      // The workspace's own guide is a document, which the prompt contains, unless there is none.
      const folder = await nearest(root, dirname(inside), documents?.version === null);
      if (folder === undefined) return undefined;
      const key = JSON.stringify([sessionKey, root, folder]);
      if (notified.has(key)) return undefined;
      notified.add(key);
      const [oldest] = notified;
      if (notified.size > REMEMBERED && oldest !== undefined) notified.delete(oldest);
      const path = join(folder, GUIDE);
      if (inside === path) return undefined;
      return `${shown(path)} says how to work on what is below its folder; read it before you change anything there`;
    },
  };
}

async function nearest(root: string, folder: string, withRoot: boolean): Promise<string | undefined> {
  if (folder === '.' && !withRoot) return undefined;
  const isThere = await lstat(join(root, folder, GUIDE)).then(
    (found) => found.isFile(),
    // A file that cannot be stat'ed cannot be read either.
    () => false,
  );
  if (isThere) return folder;
  return folder === '.' ? undefined : nearest(root, dirname(folder), withRoot);
}
