/** No file tool writes what git executes, so that a `git status` which runs by itself starts nothing of the model's. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, cp, lstat, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { commandEnvironment } from '@tempoclaw/sandbox/settings';
import { readPassedFiles } from '#activities/assignments/pass-files.ts';
import { tool as edit } from '#activities/tools/fs/edit.ts';
import { tool as readFileTool } from '#activities/tools/fs/read-file.ts';
import { tool as writeFileTool } from '#activities/tools/fs/write-file.ts';
import { tool as exec } from '#activities/tools/runtime/exec.ts';
import { judgePath } from '#activities/workspace/judge-path.ts';
import { DEFAULT_PATH_RULES } from '#domain/files/path-rules.ts';
import { type Bench, toolBench, toolCall } from '#test/support/tool-call.ts';

/** A workspace that is a repository, with a script of the model beside it. */
async function repository(t: TestContext): Promise<Bench> {
  const bench = await toolBench(t);
  await mkdir(bench.workspace, { recursive: true });
  execFileSync('git', ['init', '-q', bench.workspace]);
  await writeFile(join(bench.workspace, 'script'), `#!/bin/sh\ntouch '${join(bench.base, 'ran')}'\n`);
  await chmod(join(bench.workspace, 'script'), 0o755);
  return bench;
}

const refused = { ok: false, code: 'PermissionDenied' };
const shownOf = (result: Awaited<ReturnType<Bench['run']>>): unknown =>
  result.ok ? result : { ok: false, code: result.code };

async function hasRun({ base }: Bench): Promise<boolean> {
  return lstat(join(base, 'ran')).then(
    () => true,
    () => false,
  );
}

describe('SECURITY §2 file tools and git', () => {
  for (const path of [
    '.git/config',
    '.git/config.worktree',
    '.git/hooks/pre-commit',
    '.git/hooks/new/x',
    '.git/info/attributes',
    '.git/HEAD',
    '.git/commondir',
    '.git/modules/x/config',
    '.git/worktrees/x/gitdir',
    '.GIT/config',
    '.git./config',
    '.g\u200cit/config',
    'GIT~1/config',
    './src/../.git/config',
    'link/config',
    'config-link',
    'nested/.git/config',
    'submodule/.git',
  ])
    test(`${path} is neither made, replaced, appended to nor edited`, async (t) => {
      const bench = await repository(t);
      await mkdir(join(bench.workspace, 'src'));
      await symlink('.git', join(bench.workspace, 'link'));
      await symlink('.git/config', join(bench.workspace, 'config-link'));
      const before = await readFile(join(bench.workspace, '.git/config'), 'utf8');
      for (const append of [false, true])
        assert.deepEqual(shownOf(await bench.run(writeFileTool, { path, content: 'x', append })), refused);
      const change = { path, old_string: 'bare', new_string: 'fsmonitor = ./script\n\tbare' };
      assert.deepEqual(shownOf(await bench.run(edit, change)), refused);
      assert.equal((await judgePath(DEFAULT_PATH_RULES, bench.workspace, path, 'write')).decision, 'deny');
      assert.equal(await readFile(join(bench.workspace, '.git/config'), 'utf8'), before);
    });

  test('the refusal says what it is and what to do instead', async (t) => {
    const bench = await repository(t);
    const result = await bench.run(writeFileTool, { path: '.git/config', content: 'x' });
    assert.match(
      result.ok ? '' : result.message,
      /^\.git\/config is one of git's own files.*git config.*\.gitignore/,
    );
  });

  test('it may be read, and names that only look alike may be written', async (t) => {
    const bench = await repository(t);
    assert.equal((await bench.run(readFileTool, { path: '.git/config' })).ok, true);
    for (const path of [
      '.gitignore',
      '.gitattributes',
      '.github/workflows/ci.yml',
      'git/config',
      'x.git/a',
      'config',
    ])
      assert.equal((await bench.run(writeFileTool, { path, content: 'x' })).ok, true, path);
  });

  test('in a folder that is a repository without being named .git nothing is written', async (t) => {
    const bench = await repository(t);
    await cp(join(bench.workspace, '.git'), join(bench.workspace, 'bare'), { recursive: true });
    for (const path of ['bare/config', 'bare/hooks/pre-commit', 'bare/info/attributes', 'bare/x'])
      assert.deepEqual(shownOf(await bench.run(writeFileTool, { path, content: 'x' })), refused, path);
  });

  for (const order of [
    ['made/config', 'made/objects/a', 'made/refs/b', 'made/HEAD'],
    ['made/HEAD', 'made/refs/b', 'made/config', 'made/objects/a'],
    ['made/config', 'made/HEAD', 'made/commondir'],
  ])
    test(`files never become a repository: ${order.join(', ')}`, async (t) => {
      const bench = await repository(t);
      const results: boolean[] = [];
      for (const path of order)
        results.push((await bench.run(writeFileTool, { path, content: 'ref: refs/heads/x' })).ok);
      assert.ok(results.includes(false), JSON.stringify(results));
    });

  test('no command starts in a folder of git’s own, where a plain name would be git’s', async (t) => {
    const bench = await repository(t);
    for (const working_dir of ['.git', '.git/hooks'])
      assert.deepEqual(shownOf(await bench.run(exec, { command: 'pwd', working_dir })), refused);
    assert.equal((await judgePath(DEFAULT_PATH_RULES, bench.workspace, '.git', 'cwd')).decision, 'deny');
    assert.equal((await judgePath(DEFAULT_PATH_RULES, bench.workspace, '.git', 'list')).decision, 'allow');
  });

  test('files for another agent are none of git’s', async (t) => {
    const bench = await repository(t);
    const call = toolCall(bench.workspace);
    await mkdir(join(bench.workspace, 'sub'));
    await writeFile(join(bench.workspace, 'sub/.git'), 'gitdir: ../x');
    for (const path of ['sub/.git', '.git/HEAD']) {
      const passed = await readPassedFiles(bench.files, [path], call);
      assert.ok('ok' in passed && passed.code === 'InvalidArgs', path);
    }
  });
});

describe('SECURITY §2 git in commands', () => {
  test('starts no file system monitor of a repository, and obeys no folder that only looks like one', async (t) => {
    const bench = await repository(t);
    const config = join(bench.workspace, '.git/config');
    await writeFile(config, `[core]\n\tfsmonitor = ${join(bench.workspace, 'script')}\n`);
    // Without the settings that commands get, the script does run.
    execFileSync('git', ['-C', bench.workspace, 'status'], { env: { PATH: process.env['PATH'] } });
    assert.equal(await hasRun(bench), true);
    const again = await repository(t);
    await writeFile(
      join(again.workspace, '.git/config'),
      `[core]\n\tfsmonitor = ${join(again.workspace, 'script')}\n`,
    );
    await bareCopy(again);
    const status = await again.run(exec, { command: 'git status --short; git -C bare status' });
    assert.match(JSON.stringify(status), /script.*safe\.bareRepository/s);
    assert.equal(await hasRun(again), false);
  });

  test('their settings for git stand before what the worker was started with', () => {
    const environment = commandEnvironment({ GIT_CONFIG_COUNT: '0', PATH: '/bin' });
    assert.equal(environment['GIT_CONFIG_COUNT'], '2');
  });
});

async function bareCopy({ workspace }: Bench): Promise<void> {
  await cp(join(workspace, '.git'), join(workspace, 'bare'), { recursive: true });
  const config = join(workspace, 'bare/config');
  await writeFile(config, `[core]\n\tworktree = ${workspace}\n\tfsmonitor = ${join(workspace, 'script')}\n`);
}
