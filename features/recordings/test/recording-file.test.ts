/** DU-6: the files of recordings. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { startFakeApi } from '#test/cli/support/fake-api.ts';
import { runCli } from '#test/cli/support/run-cli.ts';
import { recordingFiles, recordingName } from '../recording-file.ts';

describe('DU-6 files of recordings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'recordings-'));
  after(() => rmSync(folder, { recursive: true }));

  it('sessions whose keys differ in one sign have different files', () => {
    const keys = ['a_b', 'a:b', 'a@b', 'a+b', 'a.b', 'a-b'];
    assert.equal(new Set(keys.map(recordingName)).size, keys.length);
    assert.equal(recordingName('telegram:7'), 'telegram%3A7.rec');
  });

  it('a folder stands for the recordings in it, in order, and one without any is named', () => {
    const failed = join(folder, 'failed');
    mkdirSync(failed);
    assert.throws(() => recordingFiles([failed]), /failed has no recordings \(NAME\.rec\)/);
    for (const name of ['b.rec', 'a.rec', 'notes.md']) writeFileSync(join(failed, name), '{}');
    assert.deepEqual(recordingFiles([failed, 'one.json']), [
      join(failed, 'a.rec'),
      join(failed, 'b.rec'),
      'one.json',
    ]);
  });

  it('an agent none of whose sessions is meant is named, and that is no error', async () => {
    const api = await startFakeApi();
    api.on(({ path }) =>
      path === '/v1/sessions'
        ? { status: 200, body: { data: [], has_more: false, next_cursor: null } }
        : undefined,
    );
    try {
      const args = ['record', '--agent', 'shop', '--out', join(folder, 'none')];
      const { code, stdout, stderr } = await runCli(args, { url: api.url });
      assert.deepEqual([code, stdout], [0, '']);
      assert.match(stderr, /No session of shop was recorded/);
    } finally {
      await api.close();
    }
  });
});
