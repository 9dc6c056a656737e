/** `tempoclaw api` and `tempoclaw worker` are the processes of a deployment (IN-6), as the units in deploy/ start them. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { globSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { nextFreePort } from '@tempoclaw/dev-services/processes';
import { cleanEnvironment } from '#test/start/program.ts';
import { eventually } from '#test/support/processes.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

describe('IN-6 the processes of a deployment', { timeout: 300_000 }, () => {
  let folder: string;
  let database: TestDatabase;
  let url: string;
  const started: ChildProcess[] = [];
  let output = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'deployment-'));
    database = await createTestDatabase();
    const port = await nextFreePort(0);
    url = `http://127.0.0.1:${port}`;
    const env = cleanEnvironment({
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
      TEMPOCLAW_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      TEMPOCLAW_TASK_QUEUE: `deployment-${port}`,
      TEMPOCLAW_WORKSPACE_ROOT: join(folder, 'workspaces'),
      TEMPOCLAW_PORT: String(port),
    });
    const program = join(import.meta.dirname, '../../bin/tempoclaw.js');
    for (const name of ['api', 'worker']) {
      const own = { ...env, TEMPOCLAW_STATE_DIR: join(folder, name) };
      const child = spawn(process.execPath, [program, name], { cwd: folder, env: own });
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (data: Buffer) => {
          output += data.toString();
        });
      started.push(child);
    }
  });
  after(async () => {
    for (const child of started) child.kill('SIGKILL');
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  it('answer messages', async () => {
    const isReady = (): Promise<boolean> =>
      fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    assert.ok(await eventually(isReady, 120_000), output);
    const key = (await readFile(join(folder, 'api/api-key'), 'utf8')).trim();
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ text: 'hello' });
    const sent = await fetch(`${url}/v1/sessions/one/messages`, { method: 'POST', headers, body });
    assert.equal(sent.status, 202, await sent.clone().text());
    const { turn_id: turn } = (await sent.json()) as { readonly turn_id: string };
    const isDone = async (): Promise<boolean> => {
      const answer = await fetch(`${url}/v1/turns/${turn}`, { headers });
      return ((await answer.json()) as { readonly status: string }).status === 'completed';
    };
    assert.ok(await eventually(isDone, 120_000), output);
  });

  it('end in order with SIGTERM', async () => {
    const codes = started.map(async (child) => {
      child.kill('SIGTERM');
      return once(child, 'exit');
    });
    assert.deepEqual(await Promise.all(codes), [
      [0, null],
      [0, null],
    ]);
  });

  it('are those that the units and the chart start, at this version', () => {
    const root = join(import.meta.dirname, '../../deploy');
    const commands = globSync('systemd/*.service', { cwd: root }).map(
      (file) => /^ExecStart=\S+\/tempoclaw (.+)$/m.exec(readFileSync(join(root, file), 'utf8'))?.[1],
    );
    assert.deepEqual(commands.toSorted(), ['api', 'up --setup-only', 'worker']);
    const chart = parse(readFileSync(join(root, 'helm/tempoclaw/Chart.yaml'), 'utf8'));
    assert.equal(chart.appVersion, manifest.version);
  });
});
