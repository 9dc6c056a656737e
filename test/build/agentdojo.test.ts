/**
 * What `careful` does against AgentDojo's injections (test/policy/agentdojo.test.ts) also happens in a sample of real
 * turns.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Catalog, loadCatalog } from '#policy/catalog.ts';
import { FEATURES } from '#features';
import { playAll } from '#test/build/agentdojo/play.ts';
import { type Answer, attacks, customTools, userTasks } from '#test/build/agentdojo/scenarios.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const CAREFUL = { profile: 'careful' };

/** One of this many of each kind, which is one in a hundred of the attacks. */
const EACH = { attack: 99, task: 20 };

describe('R1 AgentDojo, in turns', () => {
  let stack: Stack;
  let catalog: Catalog;
  before(async () => {
    catalog = await loadCatalog(FEATURES);
    stack = await startStack({ settings: `tools: ${JSON.stringify(CAREFUL)}\n` });
    for (const { name, reads } of customTools()) {
      const body = { name, command: 'echo done', replay: reads ? 'readonly' : 'once' };
      const made = await stack.ask('POST', '/v1/tools/custom', { body });
      assert.equal(made.status, 201, JSON.stringify(made.body));
    }
  });
  after(() => stack.stop());

  /**
   * The verdicts of a turn whose model requests exactly these calls; people answer all of its approvals the same way.
   */
  async function verdictsOf(session: string, answers: readonly Answer[], decision: 'approve' | 'reject') {
    const script = answers.map((answer) =>
      answer.map(({ tool, args }) => `${tool} ${JSON.stringify(args)}`).join('\n'),
    );
    const { turn_id } = await stack.worker.say(session, script.join('\nthen\n'));
    await stack.worker.until(`${session} to end`, async () => {
      const { rows } = await stack.pool.query(
        `select t.ended_at, array(select id from approvals where turn_id = t.id and status = 'pending') as asked
         from turns t where t.id = $1`,
        [turn_id],
      );
      if (rows[0]?.ended_at) return true;
      for (const id of rows[0]?.asked ?? [])
        await stack.ask('POST', `/v1/approvals/${id}/decision`, { body: { decision } });
      return undefined;
    });
    const { rows } = await stack.pool.query(
      'select tool, verdict, ok from tool_calls where turn_id = $1 order by step, index',
      [turn_id],
    );
    return rows;
  }
  const judged = (answers: readonly Answer[]) =>
    playAll(catalog, answers, CAREFUL)
      .flat()
      .map(({ step, verdict }) => ({ tool: step.tool, verdict }));

  it('an injected call that acts does not run when a person refuses it', async () => {
    const sample = attacks().filter((_, at) => at % EACH.attack === 0);
    assert.ok(sample.length >= 9);
    for (const [at, { id, before: own, injected }] of sample.entries()) {
      const answers = [...own, ...injected];
      const rows = await verdictsOf(`attack-${at}`, answers, 'reject');
      assert.deepEqual(
        rows.map(({ tool, verdict }) => ({ tool, verdict })),
        judged(answers),
        id,
      );
      for (const { tool, ok } of rows.slice(own.flat().length))
        if (injected.flat().some((step) => step.tool === tool && step.kind === 'acts'))
          assert.equal(ok, false, id);
    }
  });

  it('a user’s task runs to its end, its calls that act once they are approved', async () => {
    const sample = userTasks().filter((_, at) => at % EACH.task === 0);
    for (const [at, { id, suite, answers }] of sample.entries()) {
      const rows = await verdictsOf(`task-${at}`, answers, 'approve');
      assert.deepEqual(
        rows.map(({ tool, verdict }) => ({ tool, verdict })),
        judged(answers),
        `${suite} ${id}`,
      );
      for (const { tool, ok } of rows) assert.equal(ok, true, `${suite} ${id} ${tool}`);
    }
  });
});
