/**
 * DE-6: at `task.completed`, the end of a task is judged whichever way it comes: HTTP, a tool, an update, or a review.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { QualityGate } from '#domain/gate/gate.ts';
import { taskSessionKey } from '#domain/team/team.ts';
import { CRITIC, SUBMITS } from '#test/support/gate-scripts.ts';
import { type Answer, type Stack, startStack } from '#test/support/stack.ts';

const on = (gate: Partial<QualityGate>): QualityGate => ({
  event: 'task.completed',
  type: 'command',
  ...gate,
});

const WANTS_GOOD = on({
  command: 'grep -q good || { echo not good >&2; exit 1; }',
  max_retries: 1,
  block_on_failure: true,
});

const GATES: Record<string, QualityGate> = {
  careful: WANTS_GOOD,
  warned: on({ command: 'echo a bit short >&2; exit 1' }),
  approved: on({ type: 'agent', agent: 'critic', block_on_failure: true }),
  submits: on({ command: 'grep -q improved', max_retries: 1, block_on_failure: true }),
  // It runs until something ends it.
  endless: on({ command: 'cat > started; while :; do sleep 0.1; done', block_on_failure: true }),
};

/** At a gate, it has its own team do something before it approves. */
const ASKS_ITS_TEAM = `
description: Has its team look, then approves.
rules:
  - when: { step: 0 }
    reply: { calls: [{ tool: team_tasks, args: { action: list, team: inner } }] }
  - when: { step: 1 }
    reply:
      calls:
        - { tool: team_tasks, args: { action: create, team: inner, subject: Look, description: Looked., assignee: strict } }
  - reply: { text: APPROVED }
`;

describe('DE-6 work that is handed in', () => {
  let stack: Stack;
  const post = (path: string, body: unknown): Promise<Answer> =>
    stack.ask('POST', `/v1/teams/crew/tasks${path}`, { body });
  const read = async (path: string): Promise<any> => (await stack.ask('GET', `/v1/teams/crew${path}`)).body;

  before(async () => {
    stack = await startStack({
      scripts: { critic: CRITIC, submits: SUBMITS, asks: ASKS_ITS_TEAM },
      agents: [
        ...Object.entries(GATES).map(([key, gate]) => ({
          key,
          model: key === 'submits' ? 'rehearsal/submits' : 'rehearsal/follow',
          quality_gates: [gate],
          tools: {},
        })),
        { key: 'plain', model: 'rehearsal/follow', tools: {} },
        { key: 'critic', model: 'rehearsal/critic', tools: {} },
        { key: 'asks', model: 'rehearsal/asks', tools: {} },
        {
          key: 'strict',
          model: 'rehearsal/follow',
          quality_gates: [
            on({ type: 'agent', agent: 'asks' }),
            on({ command: 'exit 1', block_on_failure: true }),
          ],
          tools: {},
        },
      ],
    });
    const members = [...Object.keys(GATES), 'plain', 'strict'];
    for (const body of [
      { key: 'crew', lead: 'main', members },
      { key: 'inner', lead: 'asks', members: ['strict'] },
    ]) {
      const made = await stack.ask('POST', '/v1/teams', { body });
      assert.equal(made.status, 201, JSON.stringify(made.body));
    }
  });
  after(() => stack.stop());

  async function claimed(member: string): Promise<{ number: number; token: string; workflow_id: string }> {
    const made = await post('', { subject: 'A page', description: 'Write it.' });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const { number, workflow_id } = made.body;
    const { body } = await post(`/${number}/claim`, { member });
    return { number, workflow_id, token: body.lease.token };
  }

  /** Resolves when nothing of it is being judged any more. */
  const judged = (number: number): Promise<any> =>
    stack.worker.until(`task ${number} to be judged`, async () => {
      const task = await read(`/tasks/${number}`);
      return task.judging ? undefined : task;
    });

  const actions = async (number: number): Promise<readonly string[]> =>
    (await read(`/events?task=${number}`)).data.map(({ action }: { action: string }) => action).toReversed();

  it('by HTTP: it is 202, its holder gets the feedback, and what passes completes the task', async () => {
    const { number, token } = await claimed('careful');
    const hand = (text: string): Promise<Answer> =>
      post(`/${number}/complete`, { member: 'careful', token, text });
    const first = await hand('poor');
    assert.deepEqual([first.status, first.body.status, first.body.judging], [202, 'in_progress', true]);
    const back = await judged(number);
    assert.deepEqual([back.status, back.owner, back.result], ['in_progress', 'careful', null]);
    const comments = await read(`/tasks/${number}/comments`);
    assert.equal(comments.data.length, 1, 'what was handed in is not to be seen');
    assert.match(comments.data[0].text, /^\[Quality Gate Feedback — Retry 1\/1\]\n\nnot good/);

    assert.equal((await hand('good')).status, 202);
    const done = await judged(number);
    assert.deepEqual([done.status, done.result, done.percent], ['completed', 'good', 100]);
    assert.deepEqual(await actions(number), [
      'create',
      'claim',
      'hand_in',
      'give_back',
      'hand_in',
      'complete',
    ]);
    const again = await hand('more');
    assert.deepEqual([again.status, again.body.judging], [200, undefined]);
    assert.match(again.body.note, /already completed/);
  });

  it('without retries left it fails the task, says why, and is no result', async () => {
    const { number, token } = await claimed('careful');
    for (const text of ['poor', 'still poor']) {
      await post(`/${number}/complete`, { member: 'careful', token, text });
      await judged(number);
    }
    const task = await read(`/tasks/${number}`);
    assert.deepEqual([task.status, task.result, task.lease], ['failed', null, null]);
    assert.match(task.reason, /^blocked by quality gate .* after 1 retry: not good/);
    assert.doesNotMatch(JSON.stringify(await read(`/tasks/${number}/comments`)), /poor/);
  });

  it('by the lead too, over HTTP or in its turn: the gates are those of who has the task', async () => {
    const { number } = await claimed('careful');
    assert.equal((await post(`/${number}/complete`, { text: 'good enough' })).status, 202);
    assert.deepEqual((await judged(number)).result, 'good enough');

    const next = await claimed('careful');
    const words = { action: 'complete', team: 'crew', task_id: String(next.number), result: 'good indeed' };
    const receipt = await stack.worker.say('lead', `team_tasks ${JSON.stringify(words)}\nthen\nDone.`);
    await stack.worker.ended(receipt.turn_id);
    const [call] = await stack.worker.calls(receipt.turn_id);
    assert.match(call?.result ?? '', /judged by quality gates now/);
    assert.deepEqual((await judged(next.number)).result, 'good indeed');
  });

  it('by an update of another system; a gate that does not block adds its warning to the result', async () => {
    const { workflow_id, number, token } = await claimed('warned');
    const receipt = await stack.worker.client.workflow
      .getHandle(workflow_id)
      .executeUpdate<any, any>('complete', {
        args: [{ by: { name: 'elsewhere', member: 'warned', token }, text: { text: 'From elsewhere.' } }],
      });
    assert.deepEqual([receipt.status, receipt.judging], ['in_progress', true]);
    const done = await judged(number);
    assert.equal(done.status, 'completed');
    assert.match(done.result, /^From elsewhere\.\n\n\[Quality gate command .* not passed: a bit short\]$/);
  });

  it('an agent judges what no turn has made', async () => {
    const { number, token } = await claimed('approved');
    await post(`/${number}/complete`, { member: 'approved', token, text: 'improved' });
    assert.deepEqual((await judged(number)).result, 'improved');

    const other = await claimed('approved');
    await post(`/${other.number}/complete`, { member: 'approved', token: other.token, text: 'a draft' });
    assert.match((await judged(other.number)).reason, /blocked by quality gate agent critic .*: improve it/);
    const feed = await stack.worker.events(taskSessionKey('crew', other.number, 'approved'));
    assert.deepEqual(
      feed.filter(({ type }) => type === 'gate.checked').map(({ data }) => data['step']),
      ['block'],
    );
  });

  it('a review is asked for when it has passed, and approving it judges no more', async () => {
    const { body } = await post('', { subject: 'A page', description: 'Write it.', assignee: 'submits' });
    const { number } = body;
    const task = await stack.worker.until('the review', async () => {
      const found = await read(`/tasks/${number}`);
      return found.status === 'in_review' ? found : undefined;
    });
    assert.equal(task.result, 'the improved draft');
    const turns = await stack.worker.turns(taskSessionKey('crew', number, 'submits'));
    assert.deepEqual(
      turns.map(({ text, status }) => [status, text]),
      [
        ['completed', 'Handed in.'],
        ['completed', 'Handed in.'],
      ],
    );
    const approved = await post(`/${number}/approve`, {});
    assert.deepEqual([approved.status, approved.body.status], [200, 'completed']);
    assert.deepEqual(await actions(number), [
      'create',
      'dispatch',
      'hand_in',
      'give_back',
      'dispatch',
      'hand_in',
      'review',
      'approve',
    ]);
  });

  it('what an agent at a gate has its team do is not judged: gates do not call for each other', async () => {
    const { number, token } = await claimed('strict');
    await post(`/${number}/complete`, { member: 'strict', token, text: 'Mine.' });
    assert.equal((await judged(number)).status, 'failed');
    const inner = await stack.worker.until('the task of the inner team', async () => {
      const { body } = await stack.ask('GET', '/v1/teams/inner/tasks');
      return body.data.find(
        ({ status }: { status: string }) => status === 'completed' || status === 'failed',
      );
    });
    assert.equal(inner.status, 'completed', inner.reason);
    assert.match(inner.result, /Looked\.$/);
  });

  it('is judged no more when it is taken back', async () => {
    const { number, token } = await claimed('endless');
    const answer = await post(`/${number}/complete`, { member: 'endless', token, text: 'good' });
    assert.equal(answer.status, 202);
    const twice = await post(`/${number}/complete`, { member: 'endless', token, text: 'good' });
    assert.match(twice.body.note, /judged by quality gates now/);
    const { body } = await post(`/${number}/release`, { member: 'endless', token });
    assert.deepEqual([body.status, body.judging], ['pending', undefined]);
    const done = await post(`/${number}/complete`, { member: 'plain', text: 'By another.' });
    assert.deepEqual([done.status, done.body.status], [200, 'completed']);
    assert.equal((await read(`/tasks/${number}`)).result, 'By another.');
  });
});
