/** IN-5: filtering workflows by state finds what waits for an approval at any depth below, for as long as it does. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { linkMain } from '#test/support/assignments.ts';
import { type LiveWorker, startLiveWorker, workflowIdOf } from '#test/support/live-worker.ts';
import { openTask } from '#test/support/team-tasks.ts';
import { taskSessionKey } from '#domain/team/team.ts';

describe('IN-5 the state of what something below waits for', () => {
  let live: LiveWorker;
  before(async () => {
    const member = { key: 'taker', type: 'open', model: 'rehearsal/follow' } as const;
    live = await startLiveWorker({ settings: 'subagents: { maxDepth: 2 }', agents: [member] });
    await linkMain(live.pool, live.tenant, ['taker']);
  });
  after(() => live.close());

  const run = (tool: string, args: Record<string, unknown>): string => `${tool} ${JSON.stringify(args)}`;
  const spawn = (label: string, task: string): string => run('spawn', { action: 'run', label, task });
  const held = (note: string): string => `${run('hold', { note })}\nthen\nDone.`;

  async function stateOf(workflowId: string): Promise<unknown> {
    const described = await live.client.workflow.getHandle(workflowId).describe();
    // The deprecated form has them all, by name.
    return described.searchAttributes['TempoclawState']?.[0];
  }
  const untilState = (workflowId: string, state: string): Promise<true> =>
    live.until(`${workflowId} to be ${state}`, async () =>
      (await stateOf(workflowId)) === state ? true : undefined,
    );
  const own = (session: string): string => workflowIdOf(live, session);
  const assigned = (origin: string): Promise<{ id: string; kind: string; session_key: string }> =>
    live.until(`what ${origin} has given away`, async () => {
      const { rows } = await live.pool.query(
        'select * from assignments where tenant_id = $1 and origin_session = $2 order by created_at desc',
        [live.tenant, origin],
      );
      return rows[0];
    });

  it('a subagent of a subagent: all above it say so until it is decided', async () => {
    const script = `${spawn('above', `${spawn('below', 'poke {"note":"deep"}\nthen\nPoked.')}\nthen\nAbove.`)}\nthen\nDone.`;
    const { turn_id } = await live.say('deep', script);
    const above = await assigned('deep');
    const below = await assigned(above.session_key);
    const chain = [
      own('deep'),
      `subagent/${above.id}`,
      own(above.session_key),
      `subagent/${below.id}`,
      own(below.session_key),
    ];
    for (const workflowId of chain) await untilState(workflowId, 'waiting_approval');
    assert.equal((await live.state('deep'))?.status, 'waiting_approval');
    const approval = await live.approvalOf(below.session_key);
    await live.temporal.decide(approval, { decision: 'approve' });
    await live.ended(turn_id);
    for (const workflowId of chain) await untilState(workflowId, 'running');
  });

  it('a delegation that the turn does not wait for: until it is decided, and until its workflow is terminated', async () => {
    const script = (note: string): string =>
      `${run('delegate', { agent_key: 'taker', task: 'poke {"note":"given"}\nthen\nPoked.', mode: 'async' })}\n${run('hold', { note })}\nthen\nDone.`;
    for (const way of ['decided', 'terminated']) {
      const { turn_id } = await live.say(way, script(way));
      const { id, session_key } = await assigned(way);
      for (const workflowId of [own(way), `delegation/${id}`, own(session_key)])
        await untilState(workflowId, 'waiting_approval');
      const approval = await live.approvalOf(session_key);
      if (way === 'decided') await live.temporal.decide(approval, { decision: 'reject' });
      else await live.client.workflow.getHandle(`delegation/${id}`).terminate();
      await untilState(own(way), 'running');
      live.probes.release(way);
      await live.ended(turn_id);
    }
  });

  it('a team’s task whose member asks', async () => {
    const request = { subject: 'Poke', description: 'poke {"note":"task"}\nthen\nPoked.', assignee: 'taker' };
    const { number, workflowId } = await openTask(live, 'crew', ['taker'], request);
    await untilState(workflowId, 'waiting_approval');
    const approval = await live.approvalOf(taskSessionKey('crew', number, 'taker'));
    await live.temporal.decide(approval, { decision: 'approve' });
    await untilState(workflowId, 'running');
  });

  it('a steered subagent: what goes on in its place says so too', async () => {
    const script = `${run('spawn', { label: 'first', task: 'poke {"note":"first"}\nthen\nPoked.' })}\n${held('steered')}`;
    const { turn_id } = await live.say('steered', script);
    const first = await assigned('steered');
    await untilState(own('steered'), 'waiting_approval');
    const message = 'poke {"note":"second"}\nthen\nPoked.';
    const handle = live.client.workflow.getHandle(`subagent/${first.id}`);
    const steered = await handle.executeUpdate<{ replaced_by: string }, [unknown]>('steer', {
      args: [{ message }],
    });
    const { session_key } = await live.until('the one in its place', async () => {
      const found = await assigned('steered');
      return found.id === steered.replaced_by ? found : undefined;
    });
    const approval = await live.approvalOf(session_key);
    await untilState(own('steered'), 'waiting_approval');
    await live.temporal.decide(approval, { decision: 'approve' });
    await untilState(own('steered'), 'running');
    live.probes.release('steered');
    await live.ended(turn_id);
  });

  it('a session whose next turn is a new run does not say so for ever', async () => {
    const asks = run('delegate', {
      agent_key: 'taker',
      task: 'poke {"note":"parked"}\nthen\nPoked.',
      mode: 'async',
    });
    const { turn_id } = await live.say('next', `${asks}\n${held('next-1')}`);
    const next = await live.say('next', held('next-2'));
    const { session_key } = await assigned('next');
    await untilState(own('next'), 'waiting_approval');
    live.probes.release('next-1');
    await live.ended(turn_id);
    await live.probes.untilHeld('next-2');
    await untilState(own('next'), 'running');
    const approval = await live.approvalOf(session_key);
    await live.temporal.decide(approval, { decision: 'reject' });
    live.probes.release('next-2');
    await live.ended(next.turn_id);
    await untilState(own('next'), 'running');
  });

  it('a report that no child can have sent changes nothing', async () => {
    const { turn_id } = await live.say('forged', held('forged'));
    await live.probes.untilHeld('forged');
    const handle = live.client.workflow.getHandle(own('forged'));
    for (const report of [undefined, 'x', { child: 'c' }, { child: 1, waits: true, at: 1 }])
      await handle.signal('childWaitsForApproval', report);
    assert.equal((await live.state('forged'))?.status, 'running');
    live.probes.release('forged');
    await live.ended(turn_id);
  });
});
