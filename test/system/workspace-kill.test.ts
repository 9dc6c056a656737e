/**
 * VF-6, DU-1, DU-2: two workers with a folder each pass one session's files back and forth, through a bucket. The
 * holder is killed with SIGKILL at each point of a step: in the command, at its pieces, its root, its row, and before
 * its result is recorded. What a recorded result reports is never lost, and nothing is there twice.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { type S3Server, startS3Server } from '#test/support/s3-server.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { type Accepted, checkInvariants, untilAllEnded } from '#test/support/witness.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 1);
const POINTS = ['command', 'piece', 'root', 'row', 'result'] as const;
type Point = (typeof POINTS)[number];
const TOOLS = ['exec', 'write_file'] as const;

/** Statements that wait here for as long as another session has the lock, while it is armed. */
const HOLD = `
  create table held_point (point text not null);
  insert into held_point values ('none');
  create function hold_point() returns trigger language plpgsql as $$
  begin
    if (select point from held_point) = tg_argv[0] then perform pg_advisory_xact_lock(4242); end if;
    return new;
  end $$;
  create trigger hold_row before update on workspaces for each row
    when (new.revision > old.revision) execute function hold_point('row');
  create trigger hold_result before update on tool_calls for each row
    when (new.state = 'done' and new.tool in ('exec', 'write_file')) execute function hold_point('result');`;

describe('VF-6 kill -9 of the worker that has the files', { timeout: 900_000 }, () => {
  let stand: Stand;
  let s3: S3Server;
  const chance = createChance(seedOfRun());
  const accepted: Accepted[] = [];
  /** What the file must contain, in this order. */
  const lines: string[] = [];
  before(async () => {
    s3 = await startS3Server();
    stand = await createStand({
      workers: 2,
      workerSettings: (worker, folder) => ({
        TEMPOCLAW_WORKSPACE_ROOT: join(folder, `workspaces-${worker}`),
        TEMPOCLAW_WORKSPACES_FOLLOW: 'snapshots',
        TEMPOCLAW_WORKSPACES_STORE: 's3://bucket',
        AWS_ENDPOINT_URL_S3: s3.url,
        AWS_ACCESS_KEY_ID: s3.keys.accessKeyId,
        AWS_SECRET_ACCESS_KEY: s3.keys.secretAccessKey,
      }),
    });
    await stand.pool.query(HOLD);
  });
  after(async () => {
    await stand?.close();
    await s3?.close();
  });

  async function say(token: string, text: string): Promise<string> {
    const tenant = stand.tenants[0];
    const turn = await stand.say(tenant, 'files', token, { text: `${text}\nthen\n${token}` });
    accepted.push({ tenant, session: 'files', turn, token });
    return turn;
  }

  async function callOf(turn: string): Promise<{ ok: boolean; code: string | null; result: string }> {
    await untilAllEnded(stand, accepted.slice(-1));
    const { rows } = await stand.pool.query(
      'select ok, code, result from tool_calls where tenant_id = $1 and turn_id = $2',
      [(stand.tenants[0] as Tenant).id, turn],
    );
    assert.equal(rows.length, 1);
    return rows[0];
  }

  /** Resolves when the point is reached, with a function that releases it when the worker is dead. */
  async function hold(point: Point): Promise<{ readonly reached: Promise<void>; letGo(): Promise<void> }> {
    if (point === 'command') return { reached: sleep(0), letGo: async () => undefined };
    if (point === 'piece' || point === 'root') {
      const released = Promise.withResolvers<void>();
      const reached = new Promise<void>((resolve) => {
        s3.onRequest = async (method, _key, body) => {
          const isRoot = body.toString().startsWith('{"folder":');
          if (method !== 'PUT' || isRoot !== (point === 'root')) return;
          s3.onRequest = undefined;
          resolve();
          await released.promise;
          throw new Error('nobody waits for this answer');
        };
      });
      return { reached, letGo: async () => released.resolve() };
    }
    const keeper = await stand.pool.connect();
    await keeper.query('select pg_advisory_lock(4242)');
    await keeper.query('update held_point set point = $1', [point]);
    const waiting = `from pg_stat_activity where wait_event_type = 'Lock' and wait_event = 'advisory'`;
    return {
      reached: stand
        .until(`a statement at ${point}`, async () => {
          const { rowCount } = await keeper.query(`select 1 ${waiting}`);
          return rowCount ? true : undefined;
        })
        .then(() => undefined),
      async letGo() {
        await keeper.query(`update held_point set point = 'none'`);
        // A statement of a client that is gone would still run.
        await keeper.query(`select pg_terminate_backend(pid) ${waiting}`);
        await keeper.query('select pg_advisory_unlock(4242)');
        keeper.release();
      },
    };
  }

  /** Which of the workers has the workspace, or at the last point had it a moment ago. */
  async function holder(point: Point): Promise<number> {
    return stand.until('a holder', async () => {
      const { rows } = await stand.pool.query<{ holder: string }>(
        'select holder from workspaces where $1 or held_until > clock_timestamp()',
        [point === 'result'],
      );
      const pid = Number(/^worker (\d+) /.exec(rows[0]?.holder ?? '')?.[1]);
      const at = stand.workers.findIndex((worker) => worker.pid === pid);
      return at < 0 ? undefined : at;
    });
  }

  function textOf(tool: (typeof TOOLS)[number], point: Point, token: string): string {
    if (tool === 'write_file')
      return `write_file ${JSON.stringify({ path: 'log', content: `${token}\n`, append: true })}`;
    const command = `echo ${token} >> log${point === 'command' ? '; sleep 60' : ''}`;
    return `exec ${JSON.stringify({ command, timeout: 100 })}`;
  }

  /** Resolves with the worker that was killed, from 0. */
  async function killAt(point: Point, tool: (typeof TOOLS)[number], round: number): Promise<number> {
    const kept = `kept-${round}-${point}-${tool}`;
    const first = await callOf(await say(kept, textOf('write_file', 'row', kept)));
    assert.equal(first.ok, true, first.result);
    lines.push(kept);

    const token = `killed-${round}-${point}-${tool}`;
    const held = await hold(point);
    const turn = await say(token, textOf(tool, point, token));
    await held.reached;
    const at = await holder(point);
    if (point === 'command') await sleep(chance.between(100, 1_000));
    const worker = stand.workers[at];
    assert.ok(worker);
    await worker.kill();
    await held.letGo();

    const { ok, code, result } = await callOf(turn);
    const expected = tool === 'exec' ? [false, 'OutcomeUnknown'] : [true, null];
    assert.deepEqual([ok, code], expected, `${token}: ${result}`);
    // The last point is after the revision; before it, a command that does not run again has left nothing.
    if (tool === 'write_file' || point === 'result') lines.push(token);
    const seen = await callOf(await say(`seen-${token}`, 'read_file {"path":"log"}'));
    assert.deepEqual(seen.result.trim().split('\n'), lines, token);
    await worker.start();
    return at;
  }

  it(`a killed worker's step is whole or not there, and what was recorded is there once (${ROUNDS} rounds)`, async (t) => {
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    const steps = POINTS.flatMap((point) => TOOLS.map((tool) => ({ point, tool })));
    const used = new Set<number>();
    for (let round = 0; round < ROUNDS; round += 1)
      for (const { point, tool } of steps)
        if (point !== 'command' || tool === 'exec') used.add(await killAt(point, tool, round));
    t.diagnostic(`workers that were killed: ${[...used].join(', ')}`);
  });

  it('each of the two has all of it when it is alone', async () => {
    for (const [gone, remaining] of [
      [0, 1],
      [1, 0],
    ] as const) {
      await stand.workers[gone]?.kill();
      const token = `alone-${remaining}`;
      const seen = await callOf(await say(token, 'exec {"command":"cat log"}'));
      assert.deepEqual(
        seen.result.split('\n').filter((line) => /^(?:kept|killed)-/.test(line)),
        lines,
      );
      await stand.workers[gone]?.start();
    }
  });

  it('the witness finds I1–I6 kept', async () => {
    await checkInvariants(stand, accepted);
  });
});
