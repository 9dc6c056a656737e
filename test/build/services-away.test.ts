/**
 * F4, F5, F6: what every operation of the OpenAPI document answers and leaves if Temporal or Postgres is away, or if
 * what it names does not exist.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Api } from '#api/deps.ts';
import { createServer } from '#api/server/server.ts';
import { createPool } from '#store/postgres/pool.ts';
import { connectTemporal } from '#temporal/client.ts';
import { createLostRuns } from '#temporal/lost-runs.ts';
import { type Operation, operationsOf } from '#test/support/operations.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { makeTenantObjects } from '#test/support/tenant-objects.ts';
import { createTenantRequests, type TenantRequests } from '#test/support/tenant-requests.ts';

describe('F4 F5 services that are away', () => {
  let stack: Stack;
  let requests: TenantRequests;
  let operations: readonly Operation[];
  let counting: string;
  before(async () => {
    stack = await startStack();
    counting = await countingQuery(stack);
    const ann = await stack.makeKey(['read', 'run', 'approve'], { user: 'ann' });
    requests = createTenantRequests(await makeTenantObjects(stack, ann));
    operations = operationsOf((await stack.ask('GET', '/openapi.json', { key: null })).body);
  });
  after(() => stack.stop());

  async function ask(app: Api, { id, method, path, example }: Operation, sent?: unknown) {
    const body = sent ?? requests.bodyOf(id) ?? example ?? {};
    const hasBody = method !== 'GET' && method !== 'DELETE';
    const answer = await app.inject({
      method,
      url: requests.addressOf(id, path),
      headers: {
        authorization: `Bearer ${stack.key}`,
        ...(hasBody && { 'content-type': typeof body === 'string' ? 'text/plain' : 'application/json' }),
      },
      ...(hasBody && { payload: body }),
    });
    return { status: answer.statusCode, retryAfter: answer.headers['retry-after'], text: answer.body };
  }

  async function counts(): Promise<Readonly<Record<string, number>>> {
    // Planning it takes longer than counting, so each connection does it once.
    const { rows } = await stack.pool.query<{ name: string; n: number }>({ name: 'counts', text: counting });
    return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
  }

  const streams = (one: Operation): boolean => one.id.startsWith('follow');
  const isAway = ({ status, retryAfter, text }: { status: number; retryAfter: unknown; text: string }) =>
    status === 503 && retryAfter !== undefined && JSON.parse(text).code === 'Unavailable';

  it('what names something that is not there is refused and leaves no row', async () => {
    const wrong: string[] = [];
    let tried = 0;
    for (const one of operations) {
      if (one.method === 'GET' || one.method === 'DELETE') continue;
      for (const body of withWrongNames(requests.bodyOf(one.id))) {
        tried += 1;
        const before = await counts();
        const { status, text } = await ask(stack.app, one, body);
        const remaining = difference(before, await counts());
        if (status >= 500 || (status >= 400 && remaining))
          wrong.push(`${one.id} ${JSON.stringify(body)}: ${status} ${text} ${remaining}`);
      }
    }
    assert.ok(tried > 25, String(tried));
    assert.deepEqual(wrong, []);
  });

  it('without Temporal every read is answered; a write is done, or is a 503 that says when to come again and makes nothing', async () => {
    const temporal = connectTemporal({ address: '127.0.0.1:9', namespace: 'default', taskQueue: 'q' });
    const app = await createServer({ ...stack.deps, temporal });
    const wrong: string[] = [];
    try {
      for (const one of operations.filter((each) => !streams(each) && each.scope !== undefined)) {
        if (one.method === 'DELETE') continue;
        const before = await counts();
        const answer = await ask(app, one);
        const remaining = difference(before, await counts(), OFFERED);
        const isWrong = answer.status >= 500 && (one.method === 'GET' || !isAway(answer));
        if (isWrong || (answer.status >= 400 && remaining))
          wrong.push(`${one.id}: ${answer.status} ${answer.text} ${remaining}`);
      }
      assert.deepEqual(wrong, []);
    } finally {
      await app.close();
      await temporal.close();
    }
  });

  it('a task that was made without Temporal is begun by the sweep', async () => {
    const temporal = connectTemporal({ address: '127.0.0.1:9', namespace: 'default', taskQueue: 'q' });
    const app = await createServer({ ...stack.deps, temporal });
    try {
      const made = await app.inject({
        method: 'POST',
        url: '/v1/teams/quokka/tasks',
        headers: { authorization: `Bearer ${stack.key}` },
        payload: { subject: 'Say it', description: 'Said.', assignee: 'quokka-two' },
      });
      assert.equal(made.statusCode, 201, made.body);
      const later = () => Date.now() + 600_000;
      await createLostRuns({ pool: stack.pool, reach: stack.deps.temporal, now: later }).sweep(0);
      await stack.worker.until('the end of the task', async () => {
        const { body } = await stack.ask('GET', `/v1/teams/quokka/tasks/${made.json().id}`);
        return body.status === 'completed' ? true : undefined;
      });
    } finally {
      await app.close();
      await temporal.close();
    }
  });

  it('while Temporal does not answer, every read is answered, and no transaction waits for it', async () => {
    const silent = createTcpServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const temporal = connectTemporal({ address: `127.0.0.1:${port}`, namespace: 'default', taskQueue: 'q' });
    const app = await createServer({ ...stack.deps, temporal });
    try {
      const overrides = new AbortController();
      const answers = Promise.all(
        operations
          .filter((one) => one.scope !== undefined && !streams(one))
          .map(async (one) => [one, await ask(app, one)] as const),
      ).finally(() => overrides.abort());
      const held: string[] = [];
      while (!overrides.signal.aborted) {
        const { rows } = await stack.pool.query<{ query: string }>(
          `select query from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'
             and state_change < now() - interval '5 seconds'`,
        );
        held.push(...rows.map(({ query }) => query));
        await setTimeout(200);
      }
      for (const [{ id, method }, answer] of await answers)
        assert.ok(
          answer.status < 500 || (method !== 'GET' && isAway(answer)),
          `${id}: ${answer.status} ${answer.text}`,
        );
      assert.deepEqual(held, []);
    } finally {
      await app.close();
      await temporal.close();
      silent.close();
    }
  });

  it('while Postgres only reads, what writes is a 503 that says when to come again, and so is readiness', async () => {
    const reading = createPool({
      url: `${stack.pool.options.connectionString}?options=-c%20default_transaction_read_only%3Don`,
      size: 2,
      applicationName: 'reading',
      onIdleError: () => undefined,
    });
    const app = await createServer({ ...stack.deps, pool: reading });
    try {
      const wrong: string[] = [];
      let away = 0;
      for (const one of operations.filter((each) => !streams(each) && each.scope !== undefined)) {
        const answer = await ask(app, one);
        if (isAway(answer)) away += 1;
        else if (answer.status >= 500) wrong.push(`${one.id}: ${answer.status} ${answer.text}`);
      }
      assert.deepEqual(wrong, []);
      assert.ok(away > 20, String(away));
      assert.equal((await app.inject('/readyz')).statusCode, 503);
    } finally {
      await app.close();
      await reading.end();
    }
  });

  it('without Postgres all that needs a key is a 503 that says when to come again', async () => {
    const away = createPool({
      url: 'postgres://x:x@127.0.0.1:9/x',
      size: 1,
      applicationName: 'x',
      onIdleError: () => undefined,
    });
    // Keys that were just used are known for some seconds.
    let pool = stack.pool;
    const app = await createServer({
      ...stack.deps,
      pool: new Proxy(stack.pool, {
        get(_, name) {
          const member = Reflect.get(pool, name);
          return typeof member === 'function' ? member.bind(pool) : member;
        },
      }),
    });
    try {
      const wrong: string[] = [];
      for (const one of operations.filter(({ scope }) => scope !== undefined)) {
        pool = stack.pool;
        await app.inject({ url: '/v1/retention', headers: { authorization: `Bearer ${stack.key}` } });
        pool = away;
        const answer = await ask(app, one);
        if (answer.status >= 500 && !isAway(answer)) wrong.push(`${one.id}: ${answer.status} ${answer.text}`);
      }
      assert.deepEqual(wrong, []);
    } finally {
      await app.close();
      await away.end();
    }
  });
});

/** Counts the rows of each table. */
async function countingQuery({ pool }: Stack): Promise<string> {
  const { rows } = await pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  return rows
    .map(({ name }) => `select '${name}' as name, count(*)::int as n from "${name}"`)
    .join(' union all ');
}

/** Makes one body for each text in it that may be a name, with another in its place. */
function withWrongNames(value: unknown): readonly unknown[] {
  if (typeof value === 'string') return /^[\w.:-]{2,200}$/.test(value) ? ['never-was'] : [];
  if (Array.isArray(value))
    return value.flatMap((item, at) => withWrongNames(item).map((other) => value.with(at, other)));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    withWrongNames(item).map((other) => ({ ...value, [name]: other })),
  );
}

/** Bytes that nothing names are removed by themselves, outgoing requests are noted, and what is final is recorded. */
const NOTED = ['files', 'egress_requests', 'evidence_pending', 'evidence_entries', 'evidence_heads'];

/** What was offered to Temporal stays, because Temporal may have accepted it though it did not answer. */
const OFFERED = ['messages', 'sessions', 'decision_proofs', 'team_comments', 'team_task_files'];

function difference(
  before: Readonly<Record<string, number>>,
  now: Readonly<Record<string, number>>,
  offered: readonly string[] = [],
): string {
  return Object.keys(now)
    .filter((table) => now[table] !== before[table] && ![...NOTED, ...offered].includes(table))
    .map((table) => `${table} ${(now[table] ?? 0) - (before[table] ?? 0)}`)
    .join(', ');
}
