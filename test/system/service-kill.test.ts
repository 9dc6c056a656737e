/**
 * F4, F5: kill -9 of Temporal and of Postgres under running turns. Nothing accepted is lost, nothing false is accepted.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { type Accepted, checkInvariants, untilAllEnded } from '#test/support/witness.ts';
import type { Killable } from '#test/support/worker-process.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 1);
/** Turns that run when the service dies; one in three waits for a decision. */
const TURNS = 6;

for (const [fault, name] of [
  ['F4', 'temporal'],
  ['F5', 'postgres'],
] as const)
  describe(`${fault} kill -9 of ${name}`, { timeout: 900_000 }, () => {
    let stand: Stand;
    const chance = createChance(seedOfRun());
    const accepted: Accepted[] = [];
    const refusals: (number | undefined)[] = [];
    before(async () => {
      stand = await createStand({
        workers: 1,
        agents: [
          { key: 'asks', type: 'open', model: 'rehearsal/follow', exec: { security: 'full', ask: 'always' } },
        ],
      });
    });
    after(() => stand?.close());

    async function say(token: string, n: number): Promise<Accepted> {
      const tenant = stand.tenants[n % 2] as Tenant;
      const asks = n % 3 === 2;
      const command = `sleep 0.${chance.between(0, 9)}; echo ${tenant.id}-${token} >> ${stand.witnessFile}`;
      const steps = [
        ...Array.from({ length: 8 }, (_, zone) => `datetime {"timezone":"Etc/GMT+${zone}"}`),
        `exec ${JSON.stringify({ command })}`,
        ...Array.from({ length: 4 }, (_, zone) => `datetime {"timezone":"Etc/GMT-${zone}"}`),
      ];
      const text = asks ? `exec ${JSON.stringify({ command })}` : steps.join('\nthen\n');
      const id = `${tenant.id}-${token}`;
      const turn = await stand.say(tenant, id, id, { text, agent: asks ? 'asks' : 'main' });
      const message = { tenant, session: id, turn, token: id };
      accepted.push(message);
      return message;
    }

    async function decide({ tenant, turn }: Accepted): Promise<void> {
      const approval = await stand.until(`the approval of ${turn}`, async () => {
        const reply = await stand.ask(tenant, 'GET', `/v1/approvals?turn_id=${turn}`);
        const [first] = (reply?.body['data'] ?? []) as { id: string }[];
        return first?.id;
      });
      const reply = await stand.until(`the decision of ${approval}`, async () => {
        const body = { decision: 'approve' };
        const answer = await stand.ask(tenant, 'POST', `/v1/approvals/${approval}/decision`, { body });
        return answer && answer.status < 500 ? answer : undefined;
      });
      assert.equal(reply.status, 200, JSON.stringify(reply.body));
    }

    async function oneRound(round: number, service: Killable): Promise<void> {
      const running: Accepted[] = [];
      for (let n = 0; n < TURNS; n += 1) running.push(await say(`${name}-${round}-${n}`, n));
      await sleep(chance.between(0, 700));
      await service.kill();
      const tenant = stand.tenants[0];
      const refused = await stand.ask(tenant, 'POST', `/v1/sessions/away-${round}/messages`, {
        body: { text: 'Anyone?' },
      });
      refusals.push(refused?.status);
      if (refused?.status === 503)
        assert.ok(refused.headers.get('retry-after'), 'a 503 says when to try again');
      // It is sent while the service is away, and again until it is accepted.
      const patient = say(`${name}-${round}-patient`, 0);
      await sleep(chance.between(0, 3_000));
      await service.start();
      for (const message of running.filter((_, n) => n % 3 === 2)) await decide(message);
      await untilAllEnded(stand, [...running, await patient]);
    }

    it(`kills under ${TURNS} turns, ${ROUNDS} rounds: all that was accepted ends`, async (t) => {
      t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
      for (let round = 0; round < ROUNDS; round += 1) await oneRound(round, stand[name]);
      const n = accepted.length;
      t.diagnostic(
        `n = ${n} turns in ${ROUNDS} kills, 0 failures bound the rate at 3/n = ${(3 / n).toFixed(2)}`,
      );
    });

    it('while it is away the API answers 503, never a false 2xx', () => {
      assert.deepEqual(
        refusals,
        refusals.map(() => 503),
      );
    });

    it('the witness finds I1–I6 kept', () => checkInvariants(stand, accepted));
  });
