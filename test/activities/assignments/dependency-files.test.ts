/** DE-2: what comes with the result of a dependency is limited, and what does not fit is reported. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readDependencyFiles } from '#activities/assignments/dependency-files.ts';
import { createFiles } from '#activities/workspace/files.ts';
import type { Files } from '#activities/workspace/contract.ts';
import { inTurn } from '#test/support/tool-call.ts';
import { DELEGATION_LIMITS } from '#domain/assignment/delegation.ts';

describe('DE-2 files of dependencies', () => {
  let root: string;
  let workspace: string;
  let files: Files;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'tempoclaw-dependency-'));
    workspace = join(root, 'writer');
    await mkdir(join(workspace, 'delegated/del-1'), { recursive: true });
    files = createFiles({ journalDir: join(root, 'journal'), now: Date.now, lock: inTurn });
  });
  after(() => rm(root, { recursive: true, force: true }));

  const names = (read: readonly { readonly name: string }[]): string[] => read.map(({ name }) => name);

  it('are those that the result names and those of its folder, each once, and none that is not there', async () => {
    await writeFile(join(workspace, 'a.md'), 'a');
    await writeFile(join(workspace, 'delegated/del-1/given.md'), 'given');
    const result = 'a.md, delegated/del-1/given.md and b.md';
    const found = await readDependencyFiles(files, [{ id: 'del-1', result, workspace }], []);
    assert.deepEqual(names(found.read), ['del-1/a.md', 'del-1/given.md']);
    assert.deepEqual(found.leftOut, []);
  });

  it('are not what a link leads to outside the workspace', async () => {
    await writeFile(join(root, 'outside.md'), 'outside');
    await symlink(join(root, 'outside.md'), join(workspace, 'link.md'));
    const found = await readDependencyFiles(files, [{ id: 'del-2', result: 'link.md', workspace }], []);
    assert.deepEqual(found, { read: [], leftOut: [] });
  });

  it('share the bounds of the files that are given, and the rest is named', async () => {
    await writeFile(join(workspace, 'large.bin'), Buffer.alloc(2_000));
    const dependency = { id: 'del-3', result: 'large.bin and a.md', workspace };
    const large = { name: 'x', bytes: Buffer.alloc(DELEGATION_LIMITS.filesBytes - 1_000) };
    const tooLarge = await readDependencyFiles(files, [dependency], [large]);
    assert.deepEqual([names(tooLarge.read), tooLarge.leftOut], [['del-3/a.md'], ['large.bin of del-3']]);
    const many = Array.from({ length: DELEGATION_LIMITS.files - 1 }, (_, n) => ({
      name: `${n}`,
      bytes: Buffer.alloc(0),
    }));
    const tooMany = await readDependencyFiles(files, [dependency], many);
    assert.deepEqual([names(tooMany.read), tooMany.leftOut], [['del-3/large.bin'], ['a.md of del-3']]);
  });

  it('keep the first of two that would be in one place', async () => {
    await mkdir(join(workspace, 'delegated/del-5'), { recursive: true });
    await writeFile(join(workspace, 'delegated/del-5/a.md'), 'another');
    const found = await readDependencyFiles(files, [{ id: 'del-5', result: 'a.md', workspace }], []);
    assert.deepEqual([names(found.read), found.leftOut], [['del-5/a.md'], ['delegated/del-5/a.md of del-5']]);
  });

  it('are none of git’s own, which git would obey where they are put', async () => {
    for (const path of ['sub/.git/config', 'made/HEAD']) {
      await mkdir(join(workspace, dirname(path)), { recursive: true });
      await writeFile(join(workspace, path), 'x');
    }
    const result = 'sub/.git/config and made/HEAD';
    const found = await readDependencyFiles(files, [{ id: 'del-6', result, workspace }], []);
    const leftOut = ['sub/.git/config of del-6', 'made/HEAD of del-6'];
    assert.deepEqual(found, { read: [], leftOut });
  });

  it('are none when the agent is no more', async () => {
    const gone = { id: 'del-4', result: 'a.md', workspace: undefined };
    assert.deepEqual(await readDependencyFiles(files, [gone], []), { read: [], leftOut: [] });
  });
});
