/**
 * DU-1, SA-4: kill -9 of every worker while subagents are started, work, end and are reported. Each continues by
 * itself, its result arrives exactly once, what it does happens once, and no limit is ever exceeded.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 1);
/** Parents in each round, each with this many children. */
const PARENTS = 2;
const CHILDREN = 3;

interface Row {
  readonly id: string;
  readonly label: string;
  readonly status: string;
  readonly announced_by: string | null;
  readonly result: string | null;
}

describe('DU-1 kill -9 of all workers under subagents', { timeout: 900_000 }, () => {
  let stand: Stand;
  const chance = createChance(seedOfRun());
  before(async () => {
    stand = await createStand({ workers: 2 });
  });
  after(() => stand?.close());

  const childrenOf = async (tenant: Tenant, session: string): Promise<readonly Row[]> =>
    (
      await stand.pool.query<Row>('select * from assignments where tenant_id = $1 and origin_session = $2', [
        tenant.id,
        session,
      ])
    ).rows;

  /** A parent whose children write a word after a while, one of them through a pause that Temporal keeps. */
  function scriptOf(parent: string): string {
    const spawns = Array.from({ length: CHILDREN }, (_, n) => {
      const word = `${parent}-${n}`;
      const write = `exec ${JSON.stringify({ command: `echo ${word} >> ${stand.witnessFile}` })}`;
      const task = `${n === 0 ? 'wait {"timeMs":1500}' : 'datetime {}'}\nthen\n${write}\nthen\nWrote ${word}.`;
      return `spawn ${JSON.stringify({ task, label: word })}`;
    });
    return `${spawns.join('\n')}\nthen\nStarted ${parent}.`;
  }

  async function oneRound(round: number): Promise<void> {
    const parents = Array.from({ length: PARENTS }, (_, n) => ({
      tenant: stand.tenants[n % 2] as Tenant,
      session: `parent-${round}-${n}`,
    }));
    for (const { tenant, session } of parents)
      await stand.say(tenant, session, session, { text: scriptOf(session) });
    // From before the first is spawned until after the last has ended.
    await sleep(chance.between(0, 5_000));
    await Promise.all(stand.workers.map((worker) => worker.kill()));
    await Promise.all(stand.workers.map((worker) => worker.start()));

    for (const { tenant, session } of parents) {
      const children = await stand.until(`the children of ${session}`, async () => {
        const rows = await childrenOf(tenant, session);
        const notice = rows.length === CHILDREN && rows.every(({ announced_by }) => announced_by !== null);
        return notice ? rows : undefined;
      });
      const received = await stand.until(`what ${session} was told`, async () => {
        const { rows } = await stand.pool.query<{ text: string }>(
          `select text from messages m where tenant_id = $1 and session_key = $2 and role = 'user' and id like 'msg_result-%'
             and exists (select 1 from turns t where t.tenant_id = $1 and t.id = m.turn_id and t.status = 'completed')`,
          [tenant.id, session],
        );
        const text = rows.map((row) => row.text.split('Subagent roster')[0]).join('\n');
        return children.every(({ label }) => text.includes(`"${label}"`)) ? text : undefined;
      });
      for (const { id, label, status, result } of children) {
        assert.equal(received.split(`"${label}"`).length, 2, `${id} is told once`);
        // A command whose worker died after its claim does not run again: the model learns that, and the subagent
        // continues.
        assert.equal(status, 'completed', id);
        assert.equal(result, `Wrote ${label}.`);
        const effects = (await stand.effects()).filter((line) => line === label);
        assert.ok(effects.length <= 1, `${label} was written ${effects.length} times`);
      }
    }
    const { rows } = await stand.pool.query('select 1 from assignments where ended_at is null');
    assert.equal(rows.length, 0, 'no place is held by what has ended');
  }

  for (let round = 1; round <= ROUNDS; round += 1)
    it(`round ${round}: all ${PARENTS * CHILDREN} end and are told once`, () => oneRound(round));
});
