/** Two branches that have each taken the next number are reported, by the names of both files. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';

const SCRIPT = new URL('../../scripts/check-migrations.ts', import.meta.url).pathname;

function checked(...names: readonly string[]): { readonly status: number | null; readonly said: string } {
  const folder = mkdtempSync(join(tmpdir(), 'tempoclaw-migrations-'));
  try {
    for (const name of names) writeFileSync(join(folder, name), '');
    const { status, stderr } = spawnSync(process.execPath, [SCRIPT, folder], { encoding: 'utf8' });
    return { status, said: stderr.trim() };
  } finally {
    rmSync(folder, { recursive: true });
  }
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
