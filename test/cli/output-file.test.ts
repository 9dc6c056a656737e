/** Where commands write. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { outputProblem } from '#cli/output-file.ts';

const MAIN = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));

describe('IN-6 output that cannot be written', () => {
  it('is a line that says so, not the stack of a bug', { skip: process.platform !== 'linux' }, () => {
    const full = openSync('/dev/full', 'w');
    const write = (...args: string[]) =>
      spawnSync(process.execPath, [MAIN, ...args], { stdio: ['ignore', full, 'pipe'], encoding: 'utf8' });
    try {
      const { status, stderr } = write('completion', 'bash');
      assert.equal(status, 1);
      assert.match(stderr, /^✘ The output cannot be written: ENOSPC: [^\n]*\n$/);
      const json = JSON.parse(write('explain', 'shell', 'ls', '--json').stderr) as {
        error: { code: string };
      };
      assert.equal(json.error.code, 'FileFailed');
    } finally {
      closeSync(full);
    }
  });

  it('is known before the work where its folder does not exist', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'tempoclaw-out-'));
    t.after(() => rmSync(folder, { recursive: true }));
    assert.equal(outputProblem(join(folder, 'x.xml')), undefined);
    assert.match(outputProblem(join(folder, 'none', 'x.xml')) ?? '', /There is no folder .*none/);
    assert.equal(outputProblem(folder), 'It is a folder.');
    assert.equal(outputProblem(''), 'It is a folder.');
  });
});
