/** MC-1, R9: MCP servers as a resource: what is refused, and what is shown to nobody. It needs no workers. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { mcpServersSettingsSchema } from '../schema/mcp-server.ts';
import { startApi, type TestApi } from '#test/support/stack.ts';

describe('/v1/mcp/servers', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  const post = (body: object) => api.ask('POST', '/v1/mcp/servers', { body });

  it('a server is added, shown without its values, changed in part, and removed', async () => {
    const made = await post({
      name: 'github',
      url: 'https://mcp.example.com/',
      headers: { Authorization: 'Bearer canary-of-a-header' },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    assert.equal(made.headers.get('location'), '/v1/mcp/servers/github');
    const { transport, status, header_names, timeout_sec, internal_only, trust_hints } = made.body;
    assert.deepEqual(
      { transport, status, header_names, timeout_sec, internal_only, trust_hints },
      {
        transport: 'streamable-http',
        status: 'connecting',
        header_names: ['Authorization'],
        timeout_sec: 60,
        internal_only: false,
        trust_hints: false,
      },
    );
    const changed = await api.ask('PATCH', '/v1/mcp/servers/github', { body: { timeout_sec: 5 } });
    assert.deepEqual([changed.body.timeout_sec, changed.body.header_names], [5, ['Authorization']]);
    const emptied = await api.ask('PATCH', '/v1/mcp/servers/github', { body: { headers: {} } });
    assert.deepEqual(emptied.body.header_names, []);
    const list = await api.ask('GET', '/v1/mcp/servers');
    assert.deepEqual([list.body.data.length, /canary/.test(JSON.stringify(list.body))], [1, false]);
    const rows = await api.pool.query(`select from mcp_servers s where s::text like '%canary%'`);
    assert.equal(rows.rowCount, 0);
    assert.equal((await api.ask('DELETE', '/v1/mcp/servers/github')).status, 204);
    assert.equal((await api.ask('DELETE', '/v1/mcp/servers/github')).status, 404);
  });

  it('R9 a program that is none of those, code among its words, and a private address are refused', async () => {
    for (const [body, pointer] of [
      [{ command: 'bash' }, 'body/command'],
      [{ command: 'node', args: ['-e', '1'] }, 'body/args'],
      [{ url: 'http://169.254.169.254/latest' }, 'body/url'],
      [{ url: 'https://mcp.example.com/', command: 'node' }, 'body/command'],
      [{}, 'body/command'],
    ] as const) {
      const answer = await post({ name: 'bad', ...body });
      assert.equal(answer.status, 422, JSON.stringify(body));
      assert.equal(answer.body.errors[0].pointer, pointer);
    }
    for (const body of [
      { name: 'a__b', command: 'node' },
      { name: 'env', command: 'node', env: { LD_PRELOAD: 'x.so' } },
      { name: 'env', command: 'node', env: { NODE_OPTIONS: '--require x' } },
      { name: 'host', url: 'https://mcp.example.com/', headers: { Host: 'x' } },
      { name: 'line', url: 'https://mcp.example.com/', headers: { A: 'x\r\nB: y' } },
    ])
      assert.equal((await post(body)).status, 400, JSON.stringify(body));
  });

  it('MC-2 two servers whose tools would have the same names are not both there', async () => {
    assert.equal((await post({ name: 'my-server', command: 'node', args: ['a.js'] })).status, 201);
    assert.equal((await post({ name: 'my_server', command: 'node', args: ['a.js'] })).status, 409);
    assert.equal((await post({ name: 'third', tool_prefix: 'mcp_my_server', command: 'node' })).status, 409);
    assert.equal((await post({ name: 'my-server', command: 'node' })).status, 409);
  });

  it('only admins of the tenant see and change them', async () => {
    const key = await api.makeKey(['read', 'run']);
    assert.equal((await api.ask('GET', '/v1/mcp/servers', { key })).status, 403);
    const other = await api.makeTenant();
    const answer = await api.ask('GET', '/v1/mcp/servers/my-server', { key: other.key });
    assert.equal(answer.status, 404);
    const grant = { key: other.key, body: {} };
    assert.equal((await api.ask('PUT', '/v1/mcp/servers/my-server/grants/agent/main', grant)).status, 404);
  });

  it('one that is switched off says so and is not looked at', async () => {
    const off = await api.ask('PATCH', '/v1/mcp/servers/my-server', { body: { enabled: false } });
    assert.equal(off.body.status, 'disabled');
    const answer = await api.ask('POST', '/v1/mcp/servers/my-server/test', { body: {} });
    assert.equal(answer.status, 409);
  });

  it('an export is the file that other programs have, with references in the place of values', async () => {
    await api.ask('PUT', '/v1/secrets/gh', { body: { value: 'canary-of-a-secret' } });
    for (const body of [
      {
        name: 'out',
        url: 'https://mcp.example.com/',
        headers: { Authorization: 'Bearer secret://gh', 'X-Api.Key': 'canary-of-an-export' },
        timeout_sec: 5,
        internal_only: true,
      },
      {
        name: 'prog',
        command: 'node',
        args: ['a.js'],
        env: { TOKEN: 'canary-of-an-export' },
        enabled: false,
      },
    ])
      assert.equal((await post(body)).status, 201);
    const { mcpServers } = (await api.ask('GET', '/v1/mcp/export')).body;
    assert.deepEqual(mcpServers.out, {
      type: 'http',
      url: 'https://mcp.example.com/',
      headers: { Authorization: 'Bearer secret://gh', 'X-Api.Key': 'secret://mcp_out_X-Api_Key' },
      timeout_sec: 5,
      internal_only: true,
    });
    assert.deepEqual(mcpServers.prog, {
      type: 'stdio',
      command: 'node',
      args: ['a.js'],
      env: { TOKEN: 'secret://mcp_prog_TOKEN' },
      disabled: true,
      internal_only: false,
    });
    const parsed = mcpServersSettingsSchema.parse(mcpServers);
    assert.deepEqual(
      [parsed['out']?.timeout_sec, parsed['prog']?.enabled],
      [5, false],
      'the settings take it',
    );
    const key = await api.makeKey(['read', 'run']);
    assert.equal((await api.ask('GET', '/v1/mcp/export', { key })).status, 403);
  });
});
