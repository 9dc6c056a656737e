/** DU-5: a backup before an upgrade is whole or not there, and a restore that was cut off is finished. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { backUp, endUpgrade, finishRestore, restoreNewest } from '../upgrade-backup.ts';

describe('DU-5 a backup before an upgrade', () => {
  let folder: string;
  const write = (path: string, text: string): void => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const read = (path: string): string | undefined =>
    existsSync(join(folder, path)) ? readFileSync(join(folder, path), 'utf8') : undefined;
  const backups = (): readonly string[] =>
    readdirSync(join(folder, 'backups')).filter((name) => !/^(upgrading|restoring)$/.test(name));
  const upgrade = (): void => {
    write('postgres/base/1', 'new rows');
    write('temporal.db', 'new histories');
    write('temporal.db-wal', 'new log');
    write('schema', 'new');
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'backup-'));
    write('postgres/base/1', 'old rows');
    write('temporal.db', 'old histories');
    write('schema', 'old');
    write('workspaces/a/file', 'a file');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const isOld = (): void =>
    assert.deepEqual(
      ['postgres/base/1', 'temporal.db', 'temporal.db-wal', 'schema', 'workspaces/a/file'].map(read),
      ['old rows', 'old histories', undefined, 'old', 'a file'],
    );

  it('is put back as it was, and files of workspaces stay as they are', async () => {
    const made = await backUp(folder, 'TempoClaw 0.1.0');
    assert.equal(existsSync(join(made, 'workspaces')), false);
    upgrade();
    const { mark } = await restoreNewest(folder);
    assert.equal(mark, 'TempoClaw 0.1.0');
    isOld();
    assert.deepEqual(backups(), []);
    await assert.rejects(restoreNewest(folder), /has no backup of before an upgrade/);
  });

  it('that was cut off does not count, and is made anew', async () => {
    write('backups/2026-01-01T00-00-00.000Z.new/postgres/base/1', 'half');
    await assert.rejects(restoreNewest(folder), /has no backup/);
    await backUp(folder, 'TempoClaw 0.1.0');
    assert.equal(backups().length, 1);
    assert.doesNotMatch(backups()[0] ?? '', /new/);
  });

  it('is not made again from what an interrupted upgrade has left', async () => {
    const made = await backUp(folder, 'TempoClaw 0.1.0');
    upgrade();
    assert.equal(await backUp(folder, 'TempoClaw 0.1.0'), made);
    await restoreNewest(folder);
    isOld();
  });

  it('is made again when the version of before has worked in between; two are kept', async () => {
    for (const text of ['one', 'two', 'three']) {
      write('schema', text);
      await backUp(folder, text);
      await endUpgrade(folder);
    }
    assert.deepEqual(
      backups().map((name) => read(`backups/${name}/schema`)),
      ['two', 'three'],
    );
  });

  for (const moved of [[], ['schema'], ['postgres', 'temporal.db', 'schema']] as readonly string[][])
    it(`is put back by the next start when a kill came after ${moved.length} of its parts`, async () => {
      const made = await backUp(folder, 'TempoClaw 0.1.0');
      upgrade();
      writeFileSync(join(folder, 'backups', 'restoring'), made.split('/').at(-1) ?? '');
      for (const part of moved) {
        rmSync(join(folder, part), { recursive: true });
        renameSync(join(made, part), join(folder, part));
      }
      // A kill between the end of the one and the move of the other.
      if (!moved.includes('postgres')) rmSync(join(folder, 'postgres'), { recursive: true });
      await finishRestore(folder);
      isOld();
      await finishRestore(folder);
      isOld();
      assert.deepEqual(backups(), []);
    });
});
