import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  releaseIdempotencyKey,
  reserveIdempotencyKey,
  storeIdempotentAnswer,
} from '#store/idempotency-store.ts';
import { OLD_ROWS, pruneOldRows } from '#store/old-rows.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { startApi, type TestApi } from '#test/support/stack.ts';

describe('IN-1 Idempotency-Key', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  const make = (name: string, key: string, extra: object = {}) =>
    api.ask('POST', '/v1/agents', {
      body: { key: name, model: 'rehearsal/echo', ...extra },
      headers: { 'idempotency-key': key },
    });

  it('answers the same request the same, whatever the order of its fields', async () => {
    const first = await make('one', 'k-one');
    const second = await api.ask('POST', '/v1/agents', {
      body: { model: 'rehearsal/echo', key: 'one' },
      headers: { 'idempotency-key': 'k-one' },
    });
    assert.equal(first.status, 201);
    assert.equal(second.status, 201);
    assert.equal(second.headers.get('idempotent-replayed'), 'true');
    assert.equal(second.headers.get('location'), '/v1/agents/one');
    assert.deepEqual(second.body, first.body);
  });

  it('refuses another body, and the same body on another route', async () => {
    await make('two', 'k-two');
    assert.equal((await make('two', 'k-two', { name: 'other' })).body.code, 'IdempotencyMismatch');
    const elsewhere = await api.ask('POST', '/v1/api-keys', {
      body: { name: 'x', scopes: ['read'] },
      headers: { 'idempotency-key': 'k-two' },
    });
    assert.equal(elsewhere.status, 422);
  });

  it('keeps keys of different API keys apart', async () => {
    await make('three', 'k-three');
    const other = await api.ask('POST', '/v1/agents', {
      key: await api.makeKey(['admin']),
      body: { key: 'four', model: 'rehearsal/echo' },
      headers: { 'idempotency-key': 'k-three' },
    });
    assert.equal(other.status, 201);
  });

  it('says 409 while the first request runs, and takes its key over when its process is gone', async () => {
    const { rows } = await api.pool.query(
      "select id from api_keys where name = 'test admin' order by created_at limit 1",
    );
    await make('five', 'k-five');
    const reserve = (age: string) =>
      api.pool.query(
        `update idempotency_keys set status = null, body = null, created_at = now() - $2::interval where api_key_id = $1 and key = 'k-five'`,
        [rows[0].id, age],
      );
    await reserve('5 seconds');
    const running = await make('five', 'k-five');
    assert.equal(running.status, 409);
    assert.equal(running.body.code, 'IdempotencyInFlight');
    assert.equal(running.headers.get('retry-after'), '1');
    await reserve('61 seconds');
    const taken = await make('five', 'k-five');
    assert.equal(taken.body.code, 'Conflict', 'it ran: the agent is there');
  });

  it('keeps a key that was taken over, and its answer, to the request that has it now', async () => {
    const db = forTenant(api.pool, api.tenant);
    const key = { apiKey: 'late', key: 'k-late', requestHash: 'x' };
    const reserve = () => reserveIdempotencyKey(db, key);
    const holding = async () => ({ ...key, since: (await reserve()).since ?? assert.fail('it is free') });
    const first = await holding();
    await api.pool.query(
      "update idempotency_keys set created_at = created_at - interval '61 seconds' where key = $1",
      [key.key],
    );
    const second = await holding();
    const answer = (body: string) => ({ status: 200, body, headers: {} });
    await releaseIdempotencyKey(db, first);
    await storeIdempotentAnswer(db, first, answer('first'));
    const { since, status } = await reserve();
    assert.deepEqual([since, status], [null, null], 'the second still runs');
    await storeIdempotentAnswer(db, second, answer('second'));
    assert.equal((await reserve()).body, 'second');
    const third = { ...key, key: 'k-free' };
    const state = await reserveIdempotencyKey(db, third);
    await releaseIdempotencyKey(db, { ...third, since: state.since ?? assert.fail() });
    assert.ok((await reserveIdempotencyKey(db, third)).since, 'a released key is free');
  });

  it('lets one of 20 requests at once make the thing', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => make('six', 'k-six')));
    const made = answers.filter(
      ({ status, headers }) => status === 201 && !headers.has('idempotent-replayed'),
    );
    assert.equal(made.length, 1);
    assert.ok(answers.every(({ status }) => status === 201 || status === 409));
  });

  it('keeps answers for a day, and no refusals of form', async () => {
    await make('seven', 'k-seven');
    await make('../x', 'k-bad');
    const { rows } = await api.pool.query("select 1 from idempotency_keys where key = 'k-bad'");
    assert.equal(rows.length, 0);
    await api.pool.query(
      "update idempotency_keys set created_at = now() - interval '25 hours' where key = 'k-seven'",
    );
    assert.equal((await make('seven', 'k-seven')).body.code, 'Conflict');
    await api.pool.query("update idempotency_keys set created_at = now() - interval '25 hours'");
    assert.ok((await pruneOldRows(api.pool, [OLD_ROWS.idempotency])) > 0);
  });

  it('answers a repeat of what took its row away as the first was, and a new request for it with 404', async () => {
    await make('knowing', 'k-knowing');
    const ids: string[] = [];
    for (const name of ['ann', 'anna']) {
      const { rows } = await api.pool.query<{ id: string }>(
        `with made as (
           insert into knowledge_entities (tenant_id, agent_key, user_id, name, type) values ($1, 'knowing', '', $2, 'person')
           returning id, agent_key, user_id, name, type)
         insert into knowledge_names (tenant_id, agent_key, user_id, type, key, name, entity_id, outside)
         select $1, agent_key, user_id, type, name, name, id, false from made returning entity_id::text as id`,
        [api.tenant, name],
      );
      ids.push(rows[0]?.id ?? '');
    }
    const [one, into] = ids;
    const merge = (key: string) =>
      api.ask('POST', `/v1/knowledge/entities/${one}/merge`, {
        body: { into },
        headers: { 'idempotency-key': key },
      });
    const first = await merge('k-merge');
    assert.equal(first.status, 200, JSON.stringify(first.body));
    const second = await merge('k-merge');
    assert.deepEqual([second.status, second.body], [200, first.body]);
    assert.equal((await merge('k-other')).status, 404);
  });

  it('refuses keys that are too long or not printable', async () => {
    assert.equal((await make('eight', 'x'.repeat(256))).status, 400);
    assert.equal((await make('eight', 'a\tb')).status, 400);
    assert.equal((await make('eight', 'x'.repeat(255))).status, 201);
  });
});
