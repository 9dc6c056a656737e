/** DU-10, DU-1: kill -9 of the API while a rollout changes: the change is there whole or not at all, and a repeat does it once. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiProcess, startApiProcess } from '#test/support/api-process.ts';
import { type LiveWorker, startLiveWorker } from '#test/support/live-worker.ts';

/** Statements that wait here for as long as another session has the lock, while it is armed. */
const HOLD = `
  create table held_point (point text not null);
  insert into held_point values ('none');
  create function hold_point() returns trigger language plpgsql as $$
  begin
    if (select point from held_point) = tg_argv[0] then perform pg_advisory_xact_lock(4242); end if;
    return null;
  end $$;
  create trigger hold_revision after insert on agent_revisions for each row execute function hold_point('revision');
  create trigger hold_agent after update on agents for each row execute function hold_point('agent');
  create trigger hold_change after insert on rollout_changes for each row execute function hold_point('change');`;

const START = { agent: 'moved', share: 100, change: { name: 'Moved' } };
const CASES = [
  ['revision', 'POST', '/v1/rollouts', START],
  ['agent', 'POST', '/v1/rollouts', START],
  ['change', 'POST', '/v1/rollouts', START],
  ['agent', 'PATCH', '/v1/rollouts/moved', { share: 0 }],
  ['change', 'PATCH', '/v1/rollouts/moved', { share: 100 }],
  ['agent', 'POST', '/v1/rollouts/moved/back', {}],
  ['change', 'POST', '/v1/rollouts/moved/back', {}],
  ['agent', 'POST', '/v1/rollouts/moved/finish', {}],
  ['change', 'POST', '/v1/rollouts/moved/finish', {}],
] as const;

describe('DU-10 kill -9 of the API while a rollout changes', { timeout: 600_000 }, () => {
  let worker: LiveWorker;
  let folder: string;
  let api: ApiProcess;
  let settings: Parameters<typeof startApiProcess>[0];
  let key: string;
  before(async () => {
    worker = await startLiveWorker();
    folder = await mkdtemp(join(tmpdir(), 'tempoclaw-rollout-'));
    settings = {
      databaseUrl: String(worker.pool.options.connectionString),
      stateDir: worker.keys.stateDir,
      cwd: folder,
      taskQueue: worker.taskQueue,
    };
    api = await startApiProcess(settings);
    key = (await readFile(join(worker.keys.stateDir, 'api-key'), 'utf8')).trim();
    await done('POST', '/v1/agents', { key: 'moved', model: 'rehearsal/follow' }, 'moved');
    await worker.pool.query(HOLD);
  });
  after(async () => {
    await api?.end();
    await worker?.close();
    if (folder) await rm(folder, { recursive: true });
  });

  const send = (method: string, path: string, body: object, id: string) =>
    fetch(api.address + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(method === 'POST' && { 'idempotency-key': id }),
      },
      body: JSON.stringify(body),
    });
  const done = async (method: string, path: string, body: object, id: string): Promise<void> => {
    const answer = await worker.until(`${method} ${path}`, async () => {
      const one = await send(method, path, body, id);
      return one.status < 300 || one.status === 422 || one.status === 404 ? one : undefined;
    });
    assert.ok(answer.ok, `${method} ${path}: ${await answer.text()}`);
  };
  /** Of a session whose place is below each share. */
  const revisionOf = ({
    revision,
    rollout,
  }: {
    revision: number;
    rollout: { revision: number; share: number } | null;
  }) => (rollout && rollout.share === 100 ? rollout.revision : revision);
  const rows = async () => {
    const { rows: all } = await worker.pool.query(
      `select a.revision, a.config, a.rollout - 'at' as rollout, (select count(*)::int from agent_revisions r where r.agent_key = a.key) as revisions,
        (select count(*)::int from rollout_changes c where c.agent_key = a.key) as changes from agents a where a.key = 'moved'`,
    );
    return all[0];
  };

  for (const [n, [point, method, path, body]] of CASES.entries())
    it(`${method} ${path} that was killed at its ${point}, case ${n + 1}, has changed nothing; again, it is done once`, async () => {
      // A case of a change needs a rollout, one of a start needs none.
      const isRunning = (await rows()).rollout !== null;
      if (path === '/v1/rollouts' && isRunning)
        await done('POST', '/v1/rollouts/moved/back', {}, `prepare-${n}`);
      if (path !== '/v1/rollouts' && !isRunning)
        await done('POST', '/v1/rollouts', { ...START, change: { name: `n${n}` } }, `prepare-${n}`);
      const begun = await rows();
      const keeper = await worker.pool.connect();
      await keeper.query('select pg_advisory_lock(4242)');
      await keeper.query('update held_point set point = $1', [point]);
      const lost = send(method, path, body, `case-${n}`).catch(() => undefined);
      const waiting = `from pg_locks where locktype = 'advisory' and objid = 4242 and not granted`;
      await worker.until(`a statement at ${point}`, async () =>
        (await keeper.query(`select 1 ${waiting}`)).rowCount ? true : undefined,
      );
      await api.end('SIGKILL');
      await lost;
      await keeper.query(`update held_point set point = 'none'`);
      // A statement of a client that is gone would still run.
      await keeper.query(`select pg_terminate_backend(pid) ${waiting}`);
      await keeper.query('select pg_advisory_unlock(4242)');
      keeper.release();
      await sleep(100);
      assert.deepEqual(await rows(), begun);
      api = await startApiProcess(settings);
      // Turns go on, as the rollout says that is in force.
      const message = { text: 'datetime {}', agent: 'moved' };
      await done('POST', `/v1/sessions/before-${n}/messages?wait=60`, message, `before-${n}`);
      await done(method, path, body, `again-${n}`);
      await done('POST', `/v1/sessions/after-${n}/messages?wait=60`, message, `after-${n}`);
      const ended = await rows();
      assert.equal(ended.changes, begun.changes + 1);
      assert.equal(ended.revisions, begun.revisions + (path === '/v1/rollouts' ? 1 : 0));
      assert.equal(ended.rollout === null, /back|finish/.test(path));
      const { rows: turns } = await worker.pool.query(
        `select status, agent_revision from turns where session_key in ('before-${n}', 'after-${n}') order by session_key desc`,
      );
      assert.deepEqual(
        turns,
        [begun, ended].map((one) => ({ status: 'completed', agent_revision: revisionOf(one) })),
      );
    });
});
