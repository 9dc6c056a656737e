/**
 * SA-1, DE-1: the limits are exact however many request at once, count only running ones, and are separate for each
 * tenant.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { DelegationRequest, SpawnLimits } from '#domain/assignment/new-assignment.ts';
import { insertAgentLink } from '#store/assignments/agent-link-store.ts';
import { findAssignment, openAssignments, pageAssignments } from '#store/assignments/assignment-store.ts';
import { type AssignmentEnd, claimAnnouncement, endAssignment } from '#store/assignments/end-assignment.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { COMPLETED, takeDelegation, takeSubagent } from '#test/support/assignments.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

const LIMITS = { depth: 1, concurrent: 8, children: 5, iterations: 20 };
const ROOMY = { ...LIMITS, children: 1_000 };

describe('SA-1 limits', () => {
  let database: TestDatabase;
  let pool: Pool;
  before(async () => {
    database = await createTestDatabase();
    pool = database.pool;
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
  const spawn = (tenant: string, id: string, limits: SpawnLimits, session = 's') =>
    takeSubagent(pool, tenant, { session, turn: `turn_${session}` }, `sub-${id}`, {}, limits);
  const finish = (tenant: string, id: string, end: Partial<AssignmentEnd> = {}) =>
    endAssignment(forTenant(pool, tenant), id, { ...COMPLETED, ...end });
  const claim = (tenant: string, id: string) => claimAnnouncement(forTenant(pool, tenant), id, id, 2);
  const active = async (tenant: string): Promise<number> =>
    (await openAssignments(forTenant(pool, tenant))).length;

  it('of 100 spawns at once 8 get a place, never 9, whatever ends meanwhile', async () => {
    const tenant = await newTenant();
    let max = 0;
    const overrides = new AbortController();
    const watching = (async () => {
      while (!overrides.signal.aborted) max = Math.max(max, await active(tenant));
    })();
    const first = await Promise.all(Array.from({ length: 100 }, (_, n) => spawn(tenant, `a${n}`, ROOMY)));
    assert.equal(first.filter(({ kind }) => kind === 'taken').length, 8);
    assert.deepEqual(
      first.find(({ kind }) => kind === 'refused'),
      { kind: 'refused', limit: 'concurrent', have: 8, max: 8 },
    );
    const ended = first.flatMap((one) => (one.kind === 'taken' ? [one.row.id] : [])).slice(0, 3);
    const second = await Promise.all([
      ...ended.map((id) => finish(tenant, id)),
      ...Array.from({ length: 100 }, (_, n) => spawn(tenant, `b${n}`, ROOMY)),
    ]);
    assert.equal(second.length, 103);
    overrides.abort();
    await watching;
    assert.equal(max, 8);
    assert.ok((await active(tenant)) <= 8);
  });

  it('a call that runs twice takes one place, and finds the same one', async () => {
    const tenant = await newTenant();
    const twice = await Promise.all([1, 2].map(() => spawn(tenant, 'same', LIMITS)));
    assert.deepEqual(
      twice.map((one) => one.kind === 'taken' && one.row.id),
      ['sub-same', 'sub-same'],
    );
    assert.equal(await active(tenant), 1);
  });

  it('each session has 5, those that ended do not count, and another tenant has its own 8', async () => {
    const tenant = await newTenant();
    await newSession(tenant, 'other');
    for (let n = 0; n < 5; n += 1) await spawn(tenant, `c${n}`, LIMITS);
    assert.deepEqual(await spawn(tenant, 'c5', LIMITS), {
      kind: 'refused',
      limit: 'children',
      have: 5,
      max: 5,
    });
    assert.equal((await spawn(tenant, 'd0', LIMITS, 'other')).kind, 'taken');
    await finish(tenant, 'sub-c0');
    assert.equal((await spawn(tenant, 'c6', LIMITS)).kind, 'taken');
    const elsewhere = await newTenant();
    assert.equal((await spawn(elsewhere, 'e0', LIMITS)).kind, 'taken');
  });

  it('depth is looked at first, then the tenant’s number, then the session’s', async () => {
    const tenant = await newTenant({ subagent: { depth: 1, leaf: true } });
    const full = { ...LIMITS, concurrent: 0, children: 0 };
    assert.deepEqual(await spawn(tenant, 'deep', full), {
      kind: 'refused',
      limit: 'depth',
      have: 1,
      max: 1,
    });
    const flat = await newTenant();
    assert.deepEqual(await spawn(flat, 'wide', full), {
      kind: 'refused',
      limit: 'concurrent',
      have: 0,
      max: 0,
    });
  });

  it('a replacement takes over the place and the depth in the commit that ends the old one', async () => {
    const tenant = await newTenant();
    for (let n = 0; n < 5; n += 1) await spawn(tenant, `f${n}`, LIMITS);
    const next = { id: 'sub-next', label: 'f0 (steered)', task: 'y' };
    const finished = await finish(tenant, 'sub-f0', { status: 'cancelled', next });
    assert.deepEqual([finished?.next?.id, finished?.next?.depth, finished?.unannounced], ['sub-next', 1, 0]);
    assert.equal(await active(tenant), 5);
    assert.deepEqual(await finish(tenant, 'sub-f0'), finished, 'a repeat answers the same');
  });

  it('what was finished is told once, with all that nobody has told yet, to each place its own', async () => {
    const tenant = await newTenant();
    for (const id of ['g0', 'g1', 'g2']) {
      await spawn(tenant, id, LIMITS);
      await finish(tenant, `sub-${id}`);
    }
    const claims = await Promise.all(['g0', 'g1', 'g2'].map((id) => claim(tenant, `sub-${id}`)));
    const messages = claims.flatMap((claim) => claim?.rows.map(({ id }) => id) ?? []);
    assert.deepEqual(messages.toSorted(), ['sub-g0', 'sub-g1', 'sub-g2']);
    const by = claims.findIndex((claim) => claim !== undefined);
    assert.deepEqual(await claim(tenant, `sub-g${by}`), claims[by], 'a repeat gets the same');
  });

  it('one that ended longer ago than the archive’s time leaves the list and stays in the history', async () => {
    const tenant = await newTenant();
    for (const id of ['h0', 'h1']) await spawn(tenant, id, LIMITS);
    await finish(tenant, 'sub-h0');
    await pool.query(
      `update assignments set ended_at = now() - interval '61 minutes' where tenant_id = $1 and id = 'sub-h0'`,
      [tenant],
    );
    const own = { kind: 'subagent', session: 's' } as const;
    const ids = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);
    assert.deepEqual(ids(await pageAssignments(forTenant(pool, tenant), { ...own, withinMinutes: 60 }, 10)), [
      'sub-h1',
    ]);
    assert.deepEqual(ids(await pageAssignments(forTenant(pool, tenant), own, 10)), ['sub-h1', 'sub-h0']);
    assert.equal((await findAssignment(forTenant(pool, tenant), 'sub-h0'))?.result, 'r');
  });
});

const AT_ONCE = 50;

describe('DE-1 limits', () => {
  let database: TestDatabase;
  let pool: Pool;
  before(async () => {
    database = await createTestDatabase();
    pool = database.pool;
  });
  after(() => database.drop());

  let made = 0;
  /** A tenant with two agents that are linked to a third, and a running turn of each. */
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
      await insertAgentLink(forTenant(pool, tenant), { ...link, ...more }, 'test');
    }
    return tenant;
  }
  const work = (n: number, source = 'lead', load = 1_000): DelegationRequest => ({
    id: `del-${source}-${n}`,
    link: `lnk-${source}`,
    target: 'target',
    load,
    label: `${n}`,
    task: 'x',
    mode: 'async',
    timeout_seconds: 60,
    gates: [],
    linked_task: undefined,
  });
  const take = (tenant: string, n: number) => takeDelegation(pool, tenant, 'lead', work(n));
  const finish = (tenant: string, n: number, end: Partial<AssignmentEnd> = {}) =>
    endAssignment(forTenant(pool, tenant), work(n).id, { ...COMPLETED, ...end });
  const isImmediate = (tenant: string, makeWork: (n: number) => DelegationRequest, sources = ['lead']) =>
    Promise.all(
      Array.from({ length: AT_ONCE }, (_, n) =>
        takeDelegation(pool, tenant, sources[n % sources.length] ?? 'lead', makeWork(n)),
      ),
    );

  for (const round of [1, 2, 3])
    it(`of ${AT_ONCE} at once over a link for one, one gets the place (round ${round})`, async () => {
      const tenant = await newTenant(1);
      const taken = await isImmediate(tenant, (n) => work(n));
      assert.equal(taken.filter(({ kind }) => kind === 'taken').length, 1);
      assert.ok(
        taken.every(
          (one) => one.kind === 'taken' || (one.kind === 'refused' && one.limit === 'link' && one.max === 1),
        ),
      );
      assert.equal((await openAssignments(forTenant(pool, tenant))).length, 1);
    });

  it('the load of an agent counts over all its links, and each link has its own limit beside it', async () => {
    const tenant = await newTenant(3);
    const taken = await isImmediate(tenant, (n) => work(n, n % 2 === 0 ? 'lead' : 'other', 5), [
      'lead',
      'other',
    ]);
    const rows = taken.flatMap((one) => (one.kind === 'taken' ? [one.row] : []));
    assert.equal(rows.length, 5);
    for (const source of ['lead', 'other'])
      assert.ok(rows.filter(({ source_key }) => source_key === source).length <= 3);
  });

  it('the same call again has the place that it has, and an end frees it for one of those that ask', async () => {
    const tenant = await newTenant(1);
    const first = await take(tenant, 0);
    assert.equal(first.kind, 'taken');
    assert.deepEqual(await take(tenant, 0), first);
    await Promise.all([finish(tenant, 0), finish(tenant, 0, { status: 'failed' })]);
    const taken = await isImmediate(tenant, (n) => work(n + 1));
    assert.equal(taken.filter(({ kind }) => kind === 'taken').length, 1);
  });

  it('a limit of the link that is lowered holds for all that come after it, however many come at once', async () => {
    const tenant = await newTenant(3);
    assert.equal((await take(tenant, 0)).kind, 'taken');
    await pool.query('update agent_links set max_concurrent = 2 where tenant_id = $1', [tenant]);
    const taken = await isImmediate(tenant, (n) => work(n + 1));
    assert.equal(taken.filter(({ kind }) => kind === 'taken').length, 1);
    assert.equal((await openAssignments(forTenant(pool, tenant))).length, 2);
  });

  it('two that end at once are told by one message, which has both', async () => {
    const tenant = await newTenant(0);
    for (const n of [1, 2]) await take(tenant, n);
    const ids = [work(1).id, work(2).id];
    await Promise.all([1, 2].map((n) => finish(tenant, n)));
    const claims = await Promise.all(ids.map((id) => claimAnnouncement(forTenant(pool, tenant), id, id, 20)));
    const messages = claims.flatMap((claim) => (claim ? [claim.rows.map(({ id }) => id).sort()] : []));
    assert.deepEqual(messages, [ids]);
  });

  it('a link that was disabled, or whose target was deleted, gives no place any more', async () => {
    const tenant = await newTenant(0);
    await pool.query(`update agent_links set status = 'disabled' where tenant_id = $1`, [tenant]);
    assert.equal((await take(tenant, 1)).kind, 'gone');
    await pool.query(`update agent_links set status = 'active' where tenant_id = $1`, [tenant]);
    await pool.query(`update agents set deleted_at = now() where tenant_id = $1 and key = 'target'`, [
      tenant,
    ]);
    assert.equal((await take(tenant, 1)).kind, 'gone');
  });
});
