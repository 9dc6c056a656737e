/** A session that is stopped takes its subagents and their commands with it, unless detached. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { markStopped } from '#store/assignments/assignment-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { assignmentInput } from '#temporal/assignment-inputs.ts';
import { takeSubagent } from '#test/support/assignments.ts';
import { eventually, runningWith, uniqueSeconds } from '#test/support/processes.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { workflowIdOf } from '#test/support/live-worker.ts';

interface Row {
  readonly id: string;
  readonly status: string;
  readonly label: string;
  readonly announced_by: string | null;
  readonly stopped_by: string | null;
}

describe('SA a session that is stopped', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      agents: [{ key: 'main', tools: {}, exec: { security: 'full', ask: 'off' } }],
    });
  });
  after(() => stack.stop());

  const rows = async (session: string): Promise<readonly Row[]> =>
    (
      await stack.pool.query<Row>(
        'select * from assignments where tenant_id = $1 and origin_session = $2 order by created_at',
        [stack.tenant, session],
      )
    ).rows;
  const statuses = (session: string, expected: readonly string[]) =>
    stack.worker.until(`${session}: ${expected.join()}`, async () => {
      const found = await rows(session);
      return found.map(({ status }) => status).join() === expected.join() ? found : undefined;
    });
  const holding = (note: string, more: Record<string, unknown> = {}): string =>
    `spawn ${JSON.stringify({ task: `hold {"note":"${note}"}\nthen\nHeld.`, label: note, ...more })}`;

  for (const level of ['now', 'all'] as const)
    it(`${level}: its subagents end and nobody is woken; detached ones go on`, async () => {
      const { worker } = stack;
      const kept = `${level}-kept`;
      const { turn_id } = await worker.say(
        level,
        `${holding(`${level}-1`)}\n${holding(kept, { detached: true })}\nthen\nhold {"note":"${level}-self"}`,
      );
      for (const note of [`${level}-1`, kept, `${level}-self`]) await worker.probes.untilHeld(note);
      await worker.temporal.stop(worker.tenant, level, { turn_id, level, by: 'ann' });
      assert.equal((await worker.ended(turn_id)).status, 'stopped');
      await worker.until('the end of the first', async () => {
        const found = (await rows(level)).find(({ label }) => label === `${level}-1`);
        return found?.status === 'cancelled' && found.stopped_by === 'ann' && found.announced_by === 'nobody'
          ? found
          : undefined;
      });
      assert.ok(worker.probes.held.has(kept));
      worker.probes.release(kept);
      await worker.until('the end of the detached one', async () =>
        (await rows(level)).every(({ status }) => status !== 'running') ? true : undefined,
      );
      const received = await worker.until('the message', async () => {
        const found = await worker.heard(level);
        return found.length > 1 ? found : undefined;
      });
      assert.match(received[1]?.text ?? '', new RegExp(`A subagent task "${kept}" just completed`));
      assert.equal(received.length, 2, 'the one that was stopped is not told');
    });

  it('at the step, or by a message that interrupts: its subagents go on', async () => {
    const { worker } = stack;
    const { turn_id } = await worker.say('goes-on', `${holding('on')}\nthen\nhold {"note":"on-self"}`);
    for (const note of ['on', 'on-self']) await worker.probes.untilHeld(note);
    const { turn_id: next } = await worker.say('goes-on', 'hold {"note":"on-next"}', { mode: 'interrupt' });
    assert.equal((await worker.ended(turn_id)).status, 'stopped');
    await worker.probes.untilHeld('on-next');
    await worker.temporal.stop(worker.tenant, 'goes-on', { turn_id: next, level: 'step' });
    worker.probes.release('on-next');
    await worker.ended(next);
    assert.equal((await rows('goes-on'))[0]?.status, 'running');
    worker.probes.release('on');
    await statuses('goes-on', ['completed']);
  });

  it('before its first step: it never begins, and who is told of its start is told nothing', async () => {
    const { worker } = stack;
    const { turn_id } = await worker.say('early', 'Nothing yet.');
    await worker.ended(turn_id);
    const taken = await takeSubagent(
      worker.pool,
      stack.tenant,
      { session: 'early', turn: turn_id },
      'sub-early',
    );
    assert.ok(taken.kind === 'taken');
    assert.ok(await markStopped(forTenant(worker.pool, stack.tenant), 'sub-early', 'ann', true));
    const outcome = await worker.client.workflow.execute('subagent', {
      workflowId: 'subagent/sub-early',
      taskQueue: worker.taskQueue,
      args: [assignmentInput(stack.tenant, taken.row, (text) => text)],
    });
    assert.equal(outcome.status, 'cancelled');
    const [row] = await rows('early');
    assert.deepEqual([row?.status, row?.stopped_by], ['cancelled', 'ann']);
    assert.deepEqual(await worker.turns('subagent:sub-early'), []);
    const messages = (await worker.events('early')).map(({ type }) => type);
    assert.ok(!messages.includes('subagent.started'), messages.join());
    assert.ok(messages.includes('subagent.completed'), messages.join());
  });

  it('while no turn runs: over HTTP, with the commands that the subagents run', async () => {
    const seconds = uniqueSeconds();
    const task = `exec ${JSON.stringify({ command: `sleep ${seconds}` })}\nthen\nSlept.`;
    const { turn_id } = await stack.worker.say(
      'idle',
      `spawn ${JSON.stringify({ task, label: 'sleeper' })}\nthen\nStarted.`,
    );
    await stack.worker.ended(turn_id);
    assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length > 0), 'the command runs');
    await stack.worker.until('the end of the session’s run', async () => {
      const { status } = await stack.worker.client.workflow
        .getHandle(workflowIdOf(stack.worker, 'idle'))
        .describe();
      return status.name === 'COMPLETED' ? true : undefined;
    });
    const answer = await stack.ask('POST', '/v1/sessions/idle/stop', { body: { level: 'all' } });
    assert.equal(answer.status, 202);
    assert.equal(answer.body.turn_id, null);
    await statuses('idle', ['cancelled']);
    assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length === 0), 'the command is gone');
    const again = await stack.ask('POST', '/v1/sessions/idle/stop', { body: { level: 'now' } });
    assert.equal(again.status, 409);
  });

  it('all, after subagents have ended by themselves: what they left ends, but not a detached one’s', async () => {
    const [mine, detached] = [uniqueSeconds(), uniqueSeconds()];
    const leaving = (seconds: string, more: Record<string, unknown> = {}): string => {
      const exec = `exec ${JSON.stringify({ command: `sleep ${seconds}`, background: true })}`;
      return `spawn ${JSON.stringify({ task: `${exec}\nthen\nLeft.`, label: seconds, ...more })}`;
    };
    const script = `${leaving(mine)}\nthen\n${leaving(detached, { detached: true })}\nthen\nStarted.`;
    const { turn_id } = await stack.worker.say('left', script);
    await stack.worker.ended(turn_id);
    await statuses('left', ['completed', 'completed']);
    for (const seconds of [mine, detached])
      assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length > 0), 'the command runs');
    // A stop covers what the turns until then have left: one that starts just now would not be hit.
    await stack.worker.until('the turns that hear of them', async () => {
      const messages = new Set((await rows('left')).map(({ announced_by }) => announced_by));
      const turns = await stack.worker.turns('left');
      const areOver =
        turns.length === 1 + messages.size && turns.every(({ status }) => status === 'completed');
      return areOver && !messages.has(null) ? true : undefined;
    });
    const { status } = await stack.ask('POST', '/v1/sessions/left/stop', { body: { level: 'all' } });
    assert.equal(status, 202);
    assert.ok(await eventually(() => runningWith(`sleep ${mine}`).length === 0), 'the command is gone');
    assert.notDeepEqual(runningWith(`sleep ${detached}`), []);
  });

  it('SA-2 of two that steer it at once, one is refused: no message is lost without a word', async () => {
    const { turn_id } = await stack.worker.say('twice', `${holding('twice')}\nthen\nStarted.`);
    await stack.worker.ended(turn_id);
    await stack.worker.probes.untilHeld('twice');
    const { body: list } = await stack.ask('GET', '/v1/sessions/twice/subagents');
    const steer = (message: string) =>
      stack.ask('POST', `/v1/subagents/${list.data[0].id}/steer`, { body: { message } });
    const answers = await Promise.all([steer('One.'), steer('Two.')]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [202, 409]);
    const taken = answers.findIndex(({ status }) => status === 202);
    const next = await stack.worker.until('the next one', async () => {
      const { body, status } = await stack.ask('GET', `/v1/subagents/${answers[taken]?.body.replaced_by}`);
      return status === 200 ? body : undefined;
    });
    assert.equal(next.task, ['One.', 'Two.'][taken]);
  });

  it('one is listed, shown, steered and stopped over HTTP, within its tenant', async () => {
    const { turn_id } = await stack.worker.say('http', `${holding('http')}\nthen\nStarted.`);
    await stack.worker.ended(turn_id);
    await stack.worker.probes.untilHeld('http');
    const list = await stack.ask('GET', '/v1/sessions/http/subagents?status=running');
    assert.equal(list.body.data.length, 1);
    const { id } = list.body.data[0];
    const other = await stack.makeTenant();
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/stop'],
      ['POST', '/steer'],
    ] as const) {
      const foreign = await stack.ask(method, `/v1/subagents/${id}${path}`, {
        key: other.key,
        ...(method === 'POST' ? { body: { message: 'x' } } : {}),
      });
      assert.equal(foreign.status, 404, path);
    }
    const headers = { 'idempotency-key': 'steer-1' };
    const body = { message: 'hold {"note":"http-2"}\nthen\nTurned.' };
    const steered = await stack.ask('POST', `/v1/subagents/${id}/steer`, { body, headers });
    assert.equal(steered.status, 202);
    assert.deepEqual(
      (await stack.ask('POST', `/v1/subagents/${id}/steer`, { body, headers })).body,
      steered.body,
    );
    await stack.worker.probes.untilHeld('http-2');
    const next = steered.body.replaced_by;
    assert.equal((await stack.ask('POST', `/v1/subagents/${id}/steer`, { body })).status, 409);
    assert.equal(
      (await stack.ask('POST', `/v1/subagents/${next}/stop`, { body: { reason: 'enough' } })).status,
      202,
    );
    const notice = await stack.worker.until('the message', async () => (await stack.worker.heard('http'))[1]);
    assert.match(notice.text, /A subagent task "http \(steered\)" was cancelled: enough\n/);
    const { body: shown } = await stack.ask('GET', `/v1/subagents/${next}`);
    assert.deepEqual([shown.status, shown.depth, shown.parent_session], ['cancelled', 1, 'http']);
    assert.equal(shown.error.message, 'enough');
    assert.equal((await stack.ask('POST', `/v1/subagents/${next}/stop`, { body: {} })).status, 409);
    const { body: first } = await stack.ask('GET', '/v1/sessions/http/subagents?limit=1');
    const after = `limit=1&after=${first.next_cursor}`;
    const { body: second } = await stack.ask('GET', `/v1/sessions/http/subagents?${after}`);
    assert.deepEqual([first.data[0].id, second.data[0].id, second.has_more], [next, id, false]);
    assert.equal((await stack.ask('GET', '/v1/subagents/sub-none')).status, 404);
  });
});
