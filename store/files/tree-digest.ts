/** The digest of a tree of files. */
import { createHash } from 'node:crypto';
import type { TreeFile } from '#domain/files/file-tree.ts';

/** SHA-256 of the paths and contents, independent of their order. */
export function treeDigest(files: readonly TreeFile[]): string {
  return sha256(JSON.stringify(files.map(({ path, bytes }) => [path, sha256(bytes)]).toSorted()));
}

function sha256(bytes: string | Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
