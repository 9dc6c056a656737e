/** Where the links of a workspace lead, as the kernel would follow them for a command that runs there. */
import { type Dirent, lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { type FollowLinks, globMayMatch } from '@tempoclaw/shell-judge';
import { MOUNT } from '@tempoclaw/sandbox/settings';

/** Greatest number of names checked for one command line; beyond it a path may lead anywhere. */
const MAX_LOOKS = 20_000;
/** Linux follows at most 40. */
const MAX_LINKS = 40;
const ANYWHERE = ['/'];

interface Way {
  readonly at: string;
  readonly parts: readonly string[];
  readonly links: number;
}

/**
 * Reads only folders and links, at the time of the call. For one command line. Missing files have no links. @param
 * folder the folder in which it runs, from the workspace.
 */
export function createFollowLinks(workspace: string, folder = '.'): FollowLinks {
  let lookups = 0;
  const root = realOrSame(workspace);
  const enter = (from: string, path: string): string => {
    if (path === MOUNT || path.startsWith(`${MOUNT}/`)) return root;
    return isAbsolute(path) ? '/' : from;
  };
  const partsOf = (path: string): readonly string[] =>
    (path.startsWith(`${MOUNT}/`) ? path.slice(MOUNT.length) : path).split('/');

  /** Resolves one more part; a finished path gives undefined. */
  const step = ({ at, parts: [part = '', ...parts], links }: Way): readonly Way[] => {
    if (part === '' || part === '.') return [{ at, parts, links }];
    if (part === '..') return [{ at: dirname(at), parts, links }];
    const isPattern = /[*?[]/.test(part);
    const names = isPattern ? namesLike(at, part, parts.length > 0) : [part];
    lookups += names.length;
    // Behind a link, even a path that is not itself a link is elsewhere.
    const here = isPattern && links > 0 ? [{ at, parts: [], links }] : [];
    const next = names.map((name) => {
      const target = linkTarget(join(at, name));
      if (target === undefined) return { at: join(at, name), parts, links };
      return { at: enter(at, target), parts: [...partsOf(target), ...parts], links: links + 1 };
    });
    return [...here, ...next];
  };

  return (path) => {
    const places = new Set<string>();
    const start = isAbsolute(path) ? path : `${folder}/${path}`;
    const ways: Way[] = [{ at: enter(root, start), parts: partsOf(start), links: 0 }];
    for (let way = ways.pop(); way !== undefined; way = ways.pop()) {
      lookups += 1;
      if (lookups > MAX_LOOKS || way.links > MAX_LINKS) return ANYWHERE;
      if (way.parts.length > 0) ways.push(...step(way));
      else if (way.links > 0) places.add(shownFrom(root, way.at));
    }
    return [...places];
  };
}

function shownFrom(root: string, place: string): string {
  const inside = relative(root, place);
  return inside.startsWith('..') ? place : inside || '.';
}

/** Names that the pattern may match and that may lead further: links, and folders when more parts follow. */
function namesLike(folder: string, pattern: string, isFollowed: boolean): readonly string[] {
  return entriesOf(folder)
    .filter((entry) => entry.isSymbolicLink() || (isFollowed && entry.isDirectory()))
    .map(({ name }) => name)
    .filter((name) => globMayMatch(pattern, name));
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // It is no folder, or cannot be listed: a pattern matches nothing in it.
    return [];
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    // The file does not exist.
    return undefined;
  }
}

function realOrSame(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // The folder does not exist yet.
    return path;
  }
}
