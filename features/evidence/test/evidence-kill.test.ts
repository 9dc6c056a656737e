/** DU-11, DU-1: kill -9 of the worker while it appends to the chain. Each row is in it once, and it is green. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createStand, type Stand } from '#test/support/faults.ts';
import { untilAllEnded } from '#test/support/witness.ts';
import { verifyEvidence } from '../verify.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 1);
const POINTS = ['evidence_pending', 'evidence_entries', 'evidence_heads'] as const;

/** Statements that wait here for as long as another session has the lock, while it is armed. */
const HOLD = `
  create table held_point (point text not null);
  insert into held_point values ('none');
  create function hold_point() returns trigger language plpgsql as $$
  begin
    if (select point from held_point) = tg_argv[0] then perform pg_advisory_xact_lock(4242); end if;
    return null;
  end $$;
  create trigger hold_pending after delete on evidence_pending for each statement execute function hold_point('evidence_pending');
  create trigger hold_entries after insert on evidence_entries for each statement execute function hold_point('evidence_entries');
  create trigger hold_heads after insert or update on evidence_heads for each statement execute function hold_point('evidence_heads');`;

describe('DU-11 kill -9 of the worker that appends', { timeout: 600_000 }, () => {
  let stand: Stand;
  before(async () => {
    stand = await createStand({ workers: 1 });
    await stand.pool.query(HOLD);
  });
  after(() => stand?.close());

  it('loses no entry and writes none twice', async () => {
    const [tenant] = stand.tenants;
    for (let round = 0; round < ROUNDS; round += 1)
      for (const point of POINTS) {
        const keeper = await stand.pool.connect();
        await keeper.query('select pg_advisory_lock(4242)');
        await keeper.query('update held_point set point = $1', [point]);
        const session = `${point}-${round}`;
        const text = ['a', 'b', 'c']
          .map((name) => `write_file {"path":"${name}.md","content":"x"}`)
          .join('\nthen\n');
        const turn = await stand.say(tenant, session, session, { text });
        await untilAllEnded(stand, [{ tenant, session, turn, token: session }]);
        const waiting = `from pg_stat_activity where wait_event_type = 'Lock' and wait_event = 'advisory' and query like '%evidence_%'`;
        await stand.until(`a statement at ${point}`, async () =>
          (await keeper.query(`select 1 ${waiting}`)).rowCount ? true : undefined,
        );
        await stand.workers[0]?.kill();
        await keeper.query(`update held_point set point = 'none'`);
        // A statement of a client that is gone would still run.
        await keeper.query(`select pg_terminate_backend(pid) ${waiting}`);
        await keeper.query('select pg_advisory_unlock(4242)');
        keeper.release();
        await stand.workers[0]?.start();
      }
    const verdict = await stand.until('the chain to have all', async () => {
      const headers = { authorization: `Bearer ${tenant.key}` };
      const state = await fetch(`${stand.apiUrl}/v1/evidence`, { headers });
      if (((await state.json()) as { readonly waiting: number }).waiting > 0) return undefined;
      const answer = await fetch(`${stand.apiUrl}/v1/evidence/export`, { headers });
      return verifyEvidence((await answer.text()).split('\n'));
    });
    assert.deepEqual(verdict.fault, null);
    const { rows } = await stand.pool.query(
      `select (select count(*)::int from tool_calls where tenant_id = $1) as calls,
         (select count(*)::int from evidence_entries where tenant_id = $1 and kind = 'call') as entries`,
      [tenant.id],
    );
    assert.deepEqual(rows[0], { calls: 9 * ROUNDS, entries: 9 * ROUNDS });
  });
});
