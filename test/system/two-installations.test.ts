/** Two databases and one Temporal: a namespace belongs to one installation, and no other takes its turns. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { childEnvironment, commandFolders, userCacheDir } from '#config';
import type { Ready } from '#config/supervisor.ts';
import { nextFreePort, startNodeProgram } from '@tempoclaw/dev-services/processes';
import { OWN_TEMPORAL } from '#features/local/own-servers.ts';
import { obtainTemporalBinary, startTemporalServer } from '@tempoclaw/dev-services';
import { INSTALLATION } from '#domain/installation.ts';
import { AGENT_TURN } from '#domain/turn/turn.ts';
import { readInstallation } from '#store/installation-store.ts';
import { claimNamespace } from '#temporal/installation.ts';
import { eventually } from '#test/support/processes.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

const TURNS = 20;
const namespace = 'default';

describe('two installations that come to one Temporal', { timeout: 300_000 }, () => {
  let folder: string;
  let port: number;
  let temporal: Awaited<ReturnType<typeof startTemporalServer>>;
  let connection: Connection;
  let ours: TestDatabase;
  let others: TestDatabase;
  let address: string | undefined;
  const running: { stop(): Promise<void> }[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tempoclaw-two-'));
    [ours, others] = [await createTestDatabase(), await createTestDatabase()];
    await others.pool.query('update installation set id = gen_random_uuid()');
    port = await nextFreePort(0);
    await serve();
  });
  after(async () => {
    for (const one of running) await one.stop();
    await connection?.close();
    await temporal?.stop();
    await ours?.drop();
    await others?.drop();
    await rm(folder, { recursive: true, force: true });
  });

  /** A new server at the port, without data. */
  async function serve(): Promise<void> {
    const env = childEnvironment({});
    const { path: binary } = await obtainTemporalBinary({
      cacheDir: userCacheDir(),
      env,
      folders: commandFolders(),
    });
    temporal = await startTemporalServer({
      ...OWN_TEMPORAL,
      binary,
      stateDir: folder,
      env,
      namespace,
      ports: { port },
      port,
      uiPort: 0,
      ui: false,
      inMemory: true,
    });
    connection = await Connection.connect({ address: temporal.address });
  }

  async function start(main: string, { url }: TestDatabase) {
    const { child, ready } = await startNodeProgram<Ready>({
      name: main,
      main: fileURLToPath(new URL(`../../${main}`, import.meta.url)),
      env: childEnvironment({
        TEMPOCLAW_STATE_DIR: folder,
        TEMPOCLAW_SANDBOX: 'off',
        TEMPOCLAW_PORT: '0',
        TEMPORAL_ADDRESS: temporal.address,
        TEMPORAL_NAMESPACE: namespace,
        DATABASE_URL: url,
      }),
      logFile: join(folder, `${main.replace('/', '-')}.log`),
      stopGraceMs: 15_000,
    });
    running.push(child);
    return { child, address: ready.address };
  }

  it('the first takes the namespace, however many try at once', async () => {
    const place = { service: connection.workflowService, namespace };
    const [mine, theirs] = [await readInstallation(ours.pool), await readInstallation(others.pool)];
    const tries = await Promise.allSettled(Array.from({ length: TURNS }, () => claimNamespace(place, mine)));
    assert.deepEqual(
      tries.filter(({ status }) => status === 'rejected'),
      [],
    );
    await assert.rejects(
      claimNamespace(place, theirs),
      /belongs to another installation .*TEMPORAL_NAMESPACE/,
    );
  });

  for (const main of ['api/main.ts', 'workers/main.ts'])
    it(`${main} refuses the other's namespace, and says what to do`, async () => {
      await assert.rejects(start(main, others), /belongs to another installation[^]*DATABASE_URL/);
    });

  it("a server of the other's at the address: requests are refused, the worker ends, and none of its turns is taken", async () => {
    ({ address } = await start('api/main.ts', ours));
    const worker = await start('workers/main.ts', ours);
    await connection.close();
    await temporal.stop();
    await serve();
    const place = { service: connection.workflowService, namespace };
    await claimNamespace(place, await readInstallation(others.pool));
    const client = new Client({ connection, namespace });
    const handles = await Promise.all(
      Array.from({ length: TURNS }, (_, n) =>
        client.workflow.start(AGENT_TURN.type, {
          taskQueue: 'tempoclaw',
          workflowId: `session/default/s${n}`,
          args: [{ tenant: 'default', session_key: `s${n}` }],
        }),
      ),
    );
    await worker.child.exited;
    assert.match(worker.child.output(), /ForeignNamespace: The Temporal namespace default/);
    for (const handle of handles) {
      const { events } = await handle.fetchHistory();
      const taken = (events ?? []).filter(
        (event) =>
          event.activityTaskCompletedEventAttributes ??
          event.activityTaskFailedEventAttributes ??
          event.markerRecordedEventAttributes,
      );
      assert.deepEqual(taken, [], handle.workflowId);
      assert.equal((await handle.describe()).status.name, 'RUNNING');
    }
    const ready = await fetch(`${address}/readyz`);
    assert.equal(ready.status, 503);
    assert.match(await ready.text(), /belongs to another installation/);
  });

  it('once the run that names the other is ended, the namespace is free, and the next start takes it', async () => {
    await new Client({ connection, namespace }).workflow.getHandle(INSTALLATION.workflowId).terminate();
    const again = await start('api/main.ts', ours);
    const isReady = async () => (await fetch(`${address}/readyz`)).status === 200;
    assert.equal((await fetch(`${again.address}/readyz`)).status, 200);
    assert.ok(await eventually(isReady, 60_000), 'the one that was refused goes on');
  });
});
