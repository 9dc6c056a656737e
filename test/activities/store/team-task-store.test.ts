/** TE-2 the rows of tasks: made once, changed once a revision, waiting for what is there, told by one of their request. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  createTask,
  findTask,
  listTasks,
  loadTask,
  type NewTask,
  recordTask,
  tasksToldBy,
} from '#activities/store/team-task-store.ts';
import { deleteTeam, insertTeam, readTeamMessages, insertTeamMessage } from '#activities/store/team-store.ts';
import type { TaskChange, TaskState, TaskStatus } from '#domain/team-task.ts';
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
    assert.deepEqual(await insertTeam(database.pool, TENANT, TEAM, 'test'), { kind: 'written' });
  });
  after(() => database.drop());

  let made = 0;
  const create = async (over: Partial<NewTask> = {}): Promise<number> => {
    made += 1;
    const created = await createTask(database.pool, TENANT, 'crew', {
      subject: `Task ${made}`,
      description: '',
      priority: 0,
      blocked_by: [],
      require_approval: false,
      actor: 'test',
      create_key: `key-${made}`,
      ...over,
    });
    assert.ok(created.kind === 'created', JSON.stringify(created));
    return created.number;
  };
  const state = async (number: number): Promise<TaskState> => {
    const loaded = await loadTask(database.pool, [TENANT, 'crew', number]);
    assert.ok(loaded);
    return loaded.task;
  };
  const record = async (number: number, fields: Partial<TaskState>, change: Partial<TaskChange> = {}) => {
    const task = await state(number);
    return recordTask(database.pool, [TENANT, 'crew', number], {
      task: { ...task, ...fields, revision: task.revision + 1 },
      action: 'update',
      actor: 'test',
      ...change,
    });
  };
  const close = (number: number, status: TaskStatus) => record(number, { status });

  it('the same key makes one task, also by many at once', async () => {
    const numbers = await Promise.all(Array.from({ length: 10 }, () => create({ create_key: 'the same' })));
    assert.equal(new Set(numbers).size, 1);
  });

  it('a revision is written once, and a repeat gets the same answer', async () => {
    const number = await create();
    const task = { ...(await state(number)), percent: 40, revision: 2 };
    const change: TaskChange = { task, action: 'progress', actor: 'test' };
    const key = [TENANT, 'crew', number] as const;
    assert.deepEqual(
      await recordTask(database.pool, key, change),
      await recordTask(database.pool, key, change),
    );
    assert.equal((await findTask(database.pool, TENANT, 'crew', number))?.percent, 40);
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
      return answer?.kind === 'recorded' && answer.tells;
    });
    assert.equal(tellers.length, 1);
    const told = await tasksToldBy(database.pool, TENANT, 'crew', tellers[0] ?? 0);
    assert.deepEqual(
      told.map((row) => row.number),
      numbers,
    );
  });

  it('TE-6 finds words of subject and description', async () => {
    const number = await create({ subject: 'Paint the bridge', description: 'Use green colour.' });
    for (const query of ['bridge', 'green paint'])
      assert.deepEqual(
        (await listTasks(database.pool, TENANT, 'crew', { query }, 5, undefined)).map((row) => row.number),
        [number],
      );
  });

  it('TE-5 a message is read once, and who reads is told what is left', async () => {
    for (const id of ['a', 'b', 'c'])
      await insertTeamMessage(database.pool, TENANT, 'crew', {
        id,
        sender: 'lead',
        addressee: 'm1',
        text: id,
      });
    const read = async (limit: number) => {
      const { messages, left } = await readTeamMessages(database.pool, TENANT, 'crew', 'm1', limit);
      return [messages.map(({ text }) => text).join(''), left];
    };
    assert.deepEqual(await read(2), ['ab', 1]);
    assert.deepEqual(await read(2), ['c', 0]);
    assert.deepEqual(await read(2), ['', 0]);
  });

  it('a team that was deleted and made again goes on counting', async () => {
    const before = await create();
    assert.equal(await deleteTeam(database.pool, TENANT, 'crew'), true);
    assert.deepEqual(await insertTeam(database.pool, TENANT, { ...TEAM, members: ['m2'] }, 'test'), {
      kind: 'written',
    });
    assert.equal(await create(), before + 1);
    assert.deepEqual((await loadTask(database.pool, [TENANT, 'crew', before]))?.members, ['m2']);
  });
});
