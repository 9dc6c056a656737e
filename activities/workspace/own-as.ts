/**
 * Whose a new file is. As root we make files for the user of boxes, who owns the workspace then: they belong to whom the
 * file before them, or their folder, belongs to. Other users cannot give files away and need not.
 */
import type { FileHandle } from 'node:fs/promises';

const isRoot = process.geteuid?.() === 0;

export async function ownAs(
  made: FileHandle,
  { uid, gid }: { readonly uid: number; readonly gid: number },
): Promise<void> {
  if (isRoot && (uid !== 0 || gid !== 0)) await made.chown(uid, gid);
}
