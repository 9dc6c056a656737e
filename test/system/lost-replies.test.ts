/**
 * F5: Postgres and Temporal do what is requested, and the answer is lost on its way to the worker or the API, again and
 * again while turns run. Nothing may treat what is done as not done.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { type Accepted, checkInvariants, untilAllEnded } from '#test/support/witness.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 1);
/** More than requested, for turns so quick that a round meets few of its losses. */
const MAX_ROUNDS = ROUNDS + 9;
const TURNS = 8;
/** Losses that are tried in each round, over some ten seconds. */
const LOSSES = 30;
/** Losses in all rounds; fewer would mean that the fault did not happen. */
const MIN_LOST = 20;

describe('F5 replies that are lost after the commit', { timeout: 600_000 }, () => {
  let stand: Stand;
  const chance = createChance(seedOfRun());
  const accepted: Accepted[] = [];
  before(async () => {
    stand = await createStand({ workers: 2, lossy: true });
  });
  after(() => stand?.close());

  async function say(token: string, n: number): Promise<void> {
    const tenant = stand.tenants[n % 2] as Tenant;
    const id = `${tenant.id}-${token}`;
    const steps = [
      ...Array.from({ length: 6 }, (_, zone) => `datetime {"timezone":"Etc/GMT+${zone}"}`),
      `exec ${JSON.stringify({ command: `echo ${id} >> ${stand.witnessFile}` })}`,
      'wait {"timeMs":200,"reason":"tea"}',
      `write_file {"path":"${id}.txt","content":"kept"}`,
    ];
    const turn = await stand.say(tenant, id, id, { text: steps.join('\nthen\n') });
    accepted.push({ tenant, session: id, turn, token: id });
  }

  async function loseReplies(): Promise<void> {
    const [postgres, temporal] = stand.proxies;
    for (let n = 0; n < LOSSES; n += 1) {
      postgres?.lose(1);
      if (n % 5 === 0) temporal?.lose(1);
      await sleep(chance.between(100, 500));
    }
    postgres?.lose(0);
    temporal?.lose(0);
  }

  const lost = () => stand.proxies.map((proxy) => proxy.lost());

  function lostEnough(): boolean {
    const [postgres = 0, temporal = 0] = lost();
    return postgres >= MIN_LOST && temporal > 0;
  }

  it(`${ROUNDS} rounds of ${TURNS} turns: all that was accepted ends`, async (t) => {
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    for (let round = 0; round < ROUNDS || !lostEnough(); round += 1) {
      assert.ok(round < MAX_ROUNDS, `few replies were lost: ${lost().join(' and ')}`);
      const losing = loseReplies();
      await Promise.all(Array.from({ length: TURNS }, (_, n) => say(`lost-${round}-${n}`, n)));
      await losing;
      await untilAllEnded(stand, accepted);
    }
    const [postgres, temporal] = lost();
    const n = accepted.length;
    t.diagnostic(`n = ${n} turns; replies lost: ${postgres} of Postgres, ${temporal} of Temporal`);
  });

  it('all turns completed, each step recorded once', async () => {
    const { rows } = await stand.pool.query<{
      status: string;
      steps: number;
      answers: number;
      error: unknown;
    }>(
      `select status, steps, error, (select count(*)::int from messages m
         where m.tenant_id = t.tenant_id and m.turn_id = t.id and m.role = 'assistant') as answers from turns t`,
    );
    assert.equal(rows.length, accepted.length);
    for (const row of rows)
      assert.deepEqual(row, { status: 'completed', steps: 10, answers: 10, error: null });
  });

  it('the witness finds I1–I6 kept', () => checkInvariants(stand, accepted));
});
