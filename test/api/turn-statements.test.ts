/** A turn's database queries cost the same however many turns there were before it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';
import { createTestDatabase } from '#test/support/test-database.ts';

/** Tables that grow with turns, and the columns that distinguish their rows. */
const TABLES = {
  sessions: ['key'],
  turns: ['id', 'session_key'],
  messages: ['id', 'session_key', 'turn_id'],
  tool_calls: ['id', 'session_key', 'turn_id', 'approval_id'],
  approvals: ['id', 'session_key', 'turn_id', 'call_id'],
  events: ['session_key', 'turn_id'],
};
/** Copies of each row. */
const COPIES = 1_000;

describe('IN-1 what a turn reads', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.stop());

  async function say(session: string, text: string, mode?: 'steer'): Promise<string> {
    const { status, body } = await stack.ask('POST', `/v1/sessions/${session}/messages`, {
      body: { text, mode },
    });
    assert.equal(status, 202);
    return body.turn_id;
  }

  async function haveTurns(session: string): Promise<void> {
    const { worker } = stack;
    const calls = ['read_file {"path":"a"}', `poke {"note":"${session}"}`, 'nudge {"note":"b"}'];
    const first = await say(session, calls.join('\nthen\n'));
    const approval = await worker.approvalOf(session);
    await say(session, 'Do nothing.', 'steer');
    await worker.until('the decision', async () => {
      const { status } = await stack.ask('POST', `/v1/approvals/${approval}/decision`, {
        body: { decision: 'approve' },
      });
      return status === 200 ? status : undefined;
    });
    assert.equal((await worker.ended(first)).status, 'completed');
    assert.equal((await worker.ended(await say(session, 'Only answer.'))).status, 'completed');
  }

  async function copyRows(): Promise<void> {
    for (const [table, columns] of Object.entries(TABLES)) {
      const changed = columns.map((column) => `'${column}', r.${column} || '-' || n`);
      await stack.pool.query(
        `insert into ${table} select (jsonb_populate_record(r, jsonb_build_object(${changed.join(', ')}))).*
         from ${table} r, generate_series(1, ${COPIES}) n`,
      );
    }
    await stack.pool.query('analyze');
  }

  /** Connections report at their end what they have read; this one has read nothing of a turn. */
  async function endConnections(): Promise<void> {
    const { pool, drop } = await createTestDatabase(String(stack.pool.options.connectionString));
    try {
      await pool.query(
        `select pg_terminate_backend(pid, 5000) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()`,
      );
    } finally {
      await drop();
    }
  }

  it('are a few rows of tables that have many', async () => {
    await haveTurns('first');
    await copyRows();
    await endConnections();
    await stack.pool.query('select pg_stat_reset()');
    await haveTurns('second');
    await endConnections();
    const { rows } = await stack.pool.query<{ name: string; read: number }>(
      `select relname as name, (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_user_tables
       where relname = any ($1)`,
      [Object.keys(TABLES)],
    );
    assert.equal(rows.length, Object.keys(TABLES).length);
    assert.ok(rows.some(({ name, read }) => name === 'messages' && read > 0));
    for (const { name, read } of rows) assert.ok(read < COPIES, `${name}: ${read} rows`);
  });
});
