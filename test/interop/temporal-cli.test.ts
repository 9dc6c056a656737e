/** AP-2: every line of docs/temporal-contract.md for the `temporal` CLI does what it says. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { childEnvironment, commandFolders, userCacheDir } from '#config';
import type { ApprovalVerb } from '#domain/approval/approval.ts';
import { obtainTemporalBinary } from '@tempoclaw/dev-services';
import { readContractSnippets } from '#test/support/contract-snippets.ts';
import { heldDelegation, heldEvaluation } from '#test/support/assignments.ts';
import { twoSubagents } from '#test/support/assignments.ts';
import { openTask } from '#test/support/team-tasks.ts';
import { tokenOf } from '#test/support/decision-tokens.ts';
import { type LiveWorker, startLiveWorker } from '#test/support/live-worker.ts';

const { shell } = await readContractSnippets();

describe('AP-2 the contract from the temporal CLI', () => {
  let live: LiveWorker;
  let folder: string;
  const tried = new Set<string>();
  before(async () => {
    const escalate = { after_seconds: 100, to: { users: ['boss'] } };
    live = await startLiveWorker({
      env: { TEMPOCLAW_DECISION_TOKEN_REQUIRED: 'true' },
      agents: [{ key: 'rises', tools: { ask: [{ tool: 'poke', escalate, expires_seconds: 600 }] } }],
    });
    folder = await mkdtemp(join(tmpdir(), 'tempoclaw-cli-'));
    const { path } = await obtainTemporalBinary({
      cacheDir: userCacheDir(),
      env: childEnvironment({}),
      folders: commandFolders(),
    });
    await symlink(path, join(folder, 'temporal'));
  });
  after(async () => {
    await live.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs the line of the page, with its variables set. */
  async function line(name: string, variables: Readonly<Record<string, string>>): Promise<string> {
    const text = shell.get(name);
    assert.ok(text, `the page has a line named ${name}`);
    tried.add(name);
    const env = childEnvironment({
      ...variables,
      PATH: [folder, ...commandFolders()].join(':'),
      TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'],
      TENANT: live.tenant,
      TASK_QUEUE: live.taskQueue,
    });
    const { stdout } = await promisify(execFile)('sh', ['-euc', text], { env, timeout: 60_000 });
    return stdout;
  }
  /** Starts a turn whose call waits for a decision. */
  async function asked(session: string, agent = 'main') {
    const { turn_id } = await live.say(session, `poke {"note":"${session}"}`, { agent });
    const APPROVAL = await live.approvalOf(session);
    const token = async (decision: ApprovalVerb): Promise<string> =>
      tokenOf(live, live.tokenSecret, APPROVAL, decision);
    return { turn: turn_id, APPROVAL, token };
  }
  const codeOf = async (turn: string): Promise<string | null | undefined> => {
    await live.ended(turn);
    return (await live.calls(turn))[0]?.code;
  };

  it('submits a message', async () => {
    const out = await line('submit', { SESSION: 'submit', MESSAGE_ID: 'cli-1', TEXT: 'Hello.' });
    assert.match(out, /turn_cli-1/);
    assert.equal((await live.ended('turn_cli-1')).text, 'Hello.');
  });

  it('sends a message as a signal', async () => {
    await line('message', { SESSION: 'message', MESSAGE_ID: 'cli-2', TEXT: 'By signal.' });
    assert.equal((await live.ended('turn_cli-2')).text, 'By signal.');
  });

  it('steers, shows the state and stops', async () => {
    const { turn_id: TURN } = await live.say('busy', 'hold {"note":"cli-busy"}');
    await live.probes.untilHeld('cli-busy');
    const out = await line('steer', { SESSION: 'busy', MESSAGE_ID: 'cli-3', TEXT: 'Left.', TURN });
    assert.match(out, new RegExp(TURN));
    const shown = await line('state', { SESSION: 'busy' });
    assert.match(shown, new RegExp(`"turn_id":"${TURN}"`));
    assert.match(shown, /"steering":1/);
    await line('stop', { SESSION: 'busy', TURN });
    assert.equal((await live.ended(TURN)).status, 'stopped');
  });

  it('stops all of an idle session', async () => {
    const { turn_id: TURN } = await live.say('idle', 'Hello.');
    await live.client.workflow.getHandle(`session/${live.tenant}/idle`).result();
    await line('stop-idle', { SESSION: 'idle', TURN });
    const outcome = await live.client.workflow.getHandle(`session/${live.tenant}/idle`).result();
    assert.deepEqual([outcome.turn_id, outcome.status], ['', 'stopped']);
  });

  for (const [name, decision, code] of [
    ['approve', 'approve', null],
    ['approve-by-signal', 'approve', null],
    ['reject', 'reject', 'ApprovalDenied'],
    ['withdraw', 'withdraw', 'ApprovalWithdrawn'],
  ] as const)
    it(`${name}: the call ends with ${code ?? 'its result'}`, async () => {
      const { turn, APPROVAL, token } = await asked(name);
      assert.match(await line('approval-state', { APPROVAL }), /pending/);
      await line(name, { APPROVAL, TOKEN: await token(decision) });
      assert.equal(await codeOf(turn), code);
    });

  it('escalates', async () => {
    const { turn, APPROVAL, token } = await asked('rises', 'rises');
    await line('escalate', { APPROVAL, TOKEN: await token('escalate') });
    assert.match(await line('approval-state', { APPROVAL }), /"escalated":true/);
    await line('reject', { APPROVAL, TOKEN: await token('reject') });
    assert.equal(await codeOf(turn), 'ApprovalDenied');
  });

  it('ends a pause', async () => {
    const { turn_id } = await live.say('pause', 'wait {"timeMs":300000}', { id: 'cli-4' });
    const child = live.client.workflow.getHandle(`wait/${live.tenant}/call_cli-4.1.0`);
    await live.until('the child', () =>
      child.describe().then(
        () => true,
        () => undefined,
      ),
    );
    await line('cancel-wait', { CALL: 'call_cli-4.1.0' });
    assert.equal(await codeOf(turn_id), 'Cancelled');
  });

  it('shows, stops and steers a subagent', async () => {
    const { stopped, steered } = await twoSubagents(live, 'cli');
    assert.match(await line('subagent-state', { SUBAGENT: stopped }), /"status":"running"/);
    await line('stop-subagent', { SUBAGENT: stopped });
    const outcome = await live.client.workflow.getHandle(`subagent/${stopped}`).result();
    assert.equal(outcome.status, 'cancelled');
    const out = await line('steer-subagent', { SUBAGENT: steered, TEXT: 'Turned.' });
    const { replaced_by } = await live.client.workflow.getHandle(`subagent/${steered}`).result();
    assert.match(out, new RegExp(replaced_by));
    assert.equal(
      (await live.client.workflow.getHandle(`subagent/${replaced_by}`).result()).status,
      'completed',
    );
  });

  it('shows and stops a delegation', async () => {
    const DELEGATION = await heldDelegation(live, 'cli');
    assert.match(await line('delegation-state', { DELEGATION }), /"status":"running"/);
    await line('stop-delegation', { DELEGATION });
    const outcome = await live.client.workflow.getHandle(`delegation/${DELEGATION}`).result();
    assert.equal(outcome.status, 'cancelled');
  });

  it('shows and stops an evaluate loop', async () => {
    const EVALUATION = await heldEvaluation(live, 'cli');
    assert.match(await line('evaluation-state', { EVALUATION }), /"doing":"generator"/);
    await line('stop-evaluation', { EVALUATION });
    const outcome = await live.client.workflow.getHandle(`evaluate/${EVALUATION}`).result();
    assert.equal(outcome.status, 'cancelled');
  });

  it('claims a task of a team and shows it', async () => {
    const { number } = await openTask(live, 'cli-team', ['rises']);
    const task = { TEAM: 'cli-team', NUMBER: String(number), MEMBER: 'rises' };
    assert.match(await line('claim-task', task), /status:in_progress/);
    assert.match(await line('task-state', task), /"holder":"rises"/);
    await line('cancel-task-by-signal', task);
    const outcome = await live.client.workflow.getHandle(`task/${live.tenant}.cli-team/${number}`).result();
    assert.equal(outcome.status, 'cancelled');
  });

  it('is all that the page shows', () => {
    assert.deepEqual(
      [...shell.keys()].filter((name) => !tried.has(name)),
      [],
    );
  });
});
