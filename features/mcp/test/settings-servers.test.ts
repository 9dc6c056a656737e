/** MC-4: MCP servers of the settings file become rows, as the API's start makes them. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { syncSettingsServers } from '../routes/settings-servers.ts';
import { type Config, deploymentValues, loadConfig, preflight } from '#config';
import { startApi, type TestApi } from '#test/support/stack.ts';

describe('MC-4 mcp.servers of the settings', () => {
  let api: TestApi;
  let folder: string;
  before(async () => {
    api = await startApi();
    folder = await mkdtemp(join(tmpdir(), 'mcp-settings-'));
  });
  after(async () => {
    await api.stop();
    await rm(folder, { recursive: true });
  });

  async function settings(servers: string): Promise<Config> {
    await writeFile(join(folder, 'tempoclaw.yaml'), `mcp: { servers: { ${servers} } }`);
    return loadConfig({ cwd: folder, env: { TOKEN: 'canary-of-the-file' } });
  }

  async function start(servers: string): Promise<readonly string[]> {
    const problems: string[] = [];
    const config = await settings(servers);
    await syncSettingsServers(api.deps, config.mcp.servers, (problem) => problems.push(problem));
    return problems;
  }

  const show = async (name: string) => (await api.ask('GET', `/v1/mcp/servers/${name}`)).body;
  const names = async (): Promise<string[]> =>
    (await api.ask('GET', '/v1/mcp/servers')).body.data.map((one: { name: string }) => one.name);

  const REMOTE = 'remote: { type: http, url: "https://mcp.example.com/", headers: { X-Key: "${TOKEN}" } }';

  it('are there at the start, internal unless they say otherwise, in the shape of other programs', async () => {
    const program = 'memory: { command: npx, args: [-y, "@x/memory"], internal_only: false, disabled: true }';
    assert.deepEqual(await start(`${REMOTE}, ${program}`), []);
    const { transport, internal_only, origin, header_names } = await show('remote');
    assert.deepEqual(
      { transport, internal_only, origin, header_names },
      { transport: 'streamable-http', internal_only: true, origin: 'settings', header_names: ['X-Key'] },
    );
    const memory = await show('memory');
    assert.deepEqual(
      [memory.internal_only, memory.enabled, memory.args],
      [false, false, ['-y', '@x/memory']],
    );
    const rows = await api.pool.query(`select from mcp_servers s where s::text like '%canary%'`);
    assert.equal(rows.rowCount, 0);
    assert.deepEqual(deploymentValues(await settings(REMOTE)), ['canary-of-the-file']);
  });

  it('a start that changes nothing leaves connections and consent alone, one that does makes them anew', async () => {
    const revision = async (): Promise<number> =>
      (await api.pool.query(`select revision from mcp_servers where name = 'remote'`)).rows[0].revision;
    const first = await revision();
    await Promise.all([start(REMOTE), start(REMOTE)]);
    assert.equal(await revision(), first);
    await start(REMOTE.replace('${TOKEN}', 'another'));
    assert.equal(await revision(), first + 1);
  });

  it('are changed in the file alone', async () => {
    for (const [method, body] of [
      ['PATCH', { timeout_sec: 5 }],
      ['DELETE', undefined],
    ] as const) {
      const answer = await api.ask(method, '/v1/mcp/servers/remote', { body });
      assert.deepEqual([answer.status, answer.body.code], [409, 'Conflict']);
      assert.match(answer.body.detail, /settings file, under mcp\.servers/);
    }
    const grant = await api.ask('PUT', '/v1/mcp/servers/remote/grants/user/eve', { body: {} });
    assert.equal(grant.status, 200, 'who may use it is said over HTTP');
  });

  it('go when the file no longer has them, and those that were added over HTTP stay', async () => {
    const body = { name: 'own', url: 'https://own.example.com/', internal_only: true };
    assert.equal((await api.ask('POST', '/v1/mcp/servers', { body })).body.internal_only, true);
    const problems = await start('own: { url: "https://other.example.com/" }');
    assert.match(problems.join(), /mcp\.servers\.own: not added; another server has its name/);
    assert.deepEqual(await names(), ['own']);
    assert.deepEqual((await show('own')).url, 'https://own.example.com/');
  });

  it('what must not be started or asked is refused before anything starts', async () => {
    const problems = preflight(
      await settings('bad: { command: bash }, near: { url: "http://169.254.169.254/" }'),
    );
    assert.match(
      problems.join('\n'),
      /mcp\.servers\.bad\.command: must be one of node[^]*mcp\.servers\.near\.url/,
    );
    await assert.rejects(settings('typo: { comand: node }'), /mcp\.servers\.typo[^]*comand/);
  });
});
