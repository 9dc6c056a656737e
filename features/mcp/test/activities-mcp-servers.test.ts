/**
 * MC-1, F15: a worker's connections to MCP servers are shared, reopened when lost, limited, and closed with the worker.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createEgress } from '#activities/egress/create-egress.ts';
import { TIMING, type Timing } from '../activities/backoff.ts';
import { createMcpServers, type McpServers } from '../activities/mcp-servers.ts';
import { isAlive, processRow, withoutWall, createBubblewrap } from '@tempoclaw/sandbox';
import { type ChangeFeed, createChangeFeed } from '#store/postgres/change-feed.ts';
import { insertEgressRow, listEgressRows } from '#store/egress-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findMcpServer, type McpServerToUse } from '../store/mcp-server-store.ts';
import { boxesAt } from '#test/support/container-engine.ts';
import { freePort } from '#test/support/free-port.ts';
import type { Peer } from '#test/support/mcp-peer.ts';
import { startApi, type TestApi } from '#test/support/stack.ts';

const EVERYTHING = fileURLToPath(
  import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'),
);
const PEER = fileURLToPath(new URL('../../../test/support/mcp-peer.ts', import.meta.url));
const CASES = fileURLToPath(new URL('../../../test/support/mcp-case-peer.ts', import.meta.url));
const QUICK: Timing = { ...TIMING, firstWaitMs: 10, maxWaitMs: 40, attempts: 4, pauseMs: 60_000 };
const poke = { name: 'poke', description: 'Pokes', inputSchema: { type: 'object' } };

describe('MC-1 connections to MCP servers', () => {
  let api: TestApi;
  let folder: string;
  let port: number;
  let changes: ChangeFeed;
  const opened: McpServers[] = [];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mcp-test-'));
    port = await freePort();
    api = await startApi({ egress: { allowPrivate: [`127.0.0.1:${port}`] } });
    const databaseUrl = String(api.pool.options.connectionString);
    changes = createChangeFeed({ databaseUrl, pool: api.pool, onError: () => undefined });
  });
  // One worker does a check, whichever comes first.
  afterEach(() => Promise.all(opened.map((servers) => servers.close())));
  after(async () => {
    await changes.close();
    await api.stop();
    await rm(folder, { recursive: true });
  });

  function open(timing: Timing): McpServers {
    const { secrets, pool } = api.deps;
    const servers = createMcpServers({
      pool,
      changes,
      onError: (error) => assert.fail(String(error)),
      egress: createEgress({ resolve: async () => [], record: (row) => insertEgressRow(pool, row) }),
      rulesOf: async () => ({ internalHosts: [`127.0.0.1:${port}`] }),
      sealer: secrets.sealer,
      resolve: secrets.vault.resolve,
      wall: withoutWall(),
      folders: join(tmpdir(), 'tempoclaw-test-mcp-servers'),
      boxing: { boxes: boxesAt('unix:///nonesuch'), bubblewrap: createBubblewrap([]), sandbox: {} },
      environment: { PATH: process.env['PATH'] ?? '' },
      worker: 'of nobody',
      timing,
    });
    opened.push(servers);
    return servers;
  }

  async function add(name: string, body: object): Promise<McpServerToUse> {
    const answer = await api.ask('POST', '/v1/mcp/servers', { body: { name, ...body } });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return serverOf(name);
  }

  async function serverOf(name: string): Promise<McpServerToUse> {
    const row = await findMcpServer(forTenant(api.pool, api.tenant), name);
    assert.ok(row);
    return { ...row, tenant: api.tenant };
  }

  async function addPeer(name: string, peer: Peer) {
    const [file, record] = [join(folder, `${name}.json`), join(folder, `${name}.log`)];
    const set = (now: Peer): Promise<void> => writeFile(file, JSON.stringify(now));
    await set(peer);
    const args = ['--disable-warning=ExperimentalWarning', PEER, file, record];
    const server = await add(name, { command: process.execPath, args });
    const pids = async (): Promise<number[]> =>
      (await readFile(record, 'utf8').catch(() => ''))
        .split('\n')
        .filter(Boolean)
        .flatMap((line) => (JSON.parse(line) as { start?: number }).start ?? []);
    return { server, set, pids };
  }

  async function until<T>(probe: () => Promise<T | undefined>): Promise<T> {
    for (const deadline = Date.now() + 60_000; ; ) {
      const found = await probe();
      if (found !== undefined) return found;
      if (Date.now() > deadline) throw new Error('it did not come about');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  const statusIs = (name: string, status: string) =>
    until(async () => {
      const server = await serverOf(name);
      return server.status === status ? server : undefined;
    });

  const pokeIt = (servers: McpServers, server: McpServerToUse): Promise<unknown> =>
    servers.use(server, null, ({ client }) => client.callTool({ name: 'poke', arguments: {} }));

  it('a server that is added is looked at unasked; all who use it share one process, which ends with the worker', async () => {
    const servers = open(TIMING);
    const { pids } = await addPeer('shared', { tools: [poke] });
    const server = await statusIs('shared', 'ready');
    await Promise.all(Array.from({ length: 20 }, () => pokeIt(servers, server)));
    const [pid = 0, ...more] = await pids();
    assert.deepEqual(more, []);
    await servers.close();
    assert.equal(
      isAlive(processRow(pid) ?? { pid, parent: 0, group: 0, session: 0, state: 'X', started: '' }),
      false,
    );
    await assert.rejects(pokeIt(servers, server), /the worker is ending/);
  });

  it('one that is lost is connected to again by itself', async () => {
    const servers = open(QUICK);
    const { server, set, pids } = await addPeer('lost', { tools: [poke], call: 'exit' });
    await statusIs('lost', 'ready');
    await assert.rejects(pokeIt(servers, server), /Connection closed/);
    await set({ tools: [poke] });
    await until(async () => ((await pids()).length > 1 ? true : undefined));
    await statusIs('lost', 'ready');
    await pokeIt(servers, server);
  });

  for (const revision of ['2026-07-28', '2025-11-25'] as const)
    it(`MC-1 a server of ${revision} that is looked at again and again keeps its connection`, async () => {
      open({ ...QUICK, healthMs: 50 });
      const name = `looked-${revision.slice(0, 4)}`;
      const log = join(folder, `${name}.log`);
      const args = ['--disable-warning=ExperimentalWarning', CASES, JSON.stringify({ revision }), log];
      await add(name, { command: process.execPath, args });
      const looks = revision === '2026-07-28' ? 'server/discover' : 'ping';
      const seen = async (word: string): Promise<number> =>
        (await readFile(log, 'utf8').catch(() => '')).split(`"${word}"`).length - 1;
      await until(async () => ((await seen(looks)) > 8 ? true : undefined));
      assert.equal(await seen('start'), 1);
      assert.equal((await serverOf(name)).status, 'ready');
    });

  it('R9 a change that a server does not tell of is found at the next look', async () => {
    open({ ...QUICK, healthMs: 50 });
    const behaviour = JSON.stringify({ revision: '2026-07-28', changes: 'untold' });
    const servers = open({ ...QUICK, healthMs: 50 });
    const args = ['--disable-warning=ExperimentalWarning', CASES, behaviour];
    await add('untold', { command: process.execPath, args });
    const server = await statusIs('untold', 'ready');
    await servers.use(server, null, ({ client }) => client.callTool({ name: 'changes', arguments: {} }));
    await until(async () => {
      const { tools } = (await api.ask('GET', '/v1/mcp/servers/untold')).body;
      return tools.some(
        (tool: { name: string; enabled: boolean }) => tool.name === 'changes' && !tool.enabled,
      )
        ? true
        : undefined;
    });
  });

  it('F15 one that does not come up is given up after some attempts, and says so without being started again', async () => {
    const servers = open(QUICK);
    const { pids } = await addPeer('never', { tools: [], start: 'exit' });
    const { error } = await statusIs('never', 'failed');
    assert.match(error ?? '', /no licence found/);
    const starts = (await pids()).length;
    assert.equal(starts, QUICK.attempts);
    await assert.rejects(
      pokeIt(servers, await serverOf('never')),
      /disconnected; it is tried again in \d+ s/,
    );
    assert.equal((await pids()).length, starts);
  });

  it('F15 whatever asks for it, a program is started ten times a minute at most', async () => {
    open({ ...QUICK, attempts: 30 });
    const { pids } = await addPeer('loops', { tools: [], start: 'exit' });
    const { error } = await statusIs('loops', 'failed');
    assert.match(error ?? '', /started 10 times within a minute/);
    assert.equal((await pids()).length, 10);
  });

  it('MC-1 SSE: asked through the door, with a row of each exchange', async () => {
    const child = spawn(process.execPath, [EVERYTHING, 'sse'], {
      env: { PATH: process.env['PATH'], PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    try {
      await until(async () =>
        fetch(`http://127.0.0.1:${port}/nothing`).then(
          () => true,
          () => undefined,
        ),
      );
      const servers = open(QUICK);
      const unset = { transport: 'sse', url: `http://127.0.0.1:${port}/sse?key=secret://UNSET` };
      await api.ask('PUT', '/v1/secrets/UNSET', { body: { value: 'gone before it is used' } });
      await add('unset', { ...unset, enabled: false });
      await api.ask('DELETE', '/v1/secrets/UNSET');
      await api.ask('PATCH', '/v1/mcp/servers/unset', { body: { enabled: true } });
      assert.match((await statusIs('unset', 'failed')).error ?? '', /secret "UNSET"/);
      await api.ask('PUT', '/v1/secrets/ROOM', { body: { value: 'a room & more' } });
      await add('events', { transport: 'sse', url: `http://127.0.0.1:${port}/sse?key=secret://ROOM` });
      const server = await statusIs('events', 'ready');
      const result = await servers.use(server, null, ({ client }) =>
        client.callTool({ name: 'echo', arguments: { message: 'by SSE' } }),
      );
      assert.match(JSON.stringify(result), /Echo: by SSE/);
      const rows = await listEgressRows(forTenant(api.pool, api.tenant), { purpose: 'mcp' }, 50, undefined);
      assert.ok(rows.some(({ host, method }) => host === `127.0.0.1:${port}` && method === 'POST'));
    } finally {
      child.kill('SIGKILL');
    }
  });
});
