/**
 * DU-6, DU-1: sessions are forked at random steps while workers and the API are killed with SIGKILL: each fork is whole,
 * has the original's transcript up to the step, does the rest once, and the original stays as it is, byte for byte.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { type Accepted, untilAllEnded } from '#test/support/witness.ts';

const SESSIONS = Number(process.env['TEST_TURNS'] ?? 20);
/** Forks that are being made at a kill. */
const PER_KILL = 5;
const STEPS = 5;
const TABLES = ['messages', 'turns', 'tool_calls', 'events', 'before_images'];

describe('DU-6 kill -9 of workers that fork sessions', { timeout: 900_000 }, () => {
  let stand: Stand;
  let tenant: Tenant;
  const chance = createChance(seedOfRun());
  const accepted: Accepted[] = [];
  const steps = Array.from({ length: SESSIONS }, () => chance.between(1, STEPS));
  const originals: string[] = [];
  before(async () => {
    stand = await createStand({ workers: 2 });
    [tenant] = stand.tenants;
  });
  after(() => stand?.close());

  const write = (path: string, content: string): string => `write_file ${JSON.stringify({ path, content })}`;
  const log = (n: number, word: string): string =>
    `exec ${JSON.stringify({ command: `echo ${word} >> log-${n}.txt` })}`;

  async function fileOf(path: string, session?: string): Promise<string> {
    const query = session === undefined ? '' : `?session=${session}`;
    const answer = await fetch(`${stand.apiUrl}/v1/agents/main/workspace/${path}${query}`, {
      headers: { authorization: `Bearer ${tenant.key}` },
    });
    assert.equal(answer.status, 200, `${path} of ${session}`);
    return answer.text();
  }

  /** All that belongs to an original: its rows, and its files. */
  async function stateOf(n: number): Promise<string> {
    const parts: unknown[] = [await fileOf(`plan-${n}.txt`), await fileOf(`log-${n}.txt`)];
    for (const table of TABLES)
      parts.push(
        (
          await stand.pool.query(
            `select to_jsonb(t)::text as row from ${table} t where tenant_id = $1 and session_key = $2 order by 1`,
            [tenant.id, `talk-${n}`],
          )
        ).rows,
      );
    return JSON.stringify(parts);
  }

  interface StepRow {
    readonly step: number;
    readonly role: string;
    readonly text: string;
    readonly calls:
      | readonly (readonly [tool: string, args: object, ok: boolean, code: string | null])[]
      | null;
  }
  async function transcriptOf(session: string): Promise<readonly StepRow[]> {
    const { rows } = await stand.pool.query<StepRow>(
      `select m.step, m.role, m.text, (select jsonb_agg(jsonb_build_array(c.tool, c.args, c.ok, nullif(c.code, ''), c.result) order by c.index)
         from tool_calls c where c.tenant_id = m.tenant_id and c.turn_id = m.turn_id and c.step = m.step and m.role = 'assistant') as calls
       from messages m where m.tenant_id = $1 and m.session_key = $2 and m.position is not null order by m.position`,
      [tenant.id, session],
    );
    return rows;
  }

  const fork = (n: number) =>
    stand.until(`the fork of ${n}`, async () => {
      const reply = await stand.ask(tenant, 'POST', `/v1/sessions/talk-${n}/forks?wait=5`, {
        body: { step: steps[n], key: `fork-${n}` },
      });
      if (reply && reply.status >= 400 && reply.status < 500) assert.fail(JSON.stringify(reply.body));
      return reply?.status === 201 ? String(reply.body['turn_id']) : undefined;
    });

  it(`${SESSIONS} sessions are forked through a kill for each ${PER_KILL}`, async (t) => {
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    for (let n = 0; n < SESSIONS; n += 1) {
      const path = `plan-${n}.txt`;
      const lines = [write(path, 'one'), log(n, 'first'), write(path, 'two'), log(n, 'second'), `Done ${n}.`];
      const turn = await stand.say(tenant, `talk-${n}`, `talk-${n}`, { text: lines.join('\nthen\n') });
      accepted.push({ tenant, session: `talk-${n}`, turn, token: `Done ${n}.` });
    }
    await untilAllEnded(stand, accepted);
    for (let n = 0; n < SESSIONS; n += 1) originals.push(await stateOf(n));
    const forked: Accepted[] = [];
    for (let first = 0; first < SESSIONS; first += PER_KILL) {
      const some = Array.from({ length: Math.min(PER_KILL, SESSIONS - first) }, (_, at) => first + at);
      const all = Promise.all(
        some.map(async (n) => ({ tenant, session: `fork-${n}`, turn: await fork(n), token: `Done ${n}.` })),
      );
      for (const killed of [stand.workers[chance.between(0, 1)], first % 2 === 0 ? undefined : stand.api]) {
        await sleep(chance.between(0, 500));
        await killed?.kill();
        await killed?.start();
      }
      forked.push(...(await all));
    }
    await untilAllEnded(stand, forked);
  });

  it('each fork has the transcript up to its step, and goes on to the same end', async () => {
    for (let n = 0; n < SESSIONS; n += 1) {
      const step = steps[n] ?? 1;
      const [before, now] = [await transcriptOf(`talk-${n}`), await transcriptOf(`fork-${n}`)];
      const copied = (row: StepRow): boolean => row.role === 'user' || row.step < step;
      assert.deepEqual(now.filter(copied), before.filter(copied), `fork-${n} at step ${step}`);
      assert.deepEqual(
        now.map(({ text, role }) => [role, text]),
        before.map(({ text, role }) => [role, text]),
      );
      assert.equal(await fileOf(`plan-${n}.txt`, `fork-${n}`), 'two');
    }
  });

  it('commands of a fork run once, copied ones do not, and a lost one says so', async () => {
    for (let n = 0; n < SESSIONS; n += 1) {
      const step = steps[n] ?? 1;
      const lines = (await fileOf(`log-${n}.txt`, `fork-${n}`)).trimEnd().split('\n');
      const live = (await transcriptOf(`fork-${n}`)).filter(
        (row) => row.role === 'assistant' && row.step >= step,
      );
      for (const [at, word] of [
        [2, 'first'],
        [4, 'second'],
      ] as const) {
        const row = live.find((one) => one.step === at);
        const [, , ok, code] = row?.calls?.[0] ?? [];
        // The copy has the line of the original, and that of the fork's own call if it ran.
        const own = lines.filter((line) => line === word).length - 1;
        if (ok) assert.equal(own, 1, `fork-${n}: ${word}`);
        else if (row) assert.ok(code === 'OutcomeUnknown' && own <= 1, `fork-${n}: ${word} ${code}`);
        else assert.equal(own, 0, `fork-${n}: ${word}`);
      }
    }
  });

  it('no row and no byte of an original has changed, and each fork is there once', async () => {
    for (let n = 0; n < SESSIONS; n += 1) assert.equal(await stateOf(n), originals[n], `talk-${n}`);
    const { rows } = await stand.pool.query(
      `select count(*)::int as forks, count(*) filter (where status = 'done')::int as done,
         (select count(*)::int from sessions where key like 'fork-%') as sessions,
         (select count(*)::int from model_uses where session_key like 'fork-%' and kind = 'answer')
           + (select coalesce(sum(calls), 0)::int from usage_by_session where session_key like 'fork-%' and kind = 'answer') as answers
       from forks`,
    );
    const answers = steps.reduce((sum, step) => sum + STEPS + 1 - step, 0);
    assert.deepEqual(rows, [{ forks: SESSIONS, done: SESSIONS, sessions: SESSIONS, answers }]);
  });
});
