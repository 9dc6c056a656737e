/**
 * SQL functions lock sessions before calls, and accounts of budgets last, so that two transactions never wait for each
 * other (store/postgres/transaction.ts). Each function here waits for a session that the test has locked; it must not
 * hold what is locked later.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';
import { eventually } from '#test/support/processes.ts';

/** A child that works for a parent, with an open call and a reservation. A document of its prompt is from outside. */
const ROWS = `
  insert into tenants values ('x', 'x');
  insert into agents (tenant_id, key, revision, config) values ('x', 'x', 1, '{}');
  insert into agent_revisions (tenant_id, agent_key, revision, config) values ('x', 'x', 1, '{}');
  insert into sessions (tenant_id, key, agent_key) values ('x', 'parent', 'x');
  insert into sessions (tenant_id, key, agent_key, bound_context)
    values ('x', 'child', 'x', '{"subagent":{"session":"parent"}}');
  insert into turns (tenant_id, id, session_key, agent_key, status) values ('x', 'turn', 'child', 'x', 'running');
  insert into tool_calls (tenant_id, id, session_key, turn_id, step, index, tool, called_as, summary, args, digest, verdict)
    values ('x', 'call', 'child', 'turn', 1, 0, 'read_file', 'read_file', 'x', '{}', 'x', 'allow');
  insert into documents (tenant_id, agent_key, path, revision, text, digest, outside, read)
    values ('x', 'x', 'AGENTS.md', 1, 'x', '', true, '{"web_fetch":"elsewhere"}');
  insert into budget_accounts (tenant_id, budget_id, subject, since, measure, reserved)
    values ('x', 'b', 'turn', '1970-01-01', 'calls', 1);
  insert into budget_holds values ('x', 'call', 1, 'turn', 'b', 'turn', '1970-01-01', 'calls', 1),
    ('x', 'answer', 1, 'turn', 'b', 'turn', '1970-01-01', 'calls', 1);`;

const ANSWER = JSON.stringify({
  id: 'answer',
  text: 'x',
  finish: 'calls',
  model: 'x',
  usage: {},
  readUpTo: 9,
  budget: { attempt: 1, spent: { calls: 1 } },
});
const READ = JSON.stringify([
  {
    id: 'read',
    index: 1,
    tool: 'glob',
    called_as: 'glob',
    summary: 'x',
    args: {},
    digest: 'x',
    verdict: 'allow',
    state: 'done',
  },
]);
const RESULT = ['x', 'child', 'call', 'f', true, null, 'x', null, null, null, '[]', 0, 0];
const NEXT = { attempt: 1, holder: 'next', settings: [] };

const CASES: readonly (readonly [what: string, session: string, later: string, call: readonly unknown[]])[] =
  [
    [
      'begin_step, which settles a call',
      'child',
      'tool_calls',
      ['begin_step', 'x', 'child', 'turn', 2, '[]', '[{"id":"call","ok":true,"text":"x"}]', 0, 0, 'x', 'x'],
    ],
    [
      'record_result_2, which notes for the parent what was read',
      'parent',
      'budget_accounts',
      [
        'record_result_2',
        ...RESULT,
        JSON.stringify({ settle: { attempt: 1, spent: { calls: 1 } }, next: NEXT }),
        null,
        null,
        '["x"]',
      ],
    ],
    [
      'record_result_2, which notes changed files',
      'child',
      'tool_calls',
      ['record_result_2', ...RESULT, null, null, null, '["x"]'],
    ],
    [
      'record_reads, which notes for the parent what was read',
      'parent',
      'budget_accounts',
      ['record_reads', 'x', 'child', 'turn', 1, ANSWER, READ, '[]', 0, 0, JSON.stringify(NEXT)],
    ],
  ];

describe('DU-2 the order of locks', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  beforeEach(async () => {
    await database.pool.query(
      'truncate tenants, agents, sessions, turns, tool_calls, documents, budget_accounts, budget_holds cascade',
    );
    await database.pool.query(ROWS);
  });
  after(() => database.drop());

  for (const [what, session, later, [name, ...args]] of CASES)
    it(`of ${what}: it has no row of ${later} while it waits for a session`, async () => {
      const first = await database.pool.connect();
      const second = await database.pool.connect();
      try {
        await first.query('begin');
        await first.query(`select from sessions where tenant_id = 'x' and key = $1 for update`, [session]);
        const { rows } = await second.query<{ pid: number }>('select pg_backend_pid() as pid');
        const places = args.map((_, index) => `$${index + 1}`).join(', ');
        const done = second.query(`select ${String(name)}(${places}) as result`, args as unknown[]);
        const waits = await eventually(async () => {
          const found = await database.pool.query<{ n: number }>(
            `select count(*)::int as n from pg_stat_activity where pid = $1 and wait_event_type = 'Lock'`,
            [rows[0]?.pid],
          );
          return found.rows[0]?.n === 1;
        });
        assert.ok(waits, 'it waits for the session');
        // It throws when another transaction has a row.
        await first.query(`select from ${later} where tenant_id = 'x' for update nowait`);
        await first.query('commit');
        await done;
        const { rows: accounts } = await database.pool.query<{ spent: number }>(
          'select spent::int from budget_accounts',
        );
        if (later === 'budget_accounts')
          assert.deepEqual(accounts, [{ spent: 1 }], 'the reservation is settled');
      } finally {
        first.release(true);
        second.release(true);
      }
    });
});
