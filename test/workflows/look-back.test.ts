/** PO-5: rules that look back, on real servers: what a session has read, by itself or through others, and when. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { taskSessionKey } from '#domain/team/team.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const ASKS = { ask: [{ tool: 'nudge', after: ['peek', 'datetime', 'break_off'] }] };
const NUDGE = 'nudge {"note":"now"}';
const PEEK = 'peek {"note":"a page"}';

/**
 * The window is so small that it is soon full; the script follows what the user says, and summaries say nothing about
 * tools.
 */
const FORGETFUL = `
rules:
  - when: { user: Summarize the conversation }
    reply: { text: 'SUMMARY: tea.' }
  - when: { tokens: { from: 2000 } }
    reply: { error: { code: ContextOverflow, message: The prompt does not fit. } }
  - reply: { follow: user }
`;

describe('PO-5 rules that look back', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      scripts: { small: FORGETFUL },
      agents: [
        { key: 'main', tools: ASKS },
        { key: 'small', model: 'rehearsal/small', tools: { ...ASKS, allow: ['peek', 'nudge'] } },
        { key: 'strict', tools: { rules: [{ tool: 'nudge', after: ['peek'], decision: 'deny' }] } },
        { key: 'reader' },
        { key: 'member' },
      ],
    });
    await stack.ask('POST', '/v1/agent-links', { body: { source: 'main', target: 'reader' } });
  });
  after(() => stack.stop());

  /** The recorded verdicts of a turn's calls; those that need approval are approved. */
  async function say(session: string, script: string, agent = 'main') {
    const { turn_id } = await stack.worker.say(session, script, { agent });
    return settled(turn_id);
  }
  async function settled(turn: string) {
    await stack.worker.until(`${turn} to end`, async () => {
      const { rows } = await stack.pool.query('select ended_at from turns where id = $1', [turn]);
      if (rows[0]?.ended_at) return true;
      const { body } = await stack.ask('GET', '/v1/approvals?status=pending');
      for (const { id, turn_id } of body.data)
        if (turn_id === turn)
          await stack.ask('POST', `/v1/approvals/${id}/decision`, { body: { decision: 'approve' } });
      return undefined;
    });
    const { rows } = await stack.pool.query<Asked>(
      `select c.id, c.tool, c.verdict, c.code, coalesce(a.reason, c.reason) as reason from tool_calls c
         left join approvals a on a.id = c.approval_id where c.turn_id = $1 order by c.step, c.index`,
      [turn],
    );
    return rows;
  }
  interface Asked {
    readonly id: string;
    readonly tool: string;
    readonly verdict: string;
    readonly code: string | null;
    readonly reason: string | null;
  }
  const verdicts = (calls: readonly Asked[]): readonly string[] =>
    calls.map(({ tool, verdict, code }) => [tool, verdict, code].filter(Boolean).join(' '));
  const usedIn = async (session: string): Promise<Record<string, { call: string }>> =>
    (await stack.pool.query('select used from sessions where key = $1', [session])).rows[0]?.used ?? {};

  it('asks once the session has read, with the call that caused it, in this turn and in those after it', async () => {
    const first = await say('s', `${NUDGE}\nthen\n${PEEK}\nthen\n${NUDGE}`);
    assert.deepEqual(verdicts(first), ['nudge allow', 'peek allow', 'nudge ask']);
    assert.equal(first[2]?.reason, `a rule asks before nudge after peek (${first[1]?.id})`);
    assert.deepEqual(verdicts(await say('s', NUDGE)), ['nudge ask']);
    assert.deepEqual(verdicts(await say('another', NUDGE)), ['nudge allow']);
  });

  it('does not count what the same answer asked for: it was chosen before that came back', async () => {
    assert.deepEqual(verdicts(await say('same', `${PEEK}\n${NUDGE}\nthen\n${NUDGE}`)), [
      'peek allow',
      'nudge allow',
      'nudge ask',
    ]);
  });

  it('counts what was read before its answer was recorded, and what failed', async () => {
    const read = await say('ahead', `datetime {"timezone":"UTC"}\nthen\n${NUDGE}`);
    assert.deepEqual(verdicts(read), ['datetime allow', 'nudge ask']);
    // The transcript is known by now, so the read may be recorded with its answer.
    await say('warm', 'Hello.');
    const warm = await say('warm', `datetime {"timezone":"UTC"}\nthen\n${NUDGE}`);
    assert.deepEqual(verdicts(warm), ['datetime allow', 'nudge ask']);
    const failed = await say('failed', `break_off {"note":"throw"}\nthen\n${NUDGE}`);
    assert.deepEqual(verdicts(failed), ['break_off allow ExecutionFailed', 'nudge ask']);
  });

  it('does not count what has not run', async () => {
    const calls = await say('unrun', `peek {"nota":1}\nthen\n${NUDGE}`);
    assert.deepEqual(verdicts(calls), ['peek deny InvalidArgs', 'nudge allow']);
  });

  it('denies as well, and the model reads why', async () => {
    const calls = await say('deny', `${NUDGE}\nthen\n${PEEK}\nthen\n${NUDGE}`, 'strict');
    assert.deepEqual(verdicts(calls), ['nudge allow', 'peek allow', 'nudge deny PermissionDenied']);
    assert.match(calls[2]?.reason ?? '', /a rule denies nudge after peek \(/);
  });

  it('a summary of the transcript forgets nothing', async () => {
    await say('long', PEEK, 'small');
    for (const n of [1, 2, 3]) await say('long', `${n} ${'tea '.repeat(400)}`, 'small');
    const events = (await stack.worker.events('long')).map(({ type }) => type);
    assert.ok(events.includes('context.compacted'));
    assert.deepEqual(verdicts(await say('long', NUDGE, 'small')), ['nudge ask']);
  });

  it('what a subagent has read counts for who reads its result', async () => {
    const task = JSON.stringify({ action: 'run', task: `${PEEK}\nthen\nRead.` });
    const calls = await say('parent', `spawn ${task}\nthen\n${NUDGE}`);
    assert.deepEqual(verdicts(calls), ['spawn allow', 'nudge ask']);
    const { peek } = await usedIn('parent');
    assert.match(calls[1]?.reason ?? '', new RegExp(`after peek \\(${peek?.call}\\)`));
    const { rows } = await stack.pool.query('select session_key from tool_calls where id = $1', [peek?.call]);
    assert.notEqual(rows[0]?.session_key, 'parent');
  });

  it('a subagent begins with what its parent has read', async () => {
    const task = JSON.stringify({ action: 'run', task: `${NUDGE}\nthen\nDone.` });
    const calls = say('giver', `${PEEK}\nthen\nspawn ${task}`);
    const child = await stack.worker.until('the subagent to ask', async () => {
      const { body } = await stack.ask('GET', '/v1/approvals?status=pending');
      return body.data.find((one: any) => one.session_key.includes('sub-'));
    });
    assert.match(child.reason, /a rule asks before nudge after peek/);
    await stack.ask('POST', `/v1/approvals/${child.id}/decision`, { body: { decision: 'approve' } });
    assert.deepEqual(verdicts(await calls), ['peek allow', 'spawn allow']);
  });

  it('what a delegate has read counts for who gave it the work', async () => {
    const work = JSON.stringify({ agent_key: 'reader', mode: 'sync', task: `${PEEK}\nthen\nRead.` });
    const calls = await say('delegates', `delegate ${work}\nthen\n${NUDGE}`);
    assert.deepEqual(verdicts(calls), ['delegate allow', 'nudge ask']);
  });

  it('a message to another session brings with it what its sender has read', async () => {
    await say('there', 'Hello.');
    const sent = JSON.stringify({ session_key: 'there', message: NUDGE });
    await say('from', `${PEEK}\nthen\nsessions_send ${sent}`);
    const turn = await stack.worker.until('the message to be taken', async () =>
      (await stack.worker.heard('there')).find(({ text }) => text === NUDGE),
    );
    assert.deepEqual(verdicts(await settled(turn.turn_id)), ['nudge ask']);
  });

  it('a member of a team begins with what its lead has read, and what it reads counts for the lead', async () => {
    const made = await stack.ask('POST', '/v1/teams', {
      body: { key: 'crew', lead: 'main', members: ['member'] },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const task = JSON.stringify({
      action: 'create',
      subject: 'Look',
      description: 'hold {"note":"member"}\nthen\nDone.',
      assignee: 'member',
    });
    await say('leads', `${PEEK}\nteam_tasks {"action":"list"}\nthen\nteam_tasks ${task}`);
    await stack.worker.probes.untilHeld('member');
    const session = taskSessionKey('crew', 1, 'member');
    assert.ok('peek' in (await usedIn(session)));
    stack.worker.probes.release('member');
    await stack.worker.until('the lead to know', async () =>
      'hold' in (await usedIn('leads')) ? true : undefined,
    );
  });

  it('a task that waits for another begins with what the other has read, and so does the lead that hears of it', async () => {
    const task = async (body: object) =>
      (await stack.ask('POST', '/v1/teams/crew/tasks', { body: { assignee: 'member', ...body } })).body
        .number;
    const review = 'team_tasks {"action":"review","result":"Look."}';
    const first = await task({ subject: 'Read', description: `${PEEK}\nthen\n${review}` });
    const second = await task({ subject: 'Use', description: 'Used.', blocked_by: [first] });
    const knows = (session: string) =>
      stack.worker.until(`${session} to know`, async () =>
        'peek' in (await usedIn(session)) ? true : undefined,
      );
    await knows('team:crew:lead:main');
    await stack.ask('POST', `/v1/teams/crew/tasks/${first}/approve`, { body: {} });
    await knows(taskSessionKey('crew', second, 'member'));
  });
});
