/** search, VF-4: what is found, what is omitted, and that no pattern or tree blocks the worker. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { link, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { tool } from '#activities/tools/fs/search.ts';
import type { ToolResult } from '#domain/tool.ts';
import { type Bench, toolBench } from '#test/support/tool-call.ts';

async function tree(
  t: Parameters<typeof toolBench>[0],
  files: Record<string, string | Buffer>,
): Promise<Bench> {
  const bench = await toolBench(t);
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(bench.workspace, name)), { recursive: true });
    await writeFile(join(bench.workspace, name), content);
  }
  return bench;
}

function words(result: ToolResult): string {
  return result.ok ? result.text : `${result.code}: ${result.message}`;
}

describe('TL search', () => {
  test('shows path, line and text, files in order, with context', async (t) => {
    const bench = await tree(t, { 'b.txt': 'one\ntwo\nthree\n', 'a/x.md': 'two' });
    assert.equal(words(await bench.run(tool, { pattern: 't.o' })), 'a/x.md:1:two\nb.txt:2:two');
    assert.equal(
      words(await bench.run(tool, { pattern: 'two', path: 'b.txt', context: 1 })),
      'b.txt-1-one\nb.txt:2:two\nb.txt-3-three',
    );
    assert.equal(
      words(await bench.run(tool, { pattern: 'TWO', glob: '*.md', ignore_case: true })),
      'a/x.md:1:two',
    );
    assert.equal(words(await bench.run(tool, { pattern: 'TWO' })), '(no match)');
    assert.equal(words(await bench.run(tool, { pattern: '.', path: 'a' })), 'a/x.md:1:two');
  });

  test('leaves out what may not be read: denied, outside by link or hard link, binary, ignored, .git', async (t) => {
    const bench = await tree(t, {
      '.tempoclaw/key': 'word',
      '.goclaw/key': 'word',
      '.git/config': 'word',
      '.gitignore': '*.log\n',
      'a.log': 'word',
      'bin.dat': Buffer.from('word\0word'),
      'seen.txt': 'word',
    });
    await writeFile(join(bench.base, 'outside.txt'), 'word');
    await symlink(join(bench.base, 'outside.txt'), join(bench.workspace, 'link.txt'));
    await symlink(bench.base, join(bench.workspace, 'up'));
    await link(join(bench.base, 'outside.txt'), join(bench.workspace, 'hard.txt'));
    assert.equal(words(await bench.run(tool, { pattern: 'word' })), 'seen.txt:1:word');
    assert.equal(
      words(await bench.run(tool, { pattern: 'word', include_ignored: true })),
      'a.log:1:word\nseen.txt:1:word',
    );
    for (const glob of ['.tempoclaw/**', '**/key', '**'])
      assert.doesNotMatch(
        words(await bench.run(tool, { pattern: 'word', glob, include_ignored: true })),
        /tempoclaw|goclaw/,
      );
    assert.match(words(await bench.run(tool, { pattern: 'word', path: '.tempoclaw' })), /^PermissionDenied/);
    assert.match(
      words(await bench.run(tool, { pattern: 'word', path: '.tempoclaw/key' })),
      /^PermissionDenied/,
    );
    assert.match(words(await bench.run(tool, { pattern: 'word', path: 'up' })), /^InvalidPath/);
  });

  test('stops at max_results and says so; long lines and answers are cut', async (t) => {
    const bench = await tree(t, {
      'a.txt': 'x\n'.repeat(500),
      'long.txt': `y${'z'.repeat(5_000)}\n`.repeat(100),
    });
    const few = words(await bench.run(tool, { pattern: 'x', max_results: 3 }));
    assert.equal(
      few,
      'a.txt:1:x\na.txt:2:x\na.txt:3:x\n[stopped at 3 matches; narrow the search or raise max_results]',
    );
    const long = words(await bench.run(tool, { pattern: 'y' }));
    assert.match(long, /z \[line cut\]/);
    assert.match(long, /\[more than 30000 characters; narrow/);
    assert.ok(long.length < 31_000);
  });

  test('a faulty pattern or glob is InvalidArgs with ripgrep’s words', async (t) => {
    const bench = await tree(t, { a: 'a' });
    assert.match(words(await bench.run(tool, { pattern: '(' })), /^InvalidArgs: .*unclosed group/s);
    const lookAhead = words(await bench.run(tool, { pattern: '(?=a)' }));
    assert.match(lookAhead, /^InvalidArgs: .*look-around.* is not supported$/s);
    assert.match(words(await bench.run(tool, { pattern: 'a', glob: '{' })), /^InvalidArgs: .*glob/s);
    assert.match(words(await bench.run(tool, { pattern: 'a', path: 'none' })), /^FileNotFound/);
    // This looks like an option and is none.
    assert.equal(words(await bench.run(tool, { pattern: '--files' })), '(no match)');
  });

  test('VF-4 a file that is named is searched through its link, and refused when it may not be read', async (t) => {
    const bench = await tree(t, { 'a.txt': 'hit', 'sub/b.txt': 'hit', ' sp ': 'hit', '.hidden': 'hit' });
    const at = (name: string): string => join(bench.workspace, name);
    await symlink('../a.txt', at('sub/up'));
    await symlink(at('sub/b.txt'), at('whole'));
    for (const path of ['a.txt', 'sub/up', 'whole', ' sp ', '.hidden'])
      assert.equal(words(await bench.run(tool, { pattern: 'hit', path })), `${path}:1:hit`);
    await writeFile(join(bench.base, 'out'), 'hit');
    await link(join(bench.base, 'out'), at('hard'));
    await symlink(join(bench.base, 'out'), at('away'));
    execFileSync('mkfifo', [at('pipe')]);
    for (const [path, why] of [
      ['hard', /^PermissionDenied: .*second name/],
      ['away', /^InvalidPath: .*outside the workspace/],
      ['pipe', /^InvalidPath: .*not a regular file/],
    ] as const)
      assert.match(words(await bench.run(tool, { pattern: 'hit', path })), why);
  });

  test('a cancelled search ends', async (t) => {
    const bench = await tree(t, { a: 'a' });
    const result = await bench.run(tool, { pattern: 'a' }, { signal: AbortSignal.abort() });
    assert.equal(!result.ok && result.code, 'Cancelled');
  });

  test('a file with one line of many megabytes is shown cut', async (t) => {
    const bench = await tree(t, { 'min.js': 'a'.repeat(8_000_000), 'ok.js': 'a' });
    assert.match(words(await bench.run(tool, { pattern: 'a' })), /^min.js:1:a{500} \[line cut\]\nok.js:1:a$/);
  });
});
