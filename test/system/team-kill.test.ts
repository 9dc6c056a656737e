/**
 * TE-2, DU-1: a lead and five members work on thirty tasks that wait for each other, while kill -9 hits workers, API,
 * Postgres and Temporal at random. All thirty end, none is completed twice, and the lead answers once.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { checkInvariants } from '#test/support/witness.ts';

/** How long processes are killed; 300 is the full length. */
const SECONDS = Number(process.env['TEST_KILL_SECONDS'] ?? 25);
/** The tasks of a layer wait for some of the previous layer. */
const LAYERS = 5;
const EACH = 6;
const TASKS = LAYERS * EACH;
const MEMBERS = ['m1', 'm2', 'm3', 'm4', 'm5'];
/** Far longer than the work after the last kill takes, on a slow machine too. */
const PATIENCE_MS = 600_000;

interface TaskFacts {
  readonly number: number;
  readonly status: string;
  readonly subject: string;
  readonly ends: number;
  readonly turns: number;
}

describe('DU-1 kill -9 of everything under a team', { timeout: 1_500_000 }, () => {
  let stand: Stand;
  let tenant: Tenant;
  const chance = createChance(seedOfRun());
  const lines: string[] = [];
  before(async () => {
    stand = await createStand({
      workers: 2,
      agents: MEMBERS.map((key) => ({
        key,
        type: 'open',
        model: 'rehearsal/follow',
        exec: { security: 'full', ask: 'off' },
      })),
    });
    tenant = stand.tenants[0];
    const made = await stand.ask(tenant, 'POST', '/v1/teams', {
      body: { key: 'crew', lead: 'main', members: MEMBERS },
    });
    assert.equal(made?.status, 201, JSON.stringify(made?.body));
  });
  after(() => stand?.close());

  /**
   * The lead's turn: a layer in each step. Calls of a step run at once, so that their numbers are known and not their
   * order.
   */
  function scriptOf(): string {
    const steps = ['team_tasks {"action":"list"}'];
    for (let layer = 0; layer < LAYERS; layer += 1) {
      const calls = Array.from({ length: EACH }, (_, n) => {
        const word = `layer-${layer}-${n}`;
        const pause = `wait ${JSON.stringify({ timeMs: chance.between(200, (SECONDS * 1000) / LAYERS) })}`;
        const write = `exec ${JSON.stringify({ command: `echo ${word} >> ${stand.witnessFile}` })}`;
        const waits = Array.from({ length: chance.between(1, 2) }, () =>
          String((layer - 1) * EACH + chance.between(1, EACH)),
        );
        return `team_tasks ${JSON.stringify({
          action: 'create',
          subject: word,
          description: `${pause}\nthen\n${write}\nthen\nWrote ${word}.`,
          assignee: MEMBERS[n % MEMBERS.length],
          ...(layer > 0 ? { blocked_by: [...new Set(waits)] } : {}),
        })}`;
      });
      steps.push(calls.join('\n'));
    }
    return [...steps, 'All thirty are on their way: the-request.'].join('\nthen\n');
  }

  /** Kills and restarts one process after the other; returns how many. */
  async function killAtRandom(until: number): Promise<number> {
    const parts = [...stand.workers, ...stand.workers, stand.api, stand.postgres, stand.temporal];
    let kills = 0;
    while (Date.now() < until) {
      await sleep(chance.between(200, 3_000));
      const part = parts[chance.between(0, parts.length - 1)];
      if (!part) continue;
      await part.kill();
      await sleep(chance.between(0, 1_000));
      await part.start();
      kills += 1;
    }
    return kills;
  }

  /** An outsider comments all the while, sending each word until it is accepted. */
  async function commentUntil(until: number): Promise<void> {
    for (let n = 0; Date.now() < until; n += 1) {
      const word = `comment-${n}`;
      const task = chance.between(1, TASKS);
      while (Date.now() < until + PATIENCE_MS) {
        const reply = await stand.ask(tenant, 'POST', `/v1/teams/crew/tasks/${task}/comment`, {
          body: { text: word },
          idempotencyKey: word,
        });
        if (reply?.status === 200) {
          lines.push(word);
          break;
        }
        // The task does not exist yet, so another word goes to another task.
        if (reply?.status === 404) break;
        await sleep(200);
      }
      await sleep(chance.between(200, 1_000));
    }
  }

  async function facts(): Promise<readonly TaskFacts[]> {
    const { rows } = await stand.pool.query<TaskFacts>(
      `select t.number, t.status, t.subject,
         (select count(*)::int from team_task_events e where e.tenant_id = t.tenant_id and e.team_key = t.team_key
            and e.number = t.number and e.status = 'completed' and e.action in ('ended', 'complete')) as ends,
         (select count(*)::int from turns u where u.tenant_id = t.tenant_id and u.status = 'completed'
            and u.session_key like 'team:crew:' || t.number || ':%') as turns
       from team_tasks t where t.tenant_id = $1 order by t.number`,
      [tenant.id],
    );
    return rows;
  }

  async function untilSo<T>(what: string, probe: () => Promise<T | undefined>): Promise<T> {
    for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await sleep(200)) {
      const value = await probe();
      if (value !== undefined) return value;
    }
    throw new Error(`${what} did not come about: ${JSON.stringify(await facts())}`);
  }

  it(`${SECONDS} seconds of kills: all ${TASKS} end once, and the lead answers once`, async (t) => {
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    const session = 'the-lead';
    const turn = await stand.say(tenant, session, 'the-request', { text: scriptOf() });
    const until = Date.now() + SECONDS * 1000;
    const [kills] = await Promise.all([killAtRandom(until), commentUntil(until)]);
    t.diagnostic(`${kills} kills, ${lines.length} comments`);

    const ended = await untilSo('the end of all tasks', async () => {
      const rows = await facts();
      const isOver = rows.length === TASKS && rows.every(({ status }) => status === 'completed');
      return isOver ? rows : undefined;
    });
    const effects = await stand.effects();
    for (const { number, subject, ends, turns } of ended) {
      assert.equal(ends, 1, `#${number} was completed ${ends} times`);
      assert.equal(turns, 1, `#${number} was worked on to the end ${turns} times`);
      const times = effects.filter((line) => line === subject).length;
      assert.ok(times <= 1, `${subject} was written ${times} times`);
    }
    const messages = await untilSo('the lead to answer', async () => {
      const { rows } = await stand.pool.query<{ text: string; turn_id: string }>(
        `select m.text, m.turn_id from messages m join turns u on u.tenant_id = m.tenant_id and u.id = m.turn_id
         where m.tenant_id = $1 and m.session_key = $2 and m.role = 'user' and u.ended_at is not null
           and m.text like '[System Message]%'`,
        [tenant.id, session],
      );
      return rows.length > 0 ? rows : undefined;
    });
    assert.equal(messages.length, 1, 'the lead is woken once');
    assert.match(messages[0]?.text ?? '', new RegExp(`All ${TASKS} task\\(s\\) of your request`));
    const { rows: turns } = await stand.pool.query<{ id: string; status: string }>(
      'select id, status from turns where tenant_id = $1 and session_key = $2',
      [tenant.id, session],
    );
    assert.deepEqual(
      turns.map(({ id, status }) => [id, status]).sort(),
      [
        [turn, 'completed'],
        [messages[0]?.turn_id, 'completed'],
      ].sort(),
    );
    const { rows: comments } = await stand.pool.query<{ text: string }>(
      "select text from team_comments where tenant_id = $1 and kind = 'note' and revision is not null",
      [tenant.id],
    );
    assert.deepEqual(
      comments.map(({ text }) => text).sort(),
      [...lines].sort(),
      'each comment is there once',
    );
    await checkInvariants(stand, [{ tenant, session, turn, token: 'the-request' }]);
  });
});
