/**
 * F7, F8: fifty decisions at once over HTTP, and decisions at the instant of expiry, on workers of their own processes.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStand, type Reply, type Stand, type Tenant } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { type Accepted, checkInvariants, untilAllEnded } from '#test/support/witness.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 1);
const DECISIONS = 50;
const INSTANTS = 40;

describe('F7 F8 decisions that race', { timeout: 900_000 }, () => {
  let stand: Stand;
  const chance = createChance(seedOfRun());
  const accepted: Accepted[] = [];
  before(async () => {
    const asks = { type: 'open', model: 'rehearsal/follow' } as const;
    stand = await createStand({
      workers: 2,
      agents: [
        { ...asks, key: 'asks', tools: { ask: [{ tool: 'exec' }] } },
        { ...asks, key: 'brief', tools: { ask: [{ tool: 'exec', expires_seconds: 2 }] } },
      ],
    });
  });
  after(() => stand?.close());

  async function ask(agent: string, name: string, n: number): Promise<{ message: Accepted; id: string }> {
    const tenant = stand.tenants[n % 2] as Tenant;
    const token = `${tenant.id}-${name}-${n}`;
    const text = `exec ${JSON.stringify({ command: `echo ${token} >> ${stand.witnessFile}` })}`;
    const turn = await stand.say(tenant, token, token, { text, agent });
    const message = { tenant, session: token, turn, token };
    accepted.push(message);
    const id = await stand.until(`the approval of ${turn}`, async () => (await rowOf(message))?.id);
    return { message, id };
  }
  async function rowOf({ tenant, turn }: Accepted) {
    const { rows } = await stand.pool.query<{
      id: string;
      status: string;
      decision: string | null;
      decided_by: string | null;
    }>('select * from approvals where tenant_id = $1 and turn_id = $2', [tenant.id, turn]);
    return rows[0];
  }
  const decide = ({ tenant }: Accepted, id: string, decision: string): Promise<Reply | undefined> =>
    stand.ask(tenant, 'POST', `/v1/approvals/${id}/decision`, { body: { decision } });
  const happened = async ({ token }: Accepted): Promise<number> =>
    (await stand.effects()).filter((line) => line === token).length;

  it(`F7 of ${DECISIONS} at once one wins, and all are told the same (${ROUNDS} rounds)`, async (t) => {
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    for (let round = 0; round < ROUNDS; round += 1) {
      const { message, id } = await ask('asks', 'race', round);
      const replies = await Promise.all(
        Array.from({ length: DECISIONS }, (_, n) => decide(message, id, n % 2 === 0 ? 'approve' : 'reject')),
      );
      await untilAllEnded(stand, [message]);
      const row = await rowOf(message);
      const statuses = replies.map((reply) => reply?.status);
      const winners = replies.filter((reply) => reply?.status === 200 && reply.body['already'] !== true);
      assert.equal(winners.length, 1, `${winners.length} winners: ${statuses.join(' ')}`);
      for (const [n, reply] of replies.entries()) {
        const same = (n % 2 === 0 ? 'approve' : 'reject') === row?.decision;
        assert.equal(reply?.status, same ? 200 : 409, JSON.stringify(reply?.body));
        if (!same) assert.equal(reply?.body['code'], 'AlreadyDecided');
      }
      assert.equal(await happened(message), row?.status === 'approved' ? 1 : 0);
    }
    t.diagnostic(`n = ${ROUNDS}, 0 failures bound the rate at 3/n = ${(3 / ROUNDS).toFixed(2)}`);
  });

  it(`F8 at the instant of expiry a decision counts and runs, or is refused and nothing runs (${INSTANTS})`, async (t) => {
    const client = await stand.client();
    const outcomes = await Promise.all(
      Array.from({ length: INSTANTS }, async (_, n) => {
        const { message, id } = await ask('brief', 'instant', n);
        const { expires_at } = await stand.until(`the workflow of ${id}`, () =>
          client.workflow
            .getHandle(`approval/${id}`)
            .query<{ expires_at: string }>('state')
            .catch(() => undefined),
        );
        const offset = chance.between(-100, 100);
        await sleep(Math.max(0, Date.parse(expires_at) + offset - Date.now()));
        // A 503 asks for the decision again.
        const reply = await stand.until(`an answer about ${id}`, async () => {
          const sent = await decide(message, id, 'approve');
          return sent?.status === 503 ? undefined : sent;
        });
        await untilAllEnded(stand, [message]);
        return { message, offset, reply };
      }),
    );
    let approved = 0;
    for (const { message, offset, reply } of outcomes) {
      const status = (await rowOf(message))?.status;
      const effects = await happened(message);
      if (status === 'approved') approved += 1;
      assert.deepEqual(
        { status: reply.status, effects },
        status === 'approved' ? { status: 200, effects: 1 } : { status: 410, effects: 0 },
        `${offset} ms from expiry: ${status} ${JSON.stringify(reply.body)}`,
      );
    }
    t.diagnostic(`${approved} counted, ${INSTANTS - approved} were late`);
    t.diagnostic(`n = ${INSTANTS}, 0 failures bound the rate at 3/n = ${(3 / INSTANTS).toFixed(2)}`);
  });

  it('the witness finds I1–I6 kept', () => checkInvariants(stand, accepted));
});
