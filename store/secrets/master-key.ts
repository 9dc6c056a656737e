/**
 * The master keys, which are never in the database. They come from the settings, otherwise from a file of the
 * installation that is created at its first start and readable by its owner only. A start is refused when rows were
 * sealed with a missing key.
 */
import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { countSealedRows } from '#store/key-rotation.ts';
import { isTransient, type Pool } from '#store/postgres/pool.ts';
import type { RowParts } from '#store/row-parts.ts';
import { createSealer } from '#store/seal.ts';

export interface KeySettings {
  readonly stateDir: string;
  readonly encryption: { readonly key?: string | undefined; readonly previousKeys: readonly string[] };
}

const KEY_BYTES = 32;
/** 32 random bytes contain about 30 distinct values; with 16 or fewer they are a pattern or typed text. */
const MIN_DISTINCT = 17;

/**
 * The first key seals, all open. `encryption.key` takes precedence over the file, whose key then still opens, so that a
 * key may be set later. Throws when the file's key is weak or readable by others, or when rows need a key that is not
 * among these.
 */
export async function loadMasterKeys(
  settings: KeySettings,
  pool: Pool,
  parts: RowParts,
): Promise<readonly Buffer[]> {
  const { key, previousKeys } = settings.encryption;
  const path = join(settings.stateDir, 'sealing.key');
  const bytes = [...(key === undefined ? [] : [key]), ...previousKeys].map((text) =>
    Buffer.from(text, 'base64'),
  );
  const rows = await countRows(pool, parts);
  const kept = await readKeyFile(path);
  if (key === undefined && !kept && rows.size > 0) throw missing([...rows.keys()], path);
  const own = kept ?? (key === undefined ? await makeKeyFile(path) : undefined);
  const keys = key === undefined && own ? [own, ...bytes] : own ? [...bytes, own] : bytes;
  const { keyIds } = createSealer(keys);
  const unknown = [...rows.keys()].filter((id) => !keyIds.includes(id));
  if (unknown.length > 0) throw missing(unknown, path);
  return keys;
}

/** An unreachable database cannot be queried; opening a row of an unknown key is an error later. */
async function countRows(pool: Pool, parts: RowParts): Promise<ReadonlyMap<string, number>> {
  try {
    return await countSealedRows(pool, parts);
  } catch (error) {
    if (!isTransient(error)) throw error;
    return new Map();
  }
}

function missing(keyIds: readonly string[], path: string): Error {
  return new Error(
    `secrets were sealed with the key ${keyIds.join(', ')}, which is not there: set it as encryption.key or in encryption.previousKeys, or put its file back (${path})`,
  );
}

async function readKeyFile(path: string): Promise<Buffer | undefined> {
  const key = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!key) return undefined;
  if (key.length !== KEY_BYTES || new Set(key).size < MIN_DISTINCT)
    throw new Error(`${path} is not a key of ${KEY_BYTES} random bytes; put the right file back`);
  const { mode } = await stat(path);
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    throw new Error(`${path} can be read by others; run: chmod 600 ${path}`);
  return key;
}

/**
 * The file is written completely or not at all: it is written aside and linked into place. If another process is first,
 * its key stays.
 */
async function makeKeyFile(path: string): Promise<Buffer> {
  await mkdir(join(path, '..'), { recursive: true });
  const part = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  await writeFile(part, randomBytes(KEY_BYTES), { mode: 0o600 });
  try {
    await link(part, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(part, { force: true });
  }
  const key = await readKeyFile(path);
  if (!key) throw new Error(`${path} was removed while it was made`);
  return key;
}
