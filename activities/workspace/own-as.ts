/**
 * The owner of a new file. As root we create files for the user of sandboxes, who then owns the workspace: they get the
 * owner of the previous file or of their folder. Other users cannot change owners and need not.
 */
import type { FileHandle } from 'node:fs/promises';

const isRoot = process.geteuid?.() === 0;

export async function ownAs(
  made: FileHandle,
  { uid, gid }: { readonly uid: number; readonly gid: number },
): Promise<void> {
  if (isRoot && (uid !== 0 || gid !== 0)) await made.chown(uid, gid);
}
