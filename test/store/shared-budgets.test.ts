/** DU-7, DU-12: a budget that many sessions share is exact, although their steps do not wait for each other. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Budget } from '#domain/schema/budget.ts';
import { type BudgetLedger, createBudgetLedger } from '#store/budgets/budget-ledger.ts';
import { changeBudget, listAccounts } from '#store/budgets/budget-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { type Chance, createChance, seedOfRun } from '#test/support/seeded.ts';
import { createBudgetTenants } from '#test/support/budget-tenants.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

/** More than an account has shards, so that several sessions use each. */
const SESSIONS = 20;

describe('DU-7 DU-12 budgets that many sessions share', () => {
  let database: TestDatabase;
  let pool: Pool;
  let ledger: BudgetLedger;
  before(async () => {
    database = await createTestDatabase();
    pool = database.pool;
    ledger = createBudgetLedger(pool, () => undefined);
  });
  after(() => database.drop());

  const { newTenant, newSession } = createBudgetTenants(() => pool);

  async function tenantOf(...budgets: Budget[]): Promise<string> {
    const tenant = await newTenant(...budgets);
    for (let n = 0; n < SESSIONS; n += 1) await newSession(tenant, `s${n}`);
    return tenant;
  }

  /** Reserves exactly so many tokens; false when the budget has no room. */
  async function reserve(tenant: string, n: number, holder: string, tokens: number): Promise<boolean> {
    const turn = `turn_s${n}`;
    const work = { tenant, session: `s${n}`, turn, owner: turn, holder, expected: { tokens } };
    const hold = await ledger.reserve(work, { attempt: 1, reserve: { tokens: 1 }, exact: true });
    return hold?.held ?? false;
  }

  const settle = (tenant: string, holder: string, tokens: number): Promise<void> =>
    ledger.settle(tenant, holder, { attempt: 1, spent: { tokens, seconds: 0, calls: 1 } });

  /** Spent and reserved of the tenant's account, as its admins read it. */
  async function used(tenant: string): Promise<{ readonly spent: number; readonly reserved: number }> {
    const [account, ...others] = await listAccounts(forTenant(pool, tenant), { subject: '' }, null, 10);
    assert.deepEqual(others, [], 'the tenant has one account');
    return account ?? { spent: 0, reserved: 0 };
  }

  const chanceOf = (t: { diagnostic(text: string): void }): Chance => {
    const chance = createChance(seedOfRun());
    t.diagnostic(`TEST_SEED=${chance.seed}`);
    return chance;
  };

  it('refuse one call after the other exactly when the whole account has no room, whatever was spent, held or changed', async (t) => {
    const chance = chanceOf(t);
    let limit = 2_000;
    const tenant = await tenantOf({ scope: 'tenant', tokens: limit });
    const { rows } = await pool.query<{ id: string }>('select id from budgets where tenant_id = $1', [
      tenant,
    ]);
    const { id } = rows[0] ?? assert.fail();
    const open = new Map<string, number>();
    let spent = 0;
    const reserved = (): number => [...open.values()].reduce((sum, tokens) => sum + tokens, 0);
    let held = 0;
    for (let n = 0; n < 400; n += 1) {
      const [oldest] = open;
      const what = chance.between(1, 20);
      if (what === 1) {
        limit = chance.between(1, 20) * 200;
        await changeBudget(forTenant(pool, tenant), id, { scope: 'tenant', tokens: limit });
      } else if (what <= 10 && oldest) {
        const [holder, tokens] = oldest;
        // Many cost less than they reserved, and some a multiple of it.
        const cost =
          chance.between(0, 3) === 0 ? tokens * chance.between(1, 4) : chance.between(0, tokens) / 4;
        await settle(tenant, holder, cost);
        open.delete(holder);
        spent += cost;
        // A budget that is used up shows little, so some periods begin with room.
        if (spent > limit)
          await changeBudget(forTenant(pool, tenant), id, { scope: 'tenant', tokens: (limit += 500) });
      } else {
        const tokens = chance.between(1, 120);
        const hasRoom = spent + reserved() + tokens <= limit;
        const isHeld = await reserve(tenant, chance.between(0, SESSIONS - 1), `call-${n}`, tokens);
        assert.equal(isHeld, hasRoom, `call ${n}: ${tokens} beside ${spent} + ${reserved()} of ${limit}`);
        if (isHeld) open.set(`call-${n}`, tokens);
        held += isHeld ? 1 : 0;
      }
    }
    assert.ok(held > 20, String(held));
    assert.deepEqual(await used(tenant), { ...(await used(tenant)), spent, reserved: reserved() });
  });

  it('lose what a call of one session costs beyond its reserve for all sessions', async () => {
    const tenant = await tenantOf({ scope: 'tenant', tokens: 1_000 });
    const held: boolean[] = [];
    for (let n = 0; n < SESSIONS; n += 1) {
      held.push(await reserve(tenant, n, `call-${n}`, 10));
      if (held.at(-1)) await settle(tenant, `call-${n}`, 300);
    }
    assert.equal(held.indexOf(false), 4);
    assert.deepEqual([held.lastIndexOf(true), (await used(tenant)).spent], [3, 1_200]);
  });

  it('are never exceeded by many at once, use every reservation once, and give all their room', async (t) => {
    const chance = chanceOf(t);
    const limit = 3_000;
    const tenant = await tenantOf(
      { scope: 'tenant', tokens: limit },
      { scope: 'agent', tokens: 1_000_000 },
      { scope: 'session', tokens: 1_000_000 },
    );
    let spent = 0;
    let refused = 0;
    const live = async (n: number): Promise<void> => {
      for (let step = 1; step <= 12; step += 1) {
        const holder = `s${n}.${step}`;
        const tokens = chance.between(1, 60);
        if (!(await reserve(tenant, n, holder, tokens))) {
          refused += 1;
          continue;
        }
        const { spent: known, reserved } = await used(tenant);
        assert.ok(known + reserved <= limit, `${known} + ${reserved} of ${limit}`);
        const cost = chance.between(0, tokens);
        // It is settled once, however often and by whomever.
        await Promise.all([1, 2, 3].map(() => settle(tenant, holder, cost)));
        spent += cost;
      }
    };
    await Promise.all(Array.from({ length: SESSIONS }, (_, n) => live(n)));
    assert.ok(refused > 0, 'the limit was reached');
    assert.deepEqual(await used(tenant), { ...(await used(tenant)), spent, reserved: 0 });
    // What remains is available to the last token, from whichever shard, and not one more.
    for (let remaining = limit - spent, n = 0; remaining > 0; n += 1) {
      const tokens = Math.min(remaining, 7);
      assert.equal(await reserve(tenant, n % SESSIONS, `over-${n}`, remaining + 1), false);
      assert.equal(
        await reserve(tenant, n % SESSIONS, `last-${n}`, tokens),
        true,
        `${tokens} of ${remaining}`,
      );
      remaining -= tokens;
    }
    assert.equal(await reserve(tenant, 0, 'none', 1), false);
  });

  it('give the last places to exactly as many as there are, without a deadlock over several budgets', async () => {
    const tenant = await tenantOf(
      { scope: 'tenant', calls: 30, tokens: 500 },
      { scope: 'agent', subject: 'main', calls: 40 },
      { scope: 'tenant', calls: 1_000, period: 'day' },
    );
    const all = Array.from({ length: 60 }, (_, n) => reserve(tenant, n % SESSIONS, `call-${n}`, 10));
    assert.equal((await Promise.all(all)).filter((isHeld) => isHeld).length, 30);
  });
});
