/**
 * DU-1: if requested, each model call and each tool call is an activity that Temporal schedules, under its own name.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { activitiesOf } from '#test/support/histories.ts';
import { workflowIdOf } from '#test/support/live-worker.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const TOOLS = ['datetime', 'write_file', 'read_file', 'exec', 'peek', 'call_model'];

for (const [name, options] of [
  [
    'of an agent that is visible',
    { agents: [{ key: 'seen', visible: true, exec: { security: 'full', ask: 'off' } }] },
  ],
  [
    'of workers without the fast path',
    {
      env: { TEMPOCLAW_FAST_PATH: 'false' },

      agents: [{ key: 'seen', exec: { security: 'full', ask: 'off' } }],
    },
  ],
] as const)
  describe(`DU-1 the steps ${name}`, () => {
    let stack: Stack;
    before(async () => {
      stack = await startStack(options as never);
    });
    after(() => stack.stop());

    async function ran(session: string, text: string) {
      const answer = await stack.ask('POST', `/v1/sessions/${session}/messages?wait=60`, {
        body: { text, agent: 'seen' },
      });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      const id = workflowIdOf(stack.worker, session);
      await stack.worker.client.workflow.getHandle(id).result();
      return activitiesOf(stack.worker.client, id);
    }

    it('are scheduled activities, whoever waits and however short they are', async () => {
      const steps = [
        'datetime {"timezone":"UTC"}',
        'write_file {"path":"a.txt","content":"a"}\nread_file {"path":"a.txt"}\npeek {"note":"g"}',
        'exec {"command":"echo hi"}',
        'Done.',
      ];
      for (const session of ['first', 'again']) {
        const activities = await ran(session, steps.join('\nthen\n'));
        const shown = activities.filter(({ type }) => TOOLS.includes(type));
        assert.deepEqual(
          shown.filter(({ local }) => local).map(({ type }) => type),
          [],
        );
        assert.deepEqual(shown.map(({ type }) => type).sort(), [
          ...Array.from({ length: 4 }, () => 'call_model'),
          'datetime',
          'exec',
          'peek',
          'read_file',
          'write_file',
        ]);
      }
    });

    it('and so are those of its subagents', async () => {
      const task = 'datetime {"timezone":"UTC"}\nthen\nIt is late.';
      await ran('parent', `spawn ${JSON.stringify({ action: 'run', task })}\nthen\nDone.`);
      const { rows } = await stack.worker.pool.query<{ key: string }>(
        "select key from sessions where tenant_id = $1 and key like 'subagent:%'",
        [stack.worker.tenant],
      );
      const session = rows[0]?.key ?? '';
      const activities = await activitiesOf(stack.worker.client, workflowIdOf(stack.worker, session));
      const shown = activities.filter(({ type }) => TOOLS.includes(type));
      assert.deepEqual(
        shown.map(({ type, local }) => [type, local]),
        [
          ['call_model', false],
          ['datetime', false],
          ['call_model', false],
        ],
      );
    });
  });
