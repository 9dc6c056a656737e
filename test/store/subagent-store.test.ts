/** SA-1: the limits are exact however many ask at once, count only those that run, and are each tenant's own. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Pool } from '#store/pool.ts';
import {
  createSubagentStore,
  type NewSubagent,
  type SubagentEnd,
  type SubagentStore,
} from '#store/subagent-store.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

const LIMITS = { depth: 1, concurrent: 8, children: 5, iterations: 20 };
const ROOMY = { ...LIMITS, children: 1_000 };

describe('SA-1 limits', () => {
  let database: TestDatabase;
  let pool: Pool;
  let store: SubagentStore;
  before(async () => {
    database = await createTestDatabase();
    pool = database.pool;
    store = createSubagentStore(pool, () => undefined);
  });
  after(() => database.drop());

  let made = 0;
  /** A tenant with an agent, and a session of it whose turn runs. */
  async function newTenant(context: Record<string, unknown> = {}): Promise<string> {
    const tenant = `t${(made += 1)}`;
    await pool.query('insert into tenants values ($1, $1)', [tenant]);
    await pool.query(`insert into agents values ($1, 'main', 1, '{}')`, [tenant]);
    await newSession(tenant, 's', context);
    return tenant;
  }
  async function newSession(
    tenant: string,
    key: string,
    context: Record<string, unknown> = {},
  ): Promise<void> {
    await pool.query(`insert into sessions (tenant_id, key, agent_key) values ($1, $2, 'main')`, [
      tenant,
      key,
    ]);
    await pool.query(
      `insert into turns (tenant_id, id, session_key, agent_key, status, context) values ($1, $2, $3, 'main', 'running', $4)`,
      [tenant, `turn_${key}`, key, JSON.stringify(context)],
    );
  }
  const child = (id: string, session = 's', over: Partial<NewSubagent> = {}): NewSubagent => ({
    id: `sub-${id}`,
    session,
    turn: `turn_${session}`,
    call: `call_${id}`,
    label: id,
    task: 'x',
    mode: 'async',
    announce: 'queue',
    detached: false,
    timeout_seconds: 60,
    within: [],
    ...over,
  });
  const END: SubagentEnd = {
    status: 'completed',
    result: 'r',
    error: null,
    by: null,
    silent: false,
    call: { ok: true, text: 'r' },
  };
  const active = async (tenant: string): Promise<number> => (await store.active(tenant)).length;

  it('of 100 spawns at once 8 get a place, never 9, whatever ends meanwhile', async () => {
    const tenant = await newTenant();
    let most = 0;
    const over = new AbortController();
    const watching = (async () => {
      while (!over.signal.aborted) most = Math.max(most, await active(tenant));
    })();
    const first = await Promise.all(
      Array.from({ length: 100 }, (_, n) => store.spawn(tenant, child(`a${n}`), ROOMY)),
    );
    assert.equal(first.filter(({ kind }) => kind === 'spawned').length, 8);
    assert.deepEqual(
      first.find(({ kind }) => kind === 'refused'),
      { kind: 'refused', limit: 'concurrent', have: 8, most: 8 },
    );
    const ended = first.flatMap((one) => (one.kind === 'spawned' ? [one.row.id] : [])).slice(0, 3);
    const second = await Promise.all([
      ...ended.map((id) => store.finish(tenant, id, END)),
      ...Array.from({ length: 100 }, (_, n) => store.spawn(tenant, child(`b${n}`), ROOMY)),
    ]);
    assert.equal(second.length, 103);
    over.abort();
    await watching;
    assert.equal(most, 8);
    assert.ok((await active(tenant)) <= 8);
  });

  it('a call that runs twice takes one place, and finds the same one', async () => {
    const tenant = await newTenant();
    const twice = await Promise.all([1, 2].map(() => store.spawn(tenant, child('same'), LIMITS)));
    assert.deepEqual(
      twice.map((one) => one.kind === 'spawned' && one.row.id),
      ['sub-same', 'sub-same'],
    );
    assert.equal(await active(tenant), 1);
  });

  it('each session has 5, those that ended do not count, and another tenant has its own 8', async () => {
    const tenant = await newTenant();
    await newSession(tenant, 'other');
    for (let n = 0; n < 5; n += 1) await store.spawn(tenant, child(`c${n}`), LIMITS);
    assert.deepEqual(await store.spawn(tenant, child('c5'), LIMITS), {
      kind: 'refused',
      limit: 'children',
      have: 5,
      most: 5,
    });
    assert.equal((await store.spawn(tenant, child('d0', 'other'), LIMITS)).kind, 'spawned');
    await store.finish(tenant, 'sub-c0', END);
    assert.equal((await store.spawn(tenant, child('c6'), LIMITS)).kind, 'spawned');
    const elsewhere = await newTenant();
    assert.equal((await store.spawn(elsewhere, child('e0'), LIMITS)).kind, 'spawned');
  });

  it('depth is looked at first, then the tenant’s number, then the session’s', async () => {
    const tenant = await newTenant({ subagent: { depth: 1, leaf: true } });
    const full = { ...LIMITS, concurrent: 0, children: 0 };
    assert.deepEqual(await store.spawn(tenant, child('deep'), full), {
      kind: 'refused',
      limit: 'depth',
      have: 1,
      most: 1,
    });
    const flat = await newTenant();
    assert.deepEqual(await store.spawn(flat, child('wide'), full), {
      kind: 'refused',
      limit: 'concurrent',
      have: 0,
      most: 0,
    });
  });

  it('a replacement takes over the place and the depth in the commit that ends the old one', async () => {
    const tenant = await newTenant();
    for (let n = 0; n < 5; n += 1) await store.spawn(tenant, child(`f${n}`), LIMITS);
    const next = { id: 'sub-next', label: 'f0 (steered)', task: 'y' };
    const finished = await store.finish(tenant, 'sub-f0', { ...END, status: 'cancelled', next });
    assert.deepEqual([finished?.next?.id, finished?.next?.depth, finished?.untold], ['sub-next', 1, 0]);
    assert.equal(await active(tenant), 5);
    assert.deepEqual(await store.finish(tenant, 'sub-f0', END), finished, 'a repeat answers the same');
  });

  it('what was finished is told once, with all that nobody has told yet, to each place its own', async () => {
    const tenant = await newTenant();
    for (const id of ['g0', 'g1', 'g2']) {
      await store.spawn(tenant, child(id), LIMITS);
      await store.finish(tenant, `sub-${id}`, END);
    }
    const claims = await Promise.all(
      ['g0', 'g1', 'g2'].map((id) => store.claimAnnouncement(tenant, `sub-${id}`, 2)),
    );
    const told = claims.flatMap((claim) => claim?.told.map(({ id }) => id) ?? []);
    assert.deepEqual(told.toSorted(), ['sub-g0', 'sub-g1', 'sub-g2']);
    const by = claims.findIndex((claim) => claim !== undefined);
    assert.deepEqual(
      await store.claimAnnouncement(tenant, `sub-g${by}`, 2),
      claims[by],
      'a repeat gets the same',
    );
  });

  it('one that ended longer ago than the archive’s time leaves the list and stays in the history', async () => {
    const tenant = await newTenant();
    for (const id of ['h0', 'h1']) await store.spawn(tenant, child(id), LIMITS);
    await store.finish(tenant, 'sub-h0', END);
    await pool.query(
      `update subagents set ended_at = now() - interval '61 minutes' where tenant_id = $1 and id = 'sub-h0'`,
      [tenant],
    );
    const ids = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);
    assert.deepEqual(ids(await store.list(tenant, 's', 60)), ['sub-h1']);
    assert.deepEqual(ids(await store.page(tenant, { session: 's' }, 10, undefined)), ['sub-h1', 'sub-h0']);
    assert.equal((await store.find(tenant, 'sub-h0'))?.result, 'r');
  });
});
