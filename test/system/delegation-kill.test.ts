/**
 * DU-1, DE-2, DE-4: kill -9 of every worker while work is delegated, done, judged and reported, and while rounds are
 * produced and judged. All of it continues by itself, each result arrives exactly once, and what was done is not done
 * again.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentConfig } from '#domain/agent.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { insertTeam } from '#store/teams/team-store.ts';
import { linkMain } from '#test/support/assignments.ts';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 1);
/** Pieces of work that a session delegates in each round. */
const PIECES = 3;

const SCRIPTS = {
  drafts: `
rules:
  - when: { user: { regex: 'Evaluator feedback' } }
    reply: { text: 'improved draft', delay: 300ms }
  - reply: { text: 'first draft', delay: 300ms }
`,
  critic: `
rules:
  - when: { user: { regex: 'Wrote|improved' } }
    reply: { text: 'APPROVED', delay: 300ms }
  - reply: { text: 'REJECTED: improve it', delay: 300ms }
`,
};

const AGENTS: readonly AgentConfig[] = [
  {
    key: 'taker',
    type: 'open',
    model: 'rehearsal/follow',
    exec: { security: 'full', ask: 'off' },
    quality_gates: [
      { event: 'delegation.completed', type: 'agent', agent: 'critic', block_on_failure: true },
      { event: 'delegation.completed', type: 'command', command: 'grep -q Wrote', block_on_failure: true },
    ],
  },
  { key: 'drafts', type: 'open', model: 'rehearsal/drafts' },
  { key: 'critic', type: 'open', model: 'rehearsal/critic' },
];

interface Row {
  readonly id: string;
  readonly label: string;
  readonly status: string;
  readonly announced_by: string | null;
  readonly result: string | null;
  readonly error: { readonly message: string } | null;
}

describe('DU-1 kill -9 of all workers under delegations and evaluate loops', { timeout: 900_000 }, () => {
  let stand: Stand;
  const chance = createChance(seedOfRun());
  before(async () => {
    stand = await createStand({ workers: 2, scripts: SCRIPTS, agents: AGENTS });
    for (const { id } of stand.tenants) {
      await linkMain(stand.pool, id, ['taker', 'drafts', 'critic']);
      const crew = {
        key: 'crew',
        lead: 'main',
        members: ['taker'],
        name: null,
        description: null,
        settings: {},
      };
      await insertTeam(forTenant(stand.pool, id), crew, 'test');
    }
  });
  after(() => stand?.close());

  async function rowsOf<Found extends object>(text: string, values: readonly unknown[]): Promise<Found[]> {
    return (await stand.pool.query<Found>(text, [...values])).rows;
  }

  /** Delegates work; each piece writes a word, one of them after a pause that Temporal keeps. */
  function giving(session: string): string {
    const calls = Array.from({ length: PIECES }, (_, n) => {
      const word = `${session}-${n}`;
      const write = `exec ${JSON.stringify({ command: `echo ${word} >> ${stand.witnessFile}` })}`;
      const task = `${n === 0 ? 'wait {"timeMs":1500}' : 'datetime {}'}\nthen\n${write}\nthen\nWrote ${word}.`;
      return `delegate ${JSON.stringify({ agent_key: 'taker', task, label: word })}`;
    });
    return `${calls.join('\n')}\nthen\nGave it.`;
  }

  const EVALUATING = `evaluate_loop ${JSON.stringify({ generator: 'drafts', evaluator: 'critic', task: 'Write.' })}\nthen\nDone.`;

  async function checkGiven(tenant: Tenant, session: string): Promise<void> {
    const rows = await stand.until(`the work that ${session} gave`, async () => {
      const found = await rowsOf<Row>(
        'select * from assignments where tenant_id = $1 and origin_session = $2',
        [tenant.id, session],
      );
      return found.length === PIECES && found.every(({ announced_by }) => announced_by !== null)
        ? found
        : undefined;
    });
    const received = await stand.until(`what ${session} was told`, async () => {
      const messages = await rowsOf<{ text: string }>(
        `select text from messages m where tenant_id = $1 and session_key = $2 and role = 'user' and id like 'msg_result-%'
           and exists (select 1 from turns t where t.tenant_id = $1 and t.id = m.turn_id and t.status = 'completed')`,
        [tenant.id, session],
      );
      const text = messages.map((row) => row.text).join('\n');
      return text.split('[Delegation result from taker]').length === PIECES + 1 ? text : undefined;
    });
    for (const { id, label, status, result, error } of rows) {
      // A command whose worker died after its claim does not run again: the model learns that, and the work continues.
      assert.equal(status, 'completed', `${id}: ${error?.message}`);
      assert.equal(result, `Wrote ${label}.`);
      assert.equal(received.split(`Wrote ${label}.`).length, 2, `${id} is told once`);
      const effects = (await stand.effects()).filter((line) => line === label);
      assert.ok(effects.length <= 1, `${label} was written ${effects.length} times`);
      const checks = await rowsOf<{ step: string }>(
        'select step from gate_checks where tenant_id = $1 and owner_id = $2 order by gate, attempt',
        [tenant.id, id],
      );
      assert.deepEqual(
        checks.map(({ step }) => step),
        ['pass', 'pass'],
      );
      await checkTask(tenant, id, label);
    }
  }

  /** The task of the board that the work is. */
  async function checkTask(tenant: Tenant, id: string, label: string): Promise<void> {
    const task = await stand.until(`the end of the task of ${id}`, async () => {
      const rows = await rowsOf<{ number: number; status: string; result: string; subject: string }>(
        'select number, status, result, subject from team_tasks where tenant_id = $1 and create_key = $2',
        [tenant.id, `delegation/${id}`],
      );
      return rows.find(({ status }) => status === 'completed');
    });
    assert.deepEqual([task.subject, task.result], [label, `Wrote ${label}.`]);
    const events = await rowsOf<{ action: string }>(
      'select action from team_task_events where tenant_id = $1 and number = $2 order by revision',
      [tenant.id, task.number],
    );
    assert.deepEqual(
      events.map(({ action }) => action),
      ['create', 'claim', 'complete'],
    );
  }

  async function checkEvaluated(tenant: Tenant, session: string, turn: string): Promise<void> {
    const [call] = await stand.until(`the end of ${turn}`, async () => {
      const [ended] = await rowsOf<{ status: string }>(
        'select status from turns where tenant_id = $1 and id = $2 and ended_at is not null',
        [tenant.id, turn],
      );
      if (!ended) return undefined;
      assert.equal(ended.status, 'completed');
      return rowsOf<{ result: string }>(
        'select result from tool_calls where tenant_id = $1 and turn_id = $2',
        [tenant.id, turn],
      );
    });
    assert.equal(call?.result, 'Evaluate-optimize loop completed in 2 round(s).\n\nimproved draft');
    const rounds = await rowsOf(
      `select r.* from assignments e cross join jsonb_to_recordset(e.rounds) as r (round int, draft text, verdict text)
       where e.tenant_id = $1 and e.origin_session = $2 order by round`,
      [tenant.id, session],
    );
    assert.deepEqual(rounds, [
      { round: 1, draft: 'first draft', verdict: 'rejected' },
      { round: 2, draft: 'improved draft', verdict: 'approved' },
    ]);
  }

  async function oneRound(round: number): Promise<void> {
    const [red, blue] = stand.tenants;
    const value = `given-${round}`;
    const judged = `judged-${round}`;
    await stand.say(red, value, value, { text: giving(value) });
    const turn = await stand.say(blue, judged, judged, { text: EVALUATING });
    // From before the first piece is delegated until after the last is reported.
    await sleep(chance.between(0, 6_000));
    await Promise.all(stand.workers.map((worker) => worker.kill()));
    await Promise.all(stand.workers.map((worker) => worker.start()));
    await checkGiven(red, value);
    await checkEvaluated(blue, judged, turn);
    const open = await rowsOf('select id from assignments where ended_at is null', []);
    assert.deepEqual(open, [], 'no place is held by what has ended');
  }

  for (let round = 1; round <= ROUNDS; round += 1)
    it(`round ${round}: all ${PIECES} are judged and told once, and the loop ends with its two rounds`, () =>
      oneRound(round));
});
