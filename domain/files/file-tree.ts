/** A folder as plain files, while it is stored, passed on or approved as one. */

export const TREE_LIMITS = {
  files: 100,
  fileBytes: 1_048_576,
  /** Bytes of all files together. */
  bytes: 4_194_304,
  /** Folders above a file. */
  depth: 6,
  /** Characters of a path. */
  path: 200,
} as const;

export interface TreeFile {
  /** Path from the folder. */
  readonly path: string;
  readonly bytes: Buffer;
}

/**
 * Says why a file cannot be part of a tree; undefined when it can. The source has no links, so only names are checked.
 */
export function treePathProblem(path: string): string | undefined {
  const parts = path.split('/');
  if (path.length > TREE_LIMITS.path) return `has more than ${TREE_LIMITS.path} characters`;
  if (parts.length - 1 > TREE_LIMITS.depth) return `is more than ${TREE_LIMITS.depth} folders deep`;
  if (parts.some((part) => part === '' || part.startsWith('.')))
    return 'must be relative, without empty parts and names that begin with a dot';
  return /[\0-\x1f\x7f\\]/.test(path) ? 'has a control character or a backslash' : undefined;
}
