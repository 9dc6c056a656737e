/** What a tree of files is known by. */
import { createHash } from 'node:crypto';
import type { TreeFile } from '#domain/file-tree.ts';

/** SHA-256 of the paths and the contents, in whatever order they come. */
export function treeDigest(files: readonly TreeFile[]): string {
  return sha256(JSON.stringify(files.map(({ path, bytes }) => [path, sha256(bytes)]).toSorted()));
}

function sha256(bytes: string | Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
