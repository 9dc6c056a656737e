/** Another checkout of this project, for tests in which processes of two builds work on one installation. */
import assert from 'node:assert/strict';
import { cp, mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What a build does not need. */
const NOT_COPIED = ['.git', 'node_modules', 'test', 'bench', 'docs'];

/** Returns its folder, which the caller removes. */
export async function makeOtherBuild(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tempoclaw-build-'));
  for (const name of await readdir(ROOT))
    if (!NOT_COPIED.includes(name)) await cp(join(ROOT, name), join(folder, name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Replaces each text, which must be there, in a file of a build. */
export async function changeFile(
  file: string,
  changes: Readonly<Record<string, string>>,
  to: string = file,
): Promise<void> {
  let text = await readFile(file, 'utf8');
  for (const [before, after] of Object.entries(changes)) {
    assert.ok(text.includes(before), `${file} has no ${before}`);
    text = text.replaceAll(before, after);
  }
  await writeFile(to, text);
}
