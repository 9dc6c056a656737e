/** Tenants with budgets, agents and running turns as rows, for tests of what counts for whom. */
import assert from 'node:assert/strict';
import { createBudget } from '#store/budgets/budget-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { Budget } from '#domain/schema/budget.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

export interface BudgetTenants {
  /** A tenant with an agent `main`. */
  newTenant(...budgets: Budget[]): Promise<string>;
  newAgent(tenant: string, key: string, config?: object): Promise<void>;
  /** A session whose turn `turn_KEY` runs. */
  newSession(tenant: string, key: string, agent?: string, root?: object | null): Promise<void>;
}

/** `pool` returns the database once it exists. */
export function createBudgetTenants(pool: () => Pool): BudgetTenants {
  let made = 0;
  async function newAgent(tenant: string, key: string, config: object = {}): Promise<void> {
    await pool().query('insert into agents values ($1, $2, 1, $3)', [tenant, key, JSON.stringify(config)]);
  }
  return {
    newAgent,
    async newTenant(...budgets) {
      const tenant = `t${(made += 1)}`;
      await pool().query('insert into tenants values ($1, $1)', [tenant]);
      await newAgent(tenant, 'main');
      for (const budget of budgets)
        assert.equal(typeof (await createBudget(forTenant(pool(), tenant), budget, 'test')), 'object');
      return tenant;
    },
    async newSession(tenant, key, agent = 'main', root = null) {
      await pool().query(
        'insert into sessions (tenant_id, key, agent_key, budget_root) values ($1, $2, $3, $4)',
        [tenant, key, agent, root && JSON.stringify(root)],
      );
      await pool().query(
        `insert into turns (tenant_id, id, session_key, agent_key, status) values ($1, 'turn_' || $2, $2, $3, 'running')`,
        [tenant, key, agent],
      );
    },
  };
}
