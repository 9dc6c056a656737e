/**
 * DU-3, DU-12: the limits of the Temporal server. Each is met here on a server of this test whose limits are far lower
 * than the real ones, which are beside them, and ends in an answer: no run is stuck, and what was accepted is not lost.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { ApprovalState } from '#domain/approval/approval.ts';
import type { TeamTaskInput } from '#domain/team/team-task.ts';
import { createLostWork } from '#temporal/lost-work.ts';
import { heldDelegation } from '#test/support/assignments.ts';
import { tokenOf } from '#test/support/decision-tokens.ts';
import { type LiveWorker, startLiveWorker, workflowIdOf } from '#test/support/live-worker.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { openTask } from '#test/support/team-tasks.ts';
import { startTemporalWith } from '#test/support/test-temporal.ts';

/** Of a run, unless the name says otherwise. */
const LIMITS = {
  // 2,000, and 10 at once
  'history.maxTotalUpdates': 30,
  'history.maxInFlightUpdates': 2,
  // 10,000
  'history.maximumSignalsPerExecution': 40,
  // 100 events while a workflow task runs
  'history.maximumBufferedEventsBatch': 5,
  // 50 MB
  'limit.historySize.error': 400_000,
  // 2,000 each
  'limit.numPendingActivities.error': 64,
  'limit.numPendingChildExecutions.error': 64,
  'limit.numPendingCancelRequests.error': 64,
  'limit.numPendingSignals.error': 64,
};

/** Bounds of the workflows, lowered as the server's limits are. */
const BOUNDS = [
  [/\bupdates: 1500\b/, 'updates: 20'],
  [/\bmessages: 1000\b/, 'messages: 10'],
] as const;

const SECRET = 'a-secret-of-at-least-thirty-two-characters';
const TOKENS = { env: { TEMPOCLAW_DECISION_TOKEN_SECRET: SECRET } };

describe('the limits of the Temporal server', () => {
  let server: Awaited<ReturnType<typeof startTemporalWith>>;
  let stack: Stack;
  let live: LiveWorker;
  before(async () => {
    server = await startTemporalWith(Object.entries(LIMITS).map(([key, value]) => `${key}=${value}`));
    stack = await startStack({
      ...TOKENS,
      temporalAddress: server.address,
      agents: [
        { key: 'bound', tools: { ask: [{ tool: 'poke', approvers: { users: ['ann'] } }] } },
        { key: 'asks', tools: { ask: [{ tool: 'poke', reason: 'test' }] } },
      ],
      changeWorkflows: lowered,
    });
    live = stack.worker;
  });
  after(async () => {
    await stack?.stop();
    await server?.stop();
  });

  function lowered(code: string): string {
    return BOUNDS.reduce((changed, [from, to]) => {
      assert.match(changed, from, 'the bound is in the bundle');
      return changed.replace(from, to);
    }, code);
  }

  const handleOf = (session: string) => live.client.workflow.getHandle(workflowIdOf(live, session));

  /** A turn that waits for a person; nothing but a decision or a stop ends it. */
  async function waiting(session: string): Promise<string> {
    const { turn_id } = await live.say(session, `poke {"note":"${session}"}`, { agent: 'asks' });
    await live.approvalOf(session);
    return turn_id;
  }

  /** Sends signals until the server takes no more of the run. */
  async function useUpSignals(workflowId: string, name: string, payload: unknown): Promise<void> {
    const handle = live.client.workflow.getHandle(workflowId);
    for (let sent = 0; ; sent += 1)
      try {
        await handle.signal(name, payload);
      } catch (error) {
        assert.match(String((error as Error).cause ?? error), /limit for signal events/);
        return;
      } finally {
        assert.ok(sent <= LIMITS['history.maximumSignalsPerExecution']);
      }
  }

  it('DU-3 updates and signals of a run: messages are refused before, a stop is taken, and what was accepted runs', async () => {
    const turn = await waiting('full');
    const accepted: string[] = [];
    await assert.rejects(
      async () => {
        for (;;) accepted.push((await live.say('full', `Number ${accepted.length}.`)).turn_id);
      },
      { type: 'QueueFull', message: /^this run has had nearly as many messages/ },
    );
    assert.equal(accepted.length, 19);
    await useUpSignals(workflowIdOf(live, 'full'), 'message', { id: 'not/an/id' });
    // Temporal, which has just taken thousands of signals, may not answer in time.
    const refused = await live.until('the refusal', async () => {
      const answer = await stack.ask('POST', '/v1/sessions/full/messages', { body: { text: 'One more.' } });
      return answer.status === 503 ? undefined : answer;
    });
    assert.deepEqual([refused.status, refused.body.code], [429, 'QueueFull'], JSON.stringify(refused.body));
    const stopped = await stack.ask('POST', '/v1/sessions/full/stop', {
      body: { level: 'now', turn_id: turn },
    });
    assert.equal(stopped.status, 202, JSON.stringify(stopped.body));
    assert.equal((await live.ended(turn)).status, 'stopped');
    for (const queued of accepted) assert.equal((await live.ended(queued)).status, 'completed');
    assert.equal(live.probes.effects.filter(({ note }) => note === 'full').length, 0);
  });

  it('updates of a run: a stop that names none of its turns uses up none', async () => {
    const turn = await waiting('wrongly-stopped');
    const handle = handleOf('wrongly-stopped');
    for (const payload of [undefined, { turn_id: turn }, { turn_id: 'turn_another', level: 'now' }])
      await assert.rejects(handle.executeUpdate('stop', { args: [payload] }), (error: unknown) => {
        assert.equal(((error as Error).cause as { type?: string }).type, 'StaleTurn');
        return true;
      });
    const updates = (await handle.fetchHistory()).events?.filter(
      ({ workflowExecutionUpdateAcceptedEventAttributes: accepted }) =>
        accepted?.acceptedRequest?.input?.name === 'stop',
    );
    assert.deepEqual(updates, []);
    assert.deepEqual(await handle.executeUpdate('stop', { args: [{ turn_id: turn, level: 'now' }] }), {
      turn_id: turn,
      level: 'now',
    });
    assert.equal((await live.ended(turn)).status, 'stopped');
  });

  it('signals of a delegation: it is stopped all the same', async () => {
    const id = await heldDelegation(live, 'deaf');
    await useUpSignals(`delegation/${id}`, 'nothing', {});
    const stopped = await stack.ask('POST', `/v1/delegations/${id}/stop`, { body: {} });
    assert.equal(stopped.status, 202, JSON.stringify(stopped.body));
    const row = await live.until('its end', async () => {
      const { body } = await stack.ask('GET', `/v1/delegations/${id}`);
      return body.status === 'running' ? undefined : body;
    });
    assert.equal(row.status, 'cancelled');
    live.probes.release('deaf-given');
  });

  it('updates of a task whose member works: what can be said later is refused, and what decides is taken', async () => {
    const { workflowId, number } = await openTask(live, 'full', ['asks'], {
      subject: 'Poke it',
      description: 'poke {"note":"task"}',
      assignee: 'asks',
    });
    const handle = live.client.workflow.getHandle(workflowId);
    const by = { name: 'ci' };
    await live.until('the member', async () => {
      const state = await handle.query<{ status: string }>('state');
      return state.status === 'in_progress' || undefined;
    });
    let comments = 0;
    await assert.rejects(
      async () => {
        for (; ; comments += 1)
          await handle.executeUpdate('comment', { args: [{ by, text: `Number ${comments}.` }] });
      },
      (error: unknown) => {
        assert.equal(((error as Error).cause as { type?: string }).type, 'QueueFull');
        return true;
      },
    );
    assert.ok(comments >= 18, String(comments));
    await handle.executeUpdate('cancel', { args: [{ by, text: 'enough' }] });
    assert.equal((await handle.query<{ status: string }>('state')).status, 'cancelled');
    const input: TeamTaskInput = { tenant: live.tenant, team: 'full', number };
    const { rows } = await live.pool.query<{ comments: number }>(
      `select count(*)::int as comments from team_comments where tenant_id = $1 and team_key = $2 and number = $3 and kind = 'note'`,
      [input.tenant, input.team, input.number],
    );
    assert.equal(rows[0]?.comments, comments);
  });

  it('signals while a task runs: an approval that is flooded answers queries, and the right decision wins', async () => {
    const { turn_id } = await live.say('flooded', 'poke {"note":"flooded"}', { agent: 'bound' });
    const id = await live.approvalOf('flooded');
    const handle = live.client.workflow.getHandle(`approval/${id}`);
    const token = await tokenOf(live, SECRET, id, 'approve', 'ann');
    const forged = (): string =>
      `${randomBytes(60).toString('base64url')}.${randomBytes(32).toString('base64url')}`;
    const flood = Array.from({ length: 35 }, () =>
      handle.signal('decide', { decision: 'approve', token: forged() }),
    );
    const states = await Promise.all(
      Array.from({ length: 5 }, () =>
        live.until('a state', () => handle.query<ApprovalState>('state').catch(() => undefined)),
      ),
    );
    assert.ok(states.every(({ status }) => status === 'pending'));
    await Promise.all(flood);
    const receipt = await live.until('the decision', () =>
      live.temporal.decide(id, { decision: 'approve', by: 'ann', token }, 'of-ann'),
    );
    assert.equal(receipt.status, 'approved');
    assert.equal((await live.ended(turn_id)).status, 'completed');
  });

  it('size of a history: a run that Temporal ends is noticed, its turns end with the reason, and the session goes on', async () => {
    const turn = await waiting('huge');
    const queued = await stack.ask('POST', '/v1/sessions/huge/messages', { body: { text: 'Queued.' } });
    assert.equal(queued.status, 202, JSON.stringify(queued.body));
    // A younger one may be on its way to its session.
    await live.pool.query(`update turns set created_at = now() - interval '5 minutes' where id = $1`, [
      queued.body.turn_id,
    ]);
    const handle = handleOf('huge');
    const { runId } = await handle.describe();
    const text = 'Flood. '.repeat(8_000);
    for (let sent = 0; sent < 20; sent += 1)
      await handle.signal('message', { id: `huge-${sent}`, text }).catch(() => undefined);
    await live.until('its end by the server', async () => {
      const { status } = await live.client.workflow.getHandle(handle.workflowId, runId).describe();
      return status.name === 'TERMINATED' || undefined;
    });
    const lost = createLostWork({
      pool: live.pool,
      onWrite: () => undefined,
      reach: live.temporal,
      now: () => Date.now() + 3_600_000,
    });
    await lost.sweepAll(0);
    for (const one of [turn, queued.body.turn_id])
      assert.deepEqual((await live.ended(one)).error, {
        code: 'OutcomeUnknown',
        message: 'its workflow was ended from outside',
      });
    const { turn_id: next } = await live.say('huge', 'Next.');
    assert.equal((await live.ended(next)).status, 'completed');
  });

  it('pending activities: a step with more calls than Temporal takes at once runs as many as a step may', async () => {
    const notes = Array.from({ length: 70 }, (_, n) => `nudge {"note":"many-${n}"}`);
    const { turn_id } = await live.say('many', `${notes.join('\n')}\nthen\nDone.`);
    assert.equal((await live.ended(turn_id)).status, 'completed');
    const calls = await live.calls(turn_id);
    assert.equal(calls.filter(({ ok }) => ok).length, 64);
    assert.ok(calls.length > 64 && calls.every(({ state }) => state === 'done'));
  });

  it('pending children and cancellations: as many questions are asked at once, and withdrawn at once', async () => {
    const notes = Array.from({ length: 64 }, (_, n) => `poke {"note":"questions-${n}"}`);
    const { turn_id } = await live.say('questions', notes.join('\n'), { agent: 'asks' });
    await live.until('all questions', async () => {
      const state = await live.state('questions');
      return state?.waiting_for.length === 64 || undefined;
    });
    await live.temporal.stop(live.tenant, 'questions', { turn_id, level: 'now', by: 'ann' });
    assert.equal((await live.ended(turn_id)).status, 'stopped');
    const { rows } = await live.pool.query(
      'select status, count(*)::int as number from approvals where tenant_id = $1 and session_key = $2 group by status',
      [live.tenant, 'questions'],
    );
    assert.deepEqual(rows, [{ status: 'withdrawn', number: 64 }]);
  });

  it('updates at once: many messages to one session at the same moment are all accepted', async () => {
    const receipts = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        live.until('its acceptance', () => live.say('rush', `Number ${n}.`, { id: `rush-${n}` })),
      ),
    );
    for (const { turn_id } of receipts) assert.equal((await live.ended(turn_id)).status, 'completed');
    assert.equal((await live.turns('rush')).length, 12);
  });

  it('DU-3 messages to a run that lingers: it ends, and the next message starts another', async (t) => {
    const lingering = await startLiveWorker({
      temporalAddress: server.address,
      env: { TEMPOCLAW_LINGER_SECONDS: '3600' },
      changeWorkflows: lowered,
    });
    t.after(() => lingering.close());
    const first = await lingering.say('talk', 'One.', { id: 'm-one' });
    const handle = lingering.client.workflow.getHandle(workflowIdOf(lingering, 'talk'));
    const { runId } = await handle.describe();
    await lingering.until(
      'the run to wait',
      async () => (await lingering.state('talk'))?.status === 'idle' || undefined,
    );
    for (let sent = 0; sent < 12; sent += 1) await handle.signal('message', { id: 'm-one', text: 'One.' });
    const outcome = await lingering.client.workflow.getHandle(handle.workflowId, runId).result();
    assert.deepEqual(outcome, { turn_id: first.turn_id, status: 'completed', preview: 'One.' });
    const second = await lingering.say('talk', 'Two.');
    assert.equal((await lingering.ended(second.turn_id)).status, 'completed');
  });
});
