/** Two branches that have each taken the next number are reported, and files of a release that are no longer as it has them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';

const SCRIPT = new URL('../../scripts/check-migrations.ts', import.meta.url).pathname;

interface Checked {
  readonly status: number | null;
  readonly said: string;
}

function checkFiles(files: Readonly<Record<string, string>>, released: object): Checked {
  const folder = mkdtempSync(join(tmpdir(), 'tempoclaw-migrations-'));
  try {
    mkdirSync(join(folder, 'store/migrations'), { recursive: true });
    for (const [path, text] of Object.entries({
      ...files,
      'store/released.json': JSON.stringify(released),
    })) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const { status, stderr } = spawnSync(process.execPath, [SCRIPT, folder], { encoding: 'utf8' });
    return { status, said: stderr.trim() };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function checked(...names: readonly string[]): Checked {
  const files = Object.fromEntries(names.map((name) => [`store/migrations/${name}`, '']));
  return checkFiles(files, { oldest: '0.1.0', releases: {} });
}

describe('the numbers of migrations', () => {
  it('are 1, 2 and so on', () => {
    assert.deepEqual(checked('0001_schema.sql', '0002_more.sql'), { status: 0, said: '' });
  });

  it('are each given once', () => {
    const { status, said } = checked('0001_schema.sql', '0002_mine.sql', '0002_yours.sql');
    assert.deepEqual(
      [status, said],
      [1, '0002_mine.sql and 0002_yours.sql have one number; give the newer one the next'],
    );
  });

  it('have no gap', () => {
    const { status, said } = checked('0001_schema.sql', '0003_more.sql');
    assert.deepEqual([status, said], [1, 'between 0001_schema.sql and 0003_more.sql a number is missing']);
    assert.match(checked('0002_more.sql').said, /^between the beginning and 0002_more\.sql/);
  });

  it('begin the name of an SQL file', () => {
    assert.match(checked('0001_schema.sql', 'notes.txt').said, /^notes\.txt is no migration/);
  });
});

describe('the migrations and functions of a release', () => {
  const files = {
    'features/notes/migrations/0001_notes.sql': 'create table notes ();',
    'store/functions/end_turn.sql': 'create function end_turn() …',
  };
  const digests = Object.fromEntries(
    Object.entries(files).map(([path, text]) => [path, createHash('sha256').update(text).digest('hex')]),
  );
  const released = { oldest: '0.1.0', releases: { '0.1.0': digests } };

  it('stay as they were, and others are added', () => {
    const more = { 'features/notes/migrations/0002_more.sql': '', 'store/functions/end_turn_2.sql': '' };
    assert.deepEqual(checkFiles({ ...files, ...more }, released), { status: 0, said: '' });
  });

  for (const [path, remedy] of [
    ['features/notes/migrations/0001_notes.sql', 'as a new migration'],
    ['store/functions/end_turn.sql', 'as a function with another name, such as end_turn_2'],
  ] as const)
    it(`are reported when ${path} is changed`, () => {
      const { status, said } = checkFiles({ ...files, [path]: 'changed' }, released);
      assert.equal(status, 1);
      assert.equal(
        said,
        `${path} is not as TempoClaw 0.1.0 released it: put it back, and write the change ${remedy}`,
      );
    });

  it('stay as long as a version that calls them may run', () => {
    const { 'store/functions/end_turn.sql': _gone, ...rest } = files;
    assert.match(
      checkFiles(rest, released).said,
      /^store\/functions\/end_turn\.sql is gone since TempoClaw 0\.1\.0/,
    );
    assert.equal(checkFiles(rest, { ...released, oldest: '0.2.0' }).status, 0);
    assert.equal(checkFiles({}, { ...released, oldest: '0.2.0' }).status, 1);
  });
});
