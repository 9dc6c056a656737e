/** glob, VF-4: lists sorted files by pattern, never outside, within limits. */
import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { tool } from '#activities/tools/fs/glob.ts';
import type { ToolResult } from '#domain/tool.ts';
import { type Bench, toolBench } from '#test/support/tool-call.ts';

async function tree(t: Parameters<typeof toolBench>[0], names: readonly string[]): Promise<Bench> {
  const bench = await toolBench(t);
  for (const name of names) {
    await mkdir(dirname(join(bench.workspace, name)), { recursive: true });
    await writeFile(join(bench.workspace, name), '');
  }
  return bench;
}

function words(result: ToolResult): string {
  return result.ok ? result.text : `${result.code}: ${result.message}`;
}

describe('TL glob', () => {
  test('finds files by pattern, sorted, relative to the workspace', async (t) => {
    const bench = await tree(t, ['src/b.ts', 'src/a.ts', 'src/deep/c.ts', 'z.ts', '.hidden.ts', 'a\nb.ts']);
    assert.equal(
      words(await bench.run(tool, { pattern: '**/*.ts' })),
      '.hidden.ts\na\ufffdb.ts\nsrc/a.ts\nsrc/b.ts\nsrc/deep/c.ts\nz.ts',
    );
    assert.equal(words(await bench.run(tool, { pattern: '*.ts', path: 'src' })), 'src/a.ts\nsrc/b.ts');
    assert.equal(words(await bench.run(tool, { pattern: 'src/{a,deep/c}.ts' })), 'src/a.ts\nsrc/deep/c.ts');
    assert.equal(words(await bench.run(tool, { pattern: '*.md' })), '(no file matches)');
  });

  test('goes through no link, into no denied folder, and not out of its own', async (t) => {
    const bench = await tree(t, ['.tempoclaw/key', 'a/seen', '.git/x']);
    await writeFile(join(bench.base, 'outside'), '');
    await symlink(bench.base, join(bench.workspace, 'up'));
    assert.equal(words(await bench.run(tool, { pattern: '**', include_ignored: true })), 'a/seen');
    for (const pattern of ['../*', 'a/../../*', '{a,..}/*'])
      assert.match(words(await bench.run(tool, { pattern })), /^InvalidArgs/);
    assert.match(words(await bench.run(tool, { pattern: '/etc/*' })), /^InvalidPath/);
    assert.match(words(await bench.run(tool, { pattern: '*', path: '..' })), /^InvalidPath/);
    assert.match(words(await bench.run(tool, { pattern: '*', path: 'up' })), /^InvalidPath/);
    assert.match(words(await bench.run(tool, { pattern: '*', path: '.tempoclaw' })), /^PermissionDenied/);
  });

  test('what .gitignore leaves out is left out unless asked for', async (t) => {
    const bench = await tree(t, ['a.log', 'a.txt']);
    await writeFile(join(bench.workspace, '.gitignore'), '*.log');
    assert.equal(words(await bench.run(tool, { pattern: 'a.*' })), 'a.txt');
    assert.equal(words(await bench.run(tool, { pattern: 'a.*', include_ignored: true })), 'a.log\na.txt');
  });

  test('a long list is cut and says so', async (t) => {
    const bench = await tree(
      t,
      Array.from({ length: 1_010 }, (_, index) => `f${index}`),
    );
    assert.match(
      words(await bench.run(tool, { pattern: '*' })),
      /\[10 more files match; narrow the pattern\]$/,
    );
  });
});
