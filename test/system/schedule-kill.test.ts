/**
 * DU-1: kill -9 of every worker around the instants of schedules. Each starts once: none is lost while no worker is
 * there, and none starts twice when its worker dies between its row, its message and its turn.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';

/** How often the workers are killed, each time while several are due. */
const KILLS = Number(process.env['TEST_ROUNDS'] ?? 3);
const AT_ONCE = 3;
const INSTANTS = KILLS * AT_ONCE;

describe('TL cron under kill -9 of all workers', { timeout: 900_000 }, () => {
  let stand: Stand;
  const chance = createChance(seedOfRun());
  before(async () => {
    stand = await createStand({ workers: 2 });
  });
  after(() => stand?.close());

  it(`each of ${INSTANTS} instants begins one turn`, async () => {
    const tenant = stand.tenants[0] as Tenant;
    const names: string[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      // Late enough for a busy machine to make it in time.
      const at = Math.ceil(Date.now() / 1000) * 1000 + 6_000;
      for (let one = 0; one < AT_ONCE; one += 1) {
        const name = `instant-${kill}-${one}`;
        names.push(name);
        const command = `exec ${JSON.stringify({ command: `echo ${name} >> ${stand.witnessFile}` })}`;
        const schedule = { kind: 'at', at: new Date(at).toISOString() };
        const body = { name, schedule, message: `${command}\nthen\nDone ${name}.` };
        const reply = await stand.ask(tenant, 'POST', '/v1/schedules', { body });
        assert.equal(reply?.status, 201, JSON.stringify(reply?.body));
      }
      // From just before the instant until after its turn has started.
      await sleep(Math.max(0, at - Date.now() - 200 + chance.between(0, 800)));
      await Promise.all(stand.workers.map((worker) => worker.kill()));
      await Promise.all(stand.workers.map((worker) => worker.start()));
    }
    const runs = await stand.until('the end of all', async () => {
      const { rows } = await stand.pool.query<{ name: string; state: string; status: string }>(
        `select s.name, r.state, t.status from schedules s join schedule_runs r on r.schedule_id = s.id and r.tenant_id = s.tenant_id
         join turns t on t.id = r.turn_id and t.tenant_id = r.tenant_id where s.tenant_id = $1 and t.ended_at is not null`,
        [tenant.id],
      );
      return rows.length >= INSTANTS ? rows : undefined;
    });
    assert.deepEqual(runs.map(({ name }) => name).toSorted(), names.toSorted());
    const { rows: lines } = await stand.pool.query(
      `select 1 from messages where tenant_id = $1 and role = 'user' and id like 'msg_cron-%'`,
      [tenant.id],
    );
    assert.equal(lines.length, INSTANTS, 'one message each');
    const effects = await stand.effects();
    for (const name of names)
      assert.ok(effects.filter((line) => line === name).length <= 1, `${name} was done twice`);
  });
});
