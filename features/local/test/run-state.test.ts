import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { markProcess } from '@tempoclaw/dev-services/processes';
import { endFormerStart } from '../leftovers.ts';
import { runningUp, takeStateFolder } from '#cli/run-state.ts';

const root = mkdtempSync(join(tmpdir(), 'tempoclaw-state-'));
after(() => rmSync(root, { recursive: true, force: true }));

/** A process that does nothing, with a command line of our choice. */
function idle(...args: string[]): ChildProcess {
  const script = 'setInterval(() => {}, 1000)';
  return spawn(process.execPath, ['-e', script, '--', ...args], { stdio: 'ignore' });
}

describe('the state folder', () => {
  test('belongs to one running `up` at a time', async () => {
    const folder = join(root, 'one');
    const state = await takeStateFolder(folder);
    assert.equal(await takeStateFolder(folder), undefined);
    assert.equal(runningUp(folder), process.pid);
    state?.release();
    assert.equal(runningUp(folder), undefined);
  });

  test('that is a file, or below one, is refused with a remedy', async () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    for (const path of [file, join(file, 'x')])
      await assert.rejects(takeStateFolder(path), {
        code: 'StateFolder',
        message: /it is a file, or below one/,
      });
  });
});

describe('what a killed `up` left running', () => {
  test('is ended, found by its command lines; a stranger is not', async () => {
    const folder = join(root, 'left');
    mkdirSync(folder);
    const ours = [
      idle('/x/api/main.ts', folder),
      idle('/x/workers/main.ts', folder),
      idle('--db-filename', join(folder, 'temporal.db'), '--x'),
      idle('/x/postgres', '-D', join(folder, 'postgres'), '-p'),
    ];
    const strangers = [
      idle('/x/workers/main.ts', `${folder}-of-another`),
      idle('--db-filename', join(folder, 'temporal.db2')),
      idle('/x/postgres', '-D', join(folder, 'postgres2'), '-p'),
      idle(folder),
    ];
    assert.deepEqual(
      await endFormerStart(folder),
      ['api', 'worker', 'temporal', 'postgres'].map((name, at) => `${name} (pid ${ours[at]?.pid})`),
    );
    for (const { pid } of strangers) assert.notEqual(markProcess(pid ?? 0), undefined);
    for (const stranger of strangers) stranger.kill('SIGKILL');
  });
});
