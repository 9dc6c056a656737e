/** DU-9: what calls have written to memory and which tasks they have created is reversed, and nothing of others. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

const note = (content: string, more: object = {}): string =>
  `memory_write ${JSON.stringify({ content, ...more })}`;
const task = (subject: string, more: object = {}): string =>
  `team_tasks {"action":"list"}\nthen\nteam_tasks ${JSON.stringify({ action: 'create', subject, ...more })}`;

describe('DU-9 undo of memory and tasks', () => {
  let stack: Stack;
  before(async () => {
    const open = { type: 'open', model: 'rehearsal/follow' } as const;
    stack = await startStack({
      agents: [{ key: 'lead', ...open }, { key: 'member', ...open }, { key: 'alone' }],
    });
    const { status } = await stack.ask('POST', '/v1/teams', {
      body: { key: 'crew', lead: 'lead', members: ['member'] },
    });
    assert.equal(status, 201);
  });
  after(() => stack.stop());

  async function say(session: string, steps: readonly string[], more: object = {}): Promise<string> {
    const { body, status } = await stack.ask('POST', `/v1/sessions/${session}/messages?wait=60`, {
      body: { text: steps.join('\nthen\n'), agent: 'alone', ...more },
    });
    assert.equal(status, 200, JSON.stringify(body));
    return body.turn_id;
  }
  const undo = async (turn: string, key = stack.key): Promise<any[]> => {
    const { body, status } = await stack.ask('POST', `/v1/turns/${turn}/undo?wait=60`, { key, body: {} });
    assert.equal(status, 200, JSON.stringify(body));
    return body.calls.map(({ tool, action, reason }: any) => [tool, action, reason ?? '']);
  };
  const document = async (path: string, user?: string): Promise<string | undefined> => {
    const { rows } = await stack.pool.query(
      `select text from documents where tenant_id = $1 and path = $2 and user_id = $3`,
      [stack.tenant, path, user ?? ''],
    );
    return rows[0]?.text;
  };
  const statusOf = async (number: number): Promise<string> =>
    (await stack.ask('GET', `/v1/teams/crew/tasks/${number}`)).body.status;

  it('removes a document that was created, and puts back one that was added to or written anew', async () => {
    const path = 'memory/added.md';
    await say('memory', [note('before', { path })]);
    const turn = await say('memory', [
      note('more', { path }),
      note('anew', { path, mode: 'overwrite' }),
      note('created'),
    ]);
    assert.equal(await document(path), 'anew');
    assert.equal(await document('MEMORY.md'), 'created');
    assert.deepEqual(
      (await undo(turn)).map(([, action]) => action),
      ['reversed', 'reversed', 'reversed'],
    );
    assert.equal(await document(path), 'before');
    assert.equal(await document('MEMORY.md'), undefined);
  });

  it('leaves a document that has changed since, and says so', async () => {
    const path = 'memory/since.md';
    const turn = await say('since', [note('first', { path })]);
    await say('since', [note('second', { path })]);
    const [[tool, action, reason]] = (await undo(turn)) as [string[]];
    assert.deepEqual([tool, action], ['memory_write', 'reverse']);
    assert.match(reason ?? '', /could not reverse it/);
    assert.equal(await document(path), 'first\n\nsecond');
  });

  it('reaches the memory of the one who asks alone', async () => {
    const path = 'memory/own.md';
    const of = (user: string) => say(`of-${user}`, [note(`of ${user}`, { path })], { user });
    const turns = [await of('ann'), await of('ben')];
    const bens = await stack.makeKey(['run', 'read'], { user: 'ben' });
    const { status } = await stack.ask('POST', `/v1/turns/${turns[0]}/undo?wait=60`, { key: bens, body: {} });
    assert.equal(status, 404);
    assert.deepEqual([await document(path, 'ann'), await document(path, 'ben')], ['of ann', 'of ben']);
    await undo(turns[0] ?? '');
    assert.deepEqual([await document(path, 'ann'), await document(path, 'ben')], [undefined, 'of ben']);
  });

  it('cancels a task that was created, once, and leaves one that is completed', async () => {
    const turn = await say('tasks', [task('Never', { require_approval: true })], { agent: 'lead' });
    assert.equal(await statusOf(1), 'in_review');
    assert.deepEqual(await undo(turn), [
      ['team_tasks', 'reversed', `the turn ${await undoneBy(turn)} has reversed it`],
      ['team_tasks', 'nothing', 'it only reads'],
    ]);
    assert.equal(await statusOf(1), 'cancelled');
    const done = await say('tasks', [task('Done', { assignee: 'member', description: 'Ready.' })], {
      agent: 'lead',
    });
    await stack.worker.until('the task to be completed', async () =>
      (await statusOf(2)) === 'completed' ? true : undefined,
    );
    const [[, action, reason]] = (await undo(done)) as [string[]];
    assert.equal(action, 'reverse');
    assert.match(reason ?? '', /could not reverse it/);
    assert.equal(await statusOf(2), 'completed');
  });

  const undoneBy = async (turn: string): Promise<string> =>
    (await stack.ask('POST', `/v1/turns/${turn}/undo?wait=60`, { body: {} })).body.undo_turn_id;

  it('runs the calls that reverse for an undo alone', async () => {
    const path = 'memory/kept.md';
    const turn = await say('model', [note('kept', { path })], { agent: 'lead' });
    const [written] = await stack.worker.calls(turn);
    const created = await say('model', [task('Stays', { require_approval: true })], { agent: 'lead' });
    const id = /task_crew\.\d+/.exec(String((await stack.worker.calls(created)).at(-1)?.result))?.[0];
    for (const [tool, args] of [
      ['restore_memory', { path, call: written?.id }],
      ['withdraw_task', { task: id, call: written?.id }],
    ] as const) {
      const tried = await say('model', [`${tool} ${JSON.stringify(args)}`], { agent: 'lead' });
      assert.equal((await stack.worker.calls(tried))[0]?.ok, false, tool);
      await stack.ask('POST', `/v1/tools/${tool}/invoke`, { body: { agent: 'lead', args } });
    }
    assert.equal(await document(path), 'kept');
    assert.equal(await statusOf(Number(id?.split('.')[1])), 'in_review');
  });
});
