/** The state folder of a release as one file: Postgres' files, Temporal's, keys and workspaces. */
import { execFile } from 'node:child_process';
import { chmod, chown, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import { userCacheDir } from '#config';
import { databaseFolder, findPostgresBinaries } from '@tempoclaw/dev-services';

/** What a start makes anew. */
const NOT_KEPT = new Set(['logs', 'bundles', 'postgres', 'postgres-elsewhere']);
const OF_A_START = /^(?:run|up|processes|state)\b|\.lock$|\.json$/;

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);
const run = promisify(execFile);

export async function packState(stateDir: string, file: string): Promise<void> {
  const staging = await mkdtemp(join(tmpdir(), 'state-'));
  try {
    for (const name of await readdir(stateDir))
      if (!NOT_KEPT.has(name) && !OF_A_START.test(name))
        await cp(join(stateDir, name), join(staging, name), { recursive: true });
    await cp(databaseFolder(stateDir), join(staging, 'postgres'), { recursive: true });
    const tar = join(staging, 'state.tar');
    await run('tar', ['-C', staging, '--exclude=state.tar', '-cf', tar, '.']);
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24 };
    await writeFile(file, await compress(await readFile(tar), { params }));
  } finally {
    await rm(staging, { recursive: true });
  }
}

/** Returns the folder of the database, which the caller removes: another user than root has it. */
export async function unpackState(file: string, stateDir: string): Promise<string> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  const tar = join(stateDir, 'state.tar');
  await writeFile(tar, await decompress(await readFile(file)));
  await run('tar', ['-C', stateDir, '--no-same-owner', '-xf', tar]);
  await rm(tar);
  const elsewhere = await mkdtemp(join(tmpdir(), 'state-'));
  const { user } = findPostgresBinaries({ cacheDir: userCacheDir() });
  if (!user) return elsewhere;
  await cp(join(stateDir, 'postgres'), join(elsewhere, 'postgres'), { recursive: true });
  await rm(join(stateDir, 'postgres'), { recursive: true });
  await writeFile(join(stateDir, 'postgres-elsewhere'), join(elsewhere, 'postgres'));
  await chmod(elsewhere, 0o755);
  for (const name of ['', ...(await readdir(elsewhere, { recursive: true }))])
    if (name !== '') await chown(join(elsewhere, name), user.uid, user.gid);
  return elsewhere;
}
