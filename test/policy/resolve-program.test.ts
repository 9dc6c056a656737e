import assert from 'node:assert/strict';
import { chmod, mkdir, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createProgramResolver } from '#policy/resolve-program.ts';
import { temporaryFolder } from '#test/support/tool-call.ts';

describe('SH-2 the file that a name starts', () => {
  test('is the first executable in PATH, with the file behind links, looked for each time', async (t) => {
    const base = await temporaryFolder(t);
    const [first, second, root] = ['first', 'second', 'workspaces'].map((name) => join(base, name)) as [
      string,
      string,
      string,
    ];
    for (const folder of [first, second, root, join(root, 'a')]) await mkdir(folder);
    const program = async (path: string, mode = 0o755): Promise<void> => {
      await writeFile(path, '#!/bin/sh\n');
      await chmod(path, mode);
    };
    await program(join(second, 'gh'));
    await program(join(second, 'real-tf'));
    await symlink('real-tf', join(second, 'tf'));
    await program(join(first, 'gh'), 0o644);
    const resolve = createProgramResolver({ folders: [first, second], workspaceRoot: root });
    assert.deepEqual(resolve('gh'), { path: join(second, 'gh') });
    assert.deepEqual(resolve('tf'), { path: join(second, 'tf'), file: join(second, 'real-tf') });
    assert.deepEqual(resolve(join(second, 'gh')), { path: join(second, 'gh') });
    for (const name of ['none', '', './gh', 'second/gh', '../gh']) assert.equal(resolve(name), null, name);

    await program(join(first, 'gh'));
    assert.deepEqual(resolve('gh'), { path: join(first, 'gh') }, 'put before it in PATH');
    await unlink(join(first, 'gh'));
    await program(join(root, 'a/gh'));
    await symlink(join(root, 'a/gh'), join(first, 'gh'));
    assert.equal(resolve('gh'), null, 'a file that agents can write');
    await program(join(second, 'open'), 0o777);
    assert.equal(resolve('open'), null, 'a file that everybody can write');
  });

  test('cannot be told when PATH depends on where a command runs', () => {
    for (const folders of [[], ['.', '/usr/bin'], ['/usr/bin', '']])
      assert.equal(createProgramResolver({ folders, workspaceRoot: '/nowhere' })('sh'), null);
  });
});
