/** Observes the statements that a process sends to Postgres through a pool, for the rest of a test. */
import type { TestContext } from 'node:test';
import type { Pool } from '#store/postgres/pool.ts';

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

type Query = (...args: unknown[]) => Promise<unknown>;

/**
 * Each statement has its result before `observe` sees it, and its caller has it when `observe` has resolved. Statements of
 * `pool.query` itself, which only tests send, are not observed.
 */
export function observeStatements(
  t: TestContext,
  pool: Pool,
  observe: (statement: Statement) => Promise<void> | void,
): void {
  const connect = pool.connect.bind(pool) as (...args: unknown[]) => Promise<{ query: Query }>;
  const observed = new WeakSet();
  t.mock.method(pool, 'connect', async (...args: unknown[]) => {
    const client = await connect(...args);
    if (!client || observed.has(client)) return client;
    observed.add(client);
    const query = client.query.bind(client);
    t.mock.method(client, 'query', async (...sent: unknown[]) => {
      const result = await query(...sent);
      if (sent.some((arg) => typeof arg === 'function')) return result;
      const [statement, values = []] = sent as [string | Statement, (readonly unknown[])?];
      await observe(typeof statement === 'string' ? { text: statement, values } : statement);
      return result;
    });
    return client;
  });
}
