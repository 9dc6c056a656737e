/**
 * DU-7: kill -9 of every worker in the middle of model calls and commands. No account forgets a call or exceeds its
 * limit.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { type Accepted, checkInvariants, untilAllEnded } from '#test/support/witness.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 1);
const TURNS = 8;
/** Model calls of a turn: `exec` four times, then the answer. */
const STEPS = 5;
const LIMIT = 12;

describe('DU-7 kill -9 of all workers under budgets', { timeout: 900_000 }, () => {
  let stand: Stand;
  const chance = createChance(seedOfRun());
  const accepted: Accepted[] = [];
  before(async () => {
    stand = await createStand({
      workers: 2,
      settings: `budgets: [{ scope: tenant, calls: 100000 }, { scope: turn, calls: ${LIMIT}, on_limit: stop }]`,
    });
  });
  after(() => stand?.close());

  it(`kills ${ROUNDS} times`, async (t) => {
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    const exec = (command: string) => `exec ${JSON.stringify({ command })}`;
    const textOf = (token: string) =>
      [
        ...Array.from({ length: STEPS - 2 }, () => exec('sleep 0.2')),
        exec(`echo ${token} >> ${stand.witnessFile}`),
        'Done.',
      ].join('\nthen\n');
    for (let round = 0; round < ROUNDS; round += 1) {
      for (let n = 0; n < TURNS; n += 1) {
        const tenant = stand.tenants[n % 2] as Tenant;
        const token = `${tenant.id}-budget-${round}-${n}`;
        const turn = await stand.say(tenant, token, token, { text: textOf(token) });
        accepted.push({ tenant, session: token, turn, token });
      }
      await sleep(chance.between(200, 1_500));
      await Promise.all(stand.workers.map((worker) => worker.kill()));
      await Promise.all(stand.workers.map((worker) => worker.start()));
      await untilAllEnded(stand, accepted.slice(-TURNS));
    }
  });

  it('each call counts at least once, and none is held for ever', async () => {
    const { rows } = await stand.pool.query<{
      turn: string;
      spent: number;
      reserved: number;
      answers: number;
      calls: number;
    }>(
      `select a.subject as turn, a.spent::int, a.reserved::int,
         (select count(*)::int from messages m where m.tenant_id = a.tenant_id and m.turn_id = a.subject and m.role = 'assistant') as answers,
         (select count(*)::int from tool_calls c where c.tenant_id = a.tenant_id and c.turn_id = a.subject and c.started_at is not null) as calls
       from budget_accounts a where a.subject like 'turn_%'`,
    );
    assert.equal(rows.length, accepted.length);
    for (const { turn, spent, reserved, answers, calls } of rows) {
      assert.equal(reserved, 0, turn);
      assert.ok(spent >= answers + calls, `${turn}: ${spent} of ${answers} answers and ${calls} calls`);
      assert.ok(spent <= LIMIT, `${turn}: ${spent}`);
    }
    const held = await stand.pool.query('select 1 from budget_holds');
    assert.equal(held.rowCount, 0);
  });

  it('a tenant’s account is the sum of its turns', async () => {
    const { rows } = await stand.pool.query<{ tenant: number; turns: number }>(
      `select sum(spent) filter (where subject = '')::int as tenant, sum(spent) filter (where subject <> '')::int as turns
       from budget_accounts group by tenant_id`,
    );
    assert.equal(rows.length, 2);
    for (const { tenant, turns } of rows) assert.equal(tenant, turns);
  });

  it('the witness finds I1–I6 kept', async () => {
    await checkInvariants(stand, accepted);
  });
});
