/** DU-6: the copy of a workspace is the workspace, shares nothing with it, and is bounded. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readlink,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { copyWorkspace } from '../copy-workspace.ts';
import { FORK_LIMITS } from '../contract.ts';

describe('DU-6 copies of workspaces', () => {
  let root: string;
  let from: string;
  before(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'fork-')));
    from = join(root, 'original');
    await mkdir(join(from, 'deep/er'), { recursive: true });
  });
  after(() => rm(root, { recursive: true, force: true }));

  const copy = (name: string, limits: object = {}, signal = AbortSignal.timeout(60_000)) =>
    copyWorkspace(from, join(root, name), {
      as: join(root, 'as'),
      limits: { ...FORK_LIMITS, ...limits },
      signal,
    });

  it('have contents, modes, times, links and empty folders, without our own files and pipes', async () => {
    await writeFile(join(from, 'deep/er/run.sh'), 'echo a');
    await chmod(join(from, 'deep/er/run.sh'), 0o750);
    await mkdir(join(from, 'empty'), { mode: 0o711 });
    await mkdir(join(from, '.tempoclaw'));
    await symlink('deep/er/run.sh', join(from, 'inside'));
    await symlink('/etc/hostname', join(from, 'outside'));
    await symlink(join(from, 'deep'), join(from, 'whole'));
    await symlink('../original/deep', join(from, 'around'));
    execFileSync('mkfifo', [join(from, 'pipe')]);
    const { files, bytes } = await copy('copy');
    assert.deepEqual([files, bytes], [8, 6]);
    const to = join(root, 'copy');
    const [old, made] = [await lstat(join(from, 'deep/er/run.sh')), await lstat(join(to, 'deep/er/run.sh'))];
    assert.equal(await readFile(join(to, 'deep/er/run.sh'), 'utf8'), 'echo a');
    assert.deepEqual([made.mode, made.mtimeMs], [old.mode, old.mtimeMs]);
    assert.notEqual(made.ino, old.ino);
    assert.equal((await lstat(join(to, 'empty'))).mode & 0o777, 0o711);
    assert.equal(await readlink(join(to, 'inside')), 'deep/er/run.sh');
    assert.equal(await readlink(join(to, 'outside')), '/etc/hostname');
    assert.equal(await readlink(join(to, 'whole')), join(root, 'as/deep'), 'not into the original');
    assert.equal(await readlink(join(to, 'around')), 'deep', 'not into the original');
    for (const name of ['.tempoclaw', 'pipe'])
      await assert.rejects(lstat(join(to, name)), { code: 'ENOENT' });
  });

  it('end when the workspace is too large, or when they are stopped', async () => {
    await assert.rejects(copy('many', { files: 3 }), { type: 'TooLarge', message: /more than 3 files/ });
    await assert.rejects(copy('large', { fileBytes: 5 }), { type: 'TooLarge', message: /more than 5 bytes/ });
    await assert.rejects(copy('deep', { depth: 1 }), { type: 'TooLarge', message: /1 folders deep/ });
    await assert.rejects(copy('late', { seconds: -1 }), { type: 'TooLarge', message: /seconds/ });
    await assert.rejects(copy('stopped', {}, AbortSignal.abort(new Error('stop'))), /stop/);
  });
});
