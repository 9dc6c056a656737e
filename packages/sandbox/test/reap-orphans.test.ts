/** The next worker ends what the commands of a killed one left running, and nothing else. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createBackgroundCommands, createShell, ownIdentity, reapOrphans } from '@tempoclaw/sandbox';
import { temporaryFolder } from './support/folders.ts';
import { eventually, runningWith, uniqueSeconds } from './support/processes.ts';

const WORKER = fileURLToPath(new URL('support/worker.ts', import.meta.url));
const environment = { PATH: process.env['PATH'] ?? '' };

describe('orphans', () => {
  test('of a worker killed with SIGKILL are ended, with their children', async (t) => {
    const seconds = uniqueSeconds();
    // It is killed, so it cannot remove its own folder.
    const env = { ...process.env, TMPDIR: await temporaryFolder(t) };
    const worker = spawn(process.execPath, [WORKER, `(setsid sleep ${seconds} &); sleep ${seconds}`], {
      stdio: 'ignore',
      env,
    });
    t.after(() => worker.kill('SIGKILL'));
    assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length >= 2));
    const exit = once(worker, 'exit');
    worker.kill('SIGKILL');
    await exit;
    await reapOrphans('other');
    assert.notDeepEqual(runningWith(`sleep ${seconds}`), []);
    await reapOrphans('test');
    assert.deepEqual(runningWith(`sleep ${seconds}`), []);
  });

  test('background commands are left alone, since they outlive their worker', async (t) => {
    const dir = await temporaryFolder(t);
    const commands = createBackgroundCommands({
      name: 'test',
      dir,
      environment,
      now: Date.now,
      graceMs: 100,
    });
    t.after(() => commands.stopOwn());
    const seconds = uniqueSeconds();
    const owner = { owner: 'ann', group: 'one', idempotencyKey: 'first' };
    await commands.start(owner, { command: `sleep ${seconds}`, cwd: dir, pwd: dir });
    assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length > 0));
    await reapOrphans('test');
    assert.notDeepEqual(runningWith(`sleep ${seconds}`), []);
  });

  test('commands of a living worker are left alone', async () => {
    const seconds = uniqueSeconds();
    const stop = new AbortController();
    const running = createShell({ name: 'test', environment, worker: ownIdentity(), graceMs: 100 }).run({
      command: `sleep ${seconds}`,
      cwd: '/',
      pwd: '/',
      folders: [],
      timeoutMs: 60_000,
      callId: 'call',
      signal: stop.signal,
    });
    assert.ok(await eventually(() => runningWith(seconds).length > 0));
    await reapOrphans('test');
    assert.notDeepEqual(runningWith(seconds), []);
    stop.abort();
    await running;
  });
});
