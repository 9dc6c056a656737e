import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { Client, Connection } from '@temporalio/client';
import { childEnvironment, commandFolders, userCacheDir } from '#config';
import { SEARCH_ATTRIBUTES } from '#domain/search-attributes.ts';
import { OWN_TEMPORAL, refuseUi } from '../own-servers.ts';
import { nextFreePort } from '@tempoclaw/dev-services/processes';
import { obtainTemporalBinary, registerSearchAttributes, startTemporalServer } from '@tempoclaw/dev-services';
import { eventually } from '#test/support/processes.ts';
import { rawAsk } from '#test/support/raw-ask.ts';

const folder = mkdtempSync(join(tmpdir(), 'tempoclaw-temporal-'));
after(() => rmSync(folder, { recursive: true, force: true }));

describe('the Temporal dev server', { timeout: 180_000 }, () => {
  let binary = '';
  before(async () => {
    const env = childEnvironment({});
    binary = (await obtainTemporalBinary({ cacheDir: userCacheDir(), folders: commandFolders(), env })).path;
  });

  test('keeps its namespace over a stop, and has our search attributes', async () => {
    const port = await nextFreePort(0);
    const options = {
      ...OWN_TEMPORAL,
      binary,
      stateDir: folder,
      namespace: 'mine',
      port,
      uiPort: 0,
      env: childEnvironment({}),
    };
    for (const _start of ['first', 'second']) {
      const server = await startTemporalServer(options);
      const connection = await Connection.connect({ address: server.address });
      assert.deepEqual(await registerSearchAttributes(connection, 'mine', SEARCH_ATTRIBUTES), []);
      const { customAttributes } = await connection.operatorService.listSearchAttributes({
        namespace: 'mine',
      });
      for (const name of Object.keys(SEARCH_ATTRIBUTES))
        assert.ok(customAttributes?.[name] !== undefined, name);
      await connection.close();
      const ui = await fetch(server.uiUrl ?? assert.fail('no UI'));
      assert.equal(ui.status, 200);
      await server.stop();
    }
  });

  test('R3 no page of another site reads or ends workflows through its web UI, nor round it', async () => {
    const refuse = refuseUi(new Set(['temporal.internal']));
    const env = childEnvironment({});
    const [port, uiPort] = [await nextFreePort(0), await nextFreePort(0)];
    const server = await startTemporalServer({
      binary,
      stateDir: folder,
      namespace: 'mine',
      env,
      inMemory: true,
      port,
      uiPort,
      refuseUi: refuse,
    });
    try {
      const url = server.uiUrl ?? assert.fail('no UI');
      assert.equal(new URL(url).port, String(uiPort));
      const list = '/api/v1/namespaces/mine/workflows';
      // It needs a moment to reach its server.
      await eventually(async () => (await rawAsk(url + list, 'GET', {})).status === 200, 30_000);
      for (const host of [new URL(url).host, `localhost:${uiPort}`, 'temporal.internal'])
        assert.equal((await rawAsk(url + list, 'GET', { host })).status, 200, host);
      assert.equal((await rawAsk(url + list, 'GET', { host: `evil.example:${uiPort}` })).status, 421);

      assert.equal(await statusOfLines(url, ['Host: localhost', 'Host: evil.example']), 400);

      // The cookie that its writes require is for everybody who may read a page of it.
      const [cookie = ''] = (await rawAsk(url, 'GET', {})).cookies;
      const csrf = /^_csrf=(\w+)/.exec(cookie)?.[1] ?? assert.fail('no cookie');
      const connection = await Connection.connect({ address: server.address });
      const { workflow } = new Client({ connection, namespace: 'mine' });
      const handle = await workflow.start('x', { workflowId: 'victim', taskQueue: 'nobody' });
      const end = (base: string, more: Record<string, string>) =>
        rawAsk(
          `${base}${list}/victim/terminate`,
          'POST',
          { cookie: `_csrf=${csrf}`, 'x-csrf-token': csrf, 'content-type': 'application/json', ...more },
          '{"reason":"by a page"}',
        );
      const evil = `http://evil.example:${uiPort}`;
      assert.equal((await end(url, { host: `evil.example:${uiPort}`, origin: evil })).status, 421);
      assert.equal((await end(url, { origin: evil })).status, 403);
      // For the server's other ports, browsers refuse the port, or the server refuses the name.
      const ports = listening(server.pid).filter((one) => one !== port);
      assert.ok(ports.length > 1);
      for (const one of ports) {
        const base = `http://127.0.0.1:${one}`;
        const asPage = await fetch(base).then(
          () => 'asked',
          ({ cause }: Error) => String((cause as Error | undefined)?.message),
        );
        if (asPage === 'bad port') continue;
        const answer = await end(base, { host: `evil.example:${one}` }).catch(() => ({ status: 0 }));
        assert.ok(answer.status === 0 || answer.status >= 400, `port ${one}: ${answer.status}`);
        const read = await rawAsk(base + list, 'GET', { host: `evil.example:${one}` }).catch(() => null);
        assert.ok(read === null || read.status >= 400, `port ${one} is read: ${read?.text.slice(0, 80)}`);
      }
      assert.equal((await handle.describe()).status.name, 'RUNNING');
      assert.equal((await end(url, { origin: url })).status, 200);
      assert.equal((await handle.describe()).status.name, 'TERMINATED');
      await connection.close();
    } finally {
      await server.stop();
    }
    await assert.rejects(fetch(server.uiUrl ?? ''), 'the UI ends with its server');
  });

  test('search attributes that another server lacks are added once', async () => {
    const connection = await Connection.connect({ address: process.env['TEST_TEMPORAL_ADDRESS'] ?? '' });
    const namespace = `bare-${process.pid}`;
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
    });
    let added: readonly string[] | undefined;
    // A new namespace takes a moment to reach the server's cache.
    while (added === undefined)
      added = await registerSearchAttributes(connection, namespace, SEARCH_ATTRIBUTES).catch(retryNotFound);
    assert.deepEqual([...added].toSorted(), Object.keys(SEARCH_ATTRIBUTES).toSorted());
    assert.deepEqual(await registerSearchAttributes(connection, namespace, SEARCH_ATTRIBUTES), []);
    await connection.close();
  });
});

function retryNotFound(error: unknown): undefined {
  if (!/not found/i.test(error instanceof Error ? error.message : '')) throw error;
}

/** Ports that the process listens to. */
function listening(pid: number): number[] {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        // It was closed in the meantime.
        return [];
      }
    }),
  );
  const rows = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').trim().split('\n').slice(1);
  return rows.flatMap((row) => {
    const [, local = '', , state, , , , , , inode = ''] = row.trim().split(/\s+/);
    return state === '0A' && inodes.has(inode) ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : [];
  });
}

/** The status of a request whose header lines are written unchanged. */
async function statusOfLines(url: string, lines: readonly string[]): Promise<number> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.end(['GET / HTTP/1.1', ...lines, 'Connection: close', '', ''].join('\r\n'));
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(await text(socket))?.[1]);
}
