/**
 * VF-4: the only conversion from a path of the model to a path on disk. Every path parameter of every tool uses it. It
 * follows links as the kernel does, and only then checks containment.
 */
import { lstat, readlink, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { FileProblem, shown } from './file-problem.ts';
import { guardGit, type PathInRoot } from './guard-git.ts';
import type { PathRules } from '#domain/files/path-rules.ts';

export interface SafePath extends PathInRoot {
  /** Without links; parts below the deepest existing folder may not exist. */
  readonly absolute: string;
}

/** Linux follows at most 40. */
const MAX_LINKS = 40;
/** PATH_MAX of Linux. */
const MAX_BYTES = 4096;

/**
 * Resolves `path` against `workspace` (absolute, existing). Throws FileProblem: InvalidPath when it leads out of every
 * root, PermissionDenied for a denied prefix, a write to a read-only root or to files that git interprets. It reveals
 * nothing about what exists outside. `mount` is the path of the workspace in a sandbox: paths and links that were
 * written there start with it. `isRow`: such a path of the workspace is a row and not a file, so a link there is not
 * followed.
 */
export async function resolvePath(
  rules: PathRules,
  workspace: string,
  path: string,
  access: 'read' | 'write',
  mount?: string,
  isRow?: (inside: string) => boolean,
): Promise<SafePath> {
  if (path.includes('\0'))
    throw new FileProblem('InvalidPath', `path ${shown(path)} holds a NUL character, which no file name may`);
  if (Buffer.byteLength(path) > MAX_BYTES)
    throw new FileProblem('InvalidPath', `the path is longer than ${MAX_BYTES} bytes`);
  const safe = await contained(rules, await realpath(workspace), path, access, mount, isRow);
  if (access === 'write') await guardGit(safe);
  return safe;
}

async function contained(
  rules: PathRules,
  home: string,
  path: string,
  access: 'read' | 'write',
  mount: string | undefined,
  isRow: ((inside: string) => boolean) | undefined,
): Promise<SafePath> {
  const absolute = await followLinks(home, path, mount, isRow);
  for (const root of [{ path: home, writable: true }, ...rules.extraRoots]) {
    const top = root.path === home ? home : await realOrSame(root.path);
    if (!contains(top, absolute)) continue;
    const inside = relative(top, absolute);
    if (isDenied(rules.deniedPrefixes, inside))
      throw new FileProblem('PermissionDenied', `${shown(path)} is among the paths that no tool may reach`);
    if (access === 'write' && !root.writable)
      throw new FileProblem('PermissionDenied', `${shown(path)} is in a folder that may only be read`);
    return { absolute, root: top, inside, requestedPath: path };
  }
  if (!rules.restrict) return { absolute, root: '/', inside: relative('/', absolute), requestedPath: path };
  throw new FileProblem(
    'InvalidPath',
    `${shown(path)} is outside the workspace; use a path inside it, such as notes/today.md`,
  );
}

/** Throws FileProblem when the path of a file to write is written like that of a folder. */
export function refuseFolderPath(path: string): void {
  if (/(?:^|\/)\.{0,2}$/.test(path))
    throw new FileProblem('InvalidPath', `${shown(path)} names a folder; a file has a name after the last /`);
}

/** Containment by whole components: /a/bc is not inside /a/b. Both are without links. */
export function contains(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`);
}

/** Whether a path relative to its root is at or below a denied prefix; letter case is ignored. */
export function isDenied(prefixes: readonly string[], inside: string): boolean {
  const low = inside.toLowerCase();
  return prefixes.some((prefix) => {
    const denied = prefix.toLowerCase().replace(/^(\.?\/)+|\/+$/g, '');
    return denied !== '' && (low === denied || low.startsWith(`${denied}/`));
  });
}

/**
 * Follows links like the kernel, but continues by name when nothing exists (so that a dangling link gives its target).
 */
async function followLinks(
  start: string,
  path: string,
  mount: string | undefined,
  isRow: (inside: string) => boolean = () => false,
): Promise<string> {
  const enter = (way: string): { readonly from: string | undefined; readonly parts: readonly string[] } => {
    if (mount !== undefined && contains(mount, way) && !contains(start, way))
      return { from: start, parts: way.slice(mount.length).split('/') };
    return { from: isAbsolute(way) ? '/' : undefined, parts: way.split('/') };
  };
  const first = enter(path);
  const pending = [...first.parts];
  let at = first.from ?? start;
  let links = 0;
  for (let part = pending.shift(); part !== undefined; part = pending.shift()) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      at = dirname(at);
      continue;
    }
    const next = join(at, part);
    const target = isRow(relative(start, next)) ? undefined : await linkTarget(next);
    if (target === undefined) {
      at = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS)
      throw new FileProblem('InvalidPath', `${shown(path)} goes through too many symbolic links`);
    const { from, parts } = enter(target);
    at = from ?? at;
    pending.unshift(...parts);
  }
  return at;
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined;
  } catch {
    // Missing or unreadable: it is judged by name here, and openFolder checks it again when it is open.
    return undefined;
  }
}

async function realOrSame(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    return path;
  }
}
