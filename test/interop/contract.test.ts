/** AP-2, IN: programs in Python and Go start, steer, decide and stop turns with only the Temporal SDK and the contract. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readDecisionToken } from '#policy/decision-token.ts';
import { heldDelegation, heldEvaluation, twoSubagents } from '#test/support/assignments.ts';
import { type LiveWorker, startLiveWorker } from '#test/support/live-worker.ts';
import { eventually } from '#test/support/processes.ts';
import { openTask } from '#test/support/team-tasks.ts';
import {
  type Answer,
  type ContractClient,
  goLanguage,
  type Language,
  pythonLanguage,
} from './contract-client.ts';

const SECRET = 'a-secret-of-at-least-thirty-two-characters';

for (const language of [await pythonLanguage(), await goLanguage()])
  describe(`AP-2 the contract from ${language.name}`, { skip: language.missing }, () =>
    testContract(language),
  );

function testContract(language: Language): void {
  let live: LiveWorker;
  let client: ContractClient;
  before(async () => {
    const escalate = { after_seconds: 100, to: { users: ['boss'] } };
    live = await startLiveWorker({
      env: { TEMPOCLAW_DECISION_TOKEN_SECRET: SECRET },
      agents: [
        { key: 'claims' },
        {
          key: 'two',
          tools: { ask: [{ tool: 'poke', quorum: 2, escalate, expires_seconds: 600 }] },
        },
      ],
    });
    client = await language.start(process.env['TEST_TEMPORAL_ADDRESS'] ?? '');
  });
  after(async () => {
    await client?.close();
    await live?.close();
  });

  const submit = (session: string, message: Record<string, unknown>): Promise<Answer> =>
    client.call('submit', live.taskQueue, live.tenant, session, message);

  it('starts a turn and reads its outcome', async () => {
    const { ok: receipt } = await submit('out-start', { id: 'out-1', text: 'Hello from outside.' });
    assert.deepEqual(receipt, { turn_id: 'turn_out-1', message_id: 'out-1', mode: 'queue', ahead: 0 });
    const { ok: outcome } = await client.call('outcome', live.tenant, 'out-start');
    assert.deepEqual(outcome, { turn_id: 'turn_out-1', status: 'completed', preview: 'Hello from outside.' });
    assert.equal((await live.ended('turn_out-1')).text, 'Hello from outside.');
  });

  it('starts a turn by signal', async () => {
    const message = { id: 'out-sig-1', text: 'By signal.' };
    assert.deepEqual(await client.call('send_message', live.taskQueue, live.tenant, 'out-signal', message), {
      ok: null,
    });
    assert.equal((await live.ended('turn_out-sig-1')).text, 'By signal.');
  });

  it('steers a running turn, and is told the step', async () => {
    await submit('out-steer', { id: 'out-steer-1', text: 'hold {"note":"out-steer"}' });
    await live.probes.untilHeld('out-steer');
    const wrong = { id: 'out-steer-0', text: 'Left.', turn_id: 'turn_other' };
    assert.equal((await client.call('steer', live.tenant, 'out-steer', wrong)).type, 'StaleTurn');
    const right = { id: 'out-steer-2', text: 'Left.', turn_id: 'turn_out-steer-1' };
    const { ok: receipt } = await client.call('steer', live.tenant, 'out-steer', right);
    assert.deepEqual(receipt, {
      turn_id: 'turn_out-steer-1',
      message_id: 'out-steer-2',
      mode: 'steer',
      ahead: 0,
      step: 2,
    });
    live.probes.release('out-steer');
    assert.equal((await live.ended('turn_out-steer-1')).text, 'Left.');
  });

  it('sees what a turn waits for, and approves it', async () => {
    await submit('out-approve', { id: 'out-approve-1', text: 'poke {"note":"out-approve"}' });
    const approval = await live.approvalOf('out-approve');
    const { ok: state } = await client.call('state', live.tenant, 'out-approve');
    assert.ok(state && typeof state === 'object');
    assert.deepEqual(state['waiting_for'], [
      { approval_id: approval, workflow_id: `approval/${approval}`, summary: 'poke: out-approve' },
    ]);
    assert.equal((await client.call('decide', approval, { decision: 'maybe' })).type, 'InvalidInput');
    assert.equal(
      (await client.call('decide', approval, { decision: 'edit', args: {} })).type,
      'Unprocessable',
    );
    const { ok: waiting } = await client.call('approval_state', approval);
    assert.ok(waiting && typeof waiting === 'object');
    assert.deepEqual([waiting['status'], waiting['refused']], ['pending', 1]);
    const { ok: receipt } = await client.call('decide', approval, { decision: 'approve', by: 'them' });
    assert.ok(receipt && typeof receipt === 'object');
    assert.deepEqual([receipt['status'], receipt['decided_by']], ['approved', 'them']);
    assert.equal((await live.ended('turn_out-approve-1')).status, 'completed');
    assert.equal((await live.calls('turn_out-approve-1'))[0]?.ok, true);
    assert.equal((await client.call('decide', approval, { decision: 'reject' })).type, 'NOT_FOUND');
  });

  it('decides by signal, and withdraws', async () => {
    await submit('out-by-signal', { id: 'out-by-signal-1', text: 'poke {"note":"x"}' });
    const first = await live.approvalOf('out-by-signal');
    await client.call('decide_by_signal', first, { decision: 'reject', by: 'them', reason: 'no' });
    await live.ended('turn_out-by-signal-1');
    assert.equal((await live.calls('turn_out-by-signal-1'))[0]?.code, 'ApprovalDenied');
    await submit('out-by-signal', { id: 'out-by-signal-2', text: 'poke {"note":"x"}' });
    const second = await live.until('the next approval', async () => {
      const approval = await live.approvalOf('out-by-signal');
      return approval === first ? undefined : approval;
    });
    await client.call('withdraw', second, { by: 'them', reason: 'not needed any more' });
    await live.ended('turn_out-by-signal-2');
    assert.equal((await live.calls('turn_out-by-signal-2'))[0]?.code, 'ApprovalWithdrawn');
  });

  it('stops a turn', async () => {
    await submit('out-stop', { id: 'out-stop-1', text: 'hold {"note":"out-stop"}' });
    await live.probes.untilHeld('out-stop');
    await client.call('stop', live.tenant, 'out-stop', 'turn_out-stop-1', 'now', 'them');
    assert.equal((await live.ended('turn_out-stop-1')).status, 'stopped');
    const stopped = (await live.events('out-stop')).find((event) => event.type === 'turn.stopped');
    assert.equal(stopped?.data['by'], 'them');
  });

  it('stops all of an idle session', async () => {
    await submit('out-idle', { id: 'out-idle-1', text: 'Hello.' });
    const handle = live.client.workflow.getHandle(`session/${live.tenant}/out-idle`);
    await handle.result();
    await client.call('stop_idle', live.taskQueue, live.tenant, 'out-idle', 'turn_out-idle-1', 'them');
    const outcome: unknown = await handle.result();
    assert.deepEqual(outcome, {
      turn_id: '',
      status: 'stopped',
      preview: 'ended what the session had left running',
    });
  });

  it('ends a pause: the call is Cancelled, the turn goes on', async () => {
    await submit('out-wait', { id: 'out-wait-1', text: 'wait {"timeMs":300000}\nthen\nWent on.' });
    await live.until('the child', () =>
      live.client.workflow
        .getHandle(`wait/${live.tenant}/call_out-wait-1.1.0`)
        .describe()
        .then(
          () => true,
          () => undefined,
        ),
    );
    await client.call('cancel_wait', live.tenant, 'call_out-wait-1.1.0');
    const turn = await live.ended('turn_out-wait-1');
    assert.deepEqual([turn.status, turn.text], ['completed', 'Went on.']);
    assert.equal((await live.calls('turn_out-wait-1'))[0]?.code, 'Cancelled');
  });

  it('shows and stops a delegation and an evaluate loop', async () => {
    const value = await heldDelegation(live, 'them');
    const { ok: running } = await client.call('delegation_state', value);
    assert.equal((running as Record<string, unknown>)['status'], 'running');
    await client.call('stop_delegation', value, 'them');
    assert.equal((await live.client.workflow.getHandle(`delegation/${value}`).result()).status, 'cancelled');
    const judged = await heldEvaluation(live, 'them');
    const { ok: rounds } = await client.call('evaluation_state', judged);
    assert.equal((rounds as Record<string, unknown>)['doing'], 'generator');
    await client.call('stop_evaluation', judged, 'them');
    assert.equal((await live.client.workflow.getHandle(`evaluate/${judged}`).result()).status, 'cancelled');
  });

  it('shows, stops and steers a subagent', async () => {
    const { stopped, steered } = await twoSubagents(live, 'them');
    const { ok: state } = await client.call('subagent_state', stopped);
    assert.equal((state as Record<string, unknown>)['status'], 'running');
    await client.call('stop_subagent', stopped, 'them');
    const outcome = await live.client.workflow.getHandle(`subagent/${stopped}`).result();
    assert.equal(outcome.status, 'cancelled');
    assert.equal((await client.call('steer_subagent', steered, '')).type, 'InvalidInput');
    const { ok: receipt } = await client.call('steer_subagent', steered, 'Turned.');
    const next = live.client.workflow.getHandle(
      `subagent/${String((receipt as Record<string, unknown>)['replaced_by'])}`,
    );
    await live.client.workflow.getHandle(`subagent/${steered}`).result();
    assert.equal((await next.result()).status, 'completed');
  });

  it('claims a task of a team, is told who has one, and completes it', async () => {
    const { workflowId } = await openTask(live, 'out-team', ['claims', 'two']);
    const by = (member: string, token?: string) => ({ name: 'them', member, token });
    const { ok: claimed } = await client.call('act_on_task', workflowId, 'claim', { by: by('claims') });
    const { token } = (claimed as { lease: { token: string } }).lease;
    const late = await client.call('act_on_task', workflowId, 'claim', { by: by('two') });
    assert.equal(late.type, 'Conflict', JSON.stringify(late));
    const { ok: state } = await client.call('task_state', workflowId);
    assert.equal((state as Record<string, unknown>)['holder'], 'claims');
    const result = { by: by('claims', token), text: { text: 'Done outside.' } };
    const { ok: done } = await client.call('act_on_task', workflowId, 'complete', result);
    assert.equal((done as Record<string, unknown>)['status'], 'completed');
  });

  it('a message that is refused fails with the type of the contract', async () => {
    assert.equal((await submit('out-bad', { id: 'out-bad-1', text: '' })).type, 'InvalidInput');
    await submit('out-busy', { id: 'out-busy-1', text: 'hold {"note":"out-busy"}' });
    await live.probes.untilHeld('out-busy');
    assert.equal(
      (await submit('out-busy', { id: 'out-busy-2', text: 'x', mode: 'reject' })).type,
      'SessionBusy',
    );
    live.probes.release('out-busy');
    await live.ended('turn_out-busy-1');
  });

  it('makes the same decision token as we do', async () => {
    const digest = 'a'.repeat(64);
    const approval = 'apr_default.m-1.1.0';
    const { ok: token } = await client.call(
      'decision_token',
      SECRET,
      'default',
      approval,
      'approve',
      digest,
      'ann',
    );
    const { nonce, ...claims } = readDecisionToken([SECRET], String(token)) ?? {};
    assert.deepEqual(claims, {
      tenant: 'default',
      approval_id: approval,
      decision: 'approve',
      digest,
      by: 'ann',
    });
    assert.ok(nonce);
  });

  it('completes a quorum with the tokens of two users, after an escalation', async () => {
    await submit('out-two', { id: 'out-two-1', text: 'poke {"note":"out-two"}', agent: 'two' });
    const id = await live.approvalOf('out-two');
    const as = async (by: string, decision = 'approve') => {
      const { ok: state } = await client.call('approval_state', id);
      const { digest } = state as { digest: string };
      const { ok: token } = await client.call(
        'decision_token',
        SECRET,
        live.tenant,
        id,
        decision,
        digest,
        by,
      );
      return { decision, by, token };
    };
    assert.equal((await client.call('decide', id, { decision: 'approve', by: 'ann' })).type, 'Forbidden');
    const { ok: first } = await client.call('decide', id, await as('ann'));
    assert.ok(first && typeof first === 'object');
    assert.deepEqual([first['status'], first['tally']], ['pending', '1 of 2']);
    await client.call('escalate', id, await as('ann', 'escalate'));
    // A signal is accepted before it has had its effect.
    const seen = async () => {
      const { ok: state } = await client.call('approval_state', id);
      assert.ok(state && typeof state === 'object');
      return [state['approvals'], state['quorum'], state['escalated'] === true];
    };
    await eventually(async () => (await seen())[2] === true);
    assert.deepEqual(await seen(), [1, 2, true]);
    const { ok: second } = await client.call('decide', id, await as('boss'));
    assert.ok(second && typeof second === 'object');
    assert.deepEqual([second['status'], second['decided_by']], ['approved', 'ann, boss']);
    assert.equal((await live.ended('turn_out-two-1')).status, 'completed');
  });
}
