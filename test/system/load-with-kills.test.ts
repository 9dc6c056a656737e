/**
 * F1 to F5 under steady load: two API processes, four workers, and kill -9 of one part after another. `TEST_MINUTES=20`
 * makes it a long run; with `TEST_TEMPORAL_SERVER` and `TEST_PGBOUNCER` it runs on what production has.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { type Accepted, checkInvariants } from '#test/support/witness.ts';
import type { Killable } from '#test/support/worker-process.ts';

const MINUTES = Number(process.env['TEST_MINUTES'] ?? 0.75);
/** Sessions that send one turn after another. */
const LANES = 8;
/** One turn in so many waits for a decision. */
const ASKS_EVERY = 4;
/** Milliseconds between a restart and the next kill. */
const PAUSE_MS = 15_000;
/** A turn may meet several kills in a row. */
const MAX_TURN_MS = 300_000;
const SHARDS = 512;

describe('four workers and two API processes under load', { timeout: (MINUTES + 12) * 60_000 }, () => {
  let stand: Stand;
  const chance = createChance(seedOfRun());
  const accepted: Accepted[] = [];
  const kills: string[] = [];
  before(async () => {
    stand = await createStand({
      workers: 4,
      apis: 2,
      shards: SHARDS,
      agents: [
        { key: 'asks', type: 'open', model: 'rehearsal/follow', exec: { security: 'full', ask: 'always' } },
      ],
    });
  });
  after(() => stand?.close());

  async function runTurn(lane: number, n: number): Promise<void> {
    const tenant = stand.tenants[lane % 2] as Tenant;
    const session = `${tenant.id}-${lane}`;
    const token = `${session}-${n}`;
    const asks = n % ASKS_EVERY === ASKS_EVERY - 1;
    const command = `sleep 0.${chance.between(0, 9)}; echo ${token} >> ${stand.witnessFile}`;
    const text = [
      'datetime {"timezone":"Etc/UTC"}',
      `exec ${JSON.stringify({ command })}`,
      'datetime {"timezone":"Etc/GMT+1"}',
    ].join('\nthen\n');
    // An agent has sessions of its own.
    const key = asks ? `${session}-asks` : session;
    const turn = await stand.say(tenant, key, token, { text, agent: asks ? 'asks' : 'main' });
    const message = { tenant, session: key, turn, token };
    accepted.push(message);
    if (asks) await approve(message, n);
    for (const deadline = Date.now() + MAX_TURN_MS; !(await hasEnded(message)); ) {
      assert.ok(Date.now() < deadline, `${turn} has not ended`);
      await sleep(200);
    }
  }

  async function hasEnded({ tenant, turn }: Accepted): Promise<boolean> {
    const reply = await stand.ask(tenant, 'GET', `/v1/turns/${turn}`);
    return typeof reply?.body['ended_at'] === 'string';
  }

  async function approve({ tenant, turn }: Accepted, n: number): Promise<void> {
    const status = await stand.until(`the decision about ${turn}`, async () => {
      const list = await stand.ask(tenant, 'GET', `/v1/approvals?turn_id=${turn}`, { api: n % 2 });
      const [approval] = (list?.body['data'] ?? []) as { id: string }[];
      if (!approval) return undefined;
      const reply = await stand.ask(tenant, 'POST', `/v1/approvals/${approval.id}/decision`, {
        body: { decision: 'approve' },
        api: n % 2,
      });
      return reply && reply.status < 500 ? reply.status : undefined;
    });
    assert.equal(status, 200, turn);
  }

  async function killInTurn(isOver: () => boolean): Promise<void> {
    const parts: readonly (readonly [string, Killable])[] = [
      ...stand.workers.map((worker): [string, Killable] => ['worker', worker]),
      ...stand.apis.map((api): [string, Killable] => ['api', api]),
      ['temporal', stand.temporal],
      ['postgres', stand.postgres],
    ];
    while (!isOver()) {
      await sleep(PAUSE_MS);
      const [name, part] = parts[chance.between(0, parts.length - 1)] ?? assert.fail();
      await part.kill();
      kills.push(name);
      await sleep(chance.between(0, 3_000));
      await part.start();
    }
  }

  it(`F1 F2 F3 F4 F5 all that is accepted in ${MINUTES} minutes ends`, async (t) => {
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    const end = Date.now() + MINUTES * 60_000;
    const isOver = (): boolean => Date.now() > end;
    const lanes = Array.from({ length: LANES }, async (_, lane) => {
      for (let n = 0; !isOver(); n += 1) await runTurn(lane, n);
    });
    await Promise.all([...lanes, killInTurn(isOver)]);
    const counts = Object.entries(Object.groupBy(kills, (name) => name)).map(
      ([name, times]) => `${name} ${times?.length}`,
    );
    t.diagnostic(`${accepted.length} turns under ${kills.length} kills: ${counts.join(', ')}`);
  });

  it('the witness finds I1–I6 kept', () => checkInvariants(stand, accepted));
});
