/** A tenant at the limit of what it may have, and several requests for the last one at once. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

/** Requests at once, for one free place. */
const AT_ONCE = 4;

/** Each row is written some time after its statement has counted the others. */
const PAUSE = `create or replace function pause() returns trigger language plpgsql as
  'begin perform pg_sleep(0.1); return new; end'`;

interface Limit {
  readonly what: string;
  readonly table: string;
  readonly max: number;
  /** Columns that differ between the rows that fill the table, for the number `n`. */
  readonly columns: string;
  readonly ask: (n: number) => readonly [method: string, path: string, body: object];
}

const LIMITS: readonly Limit[] = [
  {
    what: 'secrets',
    table: 'secrets',
    max: 500,
    columns: `'name', 'FILL_' || n`,
    ask: (n) => ['PUT', `/v1/secrets/NEW_${n}`, { value: 'a long secret value' }],
  },
  {
    what: 'budgets',
    table: 'budgets',
    max: 200,
    columns: `'id', 'bud_fill' || n, 'subject', 'fill' || n`,
    ask: (n) => ['POST', '/v1/budgets', { scope: 'session', subject: `new${n}`, usd: 1, period: 'day' }],
  },
  {
    what: 'webhooks',
    table: 'webhooks',
    max: 100,
    columns: `'id', md5(n::text)::uuid`,
    ask: (n) => ['POST', '/v1/webhooks', { url: `https://hooks.example/${n}`, events: ['*'] }],
  },
  {
    what: 'freezes',
    table: 'freezes',
    max: 100,
    columns: `'id', md5(n::text)::uuid`,
    ask: (n) => ['POST', '/v1/freezes', { reason: `r${n}`, tools: ['exec'] }],
  },
  {
    what: 'custom tools',
    table: 'custom_tools',
    max: 500,
    columns: `'id', md5(n::text)::uuid, 'name', 'fill' || n`,
    ask: (n) => ['POST', '/v1/tools/custom', { name: `new_${n}`, command: 'echo done' }],
  },
  {
    what: 'MCP servers',
    table: 'mcp_servers',
    max: 100,
    columns: `'id', md5(n::text)::uuid, 'name', 'fill' || n, 'base', 'fill' || n`,
    ask: (n) => [
      'POST',
      '/v1/mcp/servers',
      { name: `new-${n}`, url: 'https://mcp.example/mcp', enabled: false },
    ],
  },
  {
    what: 'secure programs',
    table: 'secure_cli_binaries',
    max: 100,
    columns: `'name', 'fill' || n`,
    ask: (n) => [
      'PUT',
      `/v1/secure-clis/new-${n}`,
      { path: '/usr/bin/env', env: [{ name: 'X_TOKEN', value: 'a-long-token' }] },
    ],
  },
  {
    what: 'remote agents',
    table: 'remote_agents',
    max: 100,
    columns: `'id', md5(n::text)::uuid, 'name', 'fill' || n`,
    ask: (n) => ['PUT', `/v1/remote-agents/new_${n}`, { url: 'https://agent.example/a2a', description: 'x' }],
  },
];

describe('R10 limits of a tenant', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
    await stack.pool.query(PAUSE);
  });
  after(() => stack.stop());

  for (const { what, table, max, columns, ask } of LIMITS)
    it(`${what}: of requests at once for the last place, one gets it`, async () => {
      const { tenant, key } = await stack.makeTenant();
      const send = async (n: number): Promise<number> => {
        const [method, path, body] = ask(n);
        const { status, body: answer } = await stack.ask(method, path, { body, key });
        assert.ok(status < 300 || status === 409, `${status} ${JSON.stringify(answer)}`);
        return status;
      };
      assert.ok((await send(0)) < 300);
      await stack.pool.query(
        `insert into ${table} select r.* from ${table} t, generate_series(2, $2::int) n,
           jsonb_populate_record(t, jsonb_build_object(${columns})) r where t.tenant_id = $1`,
        [tenant, max - 1],
      );
      await stack.pool.query(
        `create trigger pause before insert on ${table} for each row execute function pause()`,
      );
      const statuses = await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => send(at + 1)));
      assert.equal(statuses.filter((status) => status < 300).length, 1, statuses.join(' '));
      const { rows } = await stack.pool.query<{ n: number }>(
        `select count(*)::int as n from ${table} where tenant_id = $1`,
        [tenant],
      );
      assert.equal(rows[0]?.n, max);
    });
});
