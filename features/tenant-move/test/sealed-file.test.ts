/** The file of a tenant opens with its passphrase only, and whole or not at all. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openSealedFile, passphraseProblem, writeSealedFile } from '../sealed-file.ts';

const PASSPHRASE = 'twelve or more';
/** A piece with its tag. */
const PIECE = 262_144 + 16;

async function* listed(records: readonly unknown[]): AsyncGenerator<unknown> {
  yield* records;
}

async function readAll(path: string, passphrase = PASSPHRASE): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const record of (await openSealedFile(path, passphrase)).records()) found.push(record);
  return found;
}

describe('the sealed file of a tenant', () => {
  let folder: string;
  let path: string;
  // What does not compress fills several pieces.
  const records = [
    { text: 'ä\u2028"\\', nothing: null },
    ...Array.from({ length: 40 }, (_, number) => ({ number, bytes: randomBytes(30_000).toString('base64') })),
  ];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tempoclaw-sealed-'));
    path = join(folder, 'file');
    await writeSealedFile(path, PASSPHRASE, listed(records));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('gives back its records, is for its owner only, and begins with one line in clear', async () => {
    assert.deepEqual(await readAll(path), records);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    const [line = ''] = (await readFile(path, 'latin1')).split('\n', 1);
    assert.deepEqual(Object.keys(JSON.parse(line)), ['tempoclaw', 'format', 'salt', 'proof']);
    const empty = join(folder, 'empty');
    await writeSealedFile(empty, PASSPHRASE, listed([]));
    assert.deepEqual(await readAll(empty), []);
  });

  it('refuses another passphrase, and one that is easily guessed', async () => {
    await assert.rejects(readAll(path, 'twelve or mora'), { code: 'WrongPassphrase' });
    assert.match(passphraseProblem('elevenchars') ?? '', /at least 12/);
    assert.equal(passphraseProblem(PASSPHRASE), undefined);
  });

  it('refuses a piece that was changed, left out, exchanged or cut off', async () => {
    const bytes = await readFile(path);
    const start = bytes.indexOf('\n') + 1;
    const piece = (number: number) => bytes.subarray(start + number * PIECE, start + (number + 1) * PIECE);
    assert.ok(piece(3).length > 0, 'there are several pieces');
    const head = bytes.subarray(0, start);
    const rest = bytes.subarray(start + 2 * PIECE);
    const flipped = Buffer.from(bytes);
    flipped.writeUInt8(flipped.readUInt8(start + 5) ^ 0x80, start + 5);
    const salt = Buffer.from(bytes.toString('latin1').replace(/"salt":"./, '"salt":"g'), 'latin1');
    for (const [name, changed, code] of [
      ['a bit', flipped, 'FileChanged'],
      ['the first piece left out', Buffer.concat([head, piece(1), rest]), 'FileChanged'],
      ['two pieces exchanged', Buffer.concat([head, piece(1), piece(0), rest]), 'FileChanged'],
      ['the last piece left out', bytes.subarray(0, start + 3 * PIECE), 'FileChanged'],
      ['the end cut off', bytes.subarray(0, -1), 'FileChanged'],
      ['more behind the end', Buffer.concat([bytes, Buffer.from('x')]), 'FileChanged'],
      ['nothing but the first line', head, 'FileChanged'],
      ['the first line', salt, 'WrongPassphrase'],
    ] as const) {
      const other = join(folder, 'changed');
      await writeFile(other, changed);
      await assert.rejects(readAll(other), { code }, name);
    }
    await writeFile(join(folder, 'other'), 'no file of ours');
    await assert.rejects(readAll(join(folder, 'other')), /not an exported tenant/);
    await assert.rejects(readAll(join(folder, 'missing')), /cannot be read/);
  });

  it('is not there when writing it has failed', async () => {
    const other = join(folder, 'unfinished');
    async function* failing(): AsyncGenerator<unknown> {
      yield* records;
      throw new Error('the database is gone');
    }
    await assert.rejects(writeSealedFile(other, PASSPHRASE, failing()), /database is gone/);
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name.startsWith('unfinished')),
      [],
    );
  });
});
