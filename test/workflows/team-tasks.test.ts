/** TE-1 … TE-4: teams on real servers: claims over HTTP, and a lead whose members do what it requests. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { loadTask } from '#store/teams/team-task-state.ts';
import { createTask, recordTask } from '#store/teams/team-task-record.ts';
import { taskWorkflowId } from '#domain/team/team.ts';
import type { TaskView } from '#domain/team/team-task.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { type Answer, type Stack, startStack } from '#test/support/stack.ts';

const MEMBERS = ['m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8'];

describe('TE teams', () => {
  let stack: Stack;
  const post = (path: string, body: unknown): Promise<Answer> =>
    stack.ask('POST', `/v1/teams${path}`, { body });
  const get = (path: string): Promise<Answer> => stack.ask('GET', `/v1/teams${path}`);

  before(async () => {
    stack = await startStack({
      agents: MEMBERS.map((key) => ({ key, type: 'open', model: 'rehearsal/follow' })),
    });
    const made = await post('', { key: 'crew', lead: 'main', members: MEMBERS });
    assert.equal(made.status, 201, JSON.stringify(made.body));
  });
  after(() => stack.stop());

  const newTask = async (body: Record<string, unknown>): Promise<any> => {
    const made = await post('/crew/tasks', body);
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return made.body;
  };

  it('TE-3 of many that claim at once one has it, and the others are told who', async () => {
    const { id, workflow_id, number } = await newTask({ subject: 'Who is first?' });
    assert.equal(workflow_id, `task/${stack.tenant}.crew/${number}`);
    const answers = await Promise.all(MEMBERS.map((member) => post(`/crew/tasks/${id}/claim`, { member })));
    const won = answers.filter(({ status }) => status === 200);
    assert.equal(won.length, 1, JSON.stringify(answers.map(({ body }) => body)));
    const holder = won[0]?.body.owner;
    for (const { status, body } of answers.filter((one) => one !== won[0])) {
      assert.equal(status, 409);
      assert.equal(body.holder ?? body.details?.holder, holder, JSON.stringify(body));
    }
    const { token } = won[0]?.body.lease ?? {};
    const other = MEMBERS.find((member) => member !== holder);
    assert.equal((await post(`/crew/tasks/${id}/complete`, { member: other, text: 'mine' })).status, 403);
    const done = await post(`/crew/tasks/${id}/complete`, { member: holder, token, text: 'It was me.' });
    assert.equal(done.status, 200, JSON.stringify(done.body));
    assert.equal(done.body.status, 'completed');
    const again = await post(`/crew/tasks/${id}/complete`, { member: holder, token, text: 'Again.' });
    assert.match(again.body.note, /already completed/);
    const { body: task } = await get(`/crew/tasks/${id}`);
    assert.equal(task.result, 'It was me.');
    const { body: events } = await get(`/crew/events?task=${number}`);
    assert.deepEqual(
      events.data.map((event: any) => event.action),
      ['complete', 'claim', 'create'],
    );
  });

  it('IN-13 every verb is a signal too, and one that is refused stands in the state, the row and the audit', async () => {
    const { id, number, workflow_id } = await newTask({ subject: 'By signal' });
    const handle = stack.worker.client.workflow.getHandle(workflow_id);
    await handle.signal('claim', { by: { name: 'ci', member: 'm1' } });
    await handle.signal('claim', { by: { name: 'eve', member: 'm2' } });
    await handle.signal('progress', 'not an object');
    const state = await stack.worker.until('the signals to be taken', async () => {
      const now = await handle.query<TaskView | null>('state');
      return now?.refused === 2 ? now : undefined;
    });
    assert.deepEqual([state.status, state.holder], ['in_progress', 'm1']);
    assert.match(state.last_refused?.problem ?? '', /m1|object/);
    const row = (await get(`/crew/tasks/${id}`)).body;
    assert.deepEqual([row.refused, row.last_refused], [2, state.last_refused]);
    const notice = (await get(`/crew/events?task=${number}`)).body.data.filter(
      (one: any) => one.action === 'refused',
    );
    assert.deepEqual(notice.map(({ actor, reason }: any) => `${reason.split(':')[0]} by ${actor}`).sort(), [
      'claim by eve',
      'progress by unnamed',
    ]);
    await handle.signal('cancel', { by: { name: 'ci' }, text: { text: 'not needed' } });
    assert.equal((await handle.result()).status, 'cancelled');
    assert.equal((await get(`/crew/tasks/${id}`)).body.status, 'cancelled');
  });

  it('TE-3 what a worker recorded before it died stands: others are told who has it, and its holder gets its lease', async () => {
    const { id, number, workflow_id } = await newTask({ subject: 'Recorded and forgotten' });
    await stack.worker.until('the task to be read by its workflow', async () => {
      const state = await stack.worker.client.workflow
        .getHandle(workflow_id)
        .query<{ status: string } | null>('state');
      return state ?? undefined;
    });
    const db = forTenant(stack.pool, stack.tenant);
    const key = ['crew', number] as const;
    const loaded = await loadTask(db, key);
    assert.ok(loaded);
    const lease = { member: 'm1', token: 'of-m1', fence: 1, until: Date.now() + 600_000, session: null };
    const task = {
      ...loaded.task,
      status: 'in_progress',
      owner: 'm1',
      lease,
      fence: 1,
      worked: true,
      revision: 2,
    } as const;
    await recordTask(db, key, {
      task,
      action: 'claim',
      actor: 'a',
      cause: 'claim-of-m1',
      notices: [],
    });

    const other = await post(`/crew/tasks/${id}/claim`, { member: 'm2' });
    assert.equal(other.status, 409, JSON.stringify(other.body));
    assert.equal(other.body.holder, 'm1');
    const request = { by: { name: 'a', member: 'm1' } };
    const again = await stack.worker.temporal.update<any>(workflow_id, 'claim', request, 'claim-of-m1');
    assert.equal(again.lease.token, 'of-m1');
    assert.equal((await get(`/crew/tasks/${id}`)).body.owner, 'm1');
  });

  it('TE-3 a lease that is not renewed runs out, and what comes late is refused', async () => {
    const { id } = await newTask({ subject: 'Too slow' });
    const claimed = await post(`/crew/tasks/${id}/claim`, { member: 'm1', lease_seconds: 1 });
    assert.equal(claimed.status, 200, JSON.stringify(claimed.body));
    await stack.worker.until('the lease to run out', async () =>
      (await get(`/crew/tasks/${id}`)).body.status === 'pending' ? true : undefined,
    );
    const { token } = claimed.body.lease;
    const late = await post(`/crew/tasks/${id}/complete`, { member: 'm1', token, text: 'late' });
    assert.equal(late.status, 409);
    assert.match(late.body.detail, /lease is over/);
    assert.equal((await post(`/crew/tasks/${id}/claim`, { member: 'm2' })).body.lease.fence, 2);
  });

  it('TE-2 a member does what it is assigned, and completing frees those that wait', async () => {
    const first = await newTask({ subject: 'First', description: 'The first words.', assignee: 'm1' });
    const second = await newTask({
      subject: 'Second',
      description: 'The second words.',
      assignee: 'm2',
      blocked_by: [first.id],
    });
    const done = await stack.worker.until('both to be done', async () => {
      const { body } = await get(`/crew/tasks/${second.id}`);
      return body.status === 'completed' ? body : undefined;
    });
    assert.equal(done.owner, 'm2');
    assert.match(done.result, /The second words\./);
    assert.match(done.result, /Results that this task was waiting for:[^]*teammate:m1 #\d+ "First"/);
  });

  it('TE-2 a lead that cancels what others wait for reads at once which ones stay blocked', async () => {
    const first = await newTask({ subject: 'Never' });
    const second = await newTask({ subject: 'After never', blocked_by: [first.number] });
    const cancel = `team_tasks ${JSON.stringify({ action: 'cancel', task_id: first.id })}`;
    const { turn_id } = await stack.worker.say('canceller', cancel);
    const { text } = await stack.worker.ended(turn_id);
    assert.match(text ?? '', new RegExp(`It is cancelled\\. .*stay blocked: #${second.number}\\.`));
    await stack.worker.client.workflow.getHandle(first.workflow_id).result();
    const heard = await stack.worker.heard('team:crew:lead:main');
    assert.ok(!heard.some((message) => message.text.includes('"Never"')));
  });

  it('TE-2 unknown blockers and cycles are refused', async () => {
    const one = await newTask({ subject: 'One' });
    const two = await newTask({ subject: 'Two', blocked_by: [one.number] });
    const cycle = await post(`/crew/tasks/${one.id}/update`, { blocked_by: [two.id] });
    assert.equal(cycle.status, 400, JSON.stringify(cycle.body));
    assert.match(cycle.body.detail, /wait for each other/);
    const unknown = await post('/crew/tasks', { subject: 'Three', blocked_by: ['9999'] });
    assert.equal(unknown.status, 400);
    assert.match(unknown.body.detail, /blocked_by contains invalid task ID/);
  });

  it('TE-1 the lead’s members begin when its turn ends, and it is woken once with all results', async () => {
    const create = (fields: Record<string, unknown>): string =>
      `team_tasks ${JSON.stringify({ action: 'create', ...fields })}`;
    const script = [
      'team_tasks {"action":"list"}',
      'then',
      create({ subject: 'Facts', description: 'The facts.', assignee: 'm3' }),
      create({ subject: 'Words', description: 'The words.', assignee: 'm4' }),
      'then',
      'Started.',
    ].join('\n');
    const { turn_id } = await stack.worker.say('lead', script);
    const turn = await stack.worker.ended(turn_id);
    const calls = await stack.worker.calls(turn_id);
    assert.equal(turn.text, 'Started.', JSON.stringify(calls));
    const message = await stack.worker.until('the lead to hear', async () =>
      (await stack.worker.heard('lead')).find(({ text }) => text.startsWith('[System Message] All 2')),
    );
    // Calls of one step run at once, so either may be the first.
    assert.match(message.text, /teammate:m3 #\d+ "Facts" \[completed\][^]*The facts\./);
    assert.match(message.text, /teammate:m4 #\d+ "Words" \[completed\][^]*The words\./);
    await stack.worker.ended(message.turn_id);
    // A later comment on a closed task does not close it again.
    for (const [, number = ''] of message.text.matchAll(/ #(\d+) "/g)) {
      const answer = await post(`/crew/tasks/${number}/comment`, { text: 'Well done.' });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      const id = taskWorkflowId(stack.tenant, 'crew', Number(number));
      await stack.worker.client.workflow.getHandle(id).result();
    }
    const received = await stack.worker.heard('lead');
    assert.equal(received.filter(({ text }) => text.startsWith('[System Message]')).length, 1);
    assert.equal((await stack.worker.turns('lead')).length, 2);
  });

  it('TE-1 a turn goes on when somebody outside has spoken to its task before it could start it', async () => {
    const made = await createTask(forTenant(stack.pool, stack.tenant), 'crew', {
      subject: 'Early',
      description: 'The early words.',
      priority: 0,
      blocked_by: [],
      require_approval: false,
      assignee: 'm6',
      actor: 'agent:main',
      // This is the key of the call that makes it below.
      create_key: 'call_early.2.0',
      origin_session: 'early',
      origin_turn: 'turn_early',
    });
    assert.ok(made.kind === 'created');
    const answer = await post(`/crew/tasks/${made.number}/comment`, { text: 'I am early.' });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const create = { action: 'create', subject: 'Early', description: 'The early words.', assignee: 'm6' };
    const script = `team_tasks {"action":"list"}\nthen\nteam_tasks ${JSON.stringify(create)}\nthen\nStarted.`;
    await stack.worker.say('early', script, { id: 'early' });
    assert.equal((await stack.worker.ended('turn_early')).text, 'Started.');
    const message = await stack.worker.until('the lead to hear', async () =>
      (await stack.worker.heard('early')).find(({ text }) => text.startsWith('[System Message] All 1')),
    );
    assert.match(message.text, /teammate:m6 #\d+ "Early" \[completed\]/);
  });

  it('TE-4 a comment of blanks is none', async () => {
    const { id, workflow_id } = await newTask({ subject: 'Say something' });
    const blank = await post(`/crew/tasks/${id}/comment`, { text: ' \n\t' });
    assert.equal(blank.status, 400, JSON.stringify(blank.body));
    assert.match(blank.body.detail, /text is required for comment action/);
    const handle = stack.worker.client.workflow.getHandle(workflow_id);
    const request = { by: { name: 'ci' }, text: { text: ' ' } };
    await assert.rejects(handle.executeUpdate('comment', { args: [request] }));
  });

  it('TE-4 a blocker fails the task and tells the lead', async () => {
    const { id } = await newTask({ subject: 'No way' });
    const { body } = await post(`/crew/tasks/${id}/claim`, { member: 'm5' });
    const answer = await post(`/crew/tasks/${id}/comment`, {
      member: 'm5',
      token: body.lease.token,
      type: 'blocker',
      text: 'The door is shut.',
    });
    assert.equal(answer.body.status, 'failed', JSON.stringify(answer.body));
    const notice = await stack.worker.until('the lead to hear', async () =>
      (await stack.worker.heard('team:crew:lead:main')).find(({ text }) => text.includes('is blocked')),
    );
    assert.match(notice.text, /teammate:m5[^]*The door is shut\./);
  });
});
