/**
 * SA-1, DE-1: work whose workflow was ended from outside frees its place, and the session that delegated it is
 * notified once.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createLostWork, type LostWork } from '#temporal/lost-work.ts';
import { Failure } from '#domain/errors.ts';
import { heldDelegation } from '#test/support/assignments.ts';
import { workflowIdOf } from '#test/support/live-worker.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const MESSAGE = 'its workflow was ended from outside';
const ERROR = { code: 'OutcomeUnknown', message: MESSAGE };

describe('work whose workflow was ended from outside', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.stop());

  const terminate = async (workflowId: string): Promise<void> => {
    await stack.worker.client.workflow.getHandle(workflowId).terminate('by an operator');
  };
  const lostWork = (reach: Parameters<typeof createLostWork>[0]['reach'], now = Date.now): LostWork =>
    createLostWork({ pool: stack.pool, onWrite: () => undefined, reach, now });
  const firstResult = async (session: string, script: string): Promise<string> => {
    const { turn_id } = await stack.worker.say(session, `${script}\nthen\nDone.`);
    await stack.worker.ended(turn_id);
    return (await stack.worker.calls(turn_id))[0]?.result ?? '';
  };
  /** Resolves with all messages that the session got, once nothing of it is open any more. */
  const notice = async (session: string, pattern: RegExp): Promise<number> => {
    await stack.worker.until('the message', async () =>
      (await stack.worker.heard(session)).find(({ text }) => pattern.test(text)),
    );
    return (await stack.worker.heard(session)).filter(({ text }) => pattern.test(text)).length;
  };
  /** Resolves when its last run, which notifies, has completed. */
  const toldBy = async (workflowId: string): Promise<void> => {
    await stack.worker.client.workflow.getHandle(workflowId).result();
  };
  /** A busy server answers "try again", and a stop may be repeated. */
  const accepted = (path: string) =>
    stack.worker.until('the answer', async () => {
      const answer = await stack.ask('POST', path, { body: {} });
      return answer.status === 503 ? undefined : answer;
    });
  const subagent = async (session: string): Promise<string> => {
    const args = { task: `hold {"note":"${session}"}\nthen\nHeld.`, label: session };
    const { turn_id } = await stack.worker.say(session, `spawn ${JSON.stringify(args)}\nthen\nOn it.`);
    await stack.worker.ended(turn_id);
    await stack.worker.probes.untilHeld(session);
    const { body } = await stack.ask('GET', `/v1/sessions/${session}/subagents`);
    return body.data[0].id;
  };

  it('a delegation reads as failed with the reason, and its origin is told once, however many look', async () => {
    const id = await heldDelegation(stack.worker, 'read');
    await terminate(`delegation/${id}`);
    await Promise.all(Array.from({ length: 8 }, () => stack.ask('GET', `/v1/delegations/${id}`)));
    const { body } = await stack.ask('GET', `/v1/delegations/${id}`);
    assert.deepEqual([body.status, body.error], ['failed', ERROR]);
    await toldBy(`delegation/${id}`);
    assert.equal(await notice('read-given', /^\[Delegation to taker failed: its workflow was ended/), 1);
  });

  it('the lists over HTTP say so too', async () => {
    const id = await heldDelegation(stack.worker, 'listed');
    const child = await subagent('listed-child');
    await terminate(`delegation/${id}`);
    await terminate(`subagent/${child}`);
    const { body: value } = await stack.ask('GET', '/v1/delegations?session_key=listed-given');
    assert.deepEqual([value.data[0].status, value.data[0].error], ['failed', ERROR]);
    const { body: children } = await stack.ask('GET', '/v1/sessions/listed-child/subagents');
    assert.deepEqual([children.data[0].status, children.data[0].error], ['failed', ERROR]);
    await Promise.all([toldBy(`delegation/${id}`), toldBy(`subagent/${child}`)]);
  });

  it('the lists that agents see say so', async () => {
    const id = await heldDelegation(stack.worker, 'seen');
    const child = await subagent('seen-child');
    await terminate(`delegation/${id}`);
    await terminate(`subagent/${child}`);
    assert.match(
      await firstResult('seen-given', 'delegate {"action":"list"}'),
      new RegExp(`^- ${id} \\[failed\\] taker .*: ${MESSAGE}$`),
    );
    assert.match(
      await firstResult('seen-child', 'spawn {"action":"list"}'),
      new RegExp(`^- ${child} \\[failed\\] .*: OutcomeUnknown: ${MESSAGE}$`),
    );
  });

  it('stopping one ends it', async () => {
    const id = await heldDelegation(stack.worker, 'stopped');
    const child = await subagent('stopped-child');
    await terminate(`delegation/${id}`);
    await terminate(`subagent/${child}`);
    assert.equal((await accepted(`/v1/delegations/${id}/stop`)).status, 202);
    assert.match(await firstResult('stopped-child', 'spawn {"action":"cancel","id":"all"}'), /^NotFound: /);
    const { rows } = await stack.pool.query('select status from assignments where id in ($1, $2)', [
      id,
      child,
    ]);
    assert.deepEqual(rows, [{ status: 'failed' }, { status: 'failed' }]);
  });

  it('the sweep of the workers finds both without anybody asking; who waits for one goes on', async () => {
    const value = await heldDelegation(stack.worker, 'swept');
    const child = await subagent('swept-child');
    const { turn_id } = await stack.worker.say('swept-child', 'spawn {"action":"wait"}\nthen\nDone.');
    await stack.worker.until('the wait', async () => {
      const { rows } = await stack.pool.query(
        'select 1 from assignments where id = $1 and waiter is not null',
        [child],
      );
      return rows[0];
    });
    const lost = lostWork(stack.worker.temporal);
    assert.equal(await lost.sweepAll(0), 0, 'what runs is left alone');
    for (const id of [`delegation/${value}`, `subagent/${child}`]) await terminate(id);
    assert.equal(await lost.sweepAll(3600), 0, 'younger work is not looked at');
    assert.equal(await lost.sweepAll(0), 2);
    assert.equal(await lost.sweepAll(0), 0);
    assert.equal(await notice('swept-given', /^\[Delegation to taker failed: /), 1);
    await stack.worker.ended(turn_id);
    assert.match((await stack.worker.calls(turn_id))[0]?.result ?? '', /All 1 subagent task\(s\) have ended/);
  });

  it('a subagent whose session was terminated ends at once', async () => {
    const child = await subagent('gone-session');
    await terminate(workflowIdOf(stack.worker, `subagent:${child}`));
    await toldBy(`subagent/${child}`);
    const { body } = await stack.ask('GET', `/v1/subagents/${child}`);
    assert.equal(body.status, 'failed');
    assert.equal(
      await notice('gone-session', /A subagent task "gone-session" just failed: .*ended from outside/),
      1,
    );
  });

  it('one whose workflow was never started is lost once its turn had time to start it', async () => {
    const id = await heldDelegation(stack.worker, 'missing');
    const { temporal, tenant } = stack.worker;
    const started: string[] = [];
    const reach = {
      stateOf: () => Promise.resolve('missing' as const),
      start: (start: { readonly id: string }) => Promise.resolve(void started.push(start.id)),
      signalWithStart: () => assert.fail('there is no task'),
    };
    assert.equal(await lostWork(reach).sweep(tenant), 0);
    const later = () => Date.now() + 600_000;
    const looking = createLostWork({
      pool: stack.pool,
      onWrite: () => undefined,
      reach,
      now: later,
      lookMs: 1,
    });
    assert.equal(await looking.sweep(tenant), 0, 'who only looks leaves it to the workers');
    assert.equal(await lostWork(reach, later).sweep(tenant), 1);
    assert.deepEqual(started, [`delegation/${id}`]);
    await temporal.signal(`delegation/${id}`, 'stop', {});
  });

  it('while Temporal is away nothing is taken for lost', async () => {
    const id = await heldDelegation(stack.worker, 'away');
    const away = (): never => {
      throw new Failure('Unavailable', 'away');
    };
    const lost = lostWork({ stateOf: away, start: away, signalWithStart: away });
    const { rows } = await stack.pool.query('select to_jsonb(d) as row from assignments d where id = $1', [
      id,
    ]);
    const seen = await lost.current(stack.tenant, rows[0].row);
    assert.equal(seen.status, 'running');
    await assert.rejects(lost.sweep(stack.tenant), /away/);
  });
});
