/**
 * TE-1 … TE-5: what members do with their tasks, on real servers: review, blockers, questions, files, mail; and being
 * stopped.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { taskSessionKey } from '#domain/team/team.ts';
import { type Answer, type Stack, startStack } from '#test/support/stack.ts';

const LEAD_SESSION = 'team:crew:lead:main';

describe('TE members at work', () => {
  let stack: Stack;
  const post = (path: string, body: unknown): Promise<Answer> =>
    stack.ask('POST', `/v1/teams${path}`, { body });
  const get = async (path: string): Promise<any> => (await stack.ask('GET', `/v1/teams${path}`)).body;

  before(async () => {
    const open = { type: 'open', model: 'rehearsal/follow' } as const;
    stack = await startStack({ agents: ['m1', 'm2'].map((key) => ({ key, ...open })) });
    const settings = { reminder_minutes: 0.005, reminders: 2 };
    const made = await post('', { key: 'crew', lead: 'main', members: ['m1', 'm2'], settings });
    assert.equal(made.status, 201, JSON.stringify(made.body));
  });
  after(() => stack.stop());

  const newTask = async (body: Record<string, unknown>, team = 'crew'): Promise<number> => {
    const made = await post(`/${team}/tasks`, body);
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return made.body.number;
  };
  const act = async (task: number, action: string, body: unknown = {}): Promise<any> => {
    const answer = await post(`/crew/tasks/${task}/${action}`, body);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body;
  };
  const until = (task: number, status: string): Promise<any> =>
    stack.worker.until(`#${task} to be ${status}`, async () => {
      const found = await get(`/crew/tasks/${task}`);
      return found.status === status ? found : undefined;
    });
  const notice = (
    session: string,
    words: RegExp,
  ): Promise<{ readonly text: string; readonly turn_id: string }> =>
    stack.worker.until(`${session} to hear ${words}`, async () =>
      (await stack.worker.heard(session)).find(({ text }) => words.test(text)),
    );
  /** A member's turn that is in a tool, on its task. */
  const atWork = async (note: string): Promise<{ readonly task: number; readonly turn: string }> => {
    const description = `hold {"note":"${note}"}\nthen\nHeld.`;
    const task = await newTask({ subject: note, description, assignee: 'm1' });
    await stack.worker.probes.untilHeld(note);
    const [turn] = await stack.worker.turns(taskSessionKey('crew', task, 'm1'));
    return { task, turn: turn?.id ?? '' };
  };

  it('TE-4 what is rejected comes back to its member with the reason, and approved it is completed', async () => {
    const description = 'team_tasks {"action":"review","result":"Look here."}\nthen\nSubmitted.';
    const task = await newTask({ subject: 'A page', description, assignee: 'm1' });
    await until(task, 'in_review');
    await notice(
      LEAD_SESSION,
      new RegExp(`Task #${task} "A page" of team crew waits for your review[^]*Look here\\.`),
    );
    const early = await post(`/crew/tasks/${task}/approve`, { member: 'm2' });
    assert.equal(early.status, 403);
    await act(task, 'reject', { text: 'Too short.' });
    const session = taskSessionKey('crew', task, 'm1');
    await notice(session, /Task rejected\. Reason: Too short\./);
    await until(task, 'in_review');
    const approved = await act(task, 'approve');
    assert.equal(approved.status, 'completed');
    const shown = await get(`/crew/tasks/${task}`);
    assert.equal(shown.result, 'Look here.');
    assert.equal(shown.owner, 'm1');
    assert.equal((await post(`/crew/tasks/${task}/approve`, {})).status, 409);
    const { data } = await get(`/crew/tasks/${task}/comments`);
    const kinds = data.map(({ kind }: { kind: string }) => kind);
    assert.deepEqual(kinds, ['result', 'reason', 'result']);
  });

  it('TE-4 a member’s blocker fails its task and stops its turn', async () => {
    const blocker = 'team_tasks {"action":"comment","type":"blocker","text":"No key."}';
    const description = `${blocker}\nthen\nhold {"note":"after the blocker"}\nthen\nStill here.`;
    const task = await newTask({ subject: 'Open it', description, assignee: 'm1' });
    const failed = await until(task, 'failed');
    assert.equal(failed.reason, 'No key.');
    const [turn] = await stack.worker.turns(taskSessionKey('crew', task, 'm1'));
    const ended = await stack.worker.ended(turn?.id ?? '');
    assert.equal(ended.status, 'stopped');
    await notice(
      LEAD_SESSION,
      /teammate:m1 Task #\d+ "Open it" of team crew is blocked, and failed[^]*No key\./,
    );
  });

  it('TE-4 who is cancelled or replaced at work is stopped, and its late result refused', async () => {
    const { task, turn } = await atWork('cancelled at work');
    const waiting = await newTask({ subject: 'Waits in vain', blocked_by: [task], assignee: 'm2' });
    await act(task, 'cancel', { text: 'Not needed.' });
    assert.equal((await stack.worker.ended(turn)).status, 'stopped');
    assert.equal((await get(`/crew/tasks/${waiting}`)).status, 'blocked');
    const mail = await stack.worker.until('its owner to be told', async () => {
      const { rows } = await stack.pool.query<{ text: string }>(
        "select text from team_messages where addressee = 'm2' and sender = 'system'",
      );
      return rows[0];
    });
    assert.match(mail.text, new RegExp(`which task #${waiting} waits for, is cancelled`));
    await notice(
      LEAD_SESSION,
      new RegExp(`"cancelled at work" of team crew was cancelled[^]*stay blocked: #${waiting}\\.`),
    );

    const second = await atWork('replaced at work');
    const replaced = stack.worker.ended(second.turn);
    await act(second.task, 'assign', { assignee: 'm2' });
    assert.equal((await replaced).status, 'stopped');
    stack.worker.probes.release('replaced at work');
    const done = await until(second.task, 'completed');
    assert.equal(done.owner, 'm2');
    const { data } = await get(`/crew/events?task=${second.task}`);
    const dispatches = data.filter(({ action }: { action: string }) => action === 'dispatch');
    assert.deepEqual(
      dispatches.map(({ owner }: { owner: string }) => owner),
      ['m2', 'm1'],
    );
  });

  it('TE-4 a question reaches the lead with reminders, and its answer the member', async () => {
    const description = 'team_tasks {"action":"ask_user","text":"Which colour?"}\nthen\nI wait.';
    const task = await newTask({ subject: 'Paint', description, assignee: 'm1' });
    const session = taskSessionKey('crew', task, 'm1');
    await stack.worker.until('two reminders', async () => {
      const { data } = await get(`/crew/events?task=${task}`);
      return data.filter(({ action }: { action: string }) => action === 'remind').length === 2 || undefined;
    });
    const requests = await stack.worker.until('the lead to hear all', async () => {
      const received = (await stack.worker.heard(LEAD_SESSION)).filter(({ text }) =>
        /Question: Which colour/.test(text),
      );
      return received.length >= 3 ? received : undefined;
    });
    assert.equal(requests.length, 3);
    const [first] = await stack.worker.turns(session);
    await stack.worker.ended(first?.id ?? '');
    const waits = await stack.worker.until('the turn to be over', async () => {
      const found = await get(`/crew/tasks/${task}`);
      return found.lease === null ? found : undefined;
    });
    assert.equal(waits.status, 'in_progress');
    assert.equal(waits.question, 'Which colour?');
    await act(task, 'clear_ask_user', { text: 'Blue.' });
    await notice(session, /The user’s answer: Blue\./);
    const { data } = await get(`/crew/events?task=${task}`);
    const said = data.filter(({ action }: { action: string }) => /ask_user/.test(action));
    assert.deepEqual(
      said.map(({ reason }: { reason: string }) => reason),
      ['Blue.', 'Which colour?'],
    );
    await act(task, 'cancel');
  });

  it('TE-4 a file of the team’s workspace is attached, once in bytes, and is read again', async () => {
    const write = 'write_file {"path":"notes/plan.txt","content":"First the door."}';
    const attach = 'team_tasks {"action":"attach","path":"notes/plan.txt"}';
    const description = `${write}\nthen\n${attach}\nthen\nAttached.`;
    const task = await newTask({ subject: 'Write it down', description, assignee: 'm1' });
    const done = await until(task, 'completed');
    assert.equal(done.result, 'Attached.', JSON.stringify(done));
    const content = Buffer.from('First the door.').toString('base64');
    await act(task, 'attach', { file: { name: 'copy.txt', content } });
    const { data: files } = await get(`/crew/tasks/${task}/files`);
    assert.deepEqual(
      files.map(({ name, size }: { name: string; size: number }) => [name, size]),
      [
        ['plan.txt', 15],
        ['copy.txt', 15],
      ],
    );
    assert.equal(files[0].digest, files[1].digest);
    assert.deepEqual(await get(`/crew/tasks/${task}/files/${files[0].id}`), { name: 'plan.txt', content });
    const { rows } = await stack.pool.query('select 1 from files');
    assert.equal(rows.length, 1);
    assert.equal((await stack.ask('GET', `/v1/teams/crew/tasks/${task}/files/file_x`)).status, 404);
  });

  it('TE-5 a message wakes its addressee once and is unread until it is read', async () => {
    const send = 'team_message {"action":"send","to":"m2","text":"The door is open."}';
    const task = await newTask({ subject: 'Tell m2', description: `${send}\nthen\nTold.`, assignee: 'm1' });
    await until(task, 'completed');
    const woken = await notice('team:crew:mail:m2', /^\[Team message from m1\]: The door is open\.$/);
    await stack.worker.ended(woken.turn_id);
    assert.equal((await stack.worker.heard('team:crew:mail:m2')).length, 1);
    await stack.pool.query('update team_messages set read_at = now() where sender = $1', ['system']);
    const read = async (): Promise<any> => {
      const { turn_id } = await stack.worker.say('m2-reads', 'team_message {"action":"read"}\nthen\nRead.', {
        agent: 'm2',
      });
      await stack.worker.ended(turn_id);
      const [call] = await stack.worker.calls(turn_id);
      return JSON.parse(call?.result ?? '');
    };
    const first = await read();
    assert.equal(first.count, 1, JSON.stringify(first));
    assert.equal(first.messages[0].text, 'The door is open.');
    assert.equal(first.unread, 0);
    assert.equal((await read()).count, 0);
  });

  it('TE-4 progress does not go back, and the board is listed, filtered and searched', async () => {
    const task = await newTask({ subject: 'Count the windows', description: 'All of them.', priority: 7 });
    const { lease } = await act(task, 'claim', { member: 'm2' });
    const { token } = lease;
    assert.equal((await act(task, 'progress', { member: 'm2', token, percent: 60 })).percent, 60);
    const less = await act(task, 'progress', { member: 'm2', token, percent: 20 });
    assert.equal(less.percent, 60);
    assert.match(less.note, /does not go back/);
    assert.equal(
      (await post(`/crew/tasks/${task}/progress`, { member: 'm2', token, percent: 101 })).status,
      400,
    );
    await act(task, 'comment', { text: 'Two are broken.' });
    const { data } = await get(`/crew/events?task=${task}`);
    assert.deepEqual(
      data.slice(0, 2).map(({ action, reason }: { action: string; reason: string }) => [action, reason]),
      [
        ['comment', 'Two are broken.'],
        ['progress', '60%'],
      ],
    );
    assert.equal((await get(`/crew/tasks/${task}`)).reason, null);
    const numbers = async (query: string): Promise<number[]> =>
      (await get(`/crew/tasks?${query}`)).data.map(({ number }: { number: number }) => number);
    assert.deepEqual(await numbers('q=windows'), [task]);
    assert.deepEqual(await numbers('q=%22all+of+them%22'), [task]);
    const letters = await newTask({ subject: '日本語の要約', description: '第二章を読む' });
    assert.deepEqual(await numbers(`q=${encodeURIComponent('日本')}`), [letters]);
    assert.deepEqual(await numbers(`q=${encodeURIComponent('要約 第二章')}`), [letters]);
    assert.deepEqual(await numbers(`q=${encodeURIComponent('日本 第三章')}`), []);
    assert.deepEqual(await numbers('priority=7&owner=m2&status=in_progress'), [task]);
    assert.deepEqual(await numbers('q=windows&owner=m1'), []);
    const page = await get('/crew/tasks?limit=1');
    assert.equal(page.data.length, 1);
    const next = await get(`/crew/tasks?limit=1&cursor=${page.next_cursor}`);
    assert.equal(next.data[0].number, page.data[0].number - 1);
  });

  it('TE-1 only those whom the settings let in bring work, and settings that cannot be read let nobody in', async () => {
    const settings = { allow_user_ids: ['ann', 'bob'], deny_user_ids: ['bob'] };
    assert.equal((await post('', { key: 'closed', lead: 'main', members: ['m1'], settings })).status, 201);
    const as = async (user: string): Promise<number> => {
      const key = await stack.makeKey(['run'], { user });
      const body = { subject: 'Let me in' };
      return (await stack.ask('POST', '/v1/teams/closed/tasks', { body, key })).status;
    };
    assert.deepEqual([await as('ann'), await as('bob'), await as('cem')], [201, 403, 403]);
    await stack.pool.query(`update teams set settings = '{"allow_user_ids":"ann"}' where key = 'closed'`);
    assert.equal(await as('ann'), 403);
  });
});
