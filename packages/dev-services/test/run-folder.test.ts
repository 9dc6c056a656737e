import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { endLeftovers } from '../src/end-leftovers.ts';
import { markProcess, startTime } from '../src/process-identity.ts';
import { readRunInfo, type RunFolder, takeRunFolder } from '../src/run-folder.ts';
import { lockHolder } from '../src/state-lock.ts';
import { eventually } from './support/environment.ts';

const root = mkdtempSync(join(tmpdir(), 'dev-services-state-'));
after(() => rmSync(root, { recursive: true, force: true }));

const INFO = { address: '127.0.0.1:7233' };

async function take(name: string): Promise<RunFolder<typeof INFO>> {
  return (
    (await takeRunFolder({ folder: join(root, name), name: 'acme' })) ?? assert.fail('the folder is taken')
  );
}

describe('the state folder', () => {
  test('belongs to one running program at a time', async () => {
    const folder = join(root, 'one');
    const state = await take('one');
    assert.equal(await takeRunFolder({ folder, name: 'acme' }), undefined);
    assert.equal(lockHolder({ folder, name: 'acme' }), process.pid);
    state.release();
    assert.equal(lockHolder({ folder, name: 'acme' }), undefined);
    (await take('one')).release();
  });

  test('is taken over from an program that was killed, and from a lock that was cut short', async () => {
    const folder = join(root, 'stale');
    (await take('stale')).release();
    const killed = { pid: process.pid, started: 'long ago' };
    writeFileSync(join(folder, 'acme.4000001.lock'), `${JSON.stringify(killed)}\nheld\n`);
    writeFileSync(join(folder, 'acme.4000002.lock'), '{"pi');
    writeFileSync(join(folder, 'run.json'), JSON.stringify(INFO));
    const state = await take('stale');
    assert.equal(readRunInfo<typeof INFO>(folder), undefined);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.endsWith('.lock')),
      [`acme.${process.pid}.lock`],
    );
    state.release();
  });

  test('of eight starts at once over the lock of a killed one, one gets it', async () => {
    const folder = join(root, 'rush');
    mkdirSync(folder);
    const module = new URL('../src/run-folder.ts', import.meta.url).href;
    const script = `
      const { takeRunFolder } = await import(${JSON.stringify(module)});
      process.stdin.once('data', async () => {
        console.log(await takeRunFolder({ folder: ${JSON.stringify(folder)}, name: 'acme' }) === undefined ? 'refused' : 'taken');
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
    assert.deepEqual(readRunInfo<typeof INFO>(folder), {
      ...INFO,
      pids: { acme: process.pid, api: 4_000_000 },
    });
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
    assert.equal(readRunInfo<typeof INFO>(folder), undefined);
    rmSync(inTheWay, { recursive: true });
    assert.ok(await eventually(() => readRunInfo<typeof INFO>(folder)?.pids?.['api'] === 4_000_000));
    state.release();
  });

  test('belongs to each of two programs of other names', async () => {
    const folder = join(root, 'two');
    const state = await take('two');
    const other = await takeRunFolder({ folder, name: 'ac' });
    assert.ok(other);
    assert.deepEqual(readdirSync(folder).length, 2);
    other.release();
    state.release();
  });
});

describe('what a killed program left running', () => {
  const idle = (...args: string[]): ChildProcess =>
    spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', '--', ...args], { stdio: 'ignore' });

  test('is ended, found by its command lines; a stranger is not', async (t) => {
    const folder = join(root, 'left');
    const [web, worker, stranger] = [idle(`web ${folder}`), idle(`worker ${folder}`), idle(`web ${folder}2`)];
    t.after(() => stranger.kill('SIGKILL'));
    const ended = await endLeftovers([
      { name: 'worker', isPart: (command) => command.endsWith(`worker ${folder}`), signal: 'SIGINT' },
      { name: 'web', isPart: (command) => command.endsWith(`web ${folder}`) },
    ]);
    assert.deepEqual(ended, [`worker (pid ${worker.pid})`, `web (pid ${web.pid})`]);
    const mark = markProcess(stranger.pid ?? 0) ?? assert.fail('the stranger is gone');
    assert.ok(Math.abs(startTime(mark).getTime() - Date.now()) < 60_000);
  });
});
