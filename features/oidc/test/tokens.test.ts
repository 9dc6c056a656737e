/** IN-10: tokens of an identity provider in place of keys, and everything that is refused. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { base64url, decodeJwt, generateKeyPair, type JWTPayload } from 'jose';
import { insertTenant } from '#store/api-key-store.ts';
import { openSse } from '#test/support/sse.ts';
import { eventually } from '#test/support/processes.ts';
import { type Answer, startApi, type TestApi } from '#test/support/stack.ts';
import { API, oidcSettings, startTestProvider, type TestProvider } from './test-provider.ts';

describe('IN-10 tokens of an identity provider', () => {
  let provider: TestProvider;
  let api: TestApi;
  before(async () => {
    provider = await startTestProvider();
    const issuer = {
      name: 'login',
      issuer: provider.issuer,
      audience: [API],
      user: 'name',
      keysPauseSeconds: 1,
      rules: [
        { when: { roles: 'boss' }, tenantClaim: 'org', scopes: ['admin'] },
        { when: { 'realm.member': true }, tenantClaim: 'org', scopes: ['read', 'run'] },
        { when: { home: 'here' }, tenant: 'default', scopes: ['read'] },
        { when: { mail: 'yes', email: 'ann@example.com' }, tenant: 'acme', scopes: ['read'] },
      ],
    };
    api = await startApi({ oidc: oidcSettings(issuer), settings: { trustedProxies: ['127.0.0.1'] } });
    await insertTenant(api.pool, 'acme', 'Acme');
    member('ann');
  });
  after(async () => {
    await api.stop();
    await provider.stop();
  });

  const MEMBER = { org: 'acme', name: 'ann', realm: { member: true } };
  const member = (name: string, more: JWTPayload = {}) =>
    provider.persons.set(name, { ...MEMBER, name, ...more });
  let addresses = 0;
  /** Each from another address, because an address may try few wrong keys. */
  const me = (key: string): Promise<Answer> => {
    addresses += 1;
    return api.ask('GET', '/v1/me', { key, headers: { 'x-forwarded-for': `10.0.0.${addresses}` } });
  };
  const sign = (claims: JWTPayload = {}, ...more: [header?: object, key?: never]) =>
    provider.sign({ ...MEMBER, ...claims }, ...more);
  async function refusedFor(token: string, why: RegExp, status = 401): Promise<void> {
    const answer = await me(token);
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    assert.match(answer.body.detail, why);
  }

  it('a token of the provider gives the tenant, user and scopes of the first rule that it meets', async () => {
    const { status, body } = await me(await provider.tokenOf('ann'));
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([body.tenant, body.user, body.scopes], ['acme', 'ann', ['read', 'run']]);
    assert.equal(body.key.name, `oidc:${provider.issuer}#ann`);
    provider.persons.set('bea', { ...MEMBER, name: 'bea', roles: ['clerk', 'boss'] });
    const boss = await provider.tokenOf('bea');
    assert.ok((await me(boss)).body.scopes.includes('admin'));
    assert.equal((await api.ask('GET', '/v1/api-keys', { key: boss })).status, 200);
    assert.equal((await api.ask('GET', '/v1/api-keys', { key: await sign() })).status, 403);
    assert.equal(
      (await api.ask('GET', '/v1/tenants', { key: boss })).status,
      403,
      'acme is not the operator',
    );
  });

  it('iss, aud, exp, nbf, iat, sub: each is checked', async () => {
    const now = Math.floor(Date.now() / 1000);
    await refusedFor(await sign({ iss: 'https://other.example' }), /issuer is not one of the settings/);
    await refusedFor(await sign({ aud: 'https://another-api.example' }), /claim aud/);
    await refusedFor(await sign({ iat: now - 900, exp: now - 60 }), /expired/);
    await refusedFor(await sign({ exp: undefined }), /claim exp/);
    await refusedFor(await sign({ nbf: now + 120 }), /claim nbf/);
    await refusedFor(await sign({ iat: now + 120, exp: now + 900 }), /in the future/);
    await refusedFor(await sign({ iat: undefined }), /claim iat/);
    await refusedFor(await sign({ sub: '' }), /subject/);
    assert.equal((await me(await sign({ exp: now - 10 }))).status, 200, 'within the tolerance of clocks');
  });

  it('alg, kid, typ, signature: each is checked', async () => {
    const other = await generateKeyPair('RS256');
    const [head = '', claims = ''] = (await sign()).split('.');
    const none = base64url.encode(JSON.stringify({ alg: 'none', kid: 'key-1', typ: 'at+jwt' }));
    await refusedFor(`${none}.${claims}.`, /alg/);
    const shared = new TextEncoder().encode(await provider.publicKey());
    await refusedFor(await provider.sign(MEMBER, { alg: 'HS256' }, shared), /alg/);
    await refusedFor(await provider.sign(MEMBER, {}, other.privateKey), /signature/);
    await refusedFor(await sign({}, { kid: 'nobody' }), /no such key/);
    await refusedFor(await sign({}, { kid: undefined }), /which key/);
    await refusedFor(await sign({}, { typ: 'logout+jwt' }), /type logout\+jwt/);
    await refusedFor(
      await provider.sign(MEMBER, { jwk: JSON.parse(await provider.publicKey()) }, other.privateKey),
      /signature/,
    );
    await refusedFor(`${head}.${claims}.${'A'.repeat(342)}`, /signature/);
    await refusedFor(`${head}.${claims}`, /not known/);
    await refusedFor(`${head}.x${claims}.x`, /cannot be read/);
    assert.equal((await me(await sign({}, { typ: undefined }))).status, 200);
  });

  it('another issuer’s token is refused, though it has the same audience and claims', async () => {
    const other = await startTestProvider();
    try {
      await refusedFor(await other.sign(MEMBER), /issuer is not one/);
      await refusedFor(await other.sign({ ...MEMBER, iss: provider.issuer }), /signature/);
    } finally {
      await other.stop();
    }
  });

  it('large, deep and ambiguous tokens are refused before anything is checked', async () => {
    await refusedFor(await sign({ more: 'x'.repeat(9_500) }), /more than 12000 characters/);
    assert.equal((await me(await sign({ more: 'x'.repeat(1_000_000) }))).status, 431);
    const [head = '', , signature = ''] = (await sign()).split('.');
    const fields = JSON.stringify({ ...MEMBER, iss: provider.issuer, sub: 'ann' }).slice(1, -1);
    for (const twice of [
      `"org":"acme","org":"acme2"`,
      `${fields},"iss":"${provider.issuer}"`,
      `${fields},"\\u006frg":"x"`,
      `${fields},"in":{"a":1,"a":2}`,
    ])
      await refusedFor(`${head}.${base64url.encode(`{${twice}}`)}.${signature}`, /twice/);
    const deep = `{"iss":"${provider.issuer}","a":${'['.repeat(4_000)}${']'.repeat(4_000)}}`;
    await refusedFor(`${head}.${base64url.encode(deep)}.${signature}`, /signature|cannot be read/);
  });

  it('claims that mean no tenant or no user give nothing, and no claim reaches the operator', async () => {
    const nothing = async (claims: JWTPayload, why: RegExp) => refusedFor(await sign(claims), why, 403);
    await nothing({ realm: {} }, /no rule/);
    await nothing({ org: 'default' }, /names no tenant/);
    await nothing({ org: 'nobody' }, /names no tenant/);
    await nothing({ org: ['acme', 'other'] }, /names no tenant/);
    await nothing({ org: undefined }, /names no tenant/);
    for (const name of [
      undefined,
      '',
      ['a', 'b'],
      'key:admin',
      'group:finance',
      ' ann',
      'a\0',
      'x'.repeat(201),
    ])
      await nothing({ name }, /claim name/);
    await nothing({ groups: Array.from({ length: 201 }, (_, at) => `g${at}`) }, /groups/);
    const mail = { realm: {}, mail: 'yes', email: 'ann@example.com' };
    await nothing(mail, /no rule/);
    assert.equal((await me(await sign({ ...mail, email_verified: true }))).status, 200);
    const { rows } = await api.pool.query("select distinct tenant_id from api_keys where id like 'oidc%'");
    assert.deepEqual(rows, [{ tenant_id: 'acme' }]);
    assert.equal(
      (await me(await sign({ realm: {}, home: 'here' }))).body.tenant,
      'default',
      'a setting says so',
    );
  });

  it('a token has no more rights than the newest one, and an older one takes none back', async () => {
    const now = Math.floor(Date.now() / 1000);
    const admin = await sign({ sub: 'dan', iat: now - 60, roles: 'boss' });
    assert.ok((await me(admin)).body.scopes.includes('admin'));
    const less = await sign({ sub: 'dan', iat: now - 30 });
    assert.deepEqual((await me(less)).body.scopes, ['read', 'run']);
    const again = await sign({ sub: 'dan', iat: now - 60, exp: now + 299, roles: 'boss' });
    assert.deepEqual((await me(again)).body.scopes, ['read', 'run']);
  });

  it('what was remembered of a token ends with it, and its streams do', async () => {
    const now = Math.floor(Date.now() / 1000);
    const short = await sign({ sub: 'eve', exp: now + 2 });
    const stream = await openSse(`${api.url}/v1/approvals/events`, { authorization: `Bearer ${short}` });
    assert.equal(stream.status, 200);
    assert.deepEqual(await stream.until(() => false), [], 'ended by the server');
    const revoked = await sign({ sub: 'flo' });
    const { body } = await me(revoked);
    const { key } = await acmeAdmin();
    assert.equal((await api.ask('DELETE', `/v1/api-keys/${body.key.id}`, { key })).status, 204);
    await refusedFor(revoked, /was revoked/);
    await refusedFor(await sign({ sub: 'flo', exp: now + 200 }), /was revoked/);
  });
  const acmeAdmin = async () => ({ key: await api.makeKey(['admin'], { tenant: 'acme' }) });

  it('keys are read again when a token names a new one, and wrong names cost few requests', async () => {
    await me(await sign());
    const before = await sign({ jti: 'before' });
    await provider.rotate();
    const rotated = await sign();
    assert.ok(await eventually(async () => (await me(rotated)).status === 200));
    await refusedFor(before, /no such key/);
    const asked = () => provider.asked.filter((path) => path === '/jwks').length;
    const count = asked();
    await Promise.all(
      Array.from({ length: 15 }, async (_, at) => me(await sign({}, { kid: `made-up-${at}` }))),
    );
    assert.ok(asked() - count <= 3, `${asked() - count} requests`);
  });

  it('an issuer that is away gives 503 with its name, our keys work on, and it is not asked by every request', async () => {
    const away = await startTestProvider();
    const rules = [{ tenantClaim: 'org', scopes: ['read'] }];
    const { issuer } = away;
    const second = await startApi({ oidc: oidcSettings({ name: 'login', issuer, audience: [API], rules }) });
    try {
      away.isAway = true;
      const token = await away.sign(MEMBER);
      const { status, body } = await second.ask('GET', '/v1/me', { key: token });
      assert.equal(status, 503);
      assert.match(body.detail, /identity provider login cannot be asked.*API keys work/);
      assert.equal((await second.ask('GET', '/v1/me')).status, 200);
      for (let at = 0; at < 15; at += 1)
        assert.equal((await second.ask('GET', '/v1/me', { key: token })).status, 503);
      assert.ok(away.asked.length <= 4, `${away.asked.length} requests`);
      away.isAway = false;
      await insertTenant(second.pool, 'acme', 'Acme');
      const isBack = async () => (await second.ask('GET', '/v1/me', { key: token })).status === 200;
      assert.ok(await eventually(isBack));
    } finally {
      await second.stop();
      await away.stop();
    }
  });

  it('settings that cannot work are refused with their names', () => {
    const right = {
      name: 'a',
      issuer: 'https://a.example',
      audience: ['x'],
      rules: [{ tenant: 'acme', scopes: ['read'] }],
    };
    const load = (issuer: object) => oidcSettings({ ...right, ...issuer });
    assert.equal(load({}).issuers[0]?.user, 'sub');
    for (const wrong of [
      { issuer: 'http://a.example' },
      { issuer: 'https://a.example?x' },
      { algorithms: ['HS256'] },
      { audience: [] },
      { rules: [] },
      { rules: [{ scopes: ['read'] }] },
      { rules: [{ tenant: 'a', tenantClaim: 'b', scopes: ['read'] }] },
    ])
      assert.throws(() => load(wrong), /oidc\.issuers/, JSON.stringify(wrong));
  });

  it('a token is in no row', async () => {
    const token = await sign();
    await me(token);
    const { rows } = await api.pool.query('select * from api_keys');
    assert.ok(!JSON.stringify(rows).includes(token.split('.')[2] ?? token));
    assert.equal(decodeJwt(token).sub, 'ann');
  });
});
