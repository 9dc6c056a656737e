/**
 * DU-8, DU-1: kill -9 of the worker while it forgets a user, at each kind of data, and while it publishes a skill. The
 * receipt is complete and counts each row once, nothing is left, and a skill is published once.
 */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { skillText } from '#test/support/skills.ts';
import { untilAllEnded } from '#test/support/witness.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 1);
const FORGETTING = ['tool_calls', 'messages', 'workspaces', 'documents', 'receipt'] as const;
const PUBLISHING = ['version', 'result'] as const;

/** Statements that wait here for as long as another session has the lock, while it is armed. */
const HOLD = `
  create table held_point (point text not null);
  insert into held_point values ('none');
  create function hold_point() returns trigger language plpgsql as $$
  begin
    if (select point from held_point) = tg_argv[0] then perform pg_advisory_xact_lock(4242); end if;
    if tg_op = 'DELETE' then return old; end if;
    return new;
  end $$;
  create trigger hold_tool_calls after delete on tool_calls for each row execute function hold_point('tool_calls');
  create trigger hold_messages after delete on messages for each row execute function hold_point('messages');
  create trigger hold_workspaces after delete on workspaces for each row execute function hold_point('workspaces');
  create trigger hold_documents after delete on documents for each row execute function hold_point('documents');
  create trigger hold_receipt before update on forgettings for each row
    when (new.ended_at is not null) execute function hold_point('receipt');
  create trigger hold_version after insert on skill_versions for each row execute function hold_point('version');
  create trigger hold_result before update on tool_calls for each row
    when (new.state = 'done' and new.tool = 'publish_skill') execute function hold_point('result');`;

describe('DU-1 kill -9 of the worker', { timeout: 900_000 }, () => {
  let stand: Stand;
  let tenant: Tenant;
  let objects = '';
  before(async () => {
    stand = await createStand({
      workers: 1,
      agents: [{ key: 'apart', type: 'open', model: 'rehearsal/follow', workspace: { scope: 'session' } }],
      workerSettings: (_, folder) => {
        objects = join(folder, 'objects');
        return {
          TEMPOCLAW_WORKSPACES_FOLLOW: 'snapshots',
          TEMPOCLAW_WORKSPACES_STORE: objects,
        };
      },
    });
    [tenant] = stand.tenants;
    await stand.pool.query(HOLD);
  });
  after(() => stand?.close());

  /** The turn's id; resolves when it has ended. */
  async function say(user: string, session: string, text: string): Promise<string> {
    const turn = await begin(user, session, text);
    await untilAllEnded(stand, [{ tenant, session, turn, token: session }]);
    return turn;
  }
  const begin = (user: string, session: string, text: string): Promise<string> =>
    stand.say(tenant, session, session, { text, user });

  /** Kills the worker at the point, once `act` has started what leads there. */
  async function killAt(point: string, act: () => Promise<unknown>): Promise<void> {
    const waiting = `from pg_stat_activity where wait_event_type = 'Lock' and wait_event = 'advisory'`;
    const keeper = await stand.pool.connect();
    await keeper.query('select pg_advisory_lock(4242)');
    await keeper.query('update held_point set point = $1', [point]);
    await act();
    await stand.until(`a statement at ${point}`, async () =>
      (await keeper.query(`select 1 ${waiting}`)).rowCount ? true : undefined,
    );
    await stand.workers[0]?.kill();
    await keeper.query(`update held_point set point = 'none'`);
    // A statement of a client that is gone would still run.
    await keeper.query(`select pg_terminate_backend(pid) ${waiting}`);
    await keeper.query('select pg_advisory_unlock(4242)');
    keeper.release();
    await stand.workers[0]?.start();
  }

  async function count(table: string, where: string, value: string): Promise<number> {
    const { rows } = await stand.pool.query(`select count(*)::int as n from ${table} where ${where}`, [
      value,
    ]);
    return rows[0].n;
  }

  /** The tables and columns that contain the text. */
  async function whereIs(text: string): Promise<readonly string[]> {
    const { rows } = await stand.pool.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
    );
    const found: string[] = [];
    for (const { name } of rows)
      if (
        (
          await stand.pool.query(`select 1 from "${name}" t where t::text like '%' || $1 || '%' limit 1`, [
            text,
          ])
        ).rowCount
      )
        found.push(name);
    return found.toSorted();
  }

  async function forgetAndKill(point: string, round: number): Promise<void> {
    const user = `user-${round}-${point}`;
    const token = `quokka${round}${point.replace('_', '')}`;
    for (const n of [1, 2])
      await say(
        user,
        `${user}-${n}`,
        [
          `write_file ${JSON.stringify({ path: `file-${n}.txt`, content: token })}`,
          `write_file ${JSON.stringify({ path: `memory/note-${n}.md`, content: token })}`,
          `Wrote ${token}.`,
        ].join('\nthen\n'),
      );
    const mine = `session_key like $1 || '-%'`;
    const expected = {
      sessions: 2,
      turns: 2,
      messages: await count('messages', mine, user),
      tool_calls: await count('tool_calls', mine, user),
      documents: 2,
      workspaces: 1,
    };
    assert.ok((await readdir(objects, { recursive: true })).some((path) => path.includes(user)));

    let id = '';
    await killAt(point, async () => {
      const reply = await stand.ask(tenant, 'DELETE', `/v1/users/${user}`);
      assert.equal(reply?.status, 202);
      id = String(reply.body['id']);
    });
    const receipt = await stand.until(`the receipt of ${user}`, async () => {
      const reply = await stand.ask(tenant, 'GET', `/v1/forgettings/${id}`);
      return reply?.body['status'] === 'done' ? reply.body : undefined;
    });
    const removed = receipt['removed'] as Record<string, number>;
    const counted = Object.fromEntries(Object.keys(expected).map((kind) => [kind, removed[kind]]));
    assert.deepEqual(counted, expected, point);
    assert.deepEqual(await whereIs(token), []);
    // The receipt names the user it is about.
    assert.deepEqual(await whereIs(user), ['forgettings']);
    const remaining = (await readdir(objects, { recursive: true })).filter((path) => path.includes(user));
    assert.deepEqual(remaining, []);
    // The user's next visit finds nothing of it.
    const turn = await say(user, `again-${user}`, 'list_files {}');
    const { rows } = await stand.pool.query('select result from tool_calls where turn_id = $1', [turn]);
    assert.doesNotMatch(rows[0].result, /file-|note-/);
  }

  it(`while it forgets a user: the receipt is whole, nothing is left or counted twice (${ROUNDS} rounds)`, async () => {
    for (let round = 0; round < ROUNDS; round += 1)
      for (const point of FORGETTING) await forgetAndKill(point, round);
  });

  it('a session with a workspace of its own takes it along', async () => {
    const session = 'own-files';
    const text = 'write_file {"path":"a.txt","content":"wombat"}';
    const turn = await stand.say(tenant, session, session, { text, agent: 'apart' });
    await untilAllEnded(stand, [{ tenant, session, turn, token: session }]);
    assert.ok((await readdir(objects, { recursive: true })).some((path) => path.includes(session)));
    const reply = await stand.ask(tenant, 'DELETE', `/v1/sessions/${session}`);
    const removed = await stand.until('the receipt', async () => {
      const receipt = await stand.ask(tenant, 'GET', `/v1/forgettings/${String(reply?.body['id'])}`);
      return receipt?.body['status'] === 'done' ? receipt.body['removed'] : undefined;
    });
    assert.equal((removed as Record<string, number>)['workspaces'], 1);
    assert.equal(await count('workspaces', 'name like $1', `%${session}`), 0);
    const remaining = (await readdir(objects, { recursive: true })).filter((path) => path.includes(session));
    assert.deepEqual(remaining, []);
  });

  it(`while it publishes a skill: it is there once, and the call's result says so (${ROUNDS} rounds)`, async () => {
    for (let round = 0; round < ROUNDS; round += 1)
      for (const point of PUBLISHING) {
        const name = `skill-${round}-${point}`;
        const write = { path: `skills/${name}/SKILL.md`, content: skillText(name) };
        await say('pub', `write-${name}`, `write_file ${JSON.stringify(write)}`);
        const publish = `publish_skill ${JSON.stringify({ path: `skills/${name}` })}\nthen\n${name}`;
        let turn = '';
        await killAt(point, async () => {
          turn = await begin('pub', name, publish);
        });
        await untilAllEnded(stand, [{ tenant, session: name, turn, token: name }]);
        const { rows } = await stand.pool.query(
          'select ok, result from tool_calls where turn_id = $1 order by step',
          [turn],
        );
        assert.equal(rows.length, 1);
        assert.equal(rows[0].ok, true);
        assert.match(rows[0].result, new RegExp(`^${name} is (published as|what it was:) version 1`));
        for (const [table, expected] of [
          ['skill_versions', 1],
          ['skill_grants', 1],
          ['skills', 1],
        ] as const)
          assert.equal(await count(table, 'name = $1', name), expected, `${table} of ${name}`);
      }
  });
});
