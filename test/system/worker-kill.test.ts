/**
 * F1, F2, F3, F14: kill -9 of every worker while turns are in a model call, before and after a tool's effect, at a
 * decision, in a pause and between short steps. They continue by themselves when a worker is there again.
 */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { type Accepted, checkInvariants, untilAllEnded } from '#test/support/witness.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 1);
/** Turns at each point in each round: n is their product. */
const TURNS = 3;
const POINTS = ['model', 'before', 'after', 'decided-down', 'decided-later', 'pause', 'steps'] as const;
type Point = (typeof POINTS)[number];

/** A command that no reader of the process table confuses with another. */
const ORPHAN_SECONDS = 86_399;

describe('F1 F2 F3 kill -9 of all workers', { timeout: 900_000 }, () => {
  let stand: Stand;
  const chance = createChance(seedOfRun());
  const accepted = new Map<Point, Accepted[]>(POINTS.map((point) => [point, []]));
  before(async () => {
    stand = await createStand({
      workers: 2,
      scripts: { slow: "rules:\n  - reply: { delay: 1500ms, text: 'Answer to {{user}}' }\n" },
      agents: [
        { key: 'slow', type: 'open', model: 'rehearsal/slow' },
        { key: 'asks', type: 'open', model: 'rehearsal/follow', exec: { security: 'full', ask: 'always' } },
      ],
    });
  });
  after(() => stand?.close());

  function textOf(point: Point, token: string): string {
    const exec = (command: string) => `exec ${JSON.stringify({ command, timeout: 200 })}`;
    const write = `echo ${token} >> ${stand.witnessFile}`;
    switch (point) {
      case 'model':
        return token;
      case 'before':
        return exec(`sleep 20 && ${write}`);
      case 'after':
        return exec(`${write} && sleep ${ORPHAN_SECONDS}`);
      case 'decided-down':
      case 'decided-later':
        return exec(write);
      case 'pause':
        return `wait {"timeMs":4000,"reason":"${token}"}`;
      case 'steps':
        return [
          ...Array.from({ length: 40 }, (_, n) => `datetime {"timezone":"Etc/GMT+${n % 12}"}`),
          exec(write),
        ].join('\nthen\n');
    }
  }

  async function begin(round: number, point: Point): Promise<void> {
    for (let n = 0; n < TURNS; n += 1) {
      const tenant = stand.tenants[n % 2] as Tenant;
      const token = `${tenant.id}-${point}-${round}-${n}`;
      const agent = point === 'model' ? 'slow' : point.startsWith('decided') ? 'asks' : 'main';
      const body = { text: textOf(point, token), agent };
      const turn = await stand.say(tenant, token, token, body);
      accepted.get(point)?.push({ tenant, session: token, turn, token });
    }
  }
  const ofRound = (point: Point): readonly Accepted[] => accepted.get(point)?.slice(-TURNS) ?? [];
  const started = async (messages: readonly Accepted[], type: string): Promise<void> => {
    for (const { tenant, turn } of messages)
      await stand.until(`${type} of ${turn}`, async () => {
        const { rowCount } = await stand.pool.query(
          'select 1 from events where tenant_id = $1 and turn_id = $2 and type = $3',
          [tenant.id, turn, type],
        );
        return rowCount ? true : undefined;
      });
  };
  async function approvalOf({ tenant, turn }: Accepted): Promise<{ id: string; status: string }> {
    return stand.until(`the approval of ${turn}`, async () => {
      const { rows } = await stand.pool.query<{ id: string; status: string }>(
        'select id, status from approvals where tenant_id = $1 and turn_id = $2',
        [tenant.id, turn],
      );
      return rows[0];
    });
  }
  const isApproved = (n: number): boolean => n % 3 !== 2;

  async function oneRound(round: number): Promise<void> {
    for (const point of ['after', 'decided-down', 'decided-later', 'pause'] as const)
      await begin(round, point);
    await stand.until('the effects before the kill', async () => {
      const effects = new Set(await stand.effects());
      return ofRound('after').every(({ token }) => effects.has(token)) ? true : undefined;
    });
    const client = await stand.client();
    for (const message of [...ofRound('decided-down'), ...ofRound('decided-later')]) {
      const { id } = await approvalOf(message);
      await stand.until(`the workflow of ${id}`, () =>
        client.workflow
          .getHandle(`approval/${id}`)
          .describe()
          .then(
            () => true,
            () => undefined,
          ),
      );
    }
    for (const point of ['before', 'steps', 'model'] as const) await begin(round, point);
    await started(ofRound('before'), 'tool.started');
    await started(ofRound('model'), 'turn.started');
    await sleep(chance.between(0, 1_000));
    await Promise.all(stand.workers.map((worker) => worker.kill()));

    for (const [n, message] of ofRound('decided-down').entries()) {
      const { id } = await approvalOf(message);
      const decision = { decision: isApproved(n) ? 'approve' : 'reject', by: 'ann' };
      await client.workflow.getHandle(`approval/${id}`).signal('decide', decision);
    }
    await sleep(chance.between(0, 2_000));
    await Promise.all(stand.workers.map((worker) => worker.start()));
    for (const [n, message] of ofRound('decided-later').entries()) {
      const { id } = await approvalOf(message);
      const body = { decision: isApproved(n) ? 'approve' : 'reject' };
      const reply = await stand.until(`the decision of ${id}`, async () => {
        const answer = await stand.ask(message.tenant, 'POST', `/v1/approvals/${id}/decision`, { body });
        return answer && answer.status < 500 ? answer : undefined;
      });
      assert.equal(reply.status, 200, JSON.stringify(reply.body));
    }
    for (const point of POINTS) await untilAllEnded(stand, ofRound(point));
  }

  it(`kills at each point, ${ROUNDS} rounds of ${TURNS} turns`, async (t) => {
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    for (let round = 0; round < ROUNDS; round += 1) await oneRound(round);
    for (const point of POINTS) {
      const n = accepted.get(point)?.length ?? 0;
      t.diagnostic(`${point}: n = ${n}, 0 failures bound the rate at 3/n = ${(3 / n).toFixed(2)}`);
    }
  });

  async function outcomes(point: Point) {
    const { rows } = await stand.pool.query<{
      token: string;
      status: string;
      text: string | null;
      steps: number;
      code: string | null;
      answers: number;
    }>(
      `select t.session_key as token, t.status, t.text, t.steps,
         (select code from tool_calls c where c.tenant_id = t.tenant_id and c.turn_id = t.id order by step desc limit 1) as code,
         (select count(*)::int from messages m where m.tenant_id = t.tenant_id and m.turn_id = t.id and role = 'assistant') as answers
       from turns t where t.session_key like $1 order by t.created_at`,
      [`%-${point}-%`],
    );
    assert.equal(rows.length, ROUNDS * TURNS);
    return rows;
  }

  it('F1 in the model call: the step is made again and the turn completes, with one answer', async () => {
    for (const row of await outcomes('model'))
      assert.deepEqual(
        [row.status, row.text, row.answers],
        ['completed', `Answer to ${row.token}`, 1],
        row.token,
      );
  });

  for (const point of ['before', 'after'] as const)
    it(`F2 ${point} the effect of a command: it is not run again, OutcomeUnknown is reported, the turn goes on`, async () => {
      for (const row of await outcomes(point))
        assert.deepEqual([row.status, row.code], ['completed', 'OutcomeUnknown'], row.token);
    });

  for (const point of ['decided-down', 'decided-later'] as const)
    it(`F3 waiting for a decision (${point}): an approved call runs once, a rejected one never`, async () => {
      const effects = await stand.effects();
      for (const row of await outcomes(point)) {
        const approved = isApproved(Number(row.token.split('-').at(-1)));
        const times = effects.filter((line) => line === row.token).length;
        assert.deepEqual(
          [row.status, row.code, times],
          ['completed', approved ? null : 'ApprovalDenied', approved ? 1 : 0],
          row.token,
        );
      }
    });

  it('in a pause and between short steps: every step is there once', async () => {
    for (const row of await outcomes('pause'))
      assert.deepEqual([row.status, row.steps, row.code], ['completed', 2, null], row.token);
    for (const row of await outcomes('steps'))
      assert.deepEqual([row.status, row.steps, row.answers], ['completed', 42, 42], row.token);
  });

  it('F14 commands of dead workers are ended by the next one', async () => {
    await stand.until('the end of the orphans', async () => {
      const remaining = await commandLines();
      return remaining.some((line) => line.includes(String(ORPHAN_SECONDS))) ? undefined : true;
    });
  });

  it('the witness finds I1–I6 kept', async () => {
    await checkInvariants(stand, [...accepted.values()].flat());
  });
});

async function commandLines(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
}
