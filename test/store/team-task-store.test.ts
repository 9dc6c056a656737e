/**
 * TE-2: the rows of tasks are made once, changed once for each revision, wait for existing tasks, and are found by
 * their request.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { loadTask } from '#store/teams/team-task-state.ts';
import { createTask, giveTask, type NewTask, recordTask } from '#store/teams/team-task-record.ts';
import { findTask, listComments, listTasks, tasksAnnouncedBy } from '#store/teams/team-task-store.ts';
import { deleteTeam, insertTeam, readTeamMessages, insertTeamMessage } from '#store/teams/team-store.ts';
import type { TaskChange, TaskState, TaskStatus } from '#domain/team/team-task.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

const TENANT = 'default';
const TEAM = {
  key: 'crew',
  name: null,
  description: null,
  lead: 'lead',
  members: ['m1', 'm2'],
  settings: {},
};

describe('TE-2 rows of tasks', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
    await database.pool.query('insert into tenants values ($1, $1)', [TENANT]);
    for (const key of ['lead', 'm1', 'm2'])
      await database.pool.query(
        `insert into agents (tenant_id, key, revision, config) values ($1, $2, 1, '{}')`,
        [TENANT, key],
      );
    assert.deepEqual(await insertTeam(forTenant(database.pool, TENANT), TEAM, 'test'), { kind: 'written' });
  });
  after(() => database.drop());

  let made = 0;
  const create = async (overrides: Partial<NewTask> = {}): Promise<number> => {
    made += 1;
    const created = await createTask(forTenant(database.pool, TENANT), 'crew', {
      subject: `Task ${made}`,
      description: '',
      priority: 0,
      blocked_by: [],
      require_approval: false,
      actor: 'test',
      create_key: `key-${made}`,
      ...overrides,
    });
    assert.ok(created.kind === 'created', JSON.stringify(created));
    return created.number;
  };
  const state = async (number: number): Promise<TaskState> => {
    const loaded = await loadTask(forTenant(database.pool, TENANT), ['crew', number]);
    assert.ok(loaded);
    return loaded.task;
  };
  const record = async (number: number, fields: Partial<TaskState>, change: Partial<TaskChange> = {}) => {
    const task = await state(number);
    return recordTask(forTenant(database.pool, TENANT), ['crew', number], {
      task: { ...task, ...fields, revision: task.revision + 1 },
      action: 'update',
      actor: 'test',
      ...change,
    });
  };
  const close = (number: number, status: TaskStatus) => record(number, { status });

  it('TE-1 a loaded task says whether the turn that created it has ended', async () => {
    const { pool } = database;
    await pool.query("insert into sessions (tenant_id, key, agent_key) values ($1, 'giver', 'lead')", [
      TENANT,
    ]);
    await pool.query(
      "insert into turns (tenant_id, id, session_key, agent_key, status) values ($1, 'turn_giver', 'giver', 'lead', 'running')",
      [TENANT],
    );
    const isClosed = async (number: number) =>
      (await loadTask(forTenant(pool, TENANT), ['crew', number]))?.isOriginClosed;
    const own = await create({ origin_session: 'giver', origin_turn: 'turn_giver' });
    assert.deepEqual([await isClosed(own), await isClosed(await create())], [false, true]);
    await pool.query("update turns set status = 'completed', ended_at = now() where id = 'turn_giver'");
    assert.equal(await isClosed(own), true);
  });

  it('the same key makes one task, also by many at once', async () => {
    const numbers = await Promise.all(Array.from({ length: 10 }, () => create({ create_key: 'the same' })));
    assert.equal(new Set(numbers).size, 1);
  });

  it('a revision is written once, and a repeat gets the same answer', async () => {
    const number = await create();
    const task = { ...(await state(number)), percent: 40, revision: 2 };
    const change: TaskChange = { task, action: 'progress', actor: 'test' };
    const key = ['crew', number] as const;
    assert.deepEqual(
      await recordTask(forTenant(database.pool, TENANT), key, change),
      await recordTask(forTenant(database.pool, TENANT), key, change),
    );
    assert.equal((await findTask(forTenant(database.pool, TENANT), 'crew', number))?.percent, 40);
  });

  const give = async (number: number, member: string, task?: TaskState) => {
    const lease = { member, token: 'token', fence: 1, until: null, session: `s-${number}` };
    const input: TaskState = {
      ...(task ?? (await state(number))),
      status: 'in_progress',
      owner: member,
      lease,
      revision: 2,
    };
    const change: TaskChange = { task: input, action: 'dispatch', actor: 'system', cause: 'dispatch' };
    return giveTask(forTenant(database.pool, TENANT), ['crew', number], change, {
      session: `s-${number}`,
      message_id: `msg-${number}`,
      agent: member,
      title: 'Given',
      text: 'Do it.',
      context: { channel: 'teammate' },
      reads: [],
      bound: { team: { key: 'crew', number, member, fence: 1 } },
    });
  };
  const messages = async (number: number): Promise<number> =>
    (await database.pool.query('select 1 from messages where id = $1', [`msg-${number}`])).rows.length;

  it('a task and its member’s message are written together, and a repeat gets the same answer', async () => {
    const number = await create();
    const before = await state(number);
    const input = await give(number, 'm1');
    assert.ok(input.kind === 'recorded' && input.isAssigned === true, JSON.stringify(input));
    assert.deepEqual(await give(number, 'm1', before), input);
    assert.equal(await messages(number), 1);
  });

  it('who comes late with what it would give finds what stands, and nobody is told', async () => {
    const number = await create();
    const before = await state(number);
    await record(number, { status: 'cancelled' }, { action: 'cancel', cause: 'somebody else' });
    const late = await give(number, 'm1', before);
    assert.ok(late.kind === 'recorded' && late.task?.status === 'cancelled', JSON.stringify(late));
    assert.equal('given' in late, false);
    assert.equal(await messages(number), 0);
  });

  it('a member that is no agent any more is given nothing, and the change says who has it', async () => {
    const number = await create();
    const input = await give(number, 'gone');
    assert.ok(input.kind === 'recorded' && input.isAssigned === false, JSON.stringify(input));
    assert.equal(await messages(number), 0);
  });

  it('a turn’s answer becomes the result with the end of the task, once', async () => {
    for (const [text, result] of [
      ['Said.', 'Said.'],
      ['', '(no result)'],
    ] as const) {
      const number = await create();
      await give(number, 'm1');
      const turn = `turn_msg-${number}`;
      await database.pool.query(
        `insert into turns (tenant_id, id, session_key, agent_key, status, text) values ($1, $2, $3, 'm1', 'completed', $4)`,
        [TENANT, turn, `s-${number}`, text],
      );
      const task: TaskState = { ...(await state(number)), status: 'completed', lease: null, revision: 3 };
      const change: TaskChange = { task, action: 'ended', actor: 'agent:m1', result_of: turn };
      const key = ['crew', number] as const;
      assert.deepEqual(
        await recordTask(forTenant(database.pool, TENANT), key, change),
        await recordTask(forTenant(database.pool, TENANT), key, change),
      );
      assert.equal((await findTask(forTenant(database.pool, TENANT), 'crew', number))?.result, result);
      const comments = await listComments(forTenant(database.pool, TENANT), key, 10, undefined);
      assert.deepEqual(
        comments.map(({ id, kind, author, text }) => [id, kind, author, text]),
        [[`text_${turn}`, 'result', 'agent:m1', result]],
      );
    }
  });

  it('of two tasks that are made to wait for each other at once, one is refused', async () => {
    const [one, two] = [await create(), await create()];
    const answers = await Promise.all([
      record(one, {}, { blocked_by: [two] }),
      record(two, {}, { blocked_by: [one] }),
    ]);
    assert.deepEqual(answers.map(({ kind }) => kind).toSorted(), ['recorded', 'refused']);
  });

  it('one that waits for a completed task waits for nothing', async () => {
    const first = await create();
    await close(first, 'completed');
    const second = await create({ blocked_by: [first] });
    assert.equal((await state(second)).status, 'pending');
  });

  it('the last of a request to be closed tells of all of them, exactly one of those that close at once', async () => {
    const request = { origin_turn: 'turn_1', origin_session: 's' };
    const numbers = [await create(request), await create(request), await create(request)];
    const answers = await Promise.all(numbers.map((number) => close(number, 'completed')));
    const tellers = numbers.filter((_, index) => {
      const answer = answers[index];
      return answer?.kind === 'recorded' && answer.notifies_lead;
    });
    assert.equal(tellers.length, 1);
    const messages = await tasksAnnouncedBy(forTenant(database.pool, TENANT), 'crew', tellers[0] ?? 0);
    assert.deepEqual(
      messages.map((row) => row.number),
      numbers,
    );
  });

  it('TE-6 finds words of subject and description', async () => {
    const number = await create({ subject: 'Paint the bridge', description: 'Use green colour.' });
    for (const query of ['bridge', 'green paint'])
      assert.deepEqual(
        (await listTasks(forTenant(database.pool, TENANT), 'crew', { query }, 5, undefined)).map(
          (row) => row.number,
        ),
        [number],
      );
  });

  it('TE-6 lists the newest first, or the most urgent and of these the newest', async () => {
    const query = 'urgency';
    const [low, high, later] = [
      await create({ subject: query, priority: 1 }),
      await create({ subject: query, priority: 9 }),
      await create({ subject: query, priority: 9 }),
    ];
    const listed = async (order?: 'newest' | 'priority') =>
      (await listTasks(forTenant(database.pool, TENANT), 'crew', { query, order }, 5, undefined)).map(
        (row) => row.number,
      );
    assert.deepEqual(await listed(), [later, high, low]);
    assert.deepEqual(await listed('priority'), [later, high, low]);
    const first = await create({ subject: query, priority: 0 });
    assert.deepEqual(await listed('newest'), [first, later, high, low]);
    assert.deepEqual(await listed('priority'), [later, high, low, first]);
  });

  it('TE-5 a message is read once, and who reads is told what is left', async () => {
    for (const id of ['a', 'b', 'c'])
      await insertTeamMessage(forTenant(database.pool, TENANT), 'crew', {
        id,
        sender: 'lead',
        addressee: 'm1',
        text: id,
      });
    const read = async (limit: number) => {
      const { messages, left } = await readTeamMessages(
        forTenant(database.pool, TENANT),
        'crew',
        'm1',
        limit,
      );
      return [messages.map(({ text }) => text).join(''), left];
    };
    assert.deepEqual(await read(2), ['ab', 1]);
    assert.deepEqual(await read(2), ['c', 0]);
    assert.deepEqual(await read(2), ['', 0]);
  });

  it('a team that was deleted and made again goes on counting', async () => {
    const before = await create();
    assert.equal(await deleteTeam(forTenant(database.pool, TENANT), 'crew'), true);
    assert.deepEqual(
      await insertTeam(forTenant(database.pool, TENANT), { ...TEAM, members: ['m2'] }, 'test'),
      {
        kind: 'written',
      },
    );
    assert.equal(await create(), before + 1);
    assert.deepEqual((await loadTask(forTenant(database.pool, TENANT), ['crew', before]))?.members, ['m2']);
  });
});
