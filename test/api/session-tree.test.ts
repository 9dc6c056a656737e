/** The work below a session over HTTP: delegations within delegations, their judges, and tasks of teams. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { taskSessionKey } from '#domain/team/team.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const APPROVES = `
rules:
  - reply: { text: APPROVED }
`;

describe('DE-2 the work below a session', () => {
  let stack: Stack;
  before(async () => {
    const open = { type: 'open', model: 'rehearsal/follow' } as const;
    stack = await startStack({
      scripts: { approves: APPROVES },
      agents: [
        { key: 'editor', ...open },
        { key: 'member', ...open },
        { key: 'critic', model: 'rehearsal/approves' },
        {
          key: 'writer',
          ...open,
          quality_gates: [{ event: 'delegation.completed', type: 'agent', agent: 'critic' }],
        },
      ],
    });
    for (const [source, target] of [
      ['main', 'editor'],
      ['editor', 'writer'],
    ])
      await stack.ask('POST', '/v1/agent-links', { body: { source, target } });
    await stack.ask('POST', '/v1/teams', { body: { key: 'crew', lead: 'main', members: ['member'] } });
  });
  after(() => stack.stop());

  it('has each piece behind its parent, with who works on it, how far it is and what it cost', async () => {
    const call = (tool: string, args: object): string => `${tool} ${JSON.stringify(args)}`;
    const inner = `${call('delegate', { agent_key: 'writer', task: 'Written.', label: 'inner', mode: 'sync' })}\nthen\nEdited.`;
    const { turn_id } = await stack.worker.say(
      'top',
      [
        call('delegate', { agent_key: 'editor', task: inner, label: 'outer', mode: 'sync' }),
        call('team_tasks', { action: 'list' }),
        call('team_tasks', { action: 'create', subject: 'A page', description: 'Done.', assignee: 'member' }),
        'The end.',
      ].join('\nthen\n'),
      { user: 'ann' },
    );
    await stack.worker.ended(turn_id);
    const ann = await stack.makeKey(['read'], { user: 'ann' });
    const tree = async (key: string) =>
      (await stack.ask('GET', '/v1/sessions/top/tree', { key })).body.data as any[];
    const done = await stack.worker.until('the task to be completed', async () => {
      const nodes = await tree(stack.key);
      return nodes.some(({ kind, status }) => kind === 'task' && status === 'completed') ? nodes : undefined;
    });
    assert.deepEqual(
      done.map(({ kind, depth, agent, status }) => [kind, depth, agent, status]),
      [
        ['delegation', 1, 'editor', 'completed'],
        ['delegation', 2, 'writer', 'completed'],
        ['gate', 3, 'critic', 'completed'],
        ['task', 1, 'member', 'completed'],
      ],
    );
    const [outer, below, gate, task] = done;
    assert.deepEqual(
      [outer.parent, below.parent, gate.parent],
      ['top', outer.session_key, below.session_key],
    );
    assert.equal(task.session_key, taskSessionKey('crew', 1, 'member'));
    for (const { turn_id: turn, session_key: session, tokens } of done) {
      assert.equal((await stack.ask('GET', `/v1/turns/${turn}`)).body.session_key, session);
      assert.ok(tokens > 0);
    }
    assert.deepEqual(await tree(ann), done);

    // A session below that has become another user's is left out with all that it gave.
    const { session_key: outerSession } = outer;
    await stack.pool.query('update sessions set user_id = $3 where tenant_id = $1 and key = $2', [
      stack.tenant,
      outerSession,
      'bob',
    ]);
    assert.deepEqual(
      (await tree(ann)).map(({ kind, session_key: session }) => [kind, session]),
      [
        ['delegation', null],
        ['task', task.session_key],
      ],
    );
  });
});
