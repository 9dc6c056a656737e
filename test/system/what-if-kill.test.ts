/**
 * DU-6, DU-1: a week of sessions under another model, while workers and the command itself are killed with SIGKILL. The
 * report is what it would have been, no command runs, and what a killed command has begun ends by itself.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCli } from '#test/cli/support/run-cli.ts';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';

const SESSIONS = Number(process.env['TEST_SESSIONS'] ?? 50);
const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 2);
const AT_ONCE = 4;

/** Does what the message says, slowly, but where the message says so it makes a call that was never made. */
const OTHER = `rules:
  - when: { user: odd, step: 0 }
    reply: { delay: 50ms, calls: [{ tool: exec, args: { command: 'echo other >> witness' } }] }
  - reply: { delay: 50ms, follow: user }
`;

describe('DU-6 kill -9 under a what-if', { timeout: 900_000 }, () => {
  let stand: Stand;
  let tenant: Tenant;
  const chance = createChance(seedOfRun());
  const isOdd = (n: number): boolean => n % 2 === 1;
  before(async () => {
    stand = await createStand({ workers: 2, scripts: { other: OTHER } });
    [tenant] = stand.tenants;
    for (let n = 0; n < SESSIONS; n += 1) {
      const command = JSON.stringify({ command: `echo ${n} >> ${stand.witnessFile}` });
      const text = `exec ${command}\nthen\n${isOdd(n) ? 'odd' : 'even'}\ndatetime {}\nthen\nDone.`;
      await stand.say(tenant, `week-${n}`, `m-${n}`, { text });
    }
    await stand.until('the end of all turns', async () =>
      (await turns(`session_key like 'week-%' and status = 'completed'`)) === SESSIONS ? true : undefined,
    );
  });
  after(() => stand?.close());

  const turns = async (which: string): Promise<number> => {
    const { rows } = await stand.pool.query(
      `select count(*)::int as count from turns where tenant_id = $1 and ${which}`,
      [tenant.id],
    );
    return rows[0].count;
  };
  const start = () =>
    startCli(
      [
        'what-if',
        '--agent',
        'main',
        '--model',
        'rehearsal/other',
        '--json',
        '--max',
        '1000',
        '--at-once',
        `${AT_ONCE}`,
      ],
      { url: stand.apiUrl, env: { TEMPOCLAW_API_KEY: tenant.key } },
    );
  const killOne = async (): Promise<void> => {
    const worker = stand.workers[chance.between(0, stand.workers.length - 1)];
    await worker?.kill();
    await worker?.start();
  };
  /** Turns of replays, in all. */
  const replayed = () => turns(`context ? 'stand_ins'`);

  it('reports the same when workers are killed meanwhile, and runs nothing', async () => {
    const effects = await stand.effects();
    assert.equal(effects.length, SESSIONS);
    for (let round = 0; round < ROUNDS; round += 1) {
      const run = start();
      const over = new AbortController();
      const ended = run.ended.finally(() => over.abort());
      while (!over.signal.aborted) {
        await Promise.race([sleep(chance.between(500, 3_000)), ended]);
        if (!over.signal.aborted) await killOne();
      }
      const { code, stdout, stderr } = await ended;
      assert.equal(code, 0, stdout.slice(-2_000) + stderr);
      const { sessions, changed, before: was, after: is } = JSON.parse(stdout);
      const odd = Math.floor(SESSIONS / 2);
      assert.deepEqual([sessions.length, changed], [SESSIONS, odd]);
      assert.deepEqual(was.tools, { exec: SESSIONS, datetime: SESSIONS });
      // In place of the command that was recorded, the other model makes its own.
      assert.deepEqual(is.tools, { exec: SESSIONS, datetime: SESSIONS });
      assert.deepEqual([is.not_recorded, is.failed, is.denied], [odd, 0, 0]);
    }
    assert.deepEqual(await stand.effects(), effects);
  });

  it('ends what a killed command has begun, starts nothing more, and begins anew', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = await replayed();
      const run = start();
      await stand.until('some turns', async () => ((await replayed()) > before + 5 ? true : undefined));
      await sleep(chance.between(0, 500));
      run.child.kill('SIGKILL');
      await run.ended;
      const begun = await replayed();
      await stand.until('the end of what runs', async () =>
        (await turns(`context ? 'stand_ins' and ended_at is null`)) === 0 ? true : undefined,
      );
      await sleep(1_000);
      const left = await replayed();
      assert.ok(left <= begun + AT_ONCE && left < before + SESSIONS, `${begun}, then ${left}`);
    }
    const { code, stdout, stderr } = await start().ended;
    assert.equal(code, 0, stderr);
    assert.equal(JSON.parse(stdout).sessions.length, SESSIONS);
  });
});
