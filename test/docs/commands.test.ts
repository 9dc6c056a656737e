/**
 * The shell blocks of the documentation do what they say: each page's blocks run in order, in one shell, on a fresh
 * clone.
 */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { commandFolders } from '#config';
import { type Clone, cloneRepository, type Program } from '#test/start/program.ts';
import { pythonWithTemporal } from '#test/support/python.ts';
import { missingLine, PAGES, type ShellBlock, shellBlocks } from './pages.ts';

const MARK = '::block at line';

/**
 * Threads of Temporal's Python SDK may abort an interpreter that is ending, when everything is done and printed (seen
 * with 1.35 on Python 3.11 under load). A script from stdin therefore ends at once; what it raises is still its exit
 * code.
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

const USUAL_PORTS = {
  TEMPOCLAW_PORT: '7400',
  TEMPOCLAW_TEMPORAL_PORT: '7233',
  TEMPOCLAW_TEMPORAL_UI_PORT: '8233',
  TEMPOCLAW_DATABASE_PORT: '54329',
} as const;

interface Stranger {
  readonly server: Server;
  /** The requests that reached it. */
  readonly reached: string[];
}

async function takePort(port: string): Promise<Stranger> {
  const reached: string[] = [];
  const server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .once('data', (data) => {
        reached.push(`${port}: ${data.toString('latin1', 0, 200)}`);
        socket.destroy();
      });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve);
    // A developer's own TempoClaw uses the port, which is as good.
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve() : reject(error),
    );
    server.listen(Number(port), '127.0.0.1');
  });
  return { server, reached };
}

describe('commands of the documentation', () => {
  let clone: Clone;
  let program: Program;
  let bin: string;
  /** Other programs at the usual ports, which the pages' commands must not reach. */
  let strangers: readonly Stranger[] = [];
  before(async () => {
    clone = await cloneRepository();
    strangers = await Promise.all(Object.values(USUAL_PORTS).map(takePort));
    program = await clone.start(USUAL_PORTS);
    // What the pages require the reader to have.
    bin = join(dirname(clone.folder), 'bin');
    await mkdir(bin);
    // npm's own search for the command takes longer than the command; test/start runs it through the real npx.
    const command = join(clone.folder, 'bin', 'tempoclaw.js');
    await writeFile(
      join(bin, 'npx'),
      `#!/bin/sh\nname=$1\nshift\ncase $name in\n  tempoclaw) exec node '${command}' "$@" ;;\n  node) exec node "$@" ;;\n  *) exit 9 ;;\nesac\n`,
      { mode: 0o755 },
    );
    await writeFile(join(bin, 'python3'), pythonOf(await pythonWithTemporal()), { mode: 0o755 });
  });
  after(async () => {
    await clone?.remove();
    for (const { server } of strangers) server.close();
  });

  async function runPage(blocks: readonly ShellBlock[]): Promise<void> {
    const script = blocks.map(({ line, text }) => `printf '\\n%s\\n' '${MARK} ${line}'\n${text}`).join('\n');
    const { code, stdout, stderr } = await clone.command(
      'bash',
      ['-euo', 'pipefail', '-c', `exec 2>&1\n${script}`],
      { PATH: [bin, join(clone.folder, 'node_modules', '.bin'), ...commandFolders()].join(':') },
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

  it('reach this TempoClaw while other programs have the usual ports', () => {
    const { api, temporal } = program.run;
    assert.ok(!String(api).endsWith(`:${USUAL_PORTS.TEMPOCLAW_PORT}`));
    assert.ok(!temporal.endsWith(`:${USUAL_PORTS.TEMPOCLAW_TEMPORAL_PORT}`));
    assert.deepEqual(
      strangers.flatMap(({ reached }) => reached),
      [],
    );
  });

  it('are found by this test', () => {
    const found = new Map(run.map(([page, blocks]) => [page, blocks.length]));
    assert.ok((found.get('README.md') ?? 0) >= 4);
    assert.ok((found.get('docs/getting-started.md') ?? 0) >= 3);
    assert.ok((found.get('docs/operations.md') ?? 0) >= 3);
  });
});
