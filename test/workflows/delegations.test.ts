/** DE-1, DE-2: work that agents delegate to each other, over real workflows. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

const delegate = (args: Record<string, unknown>): string => `delegate ${JSON.stringify(args)}`;

describe('DE-2 delegations', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      agents: [
        { key: 'writer', model: 'rehearsal/follow', description: 'writes reports' },
        { key: 'editor', model: 'rehearsal/follow' },
        { key: 'stranger', model: 'rehearsal/follow' },
        { key: 'denying', model: 'rehearsal/follow' },
      ],
    });
    const made = await stack.ask('POST', '/v1/agent-links', {
      body: { source: 'main', target: 'writer', max_concurrent: 2 },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    await stack.ask('POST', '/v1/agent-links', { body: { source: 'main', target: 'editor' } });
    await stack.ask('POST', '/v1/agent-links', { body: { source: 'editor', target: 'writer' } });
  });
  after(() => stack.stop());

  const resultOf = async (session: string, script: string): Promise<string> => {
    const { turn_id } = await stack.worker.say(session, script, { user: 'ann' });
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    return (await stack.worker.calls(turn_id))[0]?.result ?? '';
  };

  it('sync: the target works in a session of its own, as itself, and its answer is the result of the call', async () => {
    const task = 'nudge {"note":"sync"}\nthen\nIt is written.';
    const result = await resultOf(
      's',
      `${delegate({ agent_key: 'writer', task, mode: 'sync' })}\nthen\nDone.`,
    );
    assert.equal(result, 'It is written.');
    const { body: list } = await stack.ask('GET', '/v1/delegations?session_key=s');
    const [one] = list.data;
    assert.deepEqual([one.source, one.target, one.status, one.user], ['main', 'writer', 'completed', 'ann']);
    const { body: session } = await stack.ask('GET', `/v1/sessions/${one.session_key}`);
    assert.equal(session.agent, 'writer');
    const types = (await stack.worker.events('s')).map(({ type }) => type);
    assert.ok(types.includes('delegation.started') && types.includes('delegation.completed'));
  });

  it('async: the results of all that a session gave are told in one message, when the last has ended', async () => {
    const first = delegate({ agent_key: 'writer', task: 'One.' });
    const second = delegate({ agent_key: 'writer', task: 'hold {"note":"late"}\nthen\nTwo.' });
    const { turn_id } = await stack.worker.say('a', `${first}\n${second}\nthen\nGiven.`);
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    await stack.worker.probes.untilHeld('late');
    await stack.worker.until('the first to end', async () => {
      const { body } = await stack.ask('GET', '/v1/delegations?session_key=a&status=completed');
      return body.data[0];
    });
    assert.equal((await stack.worker.heard('a')).length, 1);
    stack.worker.probes.release('late');
    const notice = await stack.worker.until('the message', async () => (await stack.worker.heard('a'))[1]);
    // rehearsal/follow repeats what it reads, including the head of the task.
    assert.match(notice.text, /^\[Delegation result from writer\]\n\n\[Delegated by main\]\nOne\.\n\n/);
    assert.match(notice.text, /\[Delegation result from writer\]\n\nTwo\./);
    assert.equal((await stack.worker.heard('a')).length, 2);
  });

  it('files that go with the work are copied into the workspace of the target, and named in its task', async () => {
    const call = delegate({
      agent_key: 'writer',
      task: 'Read the file.',
      mode: 'sync',
      files: ['notes/plan.txt'],
    });
    const write = 'write_file {"path":"notes/plan.txt","content":"the plan"}';
    const { turn_id } = await stack.worker.say('w', `${write}\nthen\n${call}\nthen\nDone.`);
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    const { body } = await stack.ask('GET', '/v1/delegations?session_key=w');
    const [one] = body.data;
    const path = `delegated/${one.id}/plan.txt`;
    const [task] = await stack.worker.heard(one.session_key);
    assert.match(task?.text ?? '', new RegExp(`Files that come with it:\\n- ${path}$`));
    const read = await stack.worker.say('read', `read_file ${JSON.stringify({ path })}\nthen\nDone.`, {
      agent: 'writer',
    });
    await stack.worker.ended(read.turn_id);
    assert.match((await stack.worker.calls(read.turn_id))[0]?.result ?? '', /the plan/);
    assert.match(
      await resultOf('w2', `${delegate({ agent_key: 'writer', task: 'x', files: ['../x'] })}\nthen\nDone.`),
      /^\w+: /,
    );
    const { body: none } = await stack.ask('GET', '/v1/delegations?session_key=w2');
    assert.deepEqual(none.data, []);
  });

  it('files of a dependency come with its result: those that it names, and those in its own folder', async () => {
    const note = 'write_file {"path":"note.txt","content":"the note"}';
    const first = delegate({
      agent_key: 'writer',
      task: 'write_file {"path":"out/report.md","content":"the report"}\nthen\nSee out/report.md and ../note.txt, not gone.md.',
      mode: 'sync',
      files: ['note.txt'],
    });
    await resultOf('d1', `${note}\nthen\n${first}\nthen\nDone.`);
    const { body } = await stack.ask('GET', '/v1/delegations?session_key=d1');
    const { id, result } = body.data[0];
    assert.match(result, /See out\/report\.md/);

    const second = delegate({ agent_key: 'editor', task: 'Edit.', mode: 'sync', depends_on: [id, id] });
    await resultOf('d2', `${second}\nthen\nDone.`);
    const { body: of2 } = await stack.ask('GET', '/v1/delegations?session_key=d2');
    const [dependent] = of2.data;
    const folder = `delegated/${dependent.id}/${id}`;
    const [task] = await stack.worker.heard(dependent.session_key);
    assert.equal(task?.text.split('Result of ').length, 2, 'once, however often it is named');
    assert.match(
      task?.text ?? '',
      new RegExp(`Files that come with it:\n- ${folder}/out/report.md\n- ${folder}/note.txt$`),
    );
    const reads = ['out/report.md', 'note.txt'].map(
      (name) => `read_file ${JSON.stringify({ path: `${folder}/${name}` })}`,
    );
    const read = await stack.worker.say('d3', `${reads.join('\n')}\nthen\nDone.`, {
      agent: 'editor',
      user: 'ann',
    });
    await stack.worker.ended(read.turn_id);
    const [report, row] = await stack.worker.calls(read.turn_id);
    assert.match(report?.result ?? '', /the report/);
    assert.match(row?.result ?? '', /the note/);
  });

  it('who is not linked, and who is not there, is refused in words', async () => {
    const to = (key: string) => `${delegate({ agent_key: key, task: 'x' })}\nthen\nDone.`;
    assert.match(await resultOf('r1', to('stranger')), /no delegation link from this agent to "stranger"/);
    assert.match(await resultOf('r2', to('ghost')), /target agent "ghost" not found/);
  });

  it('a link that denies some lets nobody through whose name is not known', async () => {
    const made = await stack.ask('POST', '/v1/agent-links', {
      body: { source: 'main', target: 'denying', settings: { user_deny: ['bob'] } },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const script = `${delegate({ agent_key: 'denying', task: 'x' })}\nthen\nDone.`;
    const { turn_id } = await stack.worker.say('nameless', script);
    await stack.worker.ended(turn_id);
    assert.match((await stack.worker.calls(turn_id))[0]?.result ?? '', /not authorized to use this/);
    assert.match(await resultOf('named', script), /"status":"delegated"/);
  });

  it('a full link refuses the next one, and frees its place at the end', async () => {
    const held = (note: string) =>
      delegate({ agent_key: 'writer', task: `hold {"note":"${note}"}\nthen\nX.` });
    const { turn_id } = await stack.worker.say('f', `${held('f1')}\n${held('f2')}\nthen\nGiven.`);
    await stack.worker.ended(turn_id);
    const third = `${delegate({ agent_key: 'writer', task: 'x' })}\nthen\nDone.`;
    assert.match(
      await resultOf('f3', third),
      /delegation link to "writer" is at capacity \(2\/2 active\)\. Try again later/,
    );
    for (const note of ['f1', 'f2']) {
      await stack.worker.probes.untilHeld(note);
      stack.worker.probes.release(note);
    }
    await stack.worker.until('the message', async () => (await stack.worker.heard('f'))[1]);
    assert.match(await resultOf('f4', third), /"status":"delegated"/);
  });

  it('stopping the session stops what it gave away, and tells nobody', async () => {
    const task = 'hold {"note":"stopped"}\nthen\nNever.';
    const { turn_id } = await stack.worker.say(
      'z',
      `${delegate({ agent_key: 'writer', task })}\nhold {"note":"own"}\nthen\nX.`,
    );
    await stack.worker.probes.untilHeld('stopped');
    await stack.worker.probes.untilHeld('own');
    await stack.worker.temporal.stop(stack.worker.tenant, 'z', { turn_id, level: 'all', by: 'ann' });
    await stack.worker.ended(turn_id);
    const ended = await stack.worker.until('its end', async () => {
      const { body } = await stack.ask('GET', '/v1/delegations?session_key=z&status=cancelled');
      return body.data[0];
    });
    assert.equal(ended.stopped_by, 'ann');
    assert.equal((await stack.worker.heard('z')).length, 1);
  });

  /** `main` delegates to `editor`, which delegates on to `writer`, which holds; returns the editor's. */
  const delegatedOn = async (name: string) => {
    const below = delegate({ agent_key: 'writer', task: `hold {"note":"${name}"}\nthen\nBelow.` });
    const { turn_id } = await stack.worker.say(
      name,
      `${delegate({ agent_key: 'editor', task: `${below}\nthen\nGiven on.` })}\nthen\nGiven.`,
    );
    await stack.worker.ended(turn_id);
    await stack.worker.probes.untilHeld(name);
    const { body } = await stack.ask('GET', `/v1/delegations?session_key=${name}`);
    const session: string = body.data[0].session_key;
    await stack.worker.until(
      'the end of its turn',
      async () => (await stack.worker.turns(session))[0]?.ended_at ?? undefined,
    );
    const now = async () => (await stack.ask('GET', `/v1/delegations/${body.data[0].id}`)).body;
    assert.equal((await now()).status, 'running', 'it has a result to answer yet');
    return { session, now };
  };

  it('one that is delegated on is complete when its session has answered what came back', async () => {
    const { session, now } = await delegatedOn('on');
    stack.worker.probes.release('on');
    await stack.worker.until('the message', async () => (await stack.worker.heard('on'))[1]);
    assert.equal((await now()).status, 'completed');
    assert.equal((await stack.worker.turns(session)).length, 2);
    assert.match((await stack.worker.heard(session))[1]?.text ?? '', /^\[Delegation result from writer\]/);
    assert.equal((await stack.worker.heard('on')).length, 2);
  });

  for (const level of ['now', 'all'] as const)
    it(`${level}: a stop of its session while it waits for what comes back ends both`, async () => {
      const { session, now } = await delegatedOn(`waits-${level}`);
      const stopped = await stack.ask('POST', `/v1/sessions/${session}/stop`, { body: { level } });
      assert.equal(stopped.status, 202, JSON.stringify(stopped.body));
      await stack.worker.until('its end', async () =>
        (await now()).status === 'cancelled' ? true : undefined,
      );
      const { body } = await stack.ask('GET', `/v1/delegations?session_key=${session}`);
      await stack.worker.until('the end of what it gave', async () => {
        const { body: inner } = await stack.ask('GET', `/v1/delegations/${body.data[0].id}`);
        return inner.status === 'cancelled' ? true : undefined;
      });
    });
});
