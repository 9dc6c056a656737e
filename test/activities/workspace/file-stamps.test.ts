/** PO-5, DU-2: which files a command has changed, within bounds. */
import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { changedSince, stampFiles } from '#activities/workspace/file-stamps.ts';
import { temporaryFolder } from '#test/support/tool-call.ts';

describe('DU-2 the files that a command has changed', () => {
  it('are those that are new or differ, in folders too, without our own', async (t) => {
    const folder = await temporaryFolder(t);
    const write = (path: string, text: string) => writeFile(join(folder, path), text);
    for (const path of ['sub', '.own']) await mkdir(join(folder, path));
    for (const path of ['same', 'sub/changed', 'gone']) await write(path, '1');
    const stamp = () => stampFiles(folder, ['.own'], { entries: 100, tickMs: 0 });
    const before = await stamp();
    await write('sub/changed', '22');
    await write('sub/new', '1');
    await write('.own/file', '1');
    await rm(join(folder, 'gone'));
    assert.deepEqual(changedSince(before, await stamp()).toSorted(), ['sub/changed', 'sub/new']);
  });

  it('are not looked for among more files and folders than the limit', async (t) => {
    const folder = await temporaryFolder(t);
    for (let n = 0; n < 11; n += 1) await mkdir(join(folder, `empty-${n}`));
    assert.equal(await stampFiles(folder, [], { entries: 10, tickMs: 0 }), undefined);
    assert.equal((await stampFiles(folder, [], { entries: 11, tickMs: 0 }))?.size, 0);
    assert.deepEqual(changedSince(undefined, undefined), ['']);
  });
});
