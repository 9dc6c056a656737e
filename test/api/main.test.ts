import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type ApiProcess, startApiProcess } from '#test/support/api-process.ts';
import { growingWait } from '#test/support/processes.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

describe('IN-1 the API’s process', () => {
  let database: TestDatabase;
  let folder: string;
  const running = new Set<ApiProcess>();
  before(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'tempoclaw-api-'));
  });
  after(async () => {
    for (const { child } of running) child.kill('SIGKILL');
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  async function start(stateDir: string, port = 0): Promise<ApiProcess> {
    const api = await startApiProcess({ databaseUrl: database.url, stateDir, cwd: folder, port });
    running.add(api);
    return api;
  }

  it('makes tenant, agent and one admin key, whose file only its owner reads; later starts keep it', async () => {
    const state = join(folder, 'a');
    const [one, two] = await Promise.all([start(state), start(state)]);
    const key = (await readFile(join(state, 'api-key'), 'utf8')).trim();
    assert.equal((await stat(join(state, 'api-key'))).mode & 0o777, 0o600);
    const { rows } = await database.pool.query("select scopes from api_keys where tenant_id = 'default'");
    assert.deepEqual(rows, [{ scopes: ['admin'] }]);
    const response = await fetch(`${two.address}/v1/agents/main`, {
      headers: { authorization: `Bearer ${key}` },
    });
    assert.equal(response.status, 200);
    assert.deepEqual(await Promise.all([one.end(), two.end()]), [0, 0]);
    const later = await start(state);
    assert.equal((await readFile(join(state, 'api-key'), 'utf8')).trim(), key);
    assert.equal(await later.end(), 0);
  });

  it('SIGHUP has it read its settings again, and every other process with it', async () => {
    const state = join(folder, 'a');
    const settings = join(folder, 'tempoclaw.yaml');
    const [one, two] = await Promise.all([start(state), start(state)]);
    const authorization = `Bearer ${(await readFile(join(state, 'api-key'), 'utf8')).trim()}`;
    const isIn = async ({ address }: ApiProcess, name: string): Promise<void> => {
      const wait = growingWait();
      for (const deadline = Date.now() + 60_000; Date.now() < deadline; ) {
        const answer = await fetch(`${address}/v1/gateway/config?path=tools`, { headers: { authorization } });
        if (JSON.stringify(await answer.json()).includes(name)) return;
        await wait();
      }
      assert.fail(`${name} was not applied at ${address}`);
    };
    await writeFile(settings, 'tools: { deny: [exec] }');
    one.child.kill('SIGHUP');
    await Promise.all([isIn(one, 'exec'), isIn(two, 'exec')]);
    await writeFile(settings, 'tools: { deny: 5 }');
    two.child.kill('SIGHUP');
    await writeFile(settings, 'tools: { deny: [browser] }');
    two.child.kill('SIGHUP');
    await Promise.all([isIn(one, 'browser'), isIn(two, 'browser')]);
    await rm(settings);
    assert.deepEqual(await Promise.all([one.end(), two.end()]), [0, 0]);
  });

  it('ends when its port is taken, since clients look for it there', async (t) => {
    const blocker = createServer().listen(0, '127.0.0.1');
    t.after(() => blocker.close());
    await once(blocker, 'listening');
    const address = blocker.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    await assert.rejects(start(join(folder, 'a'), port), /ended with 1/);
  });

  it('takes up a key file that a crash left without its row, and refuses a file that holds something else', async () => {
    const state = join(folder, 'a');
    const key = (await readFile(join(state, 'api-key'), 'utf8')).trim();
    await database.pool.query('delete from api_keys');
    const api = await start(state);
    const response = await fetch(`${api.address}/v1/agents`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(response.status, 200);
    await api.end();
    await database.pool.query('delete from api_keys');
    await writeFile(join(state, 'api-key'), 'something else');
    await chmod(join(state, 'api-key'), 0o600);
    await assert.rejects(start(state), /ended with 1/);
  });
});
