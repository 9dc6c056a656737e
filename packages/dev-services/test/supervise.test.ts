import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { enableCompileCache, getCompileCacheDir } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { type Child, startChild, waitUntil } from '../src/child.ts';
import { startNodeProgram } from '../src/node-program.ts';
import { isSameProcess } from '../src/process-identity.ts';
import { supervise } from '../src/supervise.ts';
import { ENVIRONMENT, eventually } from './support/environment.ts';

const folder = mkdtempSync(join(tmpdir(), 'dev-services-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function start(script: string, name = 'part'): Promise<Child> {
  return startChild({
    name,
    command: process.execPath,
    args: ['-e', script],
    env: ENVIRONMENT,
    logFile: join(folder, `${name}.log`),
    stopGraceMs: 300,
  });
}

const FOREVER = 'setInterval(() => {}, 1000)';

describe('a child process', () => {
  test('that ignores SIGTERM is ended all the same', async () => {
    const child = await start(`process.on('SIGTERM', () => {}); console.log('up'); ${FOREVER}`, 'stubborn');
    await waitUntil(child, () => child.output().includes('up') || undefined, 10_000);
    await child.stop();
    assert.equal((await child.exited).signal, 'SIGKILL');
    assert.equal(isSameProcess(child.mark), false);
  });

  test('that ends before it is ready is reported with its last words', async () => {
    const child = await start("console.error('no disk left'); process.exit(3)", 'failing');
    await assert.rejects(
      waitUntil(child, () => undefined, 10_000),
      /failing ended at once \(code 3\)[\s\S]*no disk left/,
    );
  });

  test('that cannot be started is reported with its command', async () => {
    const options = {
      name: 'ghost',
      command: join(folder, 'nothing'),
      args: [],
      env: {},
      logFile: join(folder, 'g.log'),
    };
    await assert.rejects(startChild(options), /ghost cannot be started .*nothing/);
  });

  test('is told from another one that got its pid later', async () => {
    const child = await start(FOREVER);
    assert.equal(isSameProcess(child.mark), true);
    assert.equal(isSameProcess({ pid: child.pid, started: 'another start' }), false);
    await child.stop();
  });
});

describe('supervision', () => {
  test('starts a killed part again, says so, and stops for good when asked', async () => {
    const events: string[] = [];
    const children: Child[] = [];
    const again = Promise.withResolvers<void>();
    const supervised = await supervise({
      name: 'The part',
      firstPauseMs: 10,
      onEvent: (text) => events.push(text),
      start: async () => {
        const child = await start(FOREVER);
        if (children.push(child) === 2) again.resolve();
        return child;
      },
    });
    process.kill(children[0]?.pid ?? assert.fail(), 'SIGKILL');
    await again.promise;
    await supervised.stop();
    assert.equal(children.length, 2);
    for (const child of children) assert.equal(isSameProcess(child.mark), false);
    assert.match(events[0] ?? '', /The part ended \(signal SIGKILL\); starting it again/);
  });

  test('tries again when a restart fails', async () => {
    const events: string[] = [];
    const third = Promise.withResolvers<void>();
    let starts = 0;
    const supervised = await supervise({
      name: 'The part',
      firstPauseMs: 10,
      onEvent: (text) => events.push(text),
      start: async () => {
        starts += 1;
        if (starts === 2) throw new Error('port taken');
        if (starts === 3) third.resolve();
        return start(starts === 1 ? '' : FOREVER);
      },
    });
    await third.promise;
    await supervised.stop();
    assert.ok(
      events.some((text) => text.includes('did not start: port taken')),
      events.join('\n'),
    );
  });

  test('starts a part again at once that ran well, and with growing pauses one that did not', async () => {
    const events: string[] = [];
    let starts = 0;
    const supervised = await supervise({
      name: 'The part',
      firstPauseMs: 20,
      steadyMs: 1_500,
      onEvent: (text) => events.push(text),
      start: async () => {
        starts += 1;
        return start(starts === 3 ? 'setTimeout(() => {}, 2000)' : starts < 5 ? '' : FOREVER);
      },
    });
    assert.ok(await eventually(() => starts === 5));
    await supervised.stop();
    const pauses = events.flatMap((text) => /starting it again (.*)$/.exec(text)?.[1] ?? []);
    assert.deepEqual(pauses, ['in 0.02 s', 'in 0.04 s', 'at once', 'in 0.02 s']);
  });
});

describe('a program of ours', () => {
  test('uses the compile cache of the process that starts it', async () => {
    enableCompileCache(join(folder, 'compiled'));
    const main = join(folder, 'cached.mjs');
    writeFileSync(
      main,
      `import { getCompileCacheDir } from 'node:module'; process.send({ type: 'ready', folder: getCompileCacheDir() }); ${FOREVER}`,
    );
    const { child, ready } = await startNodeProgram<{ folder: string }>({
      name: 'The program',
      main,
      env: ENVIRONMENT,
      logFile: join(folder, 'cached.log'),
      stopGraceMs: 1_000,
    });
    await child.stop();
    assert.equal(ready.folder, getCompileCacheDir() ?? assert.fail());
  });
});

describe('a program of ours that hangs', () => {
  /** Sends beats as long as it runs. */
  const BEATING = `
    process.send({ type: 'ready' });
    setInterval(() => process.send({ type: 'beat' }), 200);`;

  function startBeating(onHung: () => void): ReturnType<typeof startNodeProgram<object>> {
    const main = join(folder, 'beating.mjs');
    writeFileSync(main, BEATING);
    return startNodeProgram({
      name: 'The program',
      main,
      env: ENVIRONMENT,
      logFile: join(folder, 'beating.log'),
      stopGraceMs: 1_000,
      silentMs: 3_000,
      onHung,
    });
  }

  test('is killed, and one that beats is not', async () => {
    const hung: string[] = [];
    const [stopped, well] = await Promise.all([
      startBeating(() => hung.push('stopped')),
      startBeating(() => hung.push('well')),
    ]);
    process.kill(stopped.child.pid, 'SIGSTOP');
    assert.equal((await stopped.child.exited).signal, 'SIGKILL');
    assert.deepEqual(hung, ['stopped']);
    assert.equal(isSameProcess(well.child.mark), true);
    await well.child.stop();
  });

  test('is not taken for one when the supervisor itself stood still for longer', async () => {
    const hung: string[] = [];
    const { child } = await startBeating(() => hung.push('beating'));
    // Nothing of this process runs in the meantime, as when a laptop sleeps.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4_000);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    assert.deepEqual(hung, []);
    await child.stop();
  });
});
