/** DU-5: workers are ended in order, one after the other, while commands run and follow each other on them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { type Accepted, untilAllEnded } from '#test/support/witness.ts';

const STOPS = Number(process.env['TEST_STOPS'] ?? 6);
const TURNS = 12;
/** Enough that some run at each stop. */
const COMMANDS = 12;

describe('DU-5 a worker that is asked to end', { timeout: 300_000 }, () => {
  let stand: Stand;
  const chance = createChance(seedOfRun());
  before(async () => {
    stand = await createStand({ workers: 2 });
  });
  after(() => stand?.close());

  async function begin(n: number): Promise<Accepted> {
    const tenant = stand.tenants[0] as Tenant;
    const token = `stop-${n}`;
    const commands = Array.from({ length: COMMANDS }, (_, place) =>
      JSON.stringify({
        command: `sleep 0.${chance.between(2, 6)}; echo ${token}-${place} >> ${stand.witnessFile}`,
      }),
    );
    const text = commands.map((command) => `exec ${command}`).join('\nthen\n');
    const turn = await stand.say(tenant, token, token, { text, agent: 'main' });
    return { tenant, session: token, turn, token };
  }

  it('leaves no call without a known end, wherever its turns are', async (t) => {
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    const turns = await Promise.all(Array.from({ length: TURNS }, (_, n) => begin(n)));
    for (let stop = 0; stop < STOPS; stop += 1) {
      await sleep(chance.between(600, 1_200));
      const worker = stand.workers[stop % 2] ?? assert.fail();
      await worker.stop();
      await worker.start();
    }
    await untilAllEnded(stand, turns);
    const { rows } = await stand.pool.query<{ ok: boolean; result: string }>(
      `select distinct ok, result from tool_calls`,
    );
    assert.deepEqual(rows, [{ ok: true, result: '(command completed with no output)' }]);
    const { rows: calls } = await stand.pool.query<{ id: string }>('select id from tool_calls');
    assert.equal(calls.length, TURNS * COMMANDS);
  });
});
