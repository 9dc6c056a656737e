/** MC-1, SC-2: credentials for an MCP server whose address changes while they come. */
import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { eventually } from '#test/support/processes.ts';
import { startApi, type TestApi } from '#test/support/stack.ts';
import { observeStatements } from '#test/support/statements.ts';
import { type LoginServer, startLoginServer } from './mcp-login-server.ts';

describe('MC-1 an MCP server that gets another address', () => {
  let api: TestApi;
  let peer: LoginServer;
  let eve: string;
  before(async () => {
    peer = await startLoginServer();
    api = await startApi({ egress: { allowPrivate: [peer.host] } });
    eve = await api.makeKey(['read', 'run'], { user: 'eve' });
    const body = { name: 'desk', url: peer.url, credentials: 'per_user' };
    assert.equal((await api.ask('POST', '/v1/mcp/servers', { body })).status, 201);
  });
  after(async () => {
    await api.stop();
    await peer.close();
  });

  const OWN = '/v1/mcp/servers/desk/user-credentials';
  let moves = 0;
  const move = async (): Promise<void> => {
    moves += 1;
    const body = { url: `${peer.url}?place=${moves}` };
    assert.equal((await api.ask('PATCH', '/v1/mcp/servers/desk', { body })).status, 200);
  };
  const moveBack = () => api.ask('PATCH', '/v1/mcp/servers/desk', { body: { url: peer.url } });
  /** An admin changes the address once the next statement with these words has its result. */
  const moveAfter = (t: TestContext, words: string): void => {
    let isDue = true;
    observeStatements(t, api.pool, async ({ text }) => {
      if (!isDue || !text.includes(words)) return;
      isDue = false;
      await move();
    });
  };
  const give = () => api.ask('PUT', OWN, { key: eve, body: { headers: { Authorization: 'Bearer of-eve' } } });
  const begin = () => api.ask('POST', '/v1/mcp/servers/desk/oauth/start', { key: eve, body: {} });
  const isEmpty = async (): Promise<void> => {
    const { rows } = await api.pool.query('select user_id from mcp_credentials');
    assert.deepEqual(rows, []);
  };

  it('SC-2 takes no credentials for the old address, whether there were some or not', async (t) => {
    moveAfter(t, 'from mcp_credentials where');
    const { status, body } = await give();
    assert.equal(status, 409, JSON.stringify(body));
    assert.match(body.detail, /has another address now/);
    await isEmpty();
    assert.equal((await give()).status, 200);
    moveAfter(t, 'from mcp_credentials where');
    assert.equal((await give()).status, 409);
    await isEmpty();
  });

  it('begins no login at the old address', async (t) => {
    await moveBack();
    moveAfter(t, 'from mcp_credentials where');
    assert.equal((await begin()).status, 409);
    await isEmpty();
  });

  it('SC-2 gets no token of a login that began at the old address', async (t) => {
    await moveBack();
    const { body } = await begin();
    const back = await peer.agree(body.authorization_url, 'eve');
    moveAfter(t, 'set state_hash = null');
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    assert.equal((await fetch(back, { method: 'POST', headers, body: '' })).status, 409);
    await isEmpty();
  });

  it('SC-2 deletes credentials whose commit the change of the address has waited for', async () => {
    const client = await api.pool.connect();
    try {
      await client.query('begin');
      await client.query("select from mcp_servers where name = 'desk' for share");
      await client.query(
        `insert into mcp_credentials (tenant_id, server_id, user_id, sealed, key_id)
         select tenant_id, id, 'eve', 'x', 'x' from mcp_servers where name = 'desk'`,
      );
      const moving = move();
      const waiting =
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      const isWaiting = async () => (await api.pool.query(waiting)).rowCount !== 0;
      assert.ok(await eventually(isWaiting));
      await client.query('commit');
      await moving;
      await isEmpty();
    } finally {
      client.release();
    }
  });
});
