/**
 * DU-1: messages that come while no worker is there, some of them twice. What is accepted waits with Temporal and runs
 * once. What only a worker can answer is refused with the time to retry.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { type Accepted, checkInvariants, untilAllEnded } from '#test/support/witness.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 1);
const SESSIONS = 4;
/** For each session in each round: n is the product of the three. */
const MESSAGES = 3;

describe('DU-1 messages while no worker is there', { timeout: 600_000 }, () => {
  let stand: Stand;
  const chance = createChance(seedOfRun());
  const accepted: Accepted[] = [];
  before(async () => {
    stand = await createStand({ workers: 1 });
  });
  after(() => stand?.close());

  function send(tenant: Tenant, session: string, token: string, mode: string) {
    const command = `echo ${token} >> ${stand.witnessFile}`;
    const body = { text: `exec ${JSON.stringify({ command })}`, mode };
    const path = `/v1/sessions/${session}/messages`;
    return stand.ask(tenant, 'POST', path, { body, idempotencyKey: token });
  }

  async function sayTwice(tenant: Tenant, session: string, n: number): Promise<void> {
    const token = `${session}-${n}`;
    const mode = n > 0 && chance.between(0, 3) === 0 ? 'interrupt' : 'queue';
    const [first, again] = await Promise.all([
      send(tenant, session, token, mode),
      chance.between(0, 1) === 0 ? send(tenant, session, token, mode) : undefined,
    ]);
    assert.equal(first?.status, 202, JSON.stringify(first?.body));
    const turn = String(first.body['turn_id']);
    // The second one may also get the answer that the first is still running.
    if (again?.status === 202) assert.equal(again.body['turn_id'], turn);
    accepted.push({ tenant, session, turn, token });
  }

  it(`${ROUNDS} rounds of ${SESSIONS} sessions with ${MESSAGES} messages: 202, and each runs when a worker comes`, async (t) => {
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    for (let round = 0; round < ROUNDS; round += 1) {
      await stand.workers[0]?.kill();
      const sessions = Array.from({ length: SESSIONS }, (_, n) => {
        const tenant = stand.tenants[n % 2] as Tenant;
        return { tenant, session: `${tenant.id}-absent-${round}-${n}` };
      });
      const sent = sessions.map(async ({ tenant, session }) => {
        for (let n = 0; n < MESSAGES; n += 1) await sayTwice(tenant, session, n);
      });
      await Promise.all(sent);
      await stand.workers[0]?.start();
      await untilAllEnded(stand, accepted);
    }
    t.diagnostic(`n = ${accepted.length}`);
  });

  it('each effect has happened once', async () => {
    const effects = await stand.effects();
    assert.deepEqual(effects.toSorted(), accepted.map(({ token }) => token).toSorted());
  });

  it('steer, collect and reject are 503 with Retry-After', async () => {
    await stand.workers[0]?.kill();
    const [tenant] = stand.tenants;
    const replies = ['steer', 'collect', 'reject'].map((mode) =>
      send(tenant, `red-refused-${mode}`, `refused-${mode}`, mode),
    );
    for (const reply of await Promise.all(replies)) {
      assert.equal(reply?.status, 503, JSON.stringify(reply?.body));
      assert.ok(reply.headers.get('retry-after'));
    }
    await stand.workers[0]?.start();
  });

  it('the witness finds I1–I6 kept', () => checkInvariants(stand, accepted));
});
