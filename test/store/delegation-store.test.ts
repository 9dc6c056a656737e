/** DE-1: limits of links and of agents are exact however many ask at once, and count only what runs. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { insertAgentLink } from '#store/agent-link-store.ts';
import {
  createDelegationStore,
  type DelegationEnd,
  type DelegationStore,
  type NewDelegation,
} from '#store/delegation-store.ts';
import type { Pool } from '#store/pool.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

const DEPTH = 5;
const AT_ONCE = 50;

describe('DE-1 limits', () => {
  let database: TestDatabase;
  let pool: Pool;
  let store: DelegationStore;
  before(async () => {
    database = await createTestDatabase();
    pool = database.pool;
    store = createDelegationStore(pool, () => undefined);
  });
  after(() => database.drop());

  let made = 0;
  /** A tenant with two agents that are linked to a third, and a turn of each that runs. */
  async function newTenant(maxConcurrent: number): Promise<string> {
    const tenant = `t${(made += 1)}`;
    await pool.query('insert into tenants values ($1, $1)', [tenant]);
    for (const agent of ['lead', 'other', 'target']) {
      await pool.query(`insert into agents values ($1, $2, 1, '{}')`, [tenant, agent]);
      await pool.query('insert into sessions (tenant_id, key, agent_key) values ($1, $2, $2)', [
        tenant,
        agent,
      ]);
      await pool.query(
        `insert into turns (tenant_id, id, session_key, agent_key, status) values ($1, 'turn_' || $2, $2, $2, 'running')`,
        [tenant, agent],
      );
    }
    for (const source of ['lead', 'other']) {
      const link = { id: `lnk-${source}`, source, target: 'target', max_concurrent: maxConcurrent } as const;
      const more = { direction: 'outbound', status: 'active', settings: {}, description: null } as const;
      await insertAgentLink(pool, tenant, { ...link, ...more }, 'test');
    }
    return tenant;
  }
  const work = (n: number, source = 'lead', load = 1_000): NewDelegation => ({
    id: `del-${source}-${n}`,
    session: source,
    turn: `turn_${source}`,
    call: `call_${source}.${n}`,
    link: `lnk-${source}`,
    target: 'target',
    load,
    label: `${n}`,
    task: 'x',
    text: 'x',
    mode: 'async',
    timeout_seconds: 60,
    gates: [],
  });
  const END: DelegationEnd = {
    status: 'completed',
    result: 'r',
    error: null,
    warnings: [],
    by: null,
    silent: false,
    call: { ok: true, text: 'r' },
  };
  const atOnce = (tenant: string, makeWork: (n: number) => NewDelegation) =>
    Promise.all(Array.from({ length: AT_ONCE }, (_, n) => store.take(tenant, makeWork(n), DEPTH)));

  for (const round of [1, 2, 3])
    it(`of ${AT_ONCE} at once over a link for one, one gets the place (round ${round})`, async () => {
      const tenant = await newTenant(1);
      const taken = await atOnce(tenant, (n) => work(n));
      assert.equal(taken.filter(({ kind }) => kind === 'taken').length, 1);
      assert.ok(
        taken.every(
          (one) => one.kind === 'taken' || (one.kind === 'refused' && one.limit === 'link' && one.most === 1),
        ),
      );
      assert.equal((await store.active(tenant)).length, 1);
    });

  it('the load of an agent counts over all its links, and each link has its own limit beside it', async () => {
    const tenant = await newTenant(3);
    const taken = await atOnce(tenant, (n) => work(n, n % 2 === 0 ? 'lead' : 'other', 5));
    const rows = taken.flatMap((one) => (one.kind === 'taken' ? [one.row] : []));
    assert.equal(rows.length, 5);
    for (const source of ['lead', 'other'])
      assert.ok(rows.filter(({ source_key }) => source_key === source).length <= 3);
  });

  it('the same call again has the place that it has, and an end frees it for one of those that ask', async () => {
    const tenant = await newTenant(1);
    const first = await store.take(tenant, work(0), DEPTH);
    assert.equal(first.kind, 'taken');
    assert.deepEqual(await store.take(tenant, work(0), DEPTH), first);
    await Promise.all([
      store.finish(tenant, work(0).id, END),
      store.finish(tenant, work(0).id, { ...END, status: 'failed' }),
    ]);
    const taken = await atOnce(tenant, (n) => work(n + 1));
    assert.equal(taken.filter(({ kind }) => kind === 'taken').length, 1);
  });

  it('two that end at once are told by one message, which has both', async () => {
    const tenant = await newTenant(0);
    for (const n of [1, 2]) await store.take(tenant, work(n), DEPTH);
    const ids = [work(1).id, work(2).id];
    await Promise.all(ids.map((id) => store.finish(tenant, id, END)));
    const claims = await Promise.all(ids.map((id) => store.claimResults(tenant, id, id, 20)));
    const told = claims.flatMap((claim) => (claim ? [claim.told.map(({ id }) => id).sort()] : []));
    assert.deepEqual(told, [ids]);
  });

  it('a link that was disabled, or whose target was deleted, gives no place any more', async () => {
    const tenant = await newTenant(0);
    await pool.query(`update agent_links set status = 'disabled' where tenant_id = $1`, [tenant]);
    assert.equal((await store.take(tenant, work(1), DEPTH)).kind, 'gone');
    await pool.query(`update agent_links set status = 'active' where tenant_id = $1`, [tenant]);
    await pool.query(`update agents set deleted_at = now() where tenant_id = $1 and key = 'target'`, [
      tenant,
    ]);
    assert.equal((await store.take(tenant, work(1), DEPTH)).kind, 'gone');
  });
});
