/** The shell blocks of the documentation do what they say: each page's are run in order, in one shell, on a fresh clone. */
import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { childEnvironment, commandFolders, userCacheDir } from '#config';
import { obtainTemporalBinary } from '#cli/services/temporal-binary.ts';
import { type Clone, cloneRepository, type Program } from '#test/start/program.ts';
import { pythonWithTemporal } from '#test/support/python.ts';
import { missingLine, PAGES, type ShellBlock, shellBlocks } from './pages.ts';

const MARK = '::block at line';

/**
 * Threads of Temporal's Python SDK may abort an interpreter that is ending, when all is done and printed (seen with 1.35 on
 * Python 3.11 under load), so a script from stdin ends at once; what it raises is still its exit code.
 */
function pythonOf(interpreter: string): string {
  const run = [
    'import os, sys, traceback',
    'code = 0',
    'try: exec(compile(sys.stdin.read(), "stdin", "exec"), {"__name__": "__main__"})',
    'except BaseException: code = 1; traceback.print_exc()',
    'sys.stdout.flush(); sys.stderr.flush(); os._exit(code)',
  ].join('\n');
  return `#!/bin/sh\n[ "$1" = - ] && exec '${interpreter}' -c '${run}'\nexec '${interpreter}' "$@"\n`;
}

describe('commands of the documentation', () => {
  let clone: Clone;
  let program: Program;
  let bin: string;
  before(async () => {
    clone = await cloneRepository();
    program = await clone.start();
    // What the pages tell the reader to have.
    bin = join(dirname(clone.folder), 'bin');
    await mkdir(bin);
    const { path } = await obtainTemporalBinary({
      cacheDir: userCacheDir(),
      env: childEnvironment({}),
      folders: commandFolders(),
    });
    await symlink(path, join(bin, 'temporal'));
    // npm's own look for the command takes longer than the command; test/start runs it through the real npx.
    const command = join(clone.folder, 'bin', 'tempoclaw.js');
    await writeFile(
      join(bin, 'npx'),
      `#!/bin/sh\n[ "$1" = tempoclaw ] || exit 9\nshift\nexec node '${command}' "$@"\n`,
      { mode: 0o755 },
    );
    await writeFile(join(bin, 'python3'), pythonOf(await pythonWithTemporal()), { mode: 0o755 });
  });
  after(() => clone?.remove());

  /** The page's addresses are the usual ones; the test's ports are any. */
  function atOurPorts(text: string): string {
    const { api, temporal, temporal_ui: ui } = program.run;
    return text
      .replaceAll(/(127\.0\.0\.1|localhost):7400/g, new URL(String(api)).host)
      .replaceAll(/(127\.0\.0\.1|localhost):7233/g, temporal)
      .replaceAll(/(127\.0\.0\.1|localhost):8233/g, new URL(String(ui)).host);
  }

  async function runPage(blocks: readonly ShellBlock[]): Promise<void> {
    const script = blocks
      .map(({ line, text }) => `printf '\\n%s\\n' '${MARK} ${line}'\n${atOurPorts(text)}`)
      .join('\n');
    const { code, stdout, stderr } = await clone.command(
      'bash',
      ['-euo', 'pipefail', '-c', `exec 2>&1\n${script}`],
      {
        PATH: [bin, join(clone.folder, 'node_modules', '.bin'), ...commandFolders()].join(':'),
        TEMPORAL_ADDRESS: program.run.temporal,
      },
    );
    assert.equal(code, 0, `exit code ${code}:\n${stdout}${stderr}`);
    const printed = stdout.split(new RegExp(`^${MARK} `, 'm')).slice(1);
    for (const [index, { line, expected }] of blocks.entries()) {
      if (expected === undefined) continue;
      const output = printed[index] ?? '';
      assert.equal(missingLine(expected, output), undefined, `block at line ${line} printed:\n${output}`);
    }
  }

  const run = PAGES.map(
    (page) => [page, shellBlocks(page).filter(({ notRun }) => notRun === undefined)] as const,
  );
  for (const [page, blocks] of run)
    if (blocks.length > 0) it(`of ${page} run, and print what it says`, () => runPage(blocks));

  it('are found by this test', () => {
    const found = new Map(run.map(([page, blocks]) => [page, blocks.length]));
    assert.ok((found.get('README.md') ?? 0) >= 4);
    assert.ok((found.get('docs/getting-started.md') ?? 0) >= 3);
    assert.ok((found.get('docs/operations.md') ?? 0) >= 3);
  });
});
