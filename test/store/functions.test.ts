/**
 * The SQL functions and their callers use existing names. Postgres checks the bodies of SQL functions when they are
 * made, and of PL/pgSQL ones only at each statement that runs. Each is therefore also called, with rows to be found.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import type { PoolClient } from 'pg';
import { SQL_FUNCTIONS } from '#store/postgres/sql-call.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

const FOLDER = 'store/functions';

interface FunctionRow {
  readonly name: string;
  readonly types: readonly string[];
}

/** Rows that are all called x. */
const ROWS = `
  insert into tenants values ('x', 'x');
  insert into agents (tenant_id, key, revision, config) values ('x', 'x', 1, '{"budgets":[{"scope":"agent","calls":9}]}');
  insert into sessions (tenant_id, key, agent_key, user_id, used) values ('x', 'x', 'x', 'x', '{"y":{"call":"x","at":1}}');
  insert into turns (tenant_id, id, session_key, agent_key, status) values ('x', 'x', 'x', 'x', 'running');
  insert into messages (tenant_id, id, session_key, role, text) values ('x', 'x', 'x', 'user', 'x');
  insert into approvals (tenant_id, id, call_id, session_key, turn_id, agent_key, tool, args, summary, digest, always, status, expires_at)
    values ('x', 'x', 'x', 'x', 'x', 'x', 'x', '{}', 'x', 'x', '{}', 'approved', now());
  insert into tool_calls (tenant_id, id, session_key, turn_id, step, index, tool, called_as, summary, args, digest, verdict, approval_id)
    values ('x', 'x', 'x', 'x', 1, 0, 'x', 'x', 'x', '{}', 'x', 'ask', 'x');
  insert into budget_accounts (tenant_id, budget_id, subject, since, measure) values ('x', 'x', 'x', now(), 'calls');
  insert into budget_holds values ('x', 'x', 1, 'x', 'x', 'x', now(), 'calls', 1);`;

const ANSWER = JSON.stringify({
  id: 'y',
  text: 'x',
  finish: 'stop',
  model: 'x',
  usage: {},
  heard: 9,
  uses: [{ kind: 'failed', model: 'x', usage: {} }],
  budget: { attempt: 1, spent: { calls: 1 } },
});
const CALLS = JSON.stringify([
  {
    id: 'y',
    index: 0,
    tool: 'x',
    called_as: 'x',
    summary: 'x',
    args: {},
    digest: 'x',
    verdict: 'ask',
    state: 'done',
  },
]);
const APPROVALS = JSON.stringify([
  { id: 'y', call_id: 'y', tool: 'x', args: {}, summary: 'x', digest: 'x', always: {}, expires: 1 },
]);
const BUDGET = '{"attempt":2,"holder":"y","reserve":{"calls":1}}';

/** Arguments for functions for which a type's samples alone are not enough. */
const CASES: Readonly<Record<string, readonly unknown[]>> = {
  begin_step: ['x', 'x', 'x', 1, '[{"id":"x"}]', '[{"id":"x","ok":true}]', 0, 0, 'x', 'x', BUDGET],
  record_answer: ['x', 'x', 'x', 1, ANSWER, CALLS, APPROVALS, '[{"type":"approval.requested"}]'],
  record_reads: ['x', 'x', 'x', 1, ANSWER, CALLS, '[]', 0, 0, BUDGET],
  record_result_2: [
    'x',
    'x',
    'x',
    'x',
    true,
    null,
    'x',
    'x',
    'x',
    null,
    '[]',
    0,
    0,
    `{"next":${BUDGET}}`,
    '[]',
    '{"z":"x"}',
    '["x"]',
  ],
};

/** What a caller may do wrong: SQLSTATE's class of syntax, names, types and ambiguity. */
const IS_WRONG = /^42/;

/** Why it failed, if it did; the call is rolled back. */
async function tryOut(
  client: PoolClient,
  { name, types }: FunctionRow,
  values: readonly unknown[],
): Promise<{ readonly code: string; readonly message: string } | undefined> {
  const marks = types.map((type, index) => `$${index + 1}::${type}`).join(', ');
  await client.query('begin');
  try {
    await client.query(`select ${name}(${marks})`, [...values]);
  } catch (error) {
    return error as { code: string; message: string };
  } finally {
    await client.query('rollback');
  }
  return undefined;
}

/** Those that their migrations create; tests of the features call them. */
function ownFunctionsOfFeatures(): ReadonlySet<string> {
  const texts = globSync('features/*/migrations/*.sql').map((file) => readFileSync(file, 'utf8'));
  return new Set(
    texts.flatMap((text) => [...text.matchAll(/^create function (\w+)/gm)].map(([, name = '']) => name)),
  );
}

describe('DU-5 SQL functions', () => {
  let database: TestDatabase;
  let functions: readonly FunctionRow[];
  before(async () => {
    database = await createTestDatabase();
    await database.pool.query(ROWS);
    const { rows } = await database.pool.query<FunctionRow>(
      `select proname as name, array(select format_type(t, null) from unnest(proargtypes) t) as types from pg_proc
       where pronamespace = 'public'::regnamespace and prorettype <> 'trigger'::regtype
         and not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e') order by 1`,
    );
    const own = ownFunctionsOfFeatures();
    functions = rows.filter(({ name }) => !own.has(name));
  });
  after(() => database.drop());

  it('stand one a file, with bodies that Postgres takes', async () => {
    const files = await readdir(FOLDER);
    assert.deepEqual(
      files.toSorted(),
      functions.map(({ name }) => `${name}.sql`),
    );
    for (const file of files) {
      const text = await readFile(`${FOLDER}/${file}`, 'utf8');
      await database.pool.query(text.replace('create function', 'create or replace function'));
    }
  });

  it('take what TypeScript gives them', () => {
    const types = new Map(functions.map((one) => [one.name, one.types.join(',')]));
    assert.deepEqual(
      Object.keys(SQL_FUNCTIONS).map((name) => [name, types.get(name)]),
      Object.entries(SQL_FUNCTIONS),
    );
  });

  it('run: no statement on their way names what is not there', async () => {
    const samples: Readonly<Record<string, readonly unknown[]>> = {
      text: ['x'],
      integer: [1],
      bigint: [0],
      boolean: [false, true],
      jsonb: ['[]', '{}', '[{"id":"x","messages":[]}]', '{"attempt":1,"holder":"x"}', null],
    };
    const client = await database.pool.connect();
    try {
      for (const { name, types } of functions) {
        const rounds = Math.max(1, ...types.map((type) => samples[type]?.length ?? 1));
        const sets = Array.from({ length: rounds }, (_, round) =>
          types.map((type) => (samples[type] ?? [null]).at(round % (samples[type]?.length ?? 1))),
        );
        const exact = CASES[name];
        for (const values of sets) {
          const failed = await tryOut(client, { name, types }, values);
          assert.doesNotMatch(failed?.code ?? '', IS_WRONG, `${name}: ${failed?.message}`);
        }
        if (exact) assert.equal(await tryOut(client, { name, types }, exact), undefined, name);
      }
    } finally {
      client.release();
    }
  });
});
