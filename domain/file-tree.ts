/** A folder as plain files, on its way to being kept, handed on or approved as one. */

export const TREE_LIMITS = {
  files: 100,
  fileBytes: 1_048_576,
  /** Of all files together. */
  bytes: 4_194_304,
  depth: 6,
  /** Characters. */
  path: 200,
} as const;

export interface TreeFile {
  /** From the folder. */
  readonly path: string;
  readonly bytes: Buffer;
}

/** Why a file cannot be part of a tree, or undefined. Where it comes from has no links: only names are judged here. */
export function treePathProblem(path: string): string | undefined {
  const parts = path.split('/');
  if (path.length > TREE_LIMITS.path) return `has more than ${TREE_LIMITS.path} characters`;
  if (parts.length > TREE_LIMITS.depth) return `is more than ${TREE_LIMITS.depth} folders deep`;
  if (parts.some((part) => part === '' || part.startsWith('.')))
    return 'must be relative, without empty parts and names that begin with a dot';
  return /[\0-\x1f\x7f\\]/.test(path) ? 'has a control character or a backslash' : undefined;
}
