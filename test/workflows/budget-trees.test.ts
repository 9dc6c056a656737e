/** DU-7: everything that a turn has other agents do counts for it: delegations and their gates. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

const CRITIC = `
description: Approves of improved drafts.
rules:
  - when: { user: { regex: 'improved' } }
    reply: { text: 'APPROVED' }
  - reply: { text: 'REJECTED: improve it' }
`;

/** Two model calls of the turn's own: one that requests the tool, one that answers. */
const using = (tool: string, args: object): string => `${tool} ${JSON.stringify(args)}\nthen\nDone.`;

describe('DU-7 a tree shares its root’s budget', () => {
  let stack: Stack;
  before(async () => {
    const gate = {
      event: 'delegation.completed',
      type: 'agent',
      agent: 'critic',
      block_on_failure: true,
      max_retries: 1,
    } as const;
    const checks = {
      event: 'turn.completed',
      type: 'command',
      command: 'true',
      block_on_failure: true,
    } as const;
    stack = await startStack({
      settings:
        'budgets: [{ scope: turn, calls: 1000 }, { scope: session, calls: 1000 }, { scope: agent, calls: 1000 }]',
      scripts: { critic: CRITIC },
      agents: [
        { key: 'writer', model: 'rehearsal/follow' },
        { key: 'gated', model: 'rehearsal/echo', quality_gates: [gate] },
        { key: 'critic', model: 'rehearsal/critic' },
        { key: 'checked', quality_gates: [checks] },
        {
          key: 'unchecked',
          quality_gates: [checks],
          budgets: [{ scope: 'turn', calls: 1, on_limit: 'stop' }],
        },
        {
          key: 'delivers',
          model: 'rehearsal/echo',
          quality_gates: [{ ...checks, event: 'delegation.completed' }],
        },
        { key: 'poor', budgets: [{ scope: 'turn', calls: 2, on_limit: 'stop' }] },
      ],
    });
    for (const target of ['writer', 'gated', 'delivers'])
      await stack.ask('POST', '/v1/agent-links', { body: { source: 'main', target } });
    await stack.ask('POST', '/v1/agent-links', { body: { source: 'poor', target: 'writer' } });
  });
  after(() => stack.stop());

  /** Calls counted for a turn, session or agent. */
  async function used(scope: 'turn' | 'session' | 'agent', subject: string): Promise<number> {
    const path = `/v1/budgets/accounts?budget=settings:${scope}:*:total&subject=${subject}`;
    return (await stack.ask('GET', path)).body.data[0]?.spent ?? 0;
  }

  it('a delegation counts for the turn that gave it, and for the agent that does it', async () => {
    const task = 'datetime {}\nthen\nWritten.';
    const script = using('delegate', { agent_key: 'writer', task, mode: 'sync' });
    const { turn_id } = await stack.worker.say('gives', script);
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    assert.deepEqual(
      [await used('turn', turn_id), await used('session', 'gives'), await used('agent', 'writer')],
      [4, 4, 2],
    );
  });

  it('a delegation ends when the budget of the turn that gave it is used up', async () => {
    const script = using('delegate', { agent_key: 'writer', task: using('datetime', {}), mode: 'sync' });
    const { turn_id } = await stack.worker.say('poor', script, { agent: 'poor' });
    const { status, error } = await stack.worker.ended(turn_id);
    assert.deepEqual([status, error?.code], ['failed', 'BudgetExceeded']);
    const { body } = await stack.ask('GET', '/v1/delegations?session_key=poor');
    assert.equal(body.data[0].status, 'failed');
    assert.equal(await used('turn', turn_id), 2);
  });

  it('what an agent says at a gate counts, and what is revised because of it', async () => {
    const script = using('delegate', { agent_key: 'gated', task: 'Write.', mode: 'sync' });
    const { turn_id } = await stack.worker.say('gates', script);
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    // These are the work, its judgement, the work again with the feedback, and the second judgement.
    assert.deepEqual([await used('turn', turn_id), await used('agent', 'critic')], [6, 2]);
  });

  it('a gate’s command counts as a call of a costly tool, of a turn and of what it delegates', async () => {
    const own = await stack.worker.say('checks', 'Hello.', { agent: 'checked' });
    assert.equal((await stack.worker.ended(own.turn_id)).status, 'completed');
    assert.equal(await used('turn', own.turn_id), 2);
    const script = using('delegate', { agent_key: 'delivers', task: 'Write.', mode: 'sync' });
    const receipt = await stack.worker.say('gives-checked', script);
    assert.equal((await stack.worker.ended(receipt.turn_id)).status, 'completed');
    assert.equal(await used('turn', receipt.turn_id), 4);
    const { rows } = await stack.pool.query(
      'select sum(reserved)::float8 as reserved from budget_accounts where tenant_id = $1',
      [stack.tenant],
    );
    assert.deepEqual(rows, [{ reserved: 0 }]);
  });

  it('a gate whose command has no room does not let the answer pass', async () => {
    const { turn_id } = await stack.worker.say('unchecks', 'Hello.', { agent: 'unchecked' });
    const { error, text } = await stack.worker.ended(turn_id);
    assert.deepEqual([error?.code, text], ['GateBlocked', null]);
    assert.match(error?.message ?? '', /BudgetExceeded: turn .* The command has not run\./);
  });

  it('what a message to another session begins counts for the turn that sent it, and for both sessions', async () => {
    const { turn_id: first } = await stack.worker.say('other', 'Other things');
    await stack.worker.ended(first);
    const there = using('datetime', {});
    const { turn_id } = await stack.worker.say(
      'sends',
      using('sessions_send', { session_key: 'other', message: there }),
    );
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    const started = await stack.worker.until('the turn of the message', async () =>
      (await stack.worker.turns('other')).find(({ id }) => id !== first),
    );
    assert.equal((await stack.worker.ended(started.id)).status, 'completed');
    assert.deepEqual([await used('turn', turn_id), await used('turn', started.id)], [4, 0]);
    assert.deepEqual([await used('session', 'sends'), await used('session', 'other')], [4, 3]);
  });

  it('a turn cannot get more by having another session do its work', async () => {
    for (const session of ['rich', 'poor-sends'])
      await stack.worker.ended((await stack.worker.say(session, 'Hello', { agent: 'poor' })).turn_id);
    const script = using('sessions_send', { session_key: 'rich', message: using('datetime', {}) });
    const { turn_id } = await stack.worker.say('poor-sends', script);
    // Which of the two gets the second call is a race; there is one, and the message's turn needs two.
    await stack.worker.ended(turn_id);
    const sent = await stack.worker.until('the turn of the message', async () =>
      (await stack.worker.turns('rich')).find(({ id }) => id.startsWith('turn_sent-')),
    );
    assert.equal((await stack.worker.ended(sent.id)).error?.code, 'BudgetExceeded');
    assert.equal(await used('turn', turn_id), 2);
  });

  it('what is said of a result counts for the turn that asked for the work', async () => {
    const script = using('delegate', { agent_key: 'writer', task: 'Written.', mode: 'async' });
    const { turn_id } = await stack.worker.say('told', script);
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    const turns = await stack.worker.until('the turn that hears of the result', async () => {
      const all = await stack.worker.turns('told');
      return all.length === 2 ? all : undefined;
    });
    for (const { id } of turns) await stack.worker.ended(id);
    const received = turns.find(({ id }) => id !== turn_id)?.id ?? '';
    assert.deepEqual(
      [await used('turn', turn_id), await used('turn', received), await used('session', 'told')],
      [4, 0, 4],
    );
  });
});
