import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { markProcess } from '#cli/services/process-identity.ts';
import { endFormerStart } from '#cli/services/leftovers.ts';
import { type RunState, readRunInfo, runningUp, takeStateFolder } from '#cli/services/run-state.ts';
import { eventually } from '#test/support/processes.ts';

const root = mkdtempSync(join(tmpdir(), 'tempoclaw-state-'));
after(() => rmSync(root, { recursive: true, force: true }));

const INFO = {
  api: 'http://127.0.0.1:7400',
  api_socket: null,
  temporal: '127.0.0.1:7233',
  temporal_ui: null,
  namespace: 'default',
  task_queue: 'tempoclaw',
  database_url: 'postgres://a:b@127.0.0.1:1/c',
  api_key_file: '/k',
};

async function take(name: string): Promise<RunState> {
  return (await takeStateFolder(join(root, name))) ?? assert.fail('the folder is taken');
}

/** A process that does nothing, with a command line of our choice. */
function idle(...args: string[]): ChildProcess {
  const script = 'setInterval(() => {}, 1000)';
  return spawn(process.execPath, ['-e', script, '--', ...args], { stdio: 'ignore' });
}

describe('the state folder', () => {
  test('belongs to one running `up` at a time', async () => {
    const folder = join(root, 'one');
    const state = await take('one');
    assert.equal(await takeStateFolder(folder), undefined);
    assert.equal(runningUp(folder), process.pid);
    state.release();
    assert.equal(runningUp(folder), undefined);
    (await take('one')).release();
  });

  test('is taken over from an `up` that was killed, and from a lock that was cut short', async () => {
    const folder = join(root, 'stale');
    (await take('stale')).release();
    const killed = { pid: process.pid, started: 'long ago' };
    writeFileSync(join(folder, 'up.4000001.lock'), `${JSON.stringify(killed)}\nheld\n`);
    writeFileSync(join(folder, 'up.4000002.lock'), '{"pi');
    writeFileSync(join(folder, 'run.json'), JSON.stringify(INFO));
    const state = await take('stale');
    assert.equal(readRunInfo(folder), undefined);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.endsWith('.lock')),
      [`up.${process.pid}.lock`],
    );
    state.release();
  });

  test('of eight starts at once over the lock of a killed one, one gets it', async () => {
    const folder = join(root, 'rush');
    mkdirSync(folder);
    const module = new URL('../../../cli/services/run-state.ts', import.meta.url).href;
    const script = `
      const { takeStateFolder } = await import(${JSON.stringify(module)});
      process.stdin.once('data', async () => {
        console.log(await takeStateFolder(${JSON.stringify(folder)}) === undefined ? 'refused' : 'taken');
      });
      process.stdin.on('end', () => process.exit());
      console.log('here');`;
    const starts = Array.from({ length: 8 }, () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const lines: string[] = [];
      child.stdout.setEncoding('utf8').on('data', (text: string) => lines.push(...text.trim().split('\n')));
      return { child, said: lines };
    });
    const all = (count: number) => eventually(() => starts.every(({ said }) => said.length >= count));
    assert.ok(await all(1));
    for (const { child } of starts) child.stdin.write('go\n');
    assert.ok(await all(2), 'one has no answer');
    for (const { child } of starts) child.stdin.end();
    assert.deepEqual(starts.map(({ said }) => said[1]).toSorted(), [
      ...Array.from({ length: 7 }, () => 'refused'),
      'taken',
    ]);
  });

  test('run.json is whole, for the owner only, and gone after a clean end', async () => {
    const folder = join(root, 'run');
    const state = await take('run');
    state.remember('api', 4_000_000);
    state.publish(INFO);
    assert.deepEqual(readRunInfo(folder), { ...INFO, pids: { up: process.pid, api: 4_000_000 } });
    assert.equal(statSync(join(folder, 'run.json')).mode & 0o777, 0o600);
    state.release();
    assert.equal(existsSync(join(folder, 'run.json')), false);
  });

  test('that cannot be written costs nothing but time: it is written when it can be', async () => {
    const folder = join(root, 'later');
    const state = await take('later');
    const inTheWay = join(folder, 'run.json.new');
    mkdirSync(inTheWay);
    state.publish(INFO);
    state.remember('api', 4_000_000);
    assert.equal(readRunInfo(folder), undefined);
    rmSync(inTheWay, { recursive: true });
    assert.ok(await eventually(() => readRunInfo(folder)?.pids?.['api'] === 4_000_000));
    state.release();
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
