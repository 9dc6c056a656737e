/**
 * The SQL functions and their callers name what is there. Postgres looks at the bodies of those in SQL when they are made, and of
 * those in PL/pgSQL only at each statement that runs, so each is also called, with rows to be found.
 */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { SQL_FUNCTIONS } from '#store/sql-call.ts';
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
  insert into sessions (tenant_id, key, agent_key, user_id) values ('x', 'x', 'x', 'x');
  insert into turns (tenant_id, id, session_key, agent_key, status) values ('x', 'x', 'x', 'x', 'running');
  insert into messages (tenant_id, id, session_key, role, text) values ('x', 'x', 'x', 'user', 'x');
  insert into approvals (tenant_id, id, call_id, session_key, turn_id, agent_key, tool, args, summary, digest, always, expires_at)
    values ('x', 'x', 'x', 'x', 'x', 'x', 'x', '{}', 'x', 'x', '{}', now());
  insert into tool_calls (tenant_id, id, session_key, turn_id, step, index, tool, asked_as, summary, args, digest, verdict, approval_id)
    values ('x', 'x', 'x', 'x', 1, 0, 'x', 'x', 'x', '{}', 'x', 'ask', 'x');`;

/** All that a caller may be wrong about: SQLSTATE's class of syntax, names, types and ambiguity. */
const IS_WRONG = /^42/;

describe('DU-5 SQL functions', () => {
  let database: TestDatabase;
  let functions: readonly FunctionRow[];
  before(async () => {
    database = await createTestDatabase();
    await database.pool.query(ROWS);
    const { rows } = await database.pool.query<FunctionRow>(
      `select proname as name, array(select format_type(t, null) from unnest(proargtypes) t) as types from pg_proc
       where pronamespace = 'public'::regnamespace and prorettype <> 'trigger'::regtype order by 1`,
    );
    functions = rows;
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
        for (let round = 0; round < rounds; round += 1) {
          const values = types.map((type) => {
            const some = samples[type] ?? [null];
            return some[round % some.length];
          });
          const marks = types.map((type, index) => `$${index + 1}::${type}`).join(', ');
          await client.query('begin');
          await client
            .query(`select ${name}(${marks})`, values)
            .catch((error: { code: string; message: string }) => {
              assert.doesNotMatch(error.code, IS_WRONG, `${name}: ${error.message}`);
            });
          await client.query('rollback');
        }
      }
    } finally {
      client.release();
    }
  });
});
