/**
 * AP-2, IN: a program in Python starts, steers, decides and stops turns with only the Temporal SDK and the contract.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { after, before, describe, it } from 'node:test';
import { childEnvironment } from '#config';
import { readDecisionToken } from '#policy/decision-token.ts';
import { readContractSnippets } from '#test/support/contract-snippets.ts';
import { heldDelegation, heldEvaluation } from '#test/support/assignments.ts';
import { twoSubagents } from '#test/support/assignments.ts';
import { eventually } from '#test/support/processes.ts';
import { openTask } from '#test/support/team-tasks.ts';
import { type LiveWorker, startLiveWorker } from '#test/support/live-worker.ts';
import { pythonWithTemporal } from '#test/support/python.ts';

type Answer = Record<string, unknown> & { ok?: Record<string, unknown> | string | null; type?: string };

const SECRET = 'a-secret-of-at-least-thirty-two-characters';

interface PythonClient {
  call(name: string, ...args: unknown[]): Promise<Answer>;
  close(): Promise<void>;
}

async function startPython(python: string, address: string): Promise<PythonClient> {
  const folder = await mkdtemp(join(tmpdir(), 'tempoclaw-python-'));
  await writeFile(join(folder, 'contract.py'), (await readContractSnippets()).python);
  await copyFile(new URL('./drive.py', import.meta.url), join(folder, 'drive.py'));
  const child: ChildProcess = spawn(python, ['drive.py', address], {
    cwd: folder,
    env: childEnvironment({}),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const { stdin, stdout } = child;
  assert.ok(stdin && stdout);
  const lines = createInterface(stdout)[Symbol.asyncIterator]();
  return {
    async call(name, ...args) {
      stdin.write(`${JSON.stringify({ call: name, args })}\n`);
      const { value, done } = await lines.next();
      assert.ok(!done, 'the Python program ended');
      return JSON.parse(value) as Answer;
    },
    async close() {
      stdin.end();
      await new Promise((resolve) => child.once('exit', resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

// This may be omitted only if Python itself is missing, and never on CI.
const python = await pythonWithTemporal().catch((error: Error) => error);
const skip =
  python instanceof Error && process.env['CI'] !== 'true'
    ? `no Python with temporalio: ${python.message}`
    : false;

describe('AP-2 the contract from Python', { skip }, () => {
  let live: LiveWorker;
  let client: PythonClient;
  before(async () => {
    if (python instanceof Error) throw python;
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
    client = await startPython(python, process.env['TEST_TEMPORAL_ADDRESS'] ?? '');
  });
  after(async () => {
    await client?.close();
    await live?.close();
  });

  const submit = (session: string, message: Record<string, unknown>): Promise<Answer> =>
    client.call('submit', live.taskQueue, live.tenant, session, message);

  it('starts a turn and reads its outcome', async () => {
    const { ok: receipt } = await submit('py-start', { id: 'py-1', text: 'Hello from Python.' });
    assert.deepEqual(receipt, { turn_id: 'turn_py-1', message_id: 'py-1', mode: 'queue', ahead: 0 });
    const { ok: outcome } = await client.call('outcome', live.tenant, 'py-start');
    assert.deepEqual(outcome, { turn_id: 'turn_py-1', status: 'completed', preview: 'Hello from Python.' });
    assert.equal((await live.ended('turn_py-1')).text, 'Hello from Python.');
  });

  it('starts a turn by signal', async () => {
    const message = { id: 'py-sig-1', text: 'By signal.' };
    assert.deepEqual(await client.call('send_message', live.taskQueue, live.tenant, 'py-signal', message), {
      ok: null,
    });
    assert.equal((await live.ended('turn_py-sig-1')).text, 'By signal.');
  });

  it('steers a running turn, and is told the step', async () => {
    await submit('py-steer', { id: 'py-steer-1', text: 'hold {"note":"py-steer"}' });
    await live.probes.untilHeld('py-steer');
    const wrong = { id: 'py-steer-0', text: 'Left.', turn_id: 'turn_other' };
    assert.equal((await client.call('steer', live.tenant, 'py-steer', wrong)).type, 'StaleTurn');
    const right = { id: 'py-steer-2', text: 'Left.', turn_id: 'turn_py-steer-1' };
    const { ok: receipt } = await client.call('steer', live.tenant, 'py-steer', right);
    assert.deepEqual(receipt, {
      turn_id: 'turn_py-steer-1',
      message_id: 'py-steer-2',
      mode: 'steer',
      ahead: 0,
      step: 2,
    });
    live.probes.release('py-steer');
    assert.equal((await live.ended('turn_py-steer-1')).text, 'Left.');
  });

  it('sees what a turn waits for, and approves it', async () => {
    await submit('py-approve', { id: 'py-approve-1', text: 'poke {"note":"py-approve"}' });
    const approval = await live.approvalOf('py-approve');
    const { ok: state } = await client.call('state', live.tenant, 'py-approve');
    assert.ok(state && typeof state === 'object');
    assert.deepEqual(state['waiting_for'], [
      { approval_id: approval, workflow_id: `approval/${approval}`, summary: 'poke: py-approve' },
    ]);
    assert.equal((await client.call('decide', approval, { decision: 'maybe' })).type, 'InvalidInput');
    assert.equal(
      (await client.call('decide', approval, { decision: 'edit', args: {} })).type,
      'Unprocessable',
    );
    const { ok: waiting } = await client.call('approval_state', approval);
    assert.ok(waiting && typeof waiting === 'object');
    assert.deepEqual([waiting['status'], waiting['refused']], ['pending', 1]);
    const { ok: receipt } = await client.call('decide', approval, { decision: 'approve', by: 'py' });
    assert.ok(receipt && typeof receipt === 'object');
    assert.deepEqual([receipt['status'], receipt['decided_by']], ['approved', 'py']);
    assert.equal((await live.ended('turn_py-approve-1')).status, 'completed');
    assert.equal((await live.calls('turn_py-approve-1'))[0]?.ok, true);
    assert.equal((await client.call('decide', approval, { decision: 'reject' })).type, 'NOT_FOUND');
  });

  it('decides by signal, and withdraws', async () => {
    await submit('py-by-signal', { id: 'py-by-signal-1', text: 'poke {"note":"x"}' });
    const first = await live.approvalOf('py-by-signal');
    await client.call('decide_by_signal', first, { decision: 'reject', by: 'py', reason: 'no' });
    await live.ended('turn_py-by-signal-1');
    assert.equal((await live.calls('turn_py-by-signal-1'))[0]?.code, 'ApprovalDenied');
    await submit('py-by-signal', { id: 'py-by-signal-2', text: 'poke {"note":"x"}' });
    const second = await live.until('the next approval', async () => {
      const approval = await live.approvalOf('py-by-signal');
      return approval === first ? undefined : approval;
    });
    await client.call('withdraw', second, { by: 'py', reason: 'not needed any more' });
    await live.ended('turn_py-by-signal-2');
    assert.equal((await live.calls('turn_py-by-signal-2'))[0]?.code, 'ApprovalWithdrawn');
  });

  it('stops a turn', async () => {
    await submit('py-stop', { id: 'py-stop-1', text: 'hold {"note":"py-stop"}' });
    await live.probes.untilHeld('py-stop');
    await client.call('stop', live.tenant, 'py-stop', 'turn_py-stop-1');
    assert.equal((await live.ended('turn_py-stop-1')).status, 'stopped');
    const stopped = (await live.events('py-stop')).find((event) => event.type === 'turn.stopped');
    assert.equal(stopped?.data['by'], 'python');
  });

  it('stops all of an idle session', async () => {
    await submit('py-idle', { id: 'py-idle-1', text: 'Hello.' });
    const handle = live.client.workflow.getHandle(`session/${live.tenant}/py-idle`);
    await handle.result();
    await client.call('stop_idle', live.taskQueue, live.tenant, 'py-idle', 'turn_py-idle-1');
    const outcome: unknown = await handle.result();
    assert.deepEqual(outcome, {
      turn_id: '',
      status: 'stopped',
      preview: 'ended what the session had left running',
    });
  });

  it('ends a pause: the call is Cancelled, the turn goes on', async () => {
    await submit('py-wait', { id: 'py-wait-1', text: 'wait {"timeMs":300000}\nthen\nWent on.' });
    await live.until('the child', () =>
      live.client.workflow
        .getHandle(`wait/${live.tenant}/call_py-wait-1.1.0`)
        .describe()
        .then(
          () => true,
          () => undefined,
        ),
    );
    await client.call('cancel_wait', live.tenant, 'call_py-wait-1.1.0');
    const turn = await live.ended('turn_py-wait-1');
    assert.deepEqual([turn.status, turn.text], ['completed', 'Went on.']);
    assert.equal((await live.calls('turn_py-wait-1'))[0]?.code, 'Cancelled');
  });

  it('shows and stops a delegation and an evaluate loop', async () => {
    const value = await heldDelegation(live, 'python');
    const { ok: running } = await client.call('delegation_state', value);
    assert.equal((running as Record<string, unknown>)['status'], 'running');
    await client.call('stop_delegation', value);
    assert.equal((await live.client.workflow.getHandle(`delegation/${value}`).result()).status, 'cancelled');
    const judged = await heldEvaluation(live, 'python');
    const { ok: rounds } = await client.call('evaluation_state', judged);
    assert.equal((rounds as Record<string, unknown>)['doing'], 'generator');
    await client.call('stop_evaluation', judged);
    assert.equal((await live.client.workflow.getHandle(`evaluate/${judged}`).result()).status, 'cancelled');
  });

  it('shows, stops and steers a subagent', async () => {
    const { stopped, steered } = await twoSubagents(live, 'py');
    const { ok: state } = await client.call('subagent_state', stopped);
    assert.equal((state as Record<string, unknown>)['status'], 'running');
    await client.call('stop_subagent', stopped);
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
    const { workflowId } = await openTask(live, 'py-team', ['claims', 'two']);
    const by = (member: string, token?: string) => ({ name: 'python', member, token });
    const { ok: claimed } = await client.call('act_on_task', workflowId, 'claim', { by: by('claims') });
    const { token } = (claimed as { lease: { token: string } }).lease;
    const late = await client.call('act_on_task', workflowId, 'claim', { by: by('two') });
    assert.equal(late.type, 'Conflict', JSON.stringify(late));
    const { ok: state } = await client.call('task_state', workflowId);
    assert.equal((state as Record<string, unknown>)['holder'], 'claims');
    const result = { by: by('claims', token), text: { text: 'Done in Python.' } };
    const { ok: done } = await client.call('act_on_task', workflowId, 'complete', result);
    assert.equal((done as Record<string, unknown>)['status'], 'completed');
  });

  it('a message that is refused fails with the type of the contract', async () => {
    assert.equal((await submit('py-bad', { id: 'py-bad-1', text: '' })).type, 'InvalidInput');
    await submit('py-busy', { id: 'py-busy-1', text: 'hold {"note":"py-busy"}' });
    await live.probes.untilHeld('py-busy');
    assert.equal(
      (await submit('py-busy', { id: 'py-busy-2', text: 'x', mode: 'reject' })).type,
      'SessionBusy',
    );
    live.probes.release('py-busy');
    await live.ended('turn_py-busy-1');
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
    await submit('py-two', { id: 'py-two-1', text: 'poke {"note":"py-two"}', agent: 'two' });
    const id = await live.approvalOf('py-two');
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
    assert.equal((await live.ended('turn_py-two-1')).status, 'completed');
  });
});
