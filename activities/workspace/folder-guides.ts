/** The AGENTS.md of a repository or a folder in it: the nearest above what is read counts, and the model is told once that it is there. */
import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FileScope } from './files.ts';
import { shown } from './file-problem.ts';

const GUIDE = 'AGENTS.md';
/** Folders of sessions that a worker remembers; what it forgets is told again. */
const REMEMBERED = 10_000;

export interface FolderGuides {
  /** `inside`: from `root`, a file or, with a last `.`, a folder. Undefined: there is none, or the session knows. */
  of(scope: FileScope, root: string, inside: string): Promise<string | undefined>;
}

export function createFolderGuides(): FolderGuides {
  const notified = new Set<string>();
  return {
    async of({ sessionKey, documents }, root, inside) {
      if (sessionKey === undefined) return undefined;
      // That of the workspace itself is a document, which the prompt has, unless there is none.
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
    // What cannot be looked at cannot be read either.
    () => false,
  );
  if (isThere) return folder;
  return folder === '.' ? undefined : nearest(root, dirname(folder), withRoot);
}
