/**
 * DU-11: turns in the middle of their calls are frozen, workers are killed meanwhile, and the freeze is lifted: no call
 * starts two seconds after the freeze, and no turn is lost or done twice.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { type Accepted, checkInvariants } from '#test/support/witness.ts';

const TURNS = Number(process.env['TEST_TURNS'] ?? 40);
const MAX_DELAY_MS = 2_000;

/** Answers in its time, so that turns last until they are frozen. */
const PACED = 'delay: 300ms\nrules:\n  - reply: { follow: user }\n';

describe('DU-11 a freeze under live turns', { timeout: 900_000 }, () => {
  let stand: Stand;
  const accepted: Accepted[] = [];
  before(async () => {
    stand = await createStand({
      workers: 2,
      scripts: { paced: PACED },
      agents: [
        { key: 'paced', type: 'open', model: 'rehearsal/paced', exec: { security: 'full', ask: 'off' } },
      ],
    });
  });
  after(() => stand?.close());

  async function begin(n: number): Promise<void> {
    const tenant = stand.tenants[0] as Tenant;
    const [session, token] = [`frozen-${n}`, `frozen-word-${n}`];
    const steps = Array.from({ length: 20 }, (_, at) =>
      at === 10
        ? `exec ${JSON.stringify({ command: `echo ${token} >> ${stand.witnessFile}` })}`
        : `datetime {"timezone":"Etc/GMT${at < 10 ? '+' : '-'}${at % 10}"}`,
    );
    const body = { text: `${steps.join('\nthen\n')}\nthen\n${token}`, agent: 'paced' };
    const turn = await stand.say(tenant, session, token, body);
    accepted.push({ tenant, session, turn, token });
  }

  /** The patience is for one turn to end, because many take long. */
  async function untilNoneIsOpen({ id }: Tenant): Promise<void> {
    for (let open = TURNS; open > 0; )
      open = await stand.until('the end of a turn', async () => {
        const { rows } = await stand.pool.query<{ open: number }>(
          'select count(*)::int as open from turns where tenant_id = $1 and ended_at is null',
          [id],
        );
        const left = rows[0]?.open ?? 0;
        return left < open ? left : undefined;
      });
  }

  async function started(since: Date): Promise<number> {
    const { rows } = await stand.pool.query<{ count: number }>(
      `select (select count(*) from tool_calls where started_at > $1)::int
            + (select count(*) from messages where role = 'assistant' and created_at > $1)::int as count`,
      [since],
    );
    return rows[0]?.count ?? 0;
  }

  it(`${TURNS} turns: nothing starts while they are frozen, through the death of each worker, and all end`, async (t) => {
    const tenant = stand.tenants[0] as Tenant;
    await Promise.all(Array.from({ length: TURNS }, (_, n) => begin(n)));
    await sleep(1_500);
    const made = await stand.ask(tenant, 'POST', '/v1/freezes', { body: { reason: 'a test looks' } });
    assert.equal(made?.status, 201);
    await sleep(MAX_DELAY_MS);
    const { rows } = await stand.pool.query<{ now: Date; open: number }>(
      'select now(), (select count(*)::int from turns where tenant_id = $1 and ended_at is null) as open',
      [tenant.id],
    );
    const [frozen] = rows;
    assert.ok(frozen);
    t.diagnostic(`${frozen.open} of ${TURNS} turns were open`);
    assert.ok(frozen.open > TURNS / 2);
    // What has started may end; then all is still.
    await sleep(1_000);
    for (const worker of stand.workers) {
      await worker.kill();
      await worker.start();
    }
    await sleep(8_000);
    assert.equal(await started(frozen.now), 0);
    const lifted = await stand.ask(tenant, 'POST', `/v1/freezes/${String(made.body['id'])}/lift`, {
      body: {},
    });
    assert.equal(lifted?.status, 200);
    await untilNoneIsOpen(tenant);
  });

  it('the witness finds I1–I6 kept', () => checkInvariants(stand, accepted));
});
