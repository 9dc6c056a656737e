import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test, type TestContext } from 'node:test';
import { Client } from 'pg';
import { type RunningPostgres, startPostgres } from '../../src/postgres/postgres.ts';
import { findPostgresBinaries } from '../../src/postgres/postgres-binaries.ts';
import { isSameProcess } from '../../src/process-identity.ts';
import { CACHE, ENVIRONMENT, eventually, ROOT_FOLDER } from '../support/environment.ts';

const stateDir = mkdtempSync(join(tmpdir(), 'dev-services-'));
const folders = [stateDir];
// As root, Postgres runs as another user and must be able to pass through.
chmodSync(stateDir, 0o711);
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function start(folder = stateDir, port = 0): Promise<RunningPostgres> {
  return startPostgres({
    stateDir: folder,
    name: 'acme',
    cacheDir: CACHE,
    rootDir: ROOT_FOLDER,
    env: ENVIRONMENT,
    port,
    durable: false,
  });
}

async function query<Row extends object>(url: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** A process that has ended, and whose parent does not reap it. Postgres only checks those of its own user. */
async function makeZombie(t: TestContext, uid: number | undefined): Promise<number> {
  const script = `import subprocess, time; child = subprocess.Popen(["true"]${uid === undefined ? '' : `, user=${uid}`}); print(child.pid, flush=True); time.sleep(600)`;
  const parent = spawn('python3', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => parent.kill('SIGKILL'));
  const [message] = await once(parent.stdout, 'data');
  const pid = Number(String(message));
  assert.ok(await eventually(() => / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))));
  return pid;
}

describe('the embedded Postgres', { timeout: 120_000 }, () => {
  test('keeps its data over a stop, refuses another password, and moves from a port in use', async () => {
    const first = await start();
    await query(first.url, "CREATE TABLE kept (word text); INSERT INTO kept VALUES ('here')");
    await assert.rejects(query(first.url.replace(/:[0-9a-f]+@/, ':wrong@'), 'SELECT 1'), /password/);
    await first.stop();
    const second = await start();
    assert.deepEqual(await query(second.url, 'SELECT word FROM kept'), [{ word: 'here' }]);
    await second.stop();
  });

  test('comes back when the server of a killed run still runs', async () => {
    const orphan = await start();
    const next = await start();
    assert.equal(isSameProcess(orphan.child.mark), false);
    assert.deepEqual(await query(next.url, 'SELECT 1 AS one'), [{ one: 1 }]);
    await next.stop();
  });

  test('comes back after kill -9, and when its old pid belongs to somebody else by then', async () => {
    const killed = await start();
    process.kill(killed.pid, 'SIGKILL');
    await killed.exited;
    const pidFile = join(killed.dataDir, 'postmaster.pid');
    const lines = readFileSync(pidFile, 'utf8').split('\n');
    // This is the pid of the test: it is alive, and no Postgres.
    writeFileSync(pidFile, [String(process.pid), ...lines.slice(1)].join('\n'));
    const next = await start();
    assert.deepEqual(await query(next.url, 'SELECT word FROM kept'), [{ word: 'here' }]);
    await next.stop();
  });

  test('comes back when its old pid is a dead process that nobody waited for, and when a full disk emptied the pid file', async (t) => {
    const killed = await start();
    process.kill(killed.pid, 'SIGKILL');
    await killed.exited;
    const pidFile = join(killed.dataDir, 'postmaster.pid');
    const lines = readFileSync(pidFile, 'utf8').split('\n');
    const { user } = findPostgresBinaries({ cacheDir: CACHE, rootDir: ROOT_FOLDER });
    const zombie = await makeZombie(t, user?.uid);
    writeFileSync(pidFile, [String(zombie), ...lines.slice(1)].join('\n'));
    const next = await start();
    assert.deepEqual(await query(next.url, 'SELECT 1 AS one'), [{ one: 1 }]);
    await next.stop();
    writeFileSync(pidFile, '');
    await (await start()).stop();
  });

  test('runs as root in a folder that only root may enter', { skip: process.getuid?.() !== 0 }, async () => {
    const closed = mkdtempSync(join(tmpdir(), 'dev-services-closed-'));
    folders.push(closed);
    const running = await start(closed);
    folders.push(dirname(running.dataDir));
    assert.ok(!running.dataDir.startsWith(closed));
    await running.stop();
    const again = await start(closed);
    assert.equal(again.dataDir, running.dataDir);
    await again.stop();
  });

  test('whose first start was killed in the middle is made anew', async () => {
    const half = mkdtempSync(join(tmpdir(), 'dev-services-half-'));
    folders.push(half);
    chmodSync(half, 0o711);
    mkdirSync(join(half, 'postgres.new'));
    writeFileSync(join(half, 'postgres.new', 'PG_VERSION'), '18');
    writeFileSync(join(half, 'postgres-password'), '');
    const running = await start(half);
    assert.deepEqual(await query(running.url, 'SELECT 1 AS one'), [{ one: 1 }]);
    await running.stop();
    rmSync(join(half, 'postgres-password'));
    await assert.rejects(start(half), /postgres-password is gone.*start afresh/);
  });
});
