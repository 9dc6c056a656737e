/**
 * AP-4, F3, F7, F8: a quorum of two with many people at once, with workers killed between them, and at the instant of
 * expiry.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStand, type Reply, type Stand, type Tenant } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { type Accepted, checkInvariants, untilAllEnded } from '#test/support/witness.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 1);
const PEOPLE = 50;
const INSTANTS = 24;

describe('AP-4 a quorum of two under faults', { timeout: 900_000 }, () => {
  let stand: Stand;
  const chance = createChance(seedOfRun());
  const accepted: Accepted[] = [];
  /** One key for each person, by tenant. */
  const people = new Map<string, Tenant[]>();
  before(async () => {
    const asks = { type: 'open', model: 'rehearsal/follow' } as const;
    stand = await createStand({
      workers: 2,
      agents: [
        { ...asks, key: 'two', tools: { ask: [{ tool: 'exec', quorum: 2, expires_seconds: 600 }] } },
        { ...asks, key: 'brief', tools: { ask: [{ tool: 'exec', quorum: 2, expires_seconds: 10 }] } },
      ],
    });
    for (const tenant of stand.tenants) {
      const made = Array.from({ length: PEOPLE }, async (_, n): Promise<Tenant> => {
        const body = { name: `p${n}`, user: `p${n}`, scopes: ['approve'] };
        const reply = await stand.ask(tenant, 'POST', '/v1/api-keys', { body });
        return { id: tenant.id, key: String(reply?.body['secret']) };
      });
      people.set(tenant.id, await Promise.all(made));
    }
  });
  after(() => stand?.close());

  async function ask(agent: string, name: string, n: number): Promise<{ message: Accepted; id: string }> {
    const tenant = stand.tenants[n % 2] as Tenant;
    const token = `${tenant.id}-${name}-${n}`;
    const text = `exec ${JSON.stringify({ command: `echo ${token} >> ${stand.witnessFile}` })}`;
    const turn = await stand.say(tenant, token, token, { text, agent });
    const message = { tenant, session: token, turn, token };
    accepted.push(message);
    const client = await stand.client();
    const id = await stand.until(`the approval of ${turn}`, async () => (await rowOf(message))?.id);
    await stand.until(`the workflow of ${id}`, () =>
      client.workflow
        .getHandle(`approval/${id}`)
        .describe()
        .then(
          () => true,
          () => undefined,
        ),
    );
    return { message, id };
  }
  async function rowOf({ tenant, turn }: Accepted) {
    const { rows } = await stand.pool.query<{
      id: string;
      status: string;
      expires_at: Date;
      decided_by: string | null;
    }>('select id, status, expires_at, decided_by from approvals where tenant_id = $1 and turn_id = $2', [
      tenant.id,
      turn,
    ]);
    return rows[0];
  }
  const person = ({ tenant }: Accepted, n: number): Tenant =>
    people.get(tenant.id)?.[n] ?? assert.fail(`no person ${n}`);
  const decide = (message: Accepted, id: string, n: number): Promise<Reply | undefined> =>
    stand.ask(person(message, n), 'POST', `/v1/approvals/${id}/decision`, { body: { decision: 'approve' } });
  /** Acts as a careful client: it tries again while there is no answer or a 5xx. */
  const decideAtLast = (message: Accepted, id: string, n: number): Promise<Reply> =>
    stand.until(`the decision of person ${n} on ${id}`, async () => {
      const reply = await decide(message, id, n);
      return reply && reply.status < 500 ? reply : undefined;
    });
  const recorded = async ({ tenant }: Accepted, id: string): Promise<readonly string[]> =>
    (
      await stand.pool.query<{ by: string }>(
        'select by from approval_decisions where tenant_id = $1 and approval_id = $2 order by at',
        [tenant.id, id],
      )
    ).rows.map(({ by }) => by);
  const outcomeOf = async ({ tenant, turn }: Accepted): Promise<{ ok: boolean; code: string | null }> => {
    const { rows } = await stand.pool.query<{ ok: boolean; code: string | null }>(
      'select ok, code from tool_calls where tenant_id = $1 and turn_id = $2',
      [tenant.id, turn],
    );
    return rows[0] ?? assert.fail(`no call of ${turn}`);
  };
  const happened = async ({ token }: Accepted): Promise<number> =>
    (await stand.effects()).filter((line) => line === token).length;

  it(`F7 of ${PEOPLE} people at once exactly two are recorded, and the call runs once (${ROUNDS} rounds)`, async (t) => {
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    for (let round = 0; round < ROUNDS; round += 1) {
      const { message, id } = await ask('two', 'many', round);
      const replies = await Promise.all(Array.from({ length: PEOPLE }, (_, n) => decide(message, id, n)));
      await untilAllEnded(stand, [message]);
      const by = await recorded(message, id);
      assert.equal(by.length, 2);
      assert.equal((await rowOf(message))?.decided_by, by.join(', '));
      assert.deepEqual(
        replies.filter((reply) => reply?.status !== 200).map((reply) => reply?.body),
        [],
      );
      assert.equal(replies.filter((reply) => reply?.body['already'] !== true).length, 2);
      assert.equal(await happened(message), 1);
    }
    t.diagnostic(`n = ${ROUNDS}, 0 failures bound the rate at 3/n = ${(3 / ROUNDS).toFixed(2)}`);
  });

  it(`F3 all workers are killed between the first decision and the second (${ROUNDS} rounds)`, async (t) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { message, id } = await ask('two', 'killed', round);
      assert.equal((await decideAtLast(message, id, 0)).body['tally'], '1 of 2');
      const second = chance.between(0, 1) === 0 ? undefined : decide(message, id, 1);
      await sleep(chance.between(0, 60));
      await Promise.all(stand.workers.map((worker) => worker.kill()));
      assert.ok((await recorded(message, id)).includes('p0'), 'what was told is kept');
      await Promise.all(stand.workers.map((worker) => worker.start()));
      await second;
      await decideAtLast(message, id, 1);
      await untilAllEnded(stand, [message]);
      assert.deepEqual(await recorded(message, id), ['p0', 'p1']);
      assert.equal((await rowOf(message))?.status, 'approved');
      // A kill after the second decision may fall between the claim of the command and its effect, which then does not
      // run again (F2).
      const { ok, code } = await outcomeOf(message);
      const isUnknown = second !== undefined && code === 'OutcomeUnknown';
      const effects = await happened(message);
      assert.ok(effects === 1 || (isUnknown && effects === 0), `${effects} effects, ${code}`);
      assert.ok(ok || isUnknown, `${code}`);
    }
    t.diagnostic(`n = ${ROUNDS}, 0 failures bound the rate at 3/n = ${(3 / ROUNDS).toFixed(2)}`);
  });

  it(`F8 the second decision at the instant of expiry counts and runs, or is refused and nothing runs (${INSTANTS})`, async (t) => {
    const outcomes = await Promise.all(
      Array.from({ length: INSTANTS }, async (_, n) => {
        const { message, id } = await ask('brief', 'instant', n);
        const first = await decide(message, id, 0);
        const expires = (await rowOf(message))?.expires_at.getTime() ?? 0;
        await sleep(Math.max(0, expires + chance.between(-600, 150) - Date.now()));
        const reply = await decideAtLast(message, id, 1);
        await untilAllEnded(stand, [message]);
        const status = (await rowOf(message))?.status;
        return { first: first?.status, answer: reply.status, status, effects: await happened(message) };
      }),
    );
    for (const outcome of outcomes)
      assert.deepEqual(
        { answer: outcome.answer, effects: outcome.effects },
        outcome.status === 'approved' ? { answer: 200, effects: 1 } : { answer: 410, effects: 0 },
        JSON.stringify(outcome),
      );
    const approved = outcomes.filter(({ status }) => status === 'approved').length;
    t.diagnostic(`${approved} counted, ${INSTANTS - approved} were late`);
  });

  it('the witness finds I1–I6 kept', () => checkInvariants(stand, accepted));
});
