/** AP-1 … AP-6: a call waits for a decision, each decision has its outcome, and a decision is used once. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { findApproval } from '#store/approvals/approval-store.ts';
import { decideApproval } from '#api/approvals/decide-approval.ts';
import type { DecideInput } from '#domain/approval/approval.ts';
import type { DecisionReceipt } from '#domain/schema/approval.ts';
import { Failure } from '#domain/errors.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { type CallRow, type LiveWorker, startLiveWorker } from '#test/support/live-worker.ts';

describe('AP approvals of a call', () => {
  let live: LiveWorker;
  before(async () => {
    live = await startLiveWorker({
      agents: [
        {
          key: 'brief',
          tools: { ask: [{ tool: 'poke', expires_seconds: 1 }] },
        },
        { key: 'careful', exec: { security: 'full', ask: 'on-miss' } },
        { key: 'shared', tools: { ask: [{ tool: 'write_file' }] } },
      ],
    });
  });
  after(() => live.close());

  /** Starts a turn whose first call waits for a decision. */
  async function asked(session: string, call = `poke {"note":"${session}"}`, agent = 'main') {
    const { turn_id } = await live.say(session, call, { agent });
    return { turn_id, approval: await live.approvalOf(session) };
  }
  async function decide(approval: string, decision: DecideInput): Promise<DecisionReceipt> {
    // The turn names its approval a moment before the approval's workflow exists.
    return live.until('the approval', () => live.temporal.decide(approval, decision));
  }
  async function firstCall(turnId: string): Promise<CallRow> {
    await live.ended(turnId);
    const [call] = await live.calls(turnId);
    assert.ok(call);
    return call;
  }
  const effectsOf = (note: string): number =>
    live.probes.effects.filter((effect) => effect.note === note).length;
  const failsAs = (type: string) => (error: unknown) => error instanceof Failure && error.type === type;

  it('AP-1 asks before anything runs, and shows who asks for what until when', async () => {
    const { turn_id, approval } = await asked('shows');
    assert.equal(effectsOf('shows'), 0);
    const state = await live.state('shows');
    assert.equal(state?.status, 'waiting_approval');
    assert.deepEqual(state?.waiting_for, [
      { approval_id: approval, workflow_id: `approval/${approval}`, summary: 'poke: shows' },
    ]);
    const handle = live.client.workflow.getHandle(`approval/${approval}`);
    const pending = await handle.query<Record<string, unknown>>('state');
    assert.equal(pending['status'], 'pending');
    assert.ok(Date.parse(String(pending['expires_at'])) > Date.now());
    const requested = (await live.events('shows')).find((event) => event.type === 'approval.requested');
    assert.equal(requested?.data['approval_id'], approval);
    assert.deepEqual(requested?.data['args'], { note: 'shows' });
    // The feed, the row and the workflow that decides have the same time.
    const { rows } = await live.pool.query<{ expires_at: Date }>(
      'select expires_at from approvals where tenant_id = $1 and id = $2',
      [live.tenant, approval],
    );
    const messages = [requested?.data['expires_at'], rows[0]?.expires_at.toISOString()];
    assert.deepEqual(messages, [pending['expires_at'], pending['expires_at']]);
    await decide(approval, { decision: 'approve', by: 'ann' });
    await live.ended(turn_id);
  });

  it('AP-3 approve: the call runs, once', async () => {
    const { turn_id, approval } = await asked('approve');
    const receipt = await decide(approval, { decision: 'approve', by: 'ann' });
    assert.deepEqual(
      { status: receipt.status, decision: receipt.decision, by: receipt.decided_by },
      { status: 'approved', decision: 'approve', by: 'ann' },
    );
    assert.deepEqual(await firstCall(turn_id).then((call) => [call.ok, call.result]), [true, 'poke approve']);
    assert.equal(effectsOf('approve'), 1);
  });

  it('AP-3 reject: the model reads the reason, nothing runs, the turn goes on', async () => {
    const { turn_id, approval } = await asked('reject');
    await decide(approval, { decision: 'reject', by: 'ann', reason: 'not on a Friday' });
    const call = await firstCall(turn_id);
    assert.equal(call.code, 'ApprovalDenied');
    assert.match(call.result ?? '', /ann denied the call: not on a Friday/);
    assert.equal(effectsOf('reject'), 0);
    assert.equal((await live.ended(turn_id)).status, 'completed');
  });

  it('AP-3 edit: the edited call runs instead', async () => {
    const { turn_id, approval } = await asked('edit');
    await decide(approval, { decision: 'edit', by: 'ann', args: { note: 'edited' } });
    assert.equal((await firstCall(turn_id)).result, 'poke edited');
    assert.deepEqual([effectsOf('edit'), effectsOf('edited')], [0, 1]);
  });

  it('AP-3 edit: arguments that the schema refuses are refused, and the call goes on waiting', async () => {
    const { turn_id, approval } = await asked('bad-edit');
    await assert.rejects(decide(approval, { decision: 'edit', args: { nota: 1 } }), failsAs('Unprocessable'));
    const handle = live.client.workflow.getHandle(`approval/${approval}`);
    const state = await handle.query<Record<string, unknown>>('state');
    assert.deepEqual([state['status'], state['refused']], ['pending', 1]);
    await decide(approval, { decision: 'approve' });
    assert.equal((await firstCall(turn_id)).ok, true);
  });

  it('AP-3 respond: the answer stands for the result, nothing runs', async () => {
    const { turn_id, approval } = await asked('respond');
    await decide(approval, { decision: 'respond', by: 'ann', text: 'It is Tuesday.' });
    const call = await firstCall(turn_id);
    assert.equal(call.ok, true);
    assert.match(call.result ?? '', /It is Tuesday\./);
    assert.equal(effectsOf('respond'), 0);
  });

  it('AP-3 approve_always: the same call by the same agent is not asked for again', async () => {
    const call = 'exec {"command":"id -u"}';
    const { turn_id, approval } = await asked('always', call, 'careful');
    await decide(approval, { decision: 'approve_always', by: 'ann' });
    assert.equal((await firstCall(turn_id)).ok, true);
    const second = await live.say('always', call, { agent: 'careful' });
    assert.equal((await firstCall(second.turn_id)).ok, true);
    const asks = (await live.events('always')).filter((event) => event.type === 'approval.requested');
    assert.equal(asks.length, 1);
  });

  for (const [alias, code] of [
    ['accept', null],
    ['allow-once', null],
    ['ignore', 'ApprovalDenied'],
    ['deny', 'ApprovalDenied'],
  ] as const)
    it(`AP-3 takes the word "${alias}" of other systems`, async () => {
      const { turn_id, approval } = await asked(`alias-${alias}`);
      await decide(approval, { decision: alias as never });
      assert.equal((await firstCall(turn_id)).code, code);
    });

  it('AP-2 a decision by signal has the same payload and effect', async () => {
    const { turn_id, approval } = await asked('signal');
    const handle = live.client.workflow.getHandle(`approval/${approval}`);
    await handle.signal('decide', { decision: 'perhaps' });
    await handle.signal('decide', { decision: 'edit', by: 'sys', args: { note: 'by-signal' } });
    assert.equal((await firstCall(turn_id)).result, 'poke by-signal');
    const state = await handle.query<Record<string, unknown>>('state');
    assert.deepEqual(
      [state['status'], state['decision'], state['decided_by'], state['refused']],
      ['approved', 'edit', 'sys', 1],
    );
  });

  for (const bad of [null, 'approve', {}, { decision: 'yes' }, { decision: 'edit' }, { decision: 'respond' }])
    it(`AP-2 refuses ${JSON.stringify(bad)} as InvalidInput, and goes on waiting`, async () => {
      const session = `bad-${Buffer.from(JSON.stringify(bad)).toString('hex')}`;
      const { turn_id, approval } = await asked(session);
      await assert.rejects(decide(approval, bad as never), failsAs('InvalidInput'));
      await decide(approval, { decision: 'reject' });
      assert.equal((await firstCall(turn_id)).code, 'ApprovalDenied');
    });

  it('AP-2 expires by itself: nothing runs, and the model is told so', async () => {
    const { turn_id, approval } = await asked('expires', 'poke {"note":"expires"}', 'brief');
    const call = await firstCall(turn_id);
    assert.equal(call.code, 'ApprovalExpired');
    assert.equal(effectsOf('expires'), 0);
    const outcome = (await live.client.workflow.getHandle(`approval/${approval}`).result()) as object;
    assert.equal((outcome as { status: string }).status, 'expired');
    assert.equal((await live.ended(turn_id)).status, 'completed');
  });

  it('is withdrawn by signal: nothing runs', async () => {
    const { turn_id, approval } = await asked('withdrawn');
    await live.client.workflow.getHandle(`approval/${approval}`).signal('withdraw');
    assert.equal((await firstCall(turn_id)).code, 'ApprovalWithdrawn');
    assert.equal(effectsOf('withdrawn'), 0);
  });

  it('AP-4 a call whose recorded arguments were changed after the decision does not run', async () => {
    const { turn_id, approval } = await asked('changed');
    await live.pool.query(
      `update tool_calls set args = '{"note":"changed-behind"}' where tenant_id = $1 and turn_id = $2`,
      [live.tenant, turn_id],
    );
    await decide(approval, { decision: 'approve' });
    assert.equal((await firstCall(turn_id)).code, 'PermissionDenied');
    assert.deepEqual([effectsOf('changed'), effectsOf('changed-behind')], [0, 0]);
  });

  it('AP-4 an approval of another digest, or one that is used, does not let the call run', async () => {
    for (const [session, change] of [
      ['digest', `digest = 'other'`],
      ['used', 'used_at = now()'],
    ] as const) {
      const { turn_id, approval } = await asked(session);
      await live.pool.query(`update approvals set ${change} where tenant_id = $1 and id = $2`, [
        live.tenant,
        approval,
      ]);
      await decide(approval, { decision: 'approve' });
      assert.equal((await firstCall(turn_id)).code, 'ApprovalDenied');
      assert.equal(effectsOf(session), 0);
    }
  });

  it('AP-4 each call of a step needs its own approval; one that waits does not hold the others', async () => {
    const script = 'peek {"note":"a"}\npoke {"note":"par-1"}\nnudge {"note":"par-2"}\npoke {"note":"par-3"}';
    const { turn_id } = await live.say('parallel', script);
    const waiting = await live.until('two approvals', async () => {
      const state = await live.state('parallel');
      return state?.waiting_for.length === 2 ? state.waiting_for : undefined;
    });
    await live.until('the others', async () => {
      const calls = await live.calls(turn_id);
      return calls[0]?.ok && calls[2]?.ok ? true : undefined;
    });
    assert.deepEqual([effectsOf('par-1'), effectsOf('par-3')], [0, 0]);
    await decide(waiting[1]?.approval_id ?? '', { decision: 'approve' });
    await live.until('the approved one', () => (effectsOf('par-3') === 1 ? true : undefined));
    assert.equal(effectsOf('par-1'), 0);
    await decide(waiting[0]?.approval_id ?? '', { decision: 'reject' });
    await live.ended(turn_id);
    assert.deepEqual(
      (await live.calls(turn_id)).map((call) => call.code),
      [null, 'ApprovalDenied', null, null],
    );
  });

  it('AP-1 each question of calls that run in order can be decided at once, and the calls run in order', async () => {
    const write = (text: string): string =>
      `write_file {"path":"order.txt","content":"${text}","append":true}`;
    const script = `${[1, 2, 3].map((n) => write(`${n};`)).join('\n')}\nthen\nread_file {"path":"order.txt"}`;
    const { turn_id } = await live.say('in-order', script, { agent: 'shared' });
    const waiting = await live.until('three approvals', async () => {
      const state = await live.state('in-order');
      return state?.waiting_for.length === 3 ? state.waiting_for : undefined;
    });
    for (const { approval_id } of waiting.toReversed()) {
      assert.deepEqual(
        (await live.calls(turn_id)).map(({ ok }) => ok),
        [null, null, null],
      );
      await decide(approval_id, { decision: 'approve' });
    }
    await live.ended(turn_id);
    assert.equal((await live.calls(turn_id)).at(-1)?.result, '1;2;3;');
  });

  it('AP-2 a later decision is told who won; the same one again is told that it was made', async () => {
    const { turn_id, approval } = await asked('later');
    const row = await findApproval(forTenant(live.pool, live.tenant), approval);
    assert.ok(row);
    // Decides as the API does: through the workflow while it runs, from its row when it has ended.
    const byApi = (decision: DecideInput) => decideApproval(live, live.tenant, row, decision);
    assert.equal((await byApi({ decision: 'approve', by: 'ann' })).decided_by, 'ann');
    const same = await byApi({ decision: 'approve', by: 'bea' });
    assert.deepEqual([same.already, same.decided_by], [true, 'ann']);
    await assert.rejects(
      byApi({ decision: 'reject', by: 'cyd' }),
      (error: unknown) =>
        failsAs('AlreadyDecided')(error) && /already decided by ann at .*: approved/.test(String(error)),
    );
    await live.ended(turn_id);
    assert.equal(effectsOf('later'), 1);
  });
});
