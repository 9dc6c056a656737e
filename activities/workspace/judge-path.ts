/** VF-4 without side effects: whether a tool could use a path, and the code that the tool would return. */
import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { JudgePath, PathOp } from '#domain/files/path-rules.ts';
import { MODEL_RESULT_BYTES } from '#domain/tool.ts';
import { errnoOf, FileProblem, fileProblem } from './file-problem.ts';
import { openFile } from './open-file.ts';
import { guardGitFolder } from './guard-git.ts';
import { openFolder, openParent } from './open-folder.ts';
import { existing } from './replace-file.ts';
import { resolvePath, type SafePath } from './resolve-path.ts';

const WRITES: ReadonlySet<PathOp> = new Set(['write', 'edit', 'delete']);

/** Opens what the tool would open, and changes nothing. `workspace` is an existing folder. */
export const judgePath: JudgePath = async (rules, workspace, path, op) => {
  try {
    const safe = await resolvePath(rules, workspace, path, WRITES.has(op) ? 'write' : 'read');
    const isLarge = await look(safe, op);
    return {
      decision: 'allow',
      resolved: safe.absolute,
      code: isLarge ? 'Truncated' : null,
      reason: isLarge
        ? 'it is inside the workspace; a tool reads it page by page'
        : 'it is inside the workspace',
    };
  } catch (error) {
    const { code, message } = fileProblem(error, `cannot ${op}`, path);
    return { decision: 'deny', code, reason: message };
  }
};

/** Throws what the tool would throw. True for a file that is read in pages. */
async function look(safe: SafePath, op: PathOp): Promise<boolean> {
  switch (op) {
    case 'read':
    case 'edit': {
      const file = await openFile(safe);
      const { size } = await file.stat();
      await file.close();
      return op === 'read' && size > MODEL_RESULT_BYTES;
    }
    case 'cwd':
      guardGitFolder(safe);
      await (await openFolder(safe.absolute, safe.requestedPath)).close();
      return false;
    case 'list':
      await (await openFolder(safe.absolute, safe.requestedPath)).close();
      return false;
    case 'write':
      await lookForWrite(safe);
      return false;
    default:
      await lstat(safe.absolute);
      return false;
  }
}

/** A new file may need new folders: then the deepest existing one is checked. */
async function lookForWrite(safe: SafePath): Promise<void> {
  try {
    const { folder, name } = await openParent(safe, false);
    try {
      await existing(folder, name, safe.requestedPath);
    } finally {
      await folder.close();
    }
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    let above = dirname(safe.absolute);
    while (above !== safe.root && (await isMissing(above))) above = dirname(above);
    await (await openFolder(above, safe.requestedPath)).close();
  }
}

async function isMissing(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return false;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return true;
    throw error instanceof FileProblem ? error : fileProblem(error, 'cannot look at', path);
  }
}
