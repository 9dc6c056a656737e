import assert from 'node:assert/strict';
import {
  chmod,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createFolderStore, type ObjectStore } from '#features/artifacts/objects/object-store.ts';
import { restoreWorkspace } from '../activities/restore.ts';
import { scanWorkspace, SNAPSHOT_LIMITS, type SnapshotLimits } from '../activities/scan.ts';
import { CHUNK_BYTES, createObjects, type FolderEntry } from '../activities/tree.ts';
import { openFolder } from '#activities/workspace/open-folder.ts';
import { temporaryFolder } from '#test/support/tool-call.ts';

interface Bench {
  readonly from: string;
  readonly to: string;
  /** Bytes uploaded to the store, and objects downloaded, since the last call. */
  moved(): { readonly put: number; readonly got: number };
  scan(old?: FolderEntry, only?: readonly string[]): Promise<FolderEntry>;
  restore(tree: FolderEntry, cached?: FolderEntry): Promise<FolderEntry>;
}

async function bench(t: TestContext, limits: Partial<SnapshotLimits> = {}): Promise<Bench> {
  const base = await temporaryFolder(t);
  const [from, to] = [join(base, 'from'), join(base, 'to')];
  await mkdir(from);
  await mkdir(to);
  const kept = createFolderStore(join(base, 'store'));
  let count = { put: 0, got: 0 };
  const store: ObjectStore = {
    ...kept,
    put(key, bytes) {
      count = { ...count, put: count.put + bytes.length };
      return kept.put(key, bytes);
    },
    get(key) {
      count = { ...count, got: count.got + 1 };
      return kept.get(key);
    },
  };
  const inFolder = async <Result>(
    path: string,
    work: (folder: Awaited<ReturnType<typeof openFolder>>) => Promise<Result>,
  ): Promise<Result> => {
    const folder = await openFolder(path, path);
    return work(folder).finally(() => folder.close());
  };
  return {
    from,
    to,
    moved() {
      const was = count;
      count = { put: 0, got: 0 };
      return was;
    },
    async scan(old, only) {
      const objects = createObjects(store, 't/w/');
      const scan = { objects, limits: { ...SNAPSHOT_LIMITS, ...limits } };
      const tree = await inFolder(from, (folder) => scanWorkspace(scan, folder, from, old, only));
      await objects.settled();
      return tree;
    },
    restore: (tree, cached) =>
      inFolder(to, (folder) =>
        restoreWorkspace(createObjects(store, 't/w/'), folder, to, tree.digest, cached),
      ),
  };
}

/** Each path with its kind, permissions, time and bytes. */
async function pictureOf(folder: string, inside = ''): Promise<Record<string, string>> {
  const picture: Record<string, string> = {};
  for (const name of await readdir(join(folder, inside))) {
    const path = join(inside, name);
    const stat = await lstat(join(folder, path), { bigint: true });
    const mode = (stat.mode & 0o777n).toString(8);
    if (stat.isSymbolicLink()) picture[path] = `link to ${await readlink(join(folder, path))}`;
    else if (stat.isDirectory()) {
      picture[path] = `folder ${mode}`;
      Object.assign(picture, await pictureOf(folder, path));
    } else {
      const bytes = await readFile(join(folder, path));
      picture[path] =
        `file ${mode} ${stat.mtimeMs} ${bytes.toString('base64').slice(0, 100)} ${bytes.length}`;
    }
  }
  return picture;
}

describe('VF-6 a snapshot of a workspace', () => {
  it('brings files, modes, times, links and empty folders, whatever their names, and removes what is not in it', async (t) => {
    const { from, to, scan, restore } = await bench(t);
    await mkdir(join(from, 'a/b/empty'), { recursive: true });
    await mkdir(join(from, 'private'), { mode: 0o700 });
    await writeFile(join(from, 'a/run.sh'), '#!/bin/sh\n');
    await chmod(join(from, 'a/run.sh'), 0o755);
    await utimes(join(from, 'a/run.sh'), 1_700_000_000.123, 1_700_000_000.123);
    await writeFile(join(from, 'a/b/ -"\\\n\u{1f600}.bin'), Buffer.from([0, 255, 13, 10]));
    await writeFile(join(from, 'empty'), '');
    await writeFile(join(from, '__proto__'), 'a name like others');
    await symlink('a/run.sh', join(from, 'relative'));
    await symlink('/etc/hostname', join(from, 'out'));
    await symlink('nowhere', join(from, 'dangling'));
    await symlink('a', join(from, 'folder-link'));
    await writeFile(join(from, 'one-name'), 'two names');
    await link(join(from, 'one-name'), join(from, 'other-name'));
    // These are in the way: other kinds, other contents, and more.
    await mkdir(join(to, 'empty/below'), { recursive: true });
    await mkdir(join(to, 'out'));
    await writeFile(join(to, 'a'), 'no folder');
    await writeFile(join(to, 'extra'), 'not there');
    await symlink(from, join(to, 'private'));
    await restore(await scan());
    assert.deepEqual(await pictureOf(to), await pictureOf(from));
    assert.equal((await lstat(join(to, 'one-name'))).nlink, 1);
  });

  it('never follows a link, neither to read nor to write', async (t) => {
    const { from, to, scan, restore } = await bench(t);
    const outside = await temporaryFolder(t);
    await writeFile(join(outside, 'secret'), 'outside');
    await symlink(outside, join(from, 'way-out'));
    const tree = await scan();
    assert.equal(tree.count, 1);
    await rm(join(from, 'way-out'));
    await mkdir(join(from, 'way-out'));
    await writeFile(join(from, 'way-out/secret'), 'inside');
    const second = await scan(tree);
    await symlink(outside, join(to, 'way-out'));
    await restore(second);
    assert.equal(await readFile(join(outside, 'secret'), 'utf8'), 'outside');
    assert.equal(await readFile(join(to, 'way-out/secret'), 'utf8'), 'inside');
  });

  it('of a change brings the changed pieces and the folders on the way only', async (t) => {
    const { from, scan, moved } = await bench(t);
    await mkdir(join(from, 'deep/er'), { recursive: true });
    for (let n = 0; n < 200; n += 1) await writeFile(join(from, `deep/file-${n}`), `text ${n}`.repeat(50));
    const large = Buffer.alloc(3 * CHUNK_BYTES + 5, 'x');
    large.write('first', 0);
    large.write('third', 2 * CHUNK_BYTES);
    await writeFile(join(from, 'large'), large);
    const first = await scan();
    moved();
    await scan(first);
    assert.equal(moved().put, 0, 'nothing has changed');
    large.write('FIRST', 0);
    await writeFile(join(from, 'large'), large);
    await writeFile(join(from, 'deep/er/new'), 'new');
    const second = await scan(first);
    const { put } = moved();
    assert.ok(
      put >= CHUNK_BYTES && put < CHUNK_BYTES + 30_000,
      `${put} bytes: one piece, and the lists of three folders`,
    );
    assert.notEqual(second.digest, first.digest);
  });

  it('of paths that are named looks at these alone, and finds what became of them', async (t) => {
    const { from, to, scan, restore } = await bench(t);
    await mkdir(join(from, 'a/b'), { recursive: true });
    await writeFile(join(from, 'a/b/one'), '1');
    await writeFile(join(from, 'a/two'), '2');
    const first = await scan();
    await writeFile(join(from, 'a/b/one'), 'changed');
    await writeFile(join(from, 'a/two'), 'not told of');
    await mkdir(join(from, 'new/below'), { recursive: true });
    await writeFile(join(from, 'new/below/three'), '3');
    const second = await scan(first, ['a/b/one', 'new/below/three']);
    await restore(second);
    assert.equal(await readFile(join(to, 'a/b/one'), 'utf8'), 'changed');
    assert.equal(await readFile(join(to, 'a/two'), 'utf8'), '2');
    assert.equal(await readFile(join(to, 'new/below/three'), 'utf8'), '3');
    await rm(join(from, 'a'), { recursive: true });
    await rm(join(from, 'new/below'), { recursive: true });
    await writeFile(join(from, 'new/below'), 'a file now');
    await restore(await scan(second, ['a/b/one', 'new/below/three']));
    assert.deepEqual(await pictureOf(to), await pictureOf(from));
  });

  it('leaves out sockets, which have no contents, and its own temporary files', async (t) => {
    const { from, scan } = await bench(t);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(from, 'socket'), resolve));
    t.after(() => server.close());
    await writeFile(join(from, '.tempoclaw-0123.tmp'), 'half a file');
    assert.equal((await scan()).count, 0);
  });

  for (const [what, limits, make, words] of [
    [
      'a file that is too large',
      { fileBytes: 10 },
      (at: string) => writeFile(join(at, 'big'), 'x'.repeat(11)),
      /big: it has 11 bytes; a file may have 10/,
    ],
    [
      'too many files',
      { entries: 2 },
      async (at: string) => {
        for (const n of [1, 2, 3]) await writeFile(join(at, `f${n}`), '');
      },
      /it has more than 2 files and folders/,
    ],
    [
      'folders that are too deep',
      { depth: 2 },
      (at: string) => mkdir(join(at, 'a/b/c'), { recursive: true }),
      /a\/b\/c: it is more than 2 folders deep/,
    ],
    [
      'a name that is not UTF-8',
      {},
      (at: string) => writeFile(Buffer.concat([Buffer.from(`${at}/`), Buffer.from([0x61, 0xff])]), ''),
      /has a name that is not UTF-8/,
    ],
  ] as const)
    it(`refuses ${what}, and says which`, async (t) => {
      const { from, scan } = await bench(t, limits);
      await make(from);
      await assert.rejects(scan(), { name: 'FileProblem', code: 'ExecutionFailed', message: words });
    });

  it('makes a folder right that has been changed behind its back, and fetches only what differs', async (t) => {
    const { from, to, scan, restore, moved } = await bench(t);
    for (const name of ['same', 'changed', 'moded', 'gone', 'swapped'])
      await writeFile(join(from, name), `text of ${name}`);
    const tree = await scan();
    const known = await restore(tree);
    moved();
    await restore(tree, known);
    assert.equal(moved().got, 0, 'all is as it was');
    await writeFile(join(to, 'changed'), 'TEXT OF changed');
    await chmod(join(to, 'moded'), 0o777);
    await rm(join(to, 'gone'));
    await rename(join(to, 'swapped'), join(to, 'elsewhere'));
    await symlink('/etc/passwd', join(to, 'swapped'));
    await restore(tree, known);
    assert.equal(moved().got, 3);
    assert.deepEqual(await pictureOf(to), await pictureOf(from));
    await restore(tree);
    assert.equal(
      moved().got,
      1,
      'a worker that knows nothing reads its own files, and fetches the list of the folder',
    );
  });

  it('can be restored over folders that their owner may not write in', async (t) => {
    const { from, to, scan, restore } = await bench(t);
    await mkdir(join(from, 'cache/module'), { recursive: true });
    await writeFile(join(from, 'cache/module/file'), 'text', { mode: 0o444 });
    await chmod(join(from, 'cache/module'), 0o555);
    t.after(() =>
      Promise.all([from, to].map((at) => chmod(join(at, 'cache/module'), 0o755).catch(() => undefined))),
    );
    const tree = await scan();
    await restore(tree);
    await restore(tree);
    assert.deepEqual(await pictureOf(to), await pictureOf(from));
    await chmod(join(from, 'cache/module'), 0o755);
    await rm(join(from, 'cache'), { recursive: true });
    await restore(await scan());
    assert.deepEqual(await pictureOf(to), {});
  });

  it('refuses an object whose bytes are not those that were kept', async (t) => {
    const { from, scan, restore } = await bench(t);
    await writeFile(join(from, 'file'), 'text of the file');
    const tree = await scan();
    const store = join(from, '../store/t/w');
    for (const shelf of await readdir(store))
      for (const name of await readdir(join(store, shelf)))
        if (name !== tree.digest) await writeFile(join(store, shelf, name), 'other bytes');
    await assert.rejects(restore(tree), /has other bytes than it had/);
  });
});
