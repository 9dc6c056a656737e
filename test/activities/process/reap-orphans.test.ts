/** F2: what the commands of a killed worker left running is ended by the next one; nothing else is. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { reapOrphans } from '#activities/process/reap-orphans.ts';
import { tool as exec } from '#activities/tools/runtime/exec.ts';
import { eventually, runningWith, uniqueSeconds } from '#test/support/processes.ts';
import { temporaryFolder, toolBench } from '#test/support/tool-call.ts';

const WORKER = fileURLToPath(new URL('../../support/measure-output.ts', import.meta.url));

describe('F2 orphans', () => {
  test('of a worker killed with SIGKILL are ended, with their children', async (t) => {
    const seconds = uniqueSeconds();
    // It is killed, so it cannot remove its own.
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
    // A worker that another test starts at this moment may have ended them already.
    await reapOrphans('tempoclaw');
    assert.deepEqual(runningWith(`sleep ${seconds}`), []);
  });

  test('background commands are left alone, since they outlive their worker', async (t) => {
    const bench = await toolBench(t, { graceMs: 100 });
    const seconds = uniqueSeconds();
    await bench.run(exec, { command: `sleep ${seconds}`, background: true });
    assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length > 0));
    await reapOrphans('tempoclaw');
    assert.notDeepEqual(runningWith(`sleep ${seconds}`), []);
  });

  test('commands of a living worker are left alone', async (t) => {
    const bench = await toolBench(t, { graceMs: 100 });
    const seconds = uniqueSeconds();
    const stop = new AbortController();
    const running = bench.run(exec, { command: `sleep ${seconds}` }, { signal: stop.signal });
    assert.ok(await eventually(() => runningWith(seconds).length > 0));
    await reapOrphans('tempoclaw');
    assert.notDeepEqual(runningWith(seconds), []);
    stop.abort();
    await running;
  });
});
