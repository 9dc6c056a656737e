/** VF-4, F12, F17, DU-2: whole writes, changes that are safe to repeat, pages of files of any size. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, link, mkdir, open, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { createFiles } from '#activities/workspace/files.ts';
import { inTurn, temporaryFolder, toolBench, toolCall } from '#test/support/tool-call.ts';

describe('F17 writing', () => {
  test('keeps the mode and leaves no temporary file', async (t) => {
    const { files, workspace } = await toolBench(t);
    await mkdir(workspace);
    await writeFile(join(workspace, 'run.sh'), 'old');
    await chmod(join(workspace, 'run.sh'), 0o750);
    const { created, bytes } = await files.write(toolCall(workspace), 'run.sh', 'né');
    assert.deepEqual([created, bytes], [false, 3]);
    assert.equal((await stat(join(workspace, 'run.sh'))).mode & 0o777, 0o750);
    assert.deepEqual(await readdir(workspace), ['run.sh']);
  });

  test('refuses the path of a folder', async (t) => {
    const { files, workspace } = await toolBench(t);
    await mkdir(join(workspace, 'there'), { recursive: true });
    for (const path of ['new/', 'there/', 'a/b//', '.', 'there/..', 'there/.'])
      await assert.rejects(files.write(toolCall(workspace), path, 'x'), /names a folder/, path);
    assert.deepEqual(await readdir(workspace), ['there']);
  });

  test('refuses a file that has a second name, which may be outside', async (t) => {
    const { files, workspace, base } = await toolBench(t);
    await mkdir(workspace);
    await writeFile(join(base, 'outside.sh'), 'old');
    await link(join(base, 'outside.sh'), join(workspace, 'run.sh'));
    await assert.rejects(files.write(toolCall(workspace), 'run.sh', 'new'), /second name/);
    assert.equal(await readFile(join(base, 'outside.sh'), 'utf8'), 'old');
    assert.deepEqual(await readdir(workspace), ['run.sh']);
  });

  test('takes over the temporary file that a killed attempt of the same call left', async (t) => {
    const { files, workspace } = await toolBench(t);
    const call = toolCall(workspace);
    await files.write(call, 'a.txt', 'one');
    // A kill between open and rename leaves it like this: the name is derived from the call and the file.
    const digest = createHash('sha256').update(`${call.idempotencyKey}\0a.txt`).digest('hex');
    await writeFile(join(workspace, `.tempoclaw-${digest.slice(0, 24)}.tmp`), 'torn');
    await files.write(call, 'a.txt', 'two');
    assert.deepEqual(await readdir(workspace), ['a.txt']);
    assert.equal(await readFile(join(workspace, 'a.txt'), 'utf8'), 'two');
  });

  test('on a full disk gives an error, tears nothing and works again afterwards', async (t) => {
    let disk = '';
    // This runs before the folders are removed.
    t.after(() => spawnSync('umount', ['-l', disk]));
    const { base, files } = await toolBench(t);
    disk = join(base, 'disk');
    await mkdir(disk);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', disk]).status !== 0)
      return t.skip('needs the right to mount');
    await files.write(toolCall(disk), 'kept.txt', 'old');
    await assert.rejects(files.write(toolCall(disk), 'kept.txt', 'x'.repeat(1_000_000)), {
      code: 'ExecutionFailed',
      message: /no space is left/,
    });
    assert.equal(await readFile(join(disk, 'kept.txt'), 'utf8'), 'old');
    assert.deepEqual(await readdir(disk), ['kept.txt']);
    await files.write(toolCall(disk), 'kept.txt', 'new');
    assert.equal(await readFile(join(disk, 'kept.txt'), 'utf8'), 'new');
  });
});

describe('DU-2 a change that is repeated', () => {
  const append = (more: string) => (old: Buffer | null) =>
    Buffer.concat([old ?? Buffer.alloc(0), Buffer.from(more)]);

  test('under the same key is done once, also by another worker', async (t) => {
    const { base, files, workspace } = await toolBench(t);
    const call = toolCall(workspace);
    assert.deepEqual(await files.change(call, 'log', true, append('line\n')), { done: false });
    const other = createFiles({ journalDir: join(base, 'journal'), now: Date.now, lock: inTurn });
    assert.deepEqual(await other.change(call, 'log', true, append('line\n')), { done: true });
    assert.equal(await readFile(join(workspace, 'log'), 'utf8'), 'line\n');
    await files.change(toolCall(workspace), 'log', true, append('line\n'));
    assert.equal(await readFile(join(workspace, 'log'), 'utf8'), 'line\nline\n');
  });

  test('that was noted and not done yet is done', async (t) => {
    const { files, workspace } = await toolBench(t);
    const call = toolCall(workspace);
    await files.change(call, 'log', true, append('a'));
    // The file is as before: the kill came between the note and the rename.
    await writeFile(join(workspace, 'log'), '');
    await assert.rejects(files.change(call, 'log', true, append('a')), { code: 'OutcomeUnknown' });
    const second = toolCall(workspace);
    await files.change(second, 'log', true, append('b'));
    await writeFile(join(workspace, 'log'), '');
    assert.deepEqual(await files.change(second, 'log', true, append('b')), { done: false });
    assert.equal(await readFile(join(workspace, 'log'), 'utf8'), 'b');
  });

  test('of a file that somebody changed since is refused as OutcomeUnknown', async (t) => {
    const { files, workspace } = await toolBench(t);
    const call = toolCall(workspace);
    await files.change(call, 'log', true, append('a'));
    await writeFile(join(workspace, 'log'), 'theirs');
    await assert.rejects(files.change(call, 'log', true, append('a')), { code: 'OutcomeUnknown' });
    assert.equal(await readFile(join(workspace, 'log'), 'utf8'), 'theirs');
  });
});

describe('F12 pages', () => {
  test('give whole lines, and together the file', async (t) => {
    const { files, workspace } = await toolBench(t);
    const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index} ${'é'.repeat(index % 40)}\n`);
    await files.write(toolCall(workspace), 'big.txt', lines.join(''));
    let text = '';
    for (let offset = 0; offset < lines.length; ) {
      const page = await files.readPage(toolCall(workspace), 'big.txt', { offset, maxChars: 50_000 });
      assert.ok(page.text.length <= 50_000 && page.text.endsWith('\n'));
      assert.equal(page.totalLines, lines.length);
      text += page.text;
      offset += page.lines;
    }
    assert.equal(text, lines.join(''));
  });

  test('of a sparse file of 5 GB are refused as binary at once, without memory', async (t) => {
    const { files, workspace } = await toolBench(t);
    await mkdir(workspace);
    const file = await open(join(workspace, 'big.bin'), 'w');
    t.after(() => file.close());
    await file.truncate(5_000_000_000);
    const before = process.memoryUsage().rss;
    await assert.rejects(files.readPage(toolCall(workspace), 'big.bin', { offset: 0, maxChars: 50_000 }), {
      message: /binary file \(5000000000 bytes\)/,
    });
    await file.write(Buffer.from('text\n'.repeat(4_000)), 0, undefined, 0);
    const page = await files.readPage(toolCall(workspace), 'big.bin', {
      offset: 1_000,
      limit: 10,
      maxChars: 50_000,
    });
    assert.equal(page.text, 'text\n'.repeat(10));
    assert.equal(page.more, true);
    assert.ok(process.memoryUsage().rss - before < 50 * 1024 * 1024);
  });

  test('cut a line that alone is too long, on a whole character', async (t) => {
    const { files, workspace } = await toolBench(t);
    await files.write(toolCall(workspace), 'one.txt', '🙂'.repeat(1_000));
    const page = await files.readPage(toolCall(workspace), 'one.txt', { offset: 0, maxChars: 101 });
    assert.equal(page.cutLine, true);
    assert.equal(page.text, '🙂'.repeat(50));
  });

  test('say when bytes are not UTF-8', async (t) => {
    const { files, workspace } = await toolBench(t);
    await mkdir(workspace);
    await writeFile(join(workspace, 'latin.txt'), Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a]));
    const page = await files.readPage(toolCall(workspace), 'latin.txt', { offset: 0, maxChars: 100 });
    assert.equal(page.invalidUtf8, true);
    assert.equal(page.text, 'caf\ufffd\n');
  });
});

describe('R6 a held folder shows', () => {
  test('only lines of plain files inside', async (t) => {
    const { base, files, workspace } = await toolBench(t);
    await mkdir(join(workspace, 'd'), { recursive: true });
    await writeFile(join(base, 'secret.txt'), 'abc\ndef');
    await writeFile(join(workspace, 'd/plain.txt'), 'abc\ndef');
    await symlink(join(base, 'secret.txt'), join(workspace, 'd/link.txt'));
    await link(join(base, 'secret.txt'), join(workspace, 'd/hard.txt'));
    const folder = await files.hold(toolCall(workspace), 'd', 'search');
    t.after(() => folder.close());
    assert.deepEqual((await folder.linesAt('plain.txt', [0, 4, 99], 2))?.map(String), ['ab', 'de', '']);
    for (const name of ['link.txt', 'hard.txt', 'none.txt', '../../secret.txt'])
      assert.equal(await folder.linesAt(name, [0], 100), undefined, name);
  });
});

test('a workspace that does not exist yet is made', async (t) => {
  const base = await temporaryFolder(t);
  const files = createFiles({ journalDir: join(base, 'journal'), now: Date.now, lock: inTurn });
  const { entries } = await files.list(toolCall(join(base, 'new/ws')), '.', 10);
  assert.deepEqual(entries, []);
});

describe('VF-5 a workspace is its owner’s', () => {
  test('other users of the machine can neither list nor read it, nor see what others there are', async (t) => {
    const { files, base } = await toolBench(t);
    await chmod(base, 0o755);
    const workspace = join(base, 'tenant', 'agent');
    await files.write(toolCall(workspace), 'notes/a.txt', 'mine');
    assert.equal((await stat(workspace)).mode & 0o777, 0o700);
    assert.equal((await stat(dirname(workspace))).mode & 0o066, 0);
    if (process.geteuid?.() !== 0) return t.diagnostic('only root can look as another user');
    const nobody = { uid: 65_534, gid: 65_534, encoding: 'utf8' } as const;
    for (const [program, path] of [
      ['ls', workspace],
      ['cat', join(workspace, 'notes/a.txt')],
      ['ls', dirname(workspace)],
    ] as const) {
      const tried = spawnSync(program, [path], nobody);
      assert.match(tried.stderr, /Permission denied/, `${program} ${path}: ${tried.stdout}`);
    }
  });
});
