/** DE-2, TE-2: delegations of a lead to members of its team, and the tasks of the board that they do. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';
import { observeStatements } from '#test/support/statements.ts';

const delegate = (args: Record<string, unknown>): string =>
  `delegate ${JSON.stringify({ agent_key: 'writer', mode: 'sync', ...args })}`;

describe('DE-2 delegations and the board', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      agents: ['writer', 'editor', 'outsider'].map((key) => ({ key, model: 'rehearsal/follow' })),
    });
    const post = (path: string, body: object) => stack.ask('POST', path, { body });
    for (const target of ['writer', 'editor', 'outsider'])
      assert.equal((await post('/v1/agent-links', { source: 'main', target })).status, 201);
    await post('/v1/agent-links', { source: 'editor', target: 'writer' });
    const team = await post('/v1/teams', { key: 'crew', lead: 'main', members: ['writer', 'editor'] });
    assert.equal(team.status, 201, JSON.stringify(team.body));
  });
  after(() => stack.stop());

  const say = async (session: string, call: string, agent = 'main'): Promise<string> => {
    const { turn_id } = await stack.worker.say(session, `${call}\nthen\nDone.`, { user: 'ann', agent });
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    return (await stack.worker.calls(turn_id))[0]?.result ?? '';
  };
  const create = async (body: object): Promise<string> => {
    const made = await stack.ask('POST', '/v1/teams/crew/tasks', { body });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return made.body.id;
  };
  const find = async (id: string): Promise<any> =>
    (await stack.ask('GET', `/v1/teams/crew/tasks/${id}`)).body;
  const board = async (): Promise<readonly any[]> =>
    (await stack.ask('GET', '/v1/teams/crew/tasks')).body.data;
  const actions = async (number: number): Promise<readonly string[]> => {
    const { body } = await stack.ask('GET', `/v1/teams/crew/events?task=${number}`);
    return body.data.map((event: any) => event.action).toReversed();
  };

  /** The numbers of tasks that have reported it to the lead; null: none had to. */
  const reported = async (number: number): Promise<readonly (number | null)[]> => {
    const { rows } = await stack.pool.query<{ by: number | null }>(
      'select nullif(announced_by, 0) as by from team_tasks where tenant_id = $1 and number = $2',
      [stack.tenant, number],
    );
    return rows.map(({ by }) => by);
  };

  it('without a task one is created with the label, claimed for the member, and completed with the result', async () => {
    const text = 'Write it well. '.repeat(10).trim();
    await say('made', delegate({ task: 'nudge {"note":"made"}\nthen\nIt is written.', label: 'The report' }));
    await say('cut', delegate({ task: text }));
    const [cut, made] = await board();
    assert.deepEqual(
      [made.subject, made.status, made.owner, made.created_by],
      ['The report', 'completed', 'writer', 'agent:main'],
    );
    assert.equal((await find(made.id)).result, 'It is written.');
    assert.deepEqual(await actions(made.number), ['create', 'claim', 'complete']);
    assert.equal(cut.subject, text.slice(0, 100));
    // The result has come with the call: nobody is woken for it.
    const { body } = await stack.ask('GET', '/v1/sessions?limit=100');
    assert.equal(
      body.data.some(({ key }: { key: string }) => key.startsWith('team:')),
      false,
    );
  });

  it('a named task is in progress while the work runs, and its result is that of the work', async () => {
    const id = await create({ subject: 'Named', require_approval: false });
    const work = 'hold {"note":"named"}\nthen\nFrom the work.';
    const { turn_id } = await stack.worker.say(
      'named',
      `${delegate({ task: work, mode: 'async', team_task_id: id })}\nthen\nDone.`,
      { user: 'ann' },
    );
    await stack.worker.probes.untilHeld('named');
    const running = await find(id);
    assert.deepEqual([running.status, running.owner], ['in_progress', 'writer']);
    const taken = await say('again', delegate({ task: 'x', team_task_id: id }));
    assert.match(taken, /^InvalidArgs: failed to claim task: .*writer holds it/);
    stack.worker.probes.release('named');
    await stack.worker.ended(turn_id);
    const done = await stack.worker.until('the end of the task', async () => {
      const task = await find(id);
      return task.status === 'completed' ? task : undefined;
    });
    assert.equal(done.result, 'From the work.');
    assert.match(
      await say('late', delegate({ task: 'x', team_task_id: id })),
      new RegExp(`^InvalidArgs: team_task_id ${id} is already completed$`),
    );
  });

  it('work that fails fails its task, and work that is cancelled gives it back', async () => {
    const failing = await create({ subject: 'Fails' });
    await say('fails', delegate({ task: 'hold {"note":"never"}', timeout: 1, team_task_id: failing }));
    const failed = await find(failing);
    assert.deepEqual([failed.status, failed.reason], ['failed', 'its time was up']);
    const given = await create({ subject: 'Given back' });
    const { turn_id } = await stack.worker.say(
      'stops',
      `${delegate({ task: 'hold {"note":"stopped"}', mode: 'async', team_task_id: given })}\nthen\nDone.`,
    );
    await stack.worker.ended(turn_id);
    await stack.worker.probes.untilHeld('stopped');
    const { body } = await stack.ask('GET', '/v1/delegations?session_key=stops');
    await stack.ask('POST', `/v1/delegations/${body.data[0].id}/stop`, {
      body: { reason: 'password=hunter2hunter2 is wrong' },
    });
    const back = await stack.worker.until('the task on the board', async () => {
      const task = await find(given);
      return task.owner === null ? task : undefined;
    });
    assert.equal(back.status, 'pending');
    assert.match(back.reason, /: cancelled: password=\[REDACTED\] is wrong$/);
  });

  it('a task that is not there, is of another user or of no team of the caller is refused', async () => {
    const theirs = await create({ subject: 'Theirs' });
    await stack.pool.query(
      `update team_tasks set origin_context = '{"user":"bea"}' where subject = 'Theirs' and tenant_id = $1`,
      [stack.tenant],
    );
    const before = (await board()).length;
    const ask = (args: object, agent?: string) =>
      say(`r${Math.random()}`, delegate({ task: 'x', ...args }), agent);
    const unknown = (id: string) =>
      `NotFound: team_task_id ${id} not found. Use team_tasks action=list to see available tasks, or omit team_task_id to auto-create.`;
    assert.equal(await ask({ team_task_id: 'task_crew.999' }), unknown('task_crew.999'));
    assert.equal(await ask({ team_task_id: 'nonsense' }), unknown('nonsense'));
    assert.equal(
      await ask({ team_task_id: theirs }),
      `InvalidArgs: team_task_id ${theirs} belongs to a different context`,
    );
    assert.equal(await ask({ team_task_id: theirs, agent_key: 'outsider' }), unknown(theirs));
    assert.equal(await ask({ team_task_id: theirs }, 'editor'), unknown(theirs));
    // Work of others, or for others, is on no board.
    await ask({ agent_key: 'outsider' });
    await ask({}, 'editor');
    assert.equal((await board()).length, before);
    const { body } = await stack.ask('GET', `/v1/delegations?session_key=named`);
    assert.equal(body.data.length, 1);
  });

  it('a worker that dies when the member has the task changes nothing: it is claimed and completed once', async (t) => {
    let deaths = 0;
    observeStatements(t, stack.worker.pool, ({ text }) => {
      if (/update assignments set linked_task/.test(text) && ++deaths === 1)
        throw Object.assign(new Error('the connection is lost'), { code: '57P01' });
    });
    const id = await create({ subject: 'Claimed by a worker that dies' });
    await say('dies', delegate({ task: 'nudge {"note":"dies"}\nthen\nWritten once.', team_task_id: id }));
    assert.equal(deaths, 1);
    const { number, status, result } = await find(id);
    assert.deepEqual([status, result], ['completed', 'Written once.']);
    assert.deepEqual(await actions(number), ['create', 'claim', 'complete']);
  });

  it('a lead that delegates the task of its own turn reads the result there, and is not woken for it', async () => {
    const number = (await board()).length + 1;
    const args = { task: 'Done at once.', team_task_id: `task_crew.${number}` };
    const { turn_id } = await stack.worker.say(
      'known',
      `team_tasks {"action":"list"}\nthen\nteam_tasks {"action":"create","subject":"Known"}\nthen\n${delegate(args)}\nthen\nDone.`,
      { user: 'ann' },
    );
    await stack.worker.ended(turn_id);
    assert.equal((await find(`${number}`)).status, 'completed');
    assert.deepEqual(await reported(number), [null]);
  });

  it('of the tasks of a turn, the lead is told only of those that it has not delegated itself', async () => {
    const number = (await board()).length + 1;
    const made = (subject: string, more = {}) =>
      `team_tasks ${JSON.stringify({ action: 'create', subject, ...more })}`;
    const calls = [
      'team_tasks {"action":"list"}',
      made('First'),
      made('nudge {"note":"second"}', { assignee: 'writer' }),
      made('Third'),
      delegate({ task: 'One.', team_task_id: `task_crew.${number}` }),
      delegate({ task: 'Three.', team_task_id: `task_crew.${number + 2}` }),
    ];
    const { turn_id } = await stack.worker.say('many', [...calls, 'Done.'].join('\nthen\n'), { user: 'ann' });
    await stack.worker.ended(turn_id);
    await stack.worker.until('the end of the second', async () =>
      (await find(`${number + 1}`)).status === 'completed' ? true : undefined,
    );
    const words = await stack.worker.until('the message to the lead', async () => {
      const { rows } = await stack.pool.query<{ text: string }>(
        `select text from messages where tenant_id = $1 and session_key = 'many' and role = 'user' and id like 'msg_team-%'`,
        [stack.tenant],
      );
      return rows.length > 0 ? rows : undefined;
    });
    assert.equal(words.length, 1);
    assert.match(words[0]?.text ?? '', /second/);
    assert.doesNotMatch(words[0]?.text ?? '', /One\.|Three\./);
  });

  it('TE-4: work whose task a person cancels or gives to somebody else is stopped', async () => {
    for (const [action, body, why] of [
      ['cancel', {}, /^its task #\d+ is no longer this member’s: it is cancelled$/],
      ['assign', { assignee: 'editor' }, /^its task #\d+ is no longer this member’s: /],
    ] as const) {
      const id = await create({ subject: `Taken by ${action}`, description: 'nudge {"note":"taken"}' });
      const note = `taken-${action}`;
      const call = delegate({ task: `hold {"note":"${note}"}`, mode: 'async', team_task_id: id });
      const { turn_id } = await stack.worker.say(note, `${call}\nthen\nDone.`, { user: 'ann' });
      await stack.worker.ended(turn_id);
      await stack.worker.probes.untilHeld(note);
      const answer = await stack.ask('POST', `/v1/teams/crew/tasks/${id}/${action}`, { body });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      await stack.worker.until('the end of the work', async () => {
        const { body: found } = await stack.ask('GET', `/v1/delegations?session_key=${note}`);
        if (found.data[0].status !== 'cancelled') return undefined;
        assert.match(found.data[0].error.message, why);
        return true;
      });
    }
  });

  it('a member that completes the task itself goes on with the work', async () => {
    const id = await create({ subject: 'Completed by the member' });
    const task = `team_tasks {"action":"complete","task_id":"${id}","result":"By me."}\nthen\nAnd more.`;
    assert.match(await say('itself', delegate({ task, team_task_id: id })), /And more\.$/);
    const { status, result } = await find(id);
    assert.deepEqual([status, result], ['completed', 'By me.']);
  });

  it('DE-6: the gates for tasks of the member judge the delegation, whose lead reads what has passed', async () => {
    const gate = { event: 'task.completed', type: 'command', command: 'grep -q Sources', max_retries: 0 };
    const body = { quality_gates: [{ ...gate, block_on_failure: true }] };
    const changed = await stack.ask('PATCH', '/v1/agents/editor', { body });
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    const judge = async (task: string): Promise<any> => {
      const id = await create({ subject: task });
      const call = await say(`g-${id}`, delegate({ agent_key: 'editor', task, team_task_id: id }));
      return { call, ...(await find(id)) };
    };
    const passed = await judge('Sources: two.');
    assert.equal(passed.status, 'completed');
    assert.deepEqual(await actions(passed.number), ['create', 'claim', 'complete']);
    const blocked = await judge('None.');
    assert.match(blocked.call, /Sources/);
    assert.equal(blocked.status, 'failed');
    assert.match(blocked.reason, /Sources/);
  });

  it('a team can have no tasks for what its lead delegates', async () => {
    const set = async (settings: object) =>
      assert.equal((await stack.ask('PATCH', '/v1/teams/crew', { body: { settings } })).status, 200);
    await set({ delegation_tasks: false });
    const before = (await board()).length;
    await say('off', delegate({ task: 'x' }));
    assert.equal((await board()).length, before);
    await set({});
  });
});
