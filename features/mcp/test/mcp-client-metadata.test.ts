/** MC-1: logins at authorization servers that know their clients by metadata documents, and at those that do not. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { startLoginServer } from './mcp-login-server.ts';
import { startApi, type TestApi } from '#test/support/stack.ts';

const PUBLIC = 'https://agents.example.com';
const DOCUMENT = `${PUBLIC}/oauth/client-metadata.json`;
const CALLBACK = `${PUBLIC}/v1/mcp/oauth/callback`;

/** An API whose external address is `publicUrl`, and an authorization server that reads documents of it. */
async function stage(t: TestContext, publicUrl: string | undefined, readsDocuments = true) {
  const places: { api?: TestApi } = {};
  /** The API's own address for this external one. */
  const atApi = (address: string): string =>
    publicUrl === undefined ? address : address.replace(publicUrl, places.api?.url ?? '');
  const reads = async (id: string): Promise<unknown> => (await fetch(atApi(id))).json();
  const peer = await startLoginServer(readsDocuments ? reads : undefined);
  t.after(() => peer.close());
  const egress = { allowPrivate: [peer.host] };
  const api = await startApi({ egress, settings: publicUrl === undefined ? {} : { publicUrl } });
  places.api = api;
  t.after(() => api.stop());
  const made = await api.ask('POST', '/v1/mcp/servers', { body: { name: 'mine', url: peer.url } });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const login = async (): Promise<URL> => {
    const { body } = await api.ask('POST', '/v1/mcp/servers/mine/oauth/start', { body: {} });
    const back = await peer.agree(body.authorization_url, 'eve');
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const end = await fetch(atApi(back.href), { method: 'POST', headers, body: '' });
    assert.match(await end.text(), /Logged in/);
    return new URL(body.authorization_url);
  };
  return { peer, api, login };
}

describe('MC-1 who we are to authorization servers', () => {
  it('the address of our document is the client id where the server reads it, and nothing is registered', async (t) => {
    const { api, peer, login } = await stage(t, PUBLIC);
    assert.deepEqual((await api.ask('GET', '/oauth/client-metadata.json', { key: null })).body, {
      client_id: DOCUMENT,
      client_uri: PUBLIC,
      client_name: 'TempoClaw',
      redirect_uris: [CALLBACK],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    });
    const uRL = await login();
    assert.equal(uRL.searchParams.get('client_id'), DOCUMENT);
    assert.equal(uRL.searchParams.get('redirect_uri'), CALLBACK);
    assert.deepEqual(
      peer.asked.map(({ path, form }) => [path, form.get('client_id')]),
      [['/token', DOCUMENT]],
    );
  });

  it('a server that does not read documents is asked to register us', async (t) => {
    const { peer, login } = await stage(t, PUBLIC, false);
    const uRL = await login();
    assert.notEqual(uRL.searchParams.get('client_id'), DOCUMENT);
    assert.deepEqual(
      peer.asked.map(({ path }) => path),
      ['/register', '/token'],
    );
  });

  for (const publicUrl of [undefined, 'http://agents.example.com'])
    it(`without an https address (${publicUrl ?? 'none'}) there is no document, and we register`, async (t) => {
      const { api, peer, login } = await stage(t, publicUrl);
      assert.equal((await api.ask('GET', '/oauth/client-metadata.json', { key: null })).status, 404);
      await login();
      assert.equal(peer.asked[0]?.path, '/register');
    });
});
