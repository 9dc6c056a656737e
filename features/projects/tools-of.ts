/** The tools of a folder, as they are registered. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadFolder } from '#features/code-tools/index.ts';

/** A folder without tools/ has none. */
export async function toolsOf(
  folder: string,
): Promise<Pick<Awaited<ReturnType<typeof loadFolder>>, 'definitions' | 'problems'>> {
  return existsSync(join(folder, 'tools')) ? loadFolder(folder) : { definitions: [], problems: [] };
}
