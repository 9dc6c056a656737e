/** IN-10, MC-1: a call whose user has no login at its MCP server waits for it, and goes on when it is there; in a real stack. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';
import { endLogins } from '#temporal/end-logins.ts';
import { startLiveWorker } from '#test/support/live-worker.ts';
import { changeMcpCredentials, NO_CREDENTIALS } from '../store/mcp-credential-store.ts';
import { endedLogins } from '../store/mcp-login-store.ts';
import { type LoginServer, startLoginServer } from './mcp-login-server.ts';

const MASTER_KEY = randomBytes(32).toString('base64');
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

describe('IN-10 a missing login at an MCP server', () => {
  let stack: Stack;
  let peer: LoginServer;
  const keys: Record<string, string> = {};
  before(async () => {
    peer = await startLoginServer();
    stack = await startStack({
      egress: { allowPrivate: [peer.host] },
      settings: settings(),
    });
    for (const user of ['eve', 'adam', 'cain'])
      keys[user] = await stack.makeKey(['read', 'run', 'approve'], { user });
    peer.keys.set('key-of-adam', 'adam');
    const server = { name: 'desk', url: peer.url, credentials: 'per_user' };
    assert.equal((await stack.ask('POST', '/v1/mcp/servers', { body: server })).status, 201);
    await give('adam', 'key-of-adam');
    await stack.worker.until('the server to be ready', async () =>
      (await stack.ask('GET', '/v1/mcp/servers/desk')).body.status === 'ready' ? true : undefined,
    );
  });
  after(async () => {
    await stack.stop();
    await peer.close();
  });

  /** Both workers open the same secrets. */
  const settings = (): string =>
    `egress: { allowPrivate: ["${peer.host}"] }\nencryption: { key: "${MASTER_KEY}" }`;

  async function give(user: string, token: string): Promise<void> {
    const body = { headers: { Authorization: `Bearer ${token}` } };
    const path = '/v1/mcp/servers/desk/user-credentials';
    const given = await stack.ask('PUT', path, { key: keys[user] ?? '', body });
    assert.equal(given.status, 200, JSON.stringify(given.body));
  }

  /** A turn of the user that waits for a login. */
  async function parked(session: string, user: string) {
    const { turn_id } = await stack.worker.say(session, 'mcp_desk__whoami {}', { user });
    const id = await stack.worker.approvalOf(session);
    const decide = (key: string | undefined, decision: object) =>
      stack.ask('POST', `/v1/approvals/${id}/decision`, { key: key ?? stack.key, body: decision });
    const result = async (): Promise<string> => {
      await stack.worker.ended(turn_id);
      return (await stack.worker.calls(turn_id))[0]?.result ?? '';
    };
    return { id, turn: turn_id, decide, result };
  }

  async function logIn(user: string, person: string): Promise<void> {
    const path = '/v1/mcp/servers/desk/oauth/start';
    const { body } = await stack.ask('POST', path, { key: keys[user] ?? '', body: {} });
    const back = await peer.agree(body.authorization_url, person);
    assert.equal((await fetch(back, { method: 'POST', headers: FORM, body: '' })).status, 200);
  }

  it('parks the turn, asks its user alone, and goes on by itself with that user’s login', async () => {
    const { id, turn, decide, result } = await parked('shared', 'eve');
    assert.equal((await stack.ask('GET', `/v1/turns/${turn}`)).body.status, 'waiting_approval');
    const { body } = await stack.ask('GET', `/v1/approvals/${id}`, { key: keys['eve'] ?? '' });
    assert.deepEqual([body.form.login, body.form.server, body.user], ['mcp', 'desk', 'eve']);
    assert.match(body.form.message, /eve has to log in for the MCP server desk.*mcp login desk/);
    assert.ok((await stack.worker.events('shared')).some(({ type }) => type === 'approval.requested'));
    for (const key of [keys['adam'], keys['cain'], stack.key])
      assert.ok((await decide(key, { decision: 'approve' })).status >= 403, 'nobody else can end it');
    await logIn('eve', 'eve-by-oauth');
    assert.match(await result(), /you are eve-by-oauth/);
    const decided = await stack.ask('GET', `/v1/approvals/${id}`);
    assert.deepEqual([decided.body.status, decided.body.decided_by], ['approved', 'eve']);
    // The next message of the session is of somebody else.
    const { turn_id } = await stack.worker.say('shared', 'mcp_desk__whoami {}', { user: 'adam' });
    await stack.worker.ended(turn_id);
    assert.match((await stack.worker.calls(turn_id))[0]?.result ?? '', /you are adam/);
  });

  it('asks again when its user says that it is done and it is not, and takes credentials too', async () => {
    const { id, decide, result } = await parked('again', 'cain');
    assert.equal((await decide(keys['cain'], { decision: 'approve' })).status, 200);
    const second = await stack.worker.until('the second question', async () => {
      const next = await stack.worker.approvalOf('again');
      return next === id ? undefined : next;
    });
    assert.notEqual(second, id);
    peer.keys.set('key-of-cain', 'cain');
    await give('cain', 'key-of-cain');
    assert.match(await result(), /you are cain/);
    const path = '/v1/mcp/servers/desk/user-credentials';
    await stack.ask('DELETE', path, { key: keys['cain'] ?? '' });
  });

  it('ends with a clear result when its user refuses, and with the turn when that is stopped', async () => {
    const refused = await parked('refused', 'cain');
    assert.equal((await refused.decide(keys['cain'], { decision: 'reject' })).status, 200);
    assert.match(await refused.result(), /ApprovalDenied: .*does not log in for the MCP server desk/);
    const stopped = await parked('stopped', 'cain');
    await stack.ask('POST', '/v1/sessions/stopped/stop', { body: { level: 'now' } });
    await stack.worker.ended(stopped.turn);
    assert.equal((await stack.ask('GET', `/v1/approvals/${stopped.id}`)).body.status, 'withdrawn');
  });

  it('a login that the server no longer takes is asked for anew', async () => {
    peer.revokeAll();
    const { result } = await parked('revoked', 'eve');
    await logIn('eve', 'eve-anew');
    assert.match(await result(), /you are eve-anew/);
  });

  it('DU-1 waits without its worker, and goes on in another after an API that died at the login', async () => {
    const { result } = await parked('killed', 'cain');
    await stack.worker.shutDown();
    const second = await startLiveWorker({ beside: stack.worker, settings: settings() });
    try {
      const { rows } = await stack.pool.query("select id from mcp_servers where name = 'desk'");
      const owner = { tenant: stack.tenant, server: String(rows[0].id), user: 'cain' };
      const deps = { pool: stack.pool, sealer: stack.deps.secrets.sealer };
      peer.keys.set('key-of-cain-again', 'cain-again');
      const given = { ...NO_CREDENTIALS, headers: { Authorization: 'Bearer key-of-cain-again' } };
      await changeMcpCredentials(deps, owner, () => given, { isNew: true });
      // As the sweep does each minute: the approval may still be with the worker that is gone.
      const reach = second.temporal;
      await second.until('the decision', async () =>
        endLogins({ pool: stack.pool, reach }, await endedLogins(stack.pool)).then(
          () => true,
          () => undefined,
        ),
      );
      assert.match(await result(), /you are cain-again/);
      assert.deepEqual(await endedLogins(stack.pool), []);
    } finally {
      await second.close();
    }
  });
});
