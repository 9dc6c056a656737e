/** DU-10: a rollout with a rule is put back by itself; comparisons count what happened; a freeze holds its revision. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCli } from '#test/cli/support/run-cli.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { putBackFailing } from '../worker.ts';

describe('DU-10 the comparison of revisions and what follows from it', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      agents: [{ key: 'watched', tools: {} }, { key: 'compared' }, { key: 'held', tools: {} }],
    });
  });
  after(() => stack?.stop());

  const ask = async (method: string, path: string, body?: object): Promise<any> => {
    const answer = await stack.ask(method, path, body && { body });
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const cli = async (line: string): Promise<string> => {
    const { code, stdout, stderr } = await runCli(line.split(' '), {
      url: stack.url,
      env: { TEMPOCLAW_API_KEY: stack.key },
    });
    assert.equal(code, 0, stderr);
    return stdout + stderr;
  };
  /** Turns of the agent that have ended, as rows. */
  const plant = (agent: string, revision: number, count: number, failed: number) =>
    stack.pool.query(
      `with s as (insert into sessions (tenant_id, key, agent_key) values ($1, $2 || '-planted', $2) on conflict do nothing)
       insert into turns (tenant_id, id, session_key, agent_key, agent_revision, status, steps, started_at, ended_at)
       select $1, 'planted-' || gen_random_uuid(), $2 || '-planted', $2, $3,
         case when n <= $5 then 'failed' else 'completed' end, n, now(), now() + interval '1 second'
       from generate_series(1, $4::int) n`,
      [stack.tenant, agent, revision, count, failed],
    );

  it('a rollout of whose turns too many fail is put back, once there are enough, and the change says why', async () => {
    await cli('rollouts start watched --share 50 --abort-when failed>10% --instructions Fail.');
    await plant('watched', 1, 40, 40);
    await plant('watched', 2, 19, 19);
    assert.equal(await putBackFailing(stack.pool), 0);
    await plant('watched', 2, 41, 0);
    assert.equal((await ask('GET', '/v1/rollouts/watched')).revision, 2);
    assert.deepEqual(
      await Promise.all([putBackFailing(stack.pool), putBackFailing(stack.pool)]).then((counts) =>
        counts.toSorted(),
      ),
      [0, 1],
    );
    const [last] = (await ask('GET', '/v1/rollouts/watched/changes')).data;
    assert.deepEqual(
      [last.action, last.by, last.reason],
      ['back', 'system', 'failed>10%: 19 of 60 turns failed'],
    );
    assert.match(await cli('rollouts changes watched'), /back .*system .*19 of 60 turns failed/);
  });

  it('a rollout of whose turns few fail is left alone', async () => {
    await cli('rollouts start watched --share 50 --abort-when failed>10% --revision 2');
    await plant('watched', 2, 40, 4);
    assert.equal(await putBackFailing(stack.pool), 0);
    await cli('rollouts set watched --abort-when failed>9% --reason stricter');
    assert.equal(await putBackFailing(stack.pool), 1);
  });

  it('compare counts turns, outcomes, calls and approvals of each revision since its start', async () => {
    const say = async (session: string, text: string) =>
      (await stack.worker.say(session, text, { agent: 'compared' })).turn_id;
    await stack.worker.ended(await say('before', 'datetime {}'));
    await cli('rollouts start compared --sessions new --model rehearsal/follow --name Compared');
    await stack.worker.ended(await say('old', 'datetime {}'));
    const turn = await say('new', 'read_file {"path":"absent.md"}\nthen\npoke {"note":"asks"}');
    const approval = await stack.worker.approvalOf('new');
    await ask('POST', `/v1/approvals/${approval}/decision`, { decision: 'reject' });
    assert.equal((await ask('GET', `/v1/approvals/${approval}`)).agent_revision, 2);
    await stack.worker.ended(turn);
    const calls = (await ask('GET', `/v1/turns/${turn}/tool-calls`)).data;
    assert.deepEqual([...new Set(calls.map((one: { agent_revision: number }) => one.agent_revision))], [2]);
    const { revisions } = await ask('GET', '/v1/rollouts/compared/runs');
    const shown = revisions.map((one: Record<string, unknown>) =>
      [
        'revision',
        'turns',
        'completed',
        'failed',
        'calls',
        'calls_failed',
        'approvals',
        'approvals_denied',
      ].map((field) => one[field]),
    );
    assert.deepEqual(shown, [
      [1, 1, 1, 0, 1, 0, 0, 0],
      [2, 1, 1, 0, 2, 2, 1, 1],
    ]);
    assert.deepEqual(revisions[1].steps, { median: 3, p95: 3 });
    assert.match(await cli('rollouts compare compared'), /REVISION +TURNS[^]*2 +1 +0[^]*2 \(100.0 %\) +1 +1/);
    const all = await ask('GET', '/v1/rollouts/compared/runs?since=2026-01-01T00:00:00Z');
    assert.equal(all.revisions[0].turns, 2);
    assert.match(await cli('rollouts back compared'), /every session of compared has revision 1/);
    assert.match(await cli('agents revisions compared'), /2 [^\n]*name[^\n]*\n1 +current/);
    assert.match(await cli('agents revision compared 2'), /"name": "Compared"/);
    assert.equal(await cli('agents compare compared 1 2'), 'name\n- (absent)\n+ Compared\n');
  });

  it('a freeze of its revision holds the first call of a session in the rollout, and of no other', async () => {
    await cli('rollouts start held --sessions held-new --name Held');
    const { id } = await ask('POST', '/v1/freezes', { reason: 'look', agent: 'held', revision: 2 });
    // A notice reaches the worker in milliseconds.
    await sleep(300);
    const { turn_id: old } = await stack.worker.say('held-old', 'datetime {}', { agent: 'held' });
    const { turn_id } = await stack.worker.say('held-new', 'datetime {}', { agent: 'held' });
    await stack.worker.until('a held turn', async () =>
      (await stack.worker.events('held-new')).find(({ type }) => type === 'turn.held'),
    );
    assert.equal((await stack.worker.ended(old)).status, 'completed');
    assert.equal((await stack.worker.calls(turn_id)).length, 0);
    await ask('POST', `/v1/freezes/${id}/lift`, {});
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
  });
});
