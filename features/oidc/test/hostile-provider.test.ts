/** IN-10: a provider whose answers are wrong logs nobody in, and costs little. */
import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { startApi, type TestApi } from '#test/support/stack.ts';
import { API, oidcSettings } from './test-provider.ts';

describe('IN-10 a provider that answers wrongly', () => {
  let api: TestApi;
  let issuer = '';
  /** What the address of tokens answers; by default a token that is right in everything. */
  let answer: (nonce: string) => Promise<unknown>;
  let metadata: object = {};
  let pair: Awaited<ReturnType<typeof generateKeyPair>>;
  let nonce = '';
  const server = createServer(async (request, response) => {
    const send = (value: unknown): ServerResponse =>
      response
        .setHeader('content-type', 'application/json')
        .end(typeof value === 'string' ? value : JSON.stringify(value));
    if (request.url === '/jwks')
      send({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k', alg: 'ES256' }] });
    else if (request.url === '/token') send(await answer(nonce));
    else
      send({
        issuer,
        jwks_uri: `${issuer}/jwks`,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        ...metadata,
      });
  });
  before(async () => {
    pair = await generateKeyPair('ES256');
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    api = await start();
  });
  after(async () => {
    await api.stop();
    server.closeAllConnections();
    server.close();
  });

  const start = (): Promise<TestApi> =>
    startApi({
      console: { enabled: true },
      settings: { trustedProxies: ['127.0.0.1'] },
      oidc: oidcSettings({
        name: 'odd',
        issuer,
        audience: [API],
        client: { id: 'console' },
        rules: [{ tenant: 'default', scopes: ['read'] }],
      }),
    });
  const sign = (claims: JWTPayload): Promise<string> =>
    new SignJWT({ iss: issuer, aud: 'console', sub: 'ann', nonce, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'k' })
      .setIssuedAt()
      .setExpirationTime('5 minutes')
      .sign(pair.privateKey);
  let addresses = 0;
  async function visit(url: string, cookie = '') {
    addresses += 1;
    const headers = { cookie, 'x-forwarded-for': `10.2.0.${addresses}` };
    const response = await fetch(url, { redirect: 'manual', headers });
    return { status: response.status, headers: response.headers, body: await response.text() };
  }
  async function logIn(given: (nonce: string) => Promise<unknown>): Promise<string> {
    answer = given;
    const started = await visit(`${api.url}/console/oidc/odd`);
    const asked = new URL(started.headers.get('location') ?? '').searchParams;
    nonce = asked.get('nonce') ?? '';
    const cookie = started.headers.getSetCookie()[0]?.split(';')[0];
    const done = await visit(`${asked.get('redirect_uri')}?code=c&state=${asked.get('state')}`, cookie);
    return `${done.status} ${/did not succeed: ([^<]*)|not accepted: ([^<]*)|not be asked: ([^<]*)/.exec(done.body)?.[0] ?? ''}`;
  }

  it('a token for another login, another client or nobody is refused; the right one logs in', async () => {
    const token = (claims: JWTPayload) => async () => ({ id_token: await sign(claims) });
    assert.equal(await logIn(token({})), '303 ');
    assert.match(await logIn(token({ nonce: 'x' })), /^401 .*another login/);
    assert.match(await logIn(token({ nonce: undefined })), /^401 .*another login/);
    assert.match(await logIn(token({ aud: 'other' })), /^401 .*claim aud/);
    assert.match(await logIn(token({ aud: ['console', 'other'] })), /^401 .*another client/);
    assert.match(await logIn(token({ azp: 'other' })), /^401 .*another client/);
    assert.match(await logIn(async () => ({ access_token: 'x' })), /^401 .*no id_token/);
    assert.match(await logIn(async () => '<html>'), /^401 .*no id_token/);
  });

  it('an id_token is no token for the API', async () => {
    const { status } = await api.ask('GET', '/v1/me', { key: await sign({}) });
    assert.equal(status, 401);
  });

  it('an answer without end and a document that leads elsewhere are refused', async () => {
    assert.match(await logIn(async () => 'x'.repeat(600_000)), /^503 .*not be asked/);
    for (const wrong of [
      { issuer: 'https://other.example' },
      { jwks_uri: 'http://10.0.0.1/keys' },
      { jwks_uri: 7 },
    ]) {
      metadata = wrong;
      const other = await start();
      try {
        const { status, body } = await other.ask('GET', '/v1/me', { key: await sign({ aud: API }) });
        assert.equal(status, 503, JSON.stringify(body));
      } finally {
        await other.stop();
        metadata = {};
      }
    }
  });
});
