/** I1, DU-4: many messages to one session while its workers die: each runs exactly once, in the order they came. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStand, type Stand } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { type Accepted, checkInvariants, untilAllEnded } from '#test/support/witness.ts';

const MESSAGES = Number(process.env['TEST_MESSAGES'] ?? 30);
const SESSION = 'queue';

describe('DU-4 a long queue while workers die', { timeout: 900_000 }, () => {
  let stand: Stand;
  const chance = createChance(seedOfRun());
  const accepted: Accepted[] = [];
  before(async () => {
    stand = await createStand({ workers: 2 });
  });
  after(() => stand?.close());

  /** Kills and restarts one worker after the other, until `isOver`. */
  async function killInTurn(isOver: () => boolean): Promise<number> {
    let kills = 0;
    for (; !isOver(); kills += 1) {
      const worker = stand.workers[kills % stand.workers.length];
      await sleep(chance.between(1_000, 4_000));
      await worker?.kill();
      await worker?.start();
    }
    return kills;
  }

  it(`${MESSAGES} staggered submits, workers killed all the while`, async (t) => {
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    const tenant = stand.tenants[0];
    let isOver = false;
    const killing = killInTurn(() => isOver);
    for (let n = 0; n < MESSAGES; n += 1) {
      const token = `${tenant.id}-queue-${String(n).padStart(4, '0')}`;
      const text = `exec ${JSON.stringify({ command: `echo ${token} >> ${stand.witnessFile}` })}`;
      const turn = await stand.say(tenant, SESSION, token, { text });
      accepted.push({ tenant, session: SESSION, turn, token });
      await sleep(chance.between(0, 30));
    }
    await untilAllEnded(stand, accepted);
    isOver = true;
    t.diagnostic(`${await killing} kills`);
    t.diagnostic(`n = ${MESSAGES}, 0 failures bound the rate at 3/n = ${(3 / MESSAGES).toFixed(3)}`);
  });

  it('each message is heard once, in the order of acceptance', async () => {
    const { rows } = await stand.pool.query<{ turn_id: string }>(
      `select turn_id from messages where session_key = $1 and role = 'user' order by position`,
      [SESSION],
    );
    assert.deepEqual(
      rows.map((row) => row.turn_id),
      accepted.map((message) => message.turn),
    );
  });

  it('effects happened in that order, each at most once', async () => {
    const effects = await stand.effects();
    assert.deepEqual(effects, [...new Set(effects)].sort());
  });

  it('the witness finds I1–I6 kept', () => checkInvariants(stand, accepted));
});
