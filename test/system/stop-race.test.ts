/**
 * F19: a stop that comes within milliseconds of the end of a command, or of the decision that lets it run. Whichever is
 * first, the turn has one end, the command ran once or not at all, and nothing of it runs on.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { runningWith } from '#test/support/processes.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { type Accepted, checkInvariants, untilAllEnded } from '#test/support/witness.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 1);
/** Of each kind in each round; n is their product. */
const TURNS = 4;
const COMMAND_MS = 300;
/** How far from the end of the command the stop may be, either way. */
const NEAR_MS = 60;

describe('F19 a stop that races', { timeout: 600_000 }, () => {
  let stand: Stand;
  const chance = createChance(seedOfRun());
  const accepted: Accepted[] = [];
  before(async () => {
    stand = await createStand({
      workers: 2,
      agents: [
        { key: 'asks', type: 'open', model: 'rehearsal/follow', exec: { security: 'full', ask: 'always' } },
      ],
    });
  });
  after(() => stand?.close());

  async function say(name: string, n: number, agent: string): Promise<Accepted> {
    const tenant = stand.tenants[n % 2] as Tenant;
    const token = `${tenant.id}-${name}-${n}`;
    // Its name is in the command line of everything that it starts.
    const command = `(: ${token}; sleep ${COMMAND_MS / 1000}); echo ${token} >> ${stand.witnessFile}`;
    const text = `exec ${JSON.stringify({ command })}\nthen\ndatetime {}`;
    const turn = await stand.say(tenant, token, token, { text, agent });
    const message = { tenant, session: token, turn, token };
    accepted.push(message);
    return message;
  }

  /** Resolves when the stop was accepted; a turn that has ended refuses it. */
  async function stop({ tenant, session, turn }: Accepted): Promise<void> {
    const level = chance.between(0, 1) === 0 ? 'now' : 'all';
    const body = { level, turn_id: turn };
    const reply = await stand.ask(tenant, 'POST', `/v1/sessions/${session}/stop`, { body });
    assert.ok(reply && [202, 409].includes(reply.status), JSON.stringify(reply?.body));
  }

  async function atTheEnd(name: string, n: number): Promise<void> {
    const message = await say(name, n, 'main');
    await stand.until(`the start of ${message.token}`, async () => {
      const { rowCount } = await stand.pool.query(
        // On a busy machine, it may be over before it is seen running.
        `select 1 from tool_calls where tenant_id = $1 and turn_id = $2 and state in ('running', 'done')`,
        [message.tenant.id, message.turn],
      );
      return rowCount ? true : undefined;
    });
    await sleep(COMMAND_MS + chance.between(-NEAR_MS, NEAR_MS));
    await stop(message);
  }

  async function atTheDecision(name: string, n: number): Promise<void> {
    const message = await say(name, n, 'asks');
    const { tenant, turn } = message;
    const id = await stand.until(`the approval of ${turn}`, async () => {
      const reply = await stand.ask(tenant, 'GET', `/v1/approvals?turn_id=${turn}`);
      return ((reply?.body['data'] ?? []) as { id: string }[])[0]?.id;
    });
    const decide = async (): Promise<void> => {
      await sleep(chance.between(0, NEAR_MS));
      const body = { decision: 'approve' };
      const reply = await stand.ask(tenant, 'POST', `/v1/approvals/${id}/decision`, { body });
      // 410 means that the stop was first and has withdrawn the question.
      assert.ok(reply && [200, 410].includes(reply.status), JSON.stringify(reply?.body));
    };
    const stopSoon = async (): Promise<void> => {
      await sleep(chance.between(0, NEAR_MS));
      await stop(message);
    };
    await Promise.all([decide(), stopSoon()]);
  }

  it(`${ROUNDS} rounds of ${TURNS} turns stopped as their command ends, and ${TURNS} as it is approved`, async (t) => {
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    for (let round = 0; round < ROUNDS; round += 1) {
      const numbers = Array.from({ length: TURNS }, (_, n) => n);
      await Promise.all(numbers.map((n) => atTheEnd(`end-${round}`, n)));
      await Promise.all(numbers.map((n) => atTheDecision(`decision-${round}`, n)));
      await untilAllEnded(stand, accepted.slice(-2 * TURNS));
    }
    const { rows } = await stand.pool.query<{ status: string; n: number }>(
      'select status, count(*)::int as n from turns group by 1 order by 1',
    );
    t.diagnostic(`n = ${accepted.length}: ${rows.map(({ status, n }) => `${n} ${status}`).join(', ')}`);
  });

  it('no turn failed, and no command runs on', async () => {
    const { rows } = await stand.pool.query(`select id, error from turns where status = 'failed'`);
    assert.deepEqual(rows, []);
    for (const { token } of accepted) assert.deepEqual(runningWith(token), [], token);
  });

  it('the witness finds I1–I6 kept', () => checkInvariants(stand, accepted));
});
