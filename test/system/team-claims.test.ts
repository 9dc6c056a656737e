/**
 * TE-3: fifty agents claim one task at once, round after round, with all workers killed in half of them. Exactly one
 * gets it each time, and all others get its name.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStand, type Stand } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { checkInvariants } from '#test/support/witness.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 20);
const AGENTS = 50;
/** Concurrent rounds, so that one kill hits all of them. */
const AT_ONCE = 10;
/** Far longer than workers take to restart, on a slow machine too. */
const PATIENCE_MS = 400_000;

const MEMBERS = Array.from({ length: AGENTS }, (_, n) => `agent-${n}`);

interface Told {
  readonly member: string;
  readonly won: boolean;
  readonly holder: string;
}

describe('TE-3 fifty agents claim one task', { timeout: 900_000 }, () => {
  let stand: Stand;
  const chance = createChance(seedOfRun());
  before(async () => {
    stand = await createStand({
      workers: 2,
      agents: MEMBERS.map((key) => ({ key, type: 'open', model: 'rehearsal/follow' })),
    });
    const body = { key: 'crowd', lead: 'main', members: MEMBERS };
    const made = await stand.ask(stand.tenants[0], 'POST', '/v1/teams', { body });
    assert.equal(made?.status, 201, JSON.stringify(made?.body));
  });
  after(() => stand?.close());

  /** Acts as a careful client: it sends the same request again, under its key, until there is an answer to it. */
  async function post(path: string, idempotencyKey: string, body: unknown): Promise<any> {
    for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await sleep(50)) {
      const input = { body, idempotencyKey };
      const reply = await stand.ask(stand.tenants[0], 'POST', `/v1/teams/crowd/tasks${path}`, input);
      if (reply && reply.status < 500 && (reply.status !== 409 || 'holder' in reply.body)) return reply;
    }
    throw new Error(`there is no answer to ${idempotencyKey}`);
  }

  async function claim(task: string, member: string): Promise<Told> {
    const { status, body } = await post(`/${task}/claim`, `${task}-${member}`, { member });
    assert.ok(status === 200 || status === 409, `${status} ${JSON.stringify(body)}`);
    return { member, won: status === 200, holder: status === 200 ? body.owner : body.holder };
  }

  async function check(task: string, messages: readonly Told[]): Promise<void> {
    const winners = messages.filter(({ won }) => won).map(({ member }) => member);
    assert.equal(winners.length, 1, `${task} was given to ${winners.join(', ') || 'nobody'}`);
    const holders = new Set(messages.map(({ holder }) => holder));
    assert.deepEqual([...holders], winners, `of ${task} all are told the same`);
    const { rows } = await stand.pool.query<{
      action: string;
      owner: string | null;
      held: string;
      fence: number;
    }>(
      `select e.action, e.owner, t.state #>> '{lease,member}' as held, (t.state ->> 'fence')::int as fence
       from team_task_events e join team_tasks t using (tenant_id, team_key, number)
       where 'task_' || e.team_key || '.' || e.number = $1 order by e.revision`,
      [task],
    );
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['create', 'claim'],
    );
    assert.deepEqual([rows[1]?.owner, rows[1]?.held, rows[1]?.fence], [winners[0], winners[0], 1]);
  }

  async function oneBatch(batch: number, kills: boolean): Promise<void> {
    const tasks: string[] = [];
    for (let n = 0; n < AT_ONCE; n += 1) {
      const { status, body } = await post('', `task-${batch}-${n}`, { subject: `Round ${batch}.${n}` });
      assert.equal(status, 201, JSON.stringify(body));
      tasks.push(body.id);
    }
    const claims = tasks.map((task) => Promise.all(MEMBERS.map((member) => claim(task, member))));
    if (kills) {
      await sleep(chance.between(0, 1_000));
      await Promise.all(stand.workers.map((worker) => worker.kill()));
      await Promise.all(stand.workers.map((worker) => worker.start()));
    }
    const notices = await Promise.all(claims);
    for (const [n, task] of tasks.entries()) await check(task, notices[n] ?? []);
  }

  it(`${ROUNDS} rounds, all workers killed in half: one holder each time`, async (t) => {
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    for (let batch = 0; batch < ROUNDS / AT_ONCE; batch += 1) await oneBatch(batch, batch % 2 === 1);
  });

  it('all histories replay', () => checkInvariants(stand, []));
});
