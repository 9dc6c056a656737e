/** DE-4: rounds of producing and judging over real workflows: how they end, and what other systems do to them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { WorkflowFailedError } from '@temporalio/client';
import { createLostWork } from '#temporal/lost-work.ts';
import { heldEvaluation } from '#test/support/assignments.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const MAKER = `
description: Makes a draft, and a better one after feedback.
rules:
  - when: { user: { regex: 'Evaluator feedback' } }
    reply: { text: 'the improved draft' }
  - reply: { text: 'the first draft' }
`;

const judge = (approves: string): string => `
description: Approves of some drafts.
rules:
  - when: { user: { regex: '${approves}' } }
    reply: { text: 'approved ok' }
  - reply: { text: 'REJECTED: more' }
`;

describe('DE-4 evaluate_loop', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      scripts: { maker: MAKER, judge: judge('improved draft'), never: judge('no such thing') },
      agents: [
        { key: 'maker', model: 'rehearsal/maker' },
        { key: 'judge', model: 'rehearsal/judge' },
        { key: 'never', model: 'rehearsal/never' },
        { key: 'broken', model: 'rehearsal/no-such-script' },
        { key: 'stranger', model: 'rehearsal/maker' },
      ],
    });
    for (const target of ['maker', 'judge', 'never', 'broken'])
      await stack.ask('POST', '/v1/agent-links', { body: { source: 'main', target } });
  });
  after(() => stack.stop());

  async function loop(session: string, args: Record<string, unknown>) {
    const { turn_id } = await stack.worker.say(session, `evaluate_loop ${JSON.stringify(args)}\nthen\nDone.`);
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    const [call] = await stack.worker.calls(turn_id);
    const { rows } = await stack.worker.pool.query(
      `select r.* from assignments e cross join jsonb_to_recordset(e.rounds)
         as r (round int, draft text, verdict text, feedback text)
       where e.tenant_id = $1 and e.origin_session = $2 order by r.round`,
      [stack.worker.tenant, session],
    );
    return { result: call?.result ?? '', ok: call?.ok, rounds: rows };
  }

  it('revises until the evaluator approves, and says in how many rounds; all drafts and verdicts are kept', async () => {
    const { result, rounds } = await loop('two', { generator: 'maker', evaluator: 'judge', task: 'Write.' });
    assert.equal(result, 'Evaluate-optimize loop completed in 2 round(s).\n\nthe improved draft');
    assert.deepEqual(rounds, [
      { round: 1, draft: 'the first draft', verdict: 'rejected', feedback: 'more' },
      { round: 2, draft: 'the improved draft', verdict: 'approved', feedback: null },
    ]);
    const { body: tree } = await stack.ask('GET', '/v1/sessions/two/tree');
    assert.deepEqual(
      tree.data.map(({ kind, agent, status }: Record<string, string>) => [kind, agent, status]),
      [
        ['evaluation', 'maker', 'approved'],
        ...[1, 2].flatMap(() => [
          ['round', 'maker', 'completed'],
          ['round', 'judge', 'completed'],
        ]),
      ],
    );
  });

  it('completes a task of the team only when the evaluator approves, and gives it back otherwise', async () => {
    await stack.ask('POST', '/v1/teams', { body: { key: 'crew', lead: 'main', members: ['maker'] } });
    const tasks = '/v1/teams/crew/tasks';
    const create = async (): Promise<string> =>
      (await stack.ask('POST', tasks, { body: { subject: 'An announcement' } })).body.id;
    const [good, bad] = [await create(), await create()];
    const args = { generator: 'maker', task: 'Write.', max_rounds: 2 };
    await loop('good', { ...args, evaluator: 'judge', team_task_id: good });
    await loop('bad', { ...args, evaluator: 'never', team_task_id: bad });
    const { body: done } = await stack.ask('GET', `${tasks}/${good}`);
    assert.deepEqual([done.status, done.owner, done.result], ['completed', 'maker', 'the improved draft']);
    const { body: back } = await stack.ask('GET', `${tasks}/${bad}`);
    assert.deepEqual([back.status, back.owner], ['pending', null]);
    const { result } = await loop('none', { ...args, evaluator: 'judge', team_task_id: 'task_crew.99' });
    assert.match(result, /^NotFound: team_task_id task_crew\.99 not found\./);
  });

  it('ends after max_rounds with the last feedback and the last output', async () => {
    const args = { generator: 'maker', evaluator: 'never', task: 'Write.', max_rounds: 2 };
    const { result, rounds } = await loop('spent', args);
    assert.match(result, /reached max rounds \(2\) without evaluator approval/);
    assert.match(result, /Last feedback: more\n\nLast output:\nthe improved draft$/);
    assert.equal(rounds.length, 2);
  });

  it('says who failed in which round', async () => {
    const args = { generator: 'maker', evaluator: 'broken', task: 'Write.' };
    const { result, ok } = await loop('failed', args);
    assert.equal(ok, false);
    assert.match(result, /evaluator "broken" failed in round 1: /);
  });

  it('needs both agents and the task, and links to both', async () => {
    assert.match(
      (await loop('m', { generator: 'maker', task: 'x' })).result,
      /generator, evaluator, and task are required/,
    );
    const args = { generator: 'maker', evaluator: 'stranger', task: 'x' };
    assert.match((await loop('l', args)).result, /no delegation link from this agent to "stranger"/);
  });

  it('whose workflow was terminated ends as failed, and cannot be stopped any more', async () => {
    const id = await heldEvaluation(stack.worker, 'rounds');
    await stack.worker.client.workflow.getHandle(`evaluate/${id}`).terminate('by an operator');
    const stop = `/v1/evaluations/${id}/stop`;
    // A busy server answers "try again", and a stop may be repeated.
    const { body } = await stack.worker.until('its refusal', async () => {
      const answer = await stack.ask('POST', stop, { body: {} });
      return answer.status === 409 ? answer : undefined;
    });
    assert.equal(body.detail, `evaluate loop "${id}" is not running (status=failed)`);
    const { body: list } = await stack.ask('GET', '/v1/evaluations?session_key=rounds-judged');
    const error = { code: 'OutcomeUnknown', message: 'its workflow was ended from outside' };
    assert.deepEqual([list.data[0].status, list.data[0].error], ['failed', error]);
    const events = await stack.worker.events('rounds-judged');
    const completed = events.find(({ type }) => type === 'evaluation.completed')?.data;
    assert.deepEqual([completed?.['status'], completed?.['rounds']], ['failed', 0]);
    assert.ok(events.some(({ type, data }) => type === 'evaluation.started' && data['evaluation_id'] === id));
  });

  it('whose workflow was terminated is found by the sweep', async () => {
    const id = await heldEvaluation(stack.worker, 'swept');
    const { pool, worker } = stack;
    const lost = createLostWork({ pool, onWrite: () => undefined, reach: worker.temporal, now: Date.now });
    await worker.client.workflow.getHandle(`evaluate/${id}`).terminate('by an operator');
    assert.equal(await lost.sweepAll(0), 1);
    assert.equal(await lost.sweepAll(0), 0);
  });

  it('that another system starts names what its input lacks, and ends', async () => {
    const { client, taskQueue } = stack.worker;
    for (const args of [[], ['x'], [{}]]) {
      const workflowId = `by-hand-evaluateLoop-${JSON.stringify(args)}`;
      const handle = await client.workflow.start('evaluateLoop', { workflowId, taskQueue, args });
      await assert.rejects(
        handle.result(),
        (error: unknown) =>
          error instanceof WorkflowFailedError && /its input lacks \w+/.test((error.cause as Error).message),
      );
    }
  });
});
