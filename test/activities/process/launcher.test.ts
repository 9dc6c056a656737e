/** Commands started by the small process: the same to see as one's own, and what happens when that process is lost. */
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLauncher, launchHere } from '#activities/process/launcher.ts';
import { isAlive, ownIdentity, processRow } from '#activities/process/process-table.ts';
import { createShell } from '#activities/process/shell.ts';

const environment = { PATH: process.env['PATH'] ?? '' };

function shellOn(launch: ReturnType<typeof createLauncher>) {
  const shell = createShell({ environment, worker: ownIdentity(), graceMs: 100, launch });
  return (command: string) =>
    shell.run({
      command,
      cwd: tmpdir(),
      pwd: tmpdir(),
      timeoutMs: 20_000,
      callId: 'call',
      signal: new AbortController().signal,
    });
}

describe('a launcher', () => {
  for (const [name, launch] of [
    ['small process', createLauncher()],
    ['worker itself', launchHere],
  ] as const)
    it(`${name}: gives both outputs whole, the end, and a group of its own`, async () => {
      const run = shellOn(launch);
      const outcome = await run('echo out; echo err >&2; [ "$$" = "$(ps -o pgid= $$ | tr -d " ")" ]; exit 3');
      assert.deepEqual(
        [outcome.ended, outcome.exitCode, outcome.stdout, outcome.stderr],
        ['exit', 3, 'out\n', 'err\n'],
      );
      const large = await run('head -c 3000000 /dev/zero | tr "\\0" x');
      assert.deepEqual([large.ended, large.stdoutBytes], ['exit', 3_000_000]);
      const killed = await run('kill -9 $$');
      assert.deepEqual([killed.ended, killed.signalName], ['signal', 'SIGKILL']);
    });

  it('a command that is over before anybody looked has its output and end', async () => {
    const run = shellOn(createLauncher());
    await run('true');
    const quick = run('echo quick');
    await new Promise((resolve) => setImmediate(resolve));
    // As a busy worker: all that comes meanwhile is met at once.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    const { ended, stdout } = await quick;
    assert.deepEqual([ended, stdout], ['exit', 'quick\n']);
  });

  it('says why a program does not start', async () => {
    const launch = createLauncher();
    await assert.rejects(launch({ file: '/no/such', args: [], cwd: '/', env: {} }), /ENOENT/);
    await assert.rejects(launch({ file: '/bin/sh', args: [], cwd: '/no/such', env: {} }), /ENOENT/);
  });

  it('a command whose starter is lost is ended and told as lost; the next one has a new starter', async () => {
    const launch = createLauncher();
    const run = shellOn(launch);
    const probe = await launch({ file: '/bin/sh', args: ['-c', 'echo $PPID'], cwd: '/', env: environment });
    const starter = Number(String((await probe.stdout.toArray())[0]));
    assert.notEqual(starter, process.pid);

    const running = launch({ file: '/bin/sleep', args: ['30'], cwd: '/', env: {} });
    const outcome = run('echo begun; sleep 30');
    const { pid } = await running;
    await sleep(300);
    process.kill(starter, 'SIGKILL');
    const { ended, stdout, reason } = await outcome;
    assert.deepEqual([ended, stdout], ['lost', 'begun\n']);
    assert.match(reason ?? '', /lost/);
    assert.deepEqual(await (await running).end, { code: null, signal: null });
    process.kill(pid, 'SIGKILL');

    assert.equal((await run('echo again')).stdout, 'again\n');
    const row = processRow(starter);
    assert.ok(row === undefined || !isAlive(row));
  });
});
