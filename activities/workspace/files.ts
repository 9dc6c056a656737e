/** File operations of tools, confined to the caller's workspace (VF-4). Problems are thrown as FileProblem. */
import { lstat, opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Entry, Files, FilesOptions, HeldFolder } from './contract.ts';
import { createFileChanges } from './change-file.ts';
import { errnoOf, FileProblem, shown } from './file-problem.ts';
import { createFolderGuides } from './folder-guides.ts';
import { guardGitFolder } from './guard-git.ts';
import { closing, explained, openFile, versionOf } from './open-file.ts';
import { type Folder, openFolder } from './open-folder.ts';
import { readPage } from './read-page.ts';
import { isTemporary } from './replace-file.ts';
import { DEFAULT_PATH_RULES, type PathRules } from '#domain/files/path-rules.ts';
import { isDenied, resolvePath, type SafePath } from './resolve-path.ts';
import { createResolvers } from './resolve-file.ts';

/** Greatest number of names read from one folder; the listing reports more. */
const MAX_NAMES = 100_000;

export function createFiles(options: FilesOptions): Files {
  const rules: PathRules = { ...DEFAULT_PATH_RULES, ...options.rules };
  const guides = createFolderGuides();

  const { resolve, resolveChange } = createResolvers(rules);

  return {
    async readPage(scope, path, request) {
      return explained('failed to read file', path, async () => {
        const safe = await resolve(scope, path);
        const file = await openFile(safe);
        return closing(file, async () => ({
          ...(await readPage(file, request, path)),
          guide: await guides.of(scope, safe.root, safe.inside),
        }));
      });
    },

    async readBytes(scope, path, max) {
      return explained('failed to read file', path, async () => {
        const file = await openFile(await resolve(scope, path));
        return closing(file, async () => {
          const buffer = Buffer.alloc(Math.min((await file.stat()).size, max) + 1);
          const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
          return bytesRead > max ? undefined : buffer.subarray(0, bytesRead);
        });
      });
    },

    ...createFileChanges({ ...options, resolveChange }),

    async openRead(scope, path) {
      return explained('failed to read file', path, async () => {
        const file = await openFile(await resolve(scope, path));
        const there = await file.stat({ bigint: true });
        return { bytes: Number(there.size), version: versionOf(there), stream: file.createReadStream() };
      });
    },

    async list(scope, path, limit) {
      return explained('failed to list', path, async () => {
        const safe = await resolve(scope, path);
        const folder = await openNamed('failed to list', safe, path);
        return closing(folder, async () => {
          const names = await namesIn(folder, safe, rules);
          const entries = await Promise.all(names.slice(0, limit).map((name) => entryOf(folder, name)));
          const guide = await guides.of(scope, safe.root, `${safe.inside || '.'}/.`);
          return { entries: entries.filter((entry) => entry !== undefined), total: names.length, guide };
        });
      });
    },

    async hold(scope, path, use) {
      return explained('failed to open folder', path, async () => {
        const safe = await resolve(scope, path);
        if (use === 'run') {
          guardGitFolder(safe);
          await scope.origins?.runs();
        }
        const folder = await openNamed('failed to open folder', safe, path);
        return held(folder, safe, rules);
      });
    },

    async isFolder(scope, path) {
      return explained('failed to open', path, async () => {
        const safe = await resolve(scope, path);
        return (await stat(safe.absolute)).isDirectory();
      });
    },
  };
}

/** Opens a folder that the model names. @throws FileProblem that says so when it is a file */
async function openNamed(doing: string, { absolute }: SafePath, path: string): Promise<Folder> {
  try {
    return await openFolder(absolute, path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOTDIR' || !(await isThere(absolute))) throw error;
    throw new FileProblem('InvalidPath', `${doing} ${shown(path)}: it is a file, not a folder`);
  }
}

/** False when a part of the path is a file. */
async function isThere(absolute: string): Promise<boolean> {
  return lstat(absolute).then(
    () => true,
    () => false,
  );
}

async function namesIn(folder: Folder, safe: SafePath, rules: PathRules): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of await opendir(folder.at(''))) {
    const inside = safe.inside === '' ? name : `${safe.inside}/${name}`;
    if (isTemporary(name) || isDenied(rules.deniedPrefixes, inside)) continue;
    names.push(name);
    if (names.length >= MAX_NAMES) break;
  }
  return names.sort((a, b) => (a < b ? -1 : 1));
}

async function entryOf(folder: Folder, name: string): Promise<Entry | undefined> {
  try {
    const stat = await lstat(folder.at(name));
    if (stat.isDirectory()) return { name, kind: 'folder', size: 0 };
    if (stat.isSymbolicLink()) return { name, kind: 'link', size: 0 };
    return { name, kind: stat.isFile() ? 'file' : 'other', size: stat.size };
  } catch (error) {
    // It was removed after the folder was read.
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function held(folder: Folder, safe: SafePath, rules: PathRules): HeldFolder {
  const below = safe.inside === '' ? '' : `${safe.inside.toLowerCase()}/`;
  return {
    cwd: folder.at(''),
    path: safe.absolute,
    inside: safe.inside,
    denied: rules.deniedPrefixes
      .map((prefix) => prefix.replace(/^(\.?\/)+|\/+$/g, ''))
      .filter((prefix) => prefix.toLowerCase().startsWith(below) && prefix.length > below.length)
      .map((prefix) => prefix.slice(below.length)),
    linesAt: (name, offsets, maxBytes) => linesAt(rules, safe, name, offsets, maxBytes),
    close: () => folder.close(),
  };
}

async function linesAt(
  rules: PathRules,
  top: SafePath,
  name: string,
  offsets: readonly number[],
  maxBytes: number,
): Promise<readonly Buffer[] | undefined> {
  try {
    const file = await openFile(await resolvePath(rules, top.root, join(top.absolute, name), 'read'));
    return await closing(file, async () => {
      const lines: Buffer[] = [];
      for (const offset of offsets) {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, offset);
        const bytes = buffer.subarray(0, bytesRead);
        const end = bytes.indexOf(10);
        lines.push(end < 0 ? bytes : bytes.subarray(0, end));
      }
      return lines;
    });
  } catch (error) {
    // It is refused, or was removed meanwhile: it is not shown.
    if (error instanceof FileProblem || errnoOf(error) !== undefined) return undefined;
    throw error;
  }
}
