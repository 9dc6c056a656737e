/**
 * Commands started by the small process behave like directly started ones; and what happens when that process is lost.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createLauncher,
  type Launcher,
  environmentOf,
  isAlive,
  ownIdentity,
  processRow,
  createShell,
} from '@tempoclaw/sandbox';

const LAUNCHER = import.meta.resolve('../src/launcher.ts');
const environment = { PATH: process.env['PATH'] ?? '' };

function shellOn(launch: Launcher) {
  const shell = createShell({ name: 'test', environment, worker: ownIdentity(), graceMs: 100, launch });
  return (command: string, onOutput: () => void = () => undefined) =>
    shell.run({
      command,
      cwd: tmpdir(),
      pwd: tmpdir(),
      folders: [],
      timeoutMs: 200_000,
      callId: 'call',
      signal: new AbortController().signal,
      onOutput,
    });
}

/** Finds the process that starts commands. */
async function starterOf(launch: Launcher): Promise<number> {
  const { stdout } = await launch({
    file: '/bin/sh',
    args: ['-c', 'echo $PPID'],
    cwd: '/',
    env: environment,
    folders: [],
  });
  return Number(String((await stdout.toArray())[0]));
}

describe('a launcher', () => {
  it('gives both outputs whole, the end, and a group of its own', async () => {
    const launch = createLauncher();
    assert.notEqual(await starterOf(launch), process.pid);
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
    const launch = createLauncher();
    const run = shellOn(launch);
    await starterOf(launch);
    const quick = run('echo quick');
    await new Promise((resolve) => setImmediate(resolve));
    // Simulates a busy worker: everything that arrives meanwhile is handled together.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    const { ended, stdout } = await quick;
    assert.deepEqual([ended, stdout], ['exit', 'quick\n']);
  });

  it('says why a program does not start', async () => {
    const launch = createLauncher();
    await assert.rejects(launch({ file: '/no/such', args: [], cwd: '/', env: {}, folders: [] }), /ENOENT/);
    await assert.rejects(
      launch({ file: '/bin/sh', args: [], cwd: '/no/such', env: {}, folders: [] }),
      /ENOENT/,
    );
  });

  it('a command whose starter is lost is ended and told as lost; the next one has a new starter', async () => {
    const launch = createLauncher();
    const starter = await starterOf(launch);
    const run = shellOn(launch);
    const running = launch({ file: '/bin/sleep', args: ['300'], cwd: '/', env: {}, folders: [] });
    const { pid } = await running;
    let outcome: ReturnType<typeof run> | undefined;
    await new Promise<void>((started) => {
      outcome = run('echo begun; sleep 300', started);
    });
    process.kill(starter, 'SIGKILL');
    const { ended, stdout, reason } = (await outcome) ?? {};
    assert.deepEqual([ended, stdout], ['lost', 'begun\n']);
    assert.match(reason ?? '', /lost/);
    assert.deepEqual(await (await running).end, { code: null, signal: null });
    process.kill(pid, 'SIGKILL');

    assert.equal((await run('echo again')).stdout, 'again\n');
    const row = processRow(starter);
    assert.ok(row === undefined || !isAlive(row));
  });

  it('has nothing of the environment of its worker, and ends with it when that is killed', async () => {
    const program = `
      const { createLauncher } = await import(${JSON.stringify(LAUNCHER)});
      const launch = createLauncher();
      const { stdout } = await launch({ file: '/bin/sh', args: ['-c', 'echo $PPID'], cwd: '/', env: {}, folders: [] });
      process.stdout.write(String((await stdout.toArray())[0]));
      setInterval(() => undefined, 60_000);`;
    const worker = spawn(process.execPath, ['--input-type=module', '-e', program], {
      env: { ...environment, OF_WORKER: 'yes' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const starter = Number(String((await once(worker.stdout, 'data'))[0]).split('\n')[0]);
    assert.doesNotMatch(environmentOf(starter) ?? '', /OF_WORKER|PATH/);
    const socket = (await readFile(`/proc/${starter}/cmdline`, 'utf8')).split('\0').at(-2) ?? '';
    assert.ok(existsSync(socket));

    worker.kill('SIGKILL');
    const until = Date.now() + 60_000;
    for (let row = processRow(starter); row && isAlive(row); row = processRow(starter)) {
      assert.ok(Date.now() < until, 'it still runs');
      await sleep(20);
    }
    assert.ok(!existsSync(dirname(socket)));
  });
});
