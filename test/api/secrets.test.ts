import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { MAX_SECRETS } from '#store/secret-store.ts';
import { startApi, type TestApi } from '../support/stack.ts';

const VALUE = 'canary-of-the-api-90125';

let api: TestApi;
before(async () => {
  api = await startApi();
});
after(() => api.stop());

describe('SC-2 /v1/secrets is write-only', () => {
  test('a value goes in and comes out of no route', async () => {
    const set = await api.ask('PUT', '/v1/secrets/github', { body: { value: VALUE } });
    assert.equal(set.status, 200);
    assert.equal(set.body.name, 'github');
    assert.equal(set.body.updated_by, 'key:test admin');
    const listed = await api.ask('GET', '/v1/secrets');
    assert.deepEqual(
      listed.body.data.map((one: { name: string }) => one.name),
      ['github'],
    );
    assert.equal((await api.ask('GET', '/v1/secrets/github')).status, 405);
    assert.ok(!JSON.stringify([set.body, listed.body]).includes(VALUE));
    const { rows } = await api.pool.query('select * from secrets');
    assert.ok(!JSON.stringify(rows).includes(VALUE));
  });

  test('only admins of the tenant; another tenant sees and removes nothing', async () => {
    const key = await api.makeKey(['read', 'run', 'approve']);
    for (const [method, path] of [
      ['GET', '/v1/secrets'],
      ['PUT', '/v1/secrets/github'],
      ['DELETE', '/v1/secrets/github'],
      ['POST', '/v1/secrets/rotate'],
    ] as const)
      assert.equal(
        (await api.ask(method, path, { key, ...(method === 'GET' ? {} : { body: { value: VALUE } }) }))
          .status,
        403,
      );
    const other = await api.makeTenant();
    assert.deepEqual((await api.ask('GET', '/v1/secrets', { key: other.key })).body.data, []);
    assert.equal((await api.ask('DELETE', '/v1/secrets/github', { key: other.key })).status, 404);
    assert.equal((await api.ask('POST', '/v1/secrets/rotate', { key: other.key, body: {} })).status, 403);
  });

  test('what could not be hidden or kept is refused, and the refusal does not repeat it', async () => {
    for (const value of ['short', '', 'x'.repeat(65_537), 7]) {
      const refused = await api.ask('PUT', '/v1/secrets/bad', { body: { value } });
      assert.equal(refused.status, 400);
      assert.ok(!JSON.stringify(refused.body).includes('xxxx'));
    }
    assert.equal((await api.ask('PUT', '/v1/secrets/a.b', { body: { value: VALUE } })).status, 400);
    await api.pool.query(
      `insert into secrets (tenant_id, name, sealed, key_id, updated_by)
       select $1, 'many-' || n, 'x', 'x', 'x' from generate_series(1, $2::int) n`,
      [api.tenant, MAX_SECRETS - 1],
    );
    assert.equal((await api.ask('PUT', '/v1/secrets/more', { body: { value: VALUE } })).status, 409);
    assert.equal((await api.ask('PUT', '/v1/secrets/github', { body: { value: VALUE } })).status, 200);
    await api.pool.query(`delete from secrets where name like 'many-%'`);
  });

  test('rotating seals rows of old keys anew; deleting is done once', async () => {
    const rotated = await api.ask('POST', '/v1/secrets/rotate', { body: {} });
    assert.deepEqual(rotated.body, { key_id: api.deps.secrets.sealer.keyId, resealed: 0 });
    assert.equal((await api.ask('DELETE', '/v1/secrets/github')).status, 204);
    assert.equal((await api.ask('DELETE', '/v1/secrets/github')).status, 404);
  });
});
