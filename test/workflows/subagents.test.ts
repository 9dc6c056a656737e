/** SA-1 … SA-4: subagents on real servers: started, limited, steered, cancelled, awaited, and reported once. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { takeSubagent } from '#test/support/assignments.ts';
import { type LiveWorker, startLiveWorker, workflowIdOf } from '#test/support/live-worker.ts';

interface Row {
  readonly id: string;
  readonly label: string;
  readonly status: string;
  readonly result: string | null;
  readonly session_key: string;
  readonly announced_by: string | null;
  readonly replaced_by: string | null;
  readonly depth: number;
}

describe('SA subagents', () => {
  let live: LiveWorker;
  before(async () => {
    live = await startLiveWorker();
  });
  after(() => live.close());

  const rows = async (session: string): Promise<readonly Row[]> =>
    (
      await live.pool.query<Row>(
        'select * from assignments where tenant_id = $1 and origin_session = $2 order by created_at',
        [live.tenant, session],
      )
    ).rows;
  /** One line for each call, as rehearsal/follow reads it. */
  const spawning = (args: Record<string, unknown>): string => `spawn ${JSON.stringify(args)}`;
  const run = async (session: string, script: string) => {
    const { turn_id } = await live.say(session, script);
    return { turn: await live.ended(turn_id), calls: await live.calls(turn_id), turn_id };
  };
  /** Messages that the system wrote to the session, once a turn has taken this many. */
  const notice = (session: string, count: number) =>
    live.until(`${count} announcements`, async () => {
      const received = (await live.heard(session)).filter(({ text }) => text.startsWith('[System Message]'));
      return received.length >= count ? received : undefined;
    });

  it('SA-2 spawn returns at once, and the result wakes the parent in a turn of its own', async () => {
    const { calls, turn } = await run(
      'async',
      `${spawning({ task: 'Found it.', label: 'search' })}\nthen\nStarted.`,
    );
    assert.equal(turn.text, 'Started.');
    const [row] = await rows('async');
    assert.ok(row);
    assert.match(row.id, /^sub-[0-9a-f]{16}$/);
    assert.match(
      calls[0]?.result ?? '',
      /^\{"status":"accepted","id":"sub-.*"label":"search"\}\nIt works on its own/,
    );
    const [message] = await notice('async', 1);
    assert.match(
      message?.text ?? '',
      /A subagent task "search" just completed successfully\.\n\nResult:\nFound it\.\n\nStats: runtime .*iterations 1, tokens/,
    );
    assert.match(
      message?.text ?? '',
      /Subagent roster \(1 spawned, max 5 per agent\):\n\[completed\]  search/,
    );
    await live.ended(message?.turn_id ?? '');
    assert.deepEqual(
      (await rows('async')).map(({ status, result, announced_by }) => [status, result, announced_by]),
      [['completed', 'Found it.', row.id]],
    );
    const types = (await live.events('async')).map(({ type }) => type);
    assert.ok(types.indexOf('subagent.started') < types.indexOf('subagent.completed'));
  });

  it('SA-2 run waits for the result and reads it as the call’s', async () => {
    const { calls } = await run(
      'sync',
      `${spawning({ action: 'run', task: 'Counted: 4.', label: 'count' })}\nthen\nDone.`,
    );
    assert.equal(calls[0]?.ok, true);
    assert.equal(
      calls[0]?.result,
      "Subagent 'count' completed in 1 iterations.\n\nFull result:\nCounted: 4.",
    );
    const outcome = await live.client.workflow.getHandle(`subagent/${(await rows('sync'))[0]?.id}`).result();
    assert.equal(outcome.status, 'completed');
    assert.equal((await live.heard('sync')).length, 1, 'what the call told is not told again');
  });

  it('SA-4 three that end together wake the parent once', async () => {
    const three = ['a', 'b', 'c'].map((label) => spawning({ task: `Result ${label}.`, label })).join('\n');
    await run('three', `${three}\nthen\nStarted.`);
    await notice('three', 1);
    await live.until('all told', async () =>
      (await rows('three')).every(({ announced_by }) => announced_by) ? true : undefined,
    );
    const messages = await notice('three', 1);
    assert.equal(messages.length, 1);
    assert.match(
      messages[0]?.text ?? '',
      /^\[System Message\] Multiple subagent tasks completed:\n\n---\nTask #1: "[abc]" completed \(runtime/,
    );
    await live.ended(messages[0]?.turn_id ?? '');
    assert.equal((await live.turns('three')).length, 2);
  });

  it('SA-4 announce: steer puts the result into the turn that runs', async () => {
    const { turn_id } = await live.say(
      'into',
      `${spawning({ task: 'Quick.', label: 'quick', announce: 'steer' })}\nthen\nhold {"note":"into"}\nthen\nDone.`,
    );
    await live.probes.untilHeld('into');
    await live.until('the message', async () =>
      (await live.state('into'))?.steering === 1 ? true : undefined,
    );
    live.probes.release('into');
    const [message] = await notice('into', 1);
    assert.equal(message?.turn_id, turn_id);
    await live.ended(turn_id);
  });

  it('SA-2 list, get, cancel and steer find the caller’s own, and say so in GoClaw’s words', async () => {
    const one = spawning({ task: 'hold {"note":"own"}\nthen\nHeld.', label: 'own' });
    const { calls } = await run('mine', `${spawning({ action: 'list' })}\nthen\n${one}\nthen\nStarted.`);
    assert.equal(calls[0]?.result, 'No active tasks found.');
    await live.probes.untilHeld('own');
    const [own] = await rows('mine');
    const id = own?.id ?? '';
    const ask = async (session: string, args: Record<string, unknown>) =>
      (await run(session, `${spawning(args)}\nthen\nOk.`)).calls[0]?.result ?? '';
    assert.match(
      await ask('mine', { action: 'list' }),
      new RegExp(
        `^- ${id} \\[running\\] "own" session=subagent:${id} since \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z`,
      ),
    );
    assert.equal(await ask('other', { action: 'list' }), 'No active tasks found.');
    assert.equal(
      await ask('other', { action: 'cancel', id }),
      `NotFound: Task '${id}' not found or not running.`,
    );
    assert.equal(
      await ask('other', { action: 'cancel', id: 'all' }),
      "NotFound: Task 'all' not found or not running.",
    );
    assert.equal(await ask('other', { action: 'get', id }), `NotFound: subagent "${id}" not found`);
    assert.equal(
      await ask('other', { action: 'steer', id, message: 'x' }),
      `NotFound: subagent "${id}" not found`,
    );
    assert.equal(
      await ask('mine', { action: 'steer', id }),
      'InvalidArgs: message is required for action=steer',
    );
    assert.equal(await ask('mine', { action: 'cancel' }), 'InvalidArgs: id is required for action=cancel');
    assert.equal(await ask('mine', { action: 'spawn' }), 'InvalidArgs: task parameter is required');
    assert.match(await ask('mine', { task: 'x', agent: 'y' }), /^NotFound: target agent "y" not found/);

    assert.equal(
      await ask('mine', { action: 'steer', id, message: 'Turned.' }),
      `Steered subagent "${id}" → new task spawned.`,
    );
    const [message] = await notice('mine', 1);
    assert.match(
      message?.text ?? '',
      /A subagent task "own \(steered\)" just completed successfully\.\n\nResult:\nTurned\./,
    );
    const [old, next] = await rows('mine');
    assert.deepEqual([old?.status, old?.announced_by, old?.replaced_by], ['cancelled', 'nobody', next?.id]);
    assert.equal(next?.depth, old?.depth);
    await live.ended(message?.turn_id ?? '');
    assert.equal(
      await ask('mine', { action: 'steer', id, message: 'x' }),
      `ExecutionFailed: subagent "${id}" is not running (status=cancelled)`,
    );
    assert.match(
      await ask('mine', { action: 'get', id: next?.id }),
      /completed, 1 iterations.*\n\nTurned\.$/,
    );
    assert.equal(
      await ask('mine', { action: 'cancel', id }),
      `NotFound: Task '${id}' not found or not running.`,
    );
  });

  it('parameters that are empty, and times out of bounds, are as if they were left out', async () => {
    const empty = { agent: '', label: ' ', model: '', mode: '', context: '', thinking: '' };
    const spawned = await run('empty', `${spawning({ task: 'Named.', ...empty, timeout: 0 })}\nthen\nOk.`);
    assert.match(spawned.calls[0]?.result ?? '', /"status":"accepted".*"label":"Named\."/);
    const waited = await run('empty', `${spawning({ action: 'wait', timeout: 10 ** 9 })}\nthen\nOk.`);
    assert.match(waited.calls[0]?.result ?? '', /^(?:No active tasks found\.$|.*Named\.)/s);
  });

  it('SA-2 cancel ends one, the last or all, and the caller is not woken for it', async () => {
    const holds = ['k1', 'k2', 'k3'].map((note) =>
      spawning({ task: `hold {"note":"${note}"}\nthen\nHeld.`, label: note }),
    );
    await run('kill', `${holds[0]}\nthen\n${holds[1]}\nthen\n${holds[2]}\nthen\nStarted.`);
    for (const note of ['k1', 'k2', 'k3']) await live.probes.untilHeld(note);
    const last = (await run('kill', `${spawning({ action: 'cancel', id: 'last' })}\nthen\nOk.`)).calls[0];
    assert.match(last?.result ?? '', /^Task 'last' cancelled\.\n- sub-\w+ "k3"$/);
    const all = (await run('kill', `${spawning({ action: 'cancel', id: 'all' })}\nthen\nOk.`)).calls[0];
    assert.match(all?.result ?? '', /^Task 'all' cancelled\.(\n- sub-\w+ "k[12]"){2}$/);
    await live.until('their ends', async () =>
      (await rows('kill')).every(({ status }) => status === 'cancelled') ? true : undefined,
    );
    for (const { id } of await rows('kill')) await live.client.workflow.getHandle(`subagent/${id}`).result();
    assert.equal((await live.turns('kill')).length, 3);
    assert.equal(live.probes.held.size, 0, 'the tools that ran were stopped');
  });

  it('SA-2 wait answers when all have ended, and their results are told by it alone', async () => {
    const { calls } = await run(
      'wait',
      `${spawning({ task: 'nudge {"note":"w"}\nthen\nWaited for.', label: 'slow' })}\nthen\n${spawning({ action: 'wait' })}\nthen\nDone.`,
    );
    assert.match(
      calls[1]?.result ?? '',
      /^All 1 subagent task\(s\) have ended:\n\n---\nTask #1: "slow" completed \(.*\)\nResult: Waited for\.\n---$/,
    );
    await live.client.workflow.getHandle(`subagent/${(await rows('wait'))[0]?.id}`).result();
    assert.equal((await live.heard('wait')).length, 1);
  });

  it('SA-2 wait gives up when its time is over', async () => {
    const { calls } = await run(
      'late',
      `${spawning({ task: 'hold {"note":"late"}', label: 'late' })}\nthen\n${spawning({ action: 'wait', timeout: 1 })}\nthen\nDone.`,
    );
    assert.match(
      calls[1]?.result ?? '',
      /^Timeout: timeout after 1s waiting for children\. 1 still running: sub-/,
    );
    live.probes.release('late');
    await notice('late', 1);
  });

  it('SA-1 one that takes too long is ended and told of as such', async () => {
    await run(
      'slow',
      `${spawning({ task: 'hold {"note":"slow"}', label: 'slow', timeout: 1 })}\nthen\nStarted.`,
    );
    const [message] = await notice('slow', 1);
    assert.match(message?.text ?? '', /A subagent task "slow" just timed out\./);
    const [row] = await rows('slow');
    assert.equal(row?.status, 'timeout');
    const turns = await live.turns(row?.session_key ?? '');
    assert.equal(turns[0]?.text, 'This turn was ended by a limit: its time was up.');
  });

  it('SA-3 SA-4 a subagent cannot spawn, and never has a tool that its parent has not', async () => {
    const task =
      'spawn {"task":"deeper"}\nsession_status {}\npeek {"note":"x"}\nnudge {"note":"y"}\nthen\nTried.';
    const { turn_id } = await live.say(
      'narrow',
      `${spawning({ action: 'run', task, label: 'leaf' })}\nthen\nDone.`,
      {
        allowed_tools: ['spawn', 'peek'],
      },
    );
    await live.ended(turn_id);
    const [row] = await rows('narrow');
    const [turn] = await live.turns(row?.session_key ?? '');
    const calls = await live.calls(turn?.id ?? '');
    assert.deepEqual(
      calls.map(({ tool, code }) => [tool, code]),
      [
        ['spawn', 'PermissionDenied'],
        ['session_status', 'PermissionDenied'],
        ['peek', null],
        ['nudge', 'PermissionDenied'],
      ],
    );
    // Another speaker in its session gets no more.
    const again = await run(row?.session_key ?? '', 'nudge {"note":"z"}\nthen\nTried.');
    assert.equal(again.calls[0]?.code, 'PermissionDenied');
  });

  it('a call that has a result already, since its turn has ended, starts none; again is the same one', async () => {
    const { turn_id } = await run('once', `${spawning({ task: 'Once.', label: 'once' })}\nthen\nDone.`);
    const [row] = await rows('once');
    assert.ok(row);
    const call = `call_${turn_id.replace('turn_', '')}.1.0`;
    const spawn = (id: string) =>
      takeSubagent(live.pool, live.tenant, { session: 'once', turn: turn_id, call }, id);
    assert.deepEqual(await spawn('sub-late'), { kind: 'over' });
    assert.equal((await spawn(row.id)).kind, 'taken');
    assert.deepEqual(
      (await rows('once')).map(({ id, label }) => [id, label]),
      [[row.id, 'once']],
    );
    const types = (await live.events('once')).map(({ type }) => type);
    assert.ok(types.indexOf('tool.started') < types.indexOf('tool.completed'), types.join());
    assert.equal(types.filter((type) => type === 'tool.started').length, 1);
  });

  it('one in whose session somebody else has spoken first fails, and says so', async () => {
    const messageId = 'm-first';
    const call = `call_${messageId}.1.0`;
    const digest = createHash('sha256').update(`${live.tenant}\n${call}`).digest('hex').slice(0, 16);
    const session_key = `subagent:sub-${digest}`;
    const first = await live.client.workflow.start('agentTurn', {
      workflowId: workflowIdOf(live, session_key),
      taskQueue: live.taskQueue,
      args: [{ tenant: live.tenant, session_key }],
    });
    const { turn_id } = await live.say(
      'first',
      `${spawning({ task: 'Late.', label: 'late' })}\nthen\nDone.`,
      { id: messageId },
    );
    await live.ended(turn_id);
    const [message] = await notice('first', 1);
    assert.match(
      message?.text ?? '',
      /A subagent task "late" just failed: .*somebody else spoke in its session first/,
    );
    await first.terminate();
  });

  it('a subagent’s workflow shows as a child of the turn, and its session’s as its own', async () => {
    const leaf = (action: string): string => spawning({ action, task: 'Leaf.', label: action });
    await run('tree', `${leaf('run')}\n${leaf('spawn')}\nthen\nDone.`);
    const parentOf = async (id: string) => {
      const { type, parentExecution } = await live.client.workflow.getHandle(id).describe();
      return { type, parent: parentExecution?.workflowId };
    };
    const turn = workflowIdOf(live, 'tree');
    for (const { id, session_key } of await rows('tree')) {
      assert.deepEqual(await parentOf(`subagent/${id}`), { type: 'subagent', parent: turn });
      assert.deepEqual(await parentOf(workflowIdOf(live, session_key)), {
        type: 'agentTurn',
        parent: `subagent/${id}`,
      });
    }
  });
});
