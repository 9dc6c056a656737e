/** Dialects in a turn: a name means what it means to the model that uses it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('TL tools by the names of clawft', () => {
  let stack: Stack;
  before(async () => {
    const exec = { security: 'full', ask: 'off' } as const;
    stack = await startStack({
      agents: [
        { key: 'claw', model: 'rehearsal/follow', tool_names: 'clawft', exec },
        { key: 'plain', model: 'rehearsal/follow', exec },
        { key: 'mate', model: 'rehearsal/echo' },
      ],
    });
    await stack.ask('POST', '/v1/agent-links', { body: { source: 'plain', target: 'mate' } });
  });
  after(() => stack.stop());

  async function callsOf(agent: string, text: string) {
    const { turn_id } = await stack.worker.say(`${agent}-${text.length}`, text, { agent });
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    return stack.worker.calls(turn_id);
  }

  it('spawn starts a process, five of them at once and no sixth', async () => {
    const line = `spawn ${JSON.stringify({ command: 'sleep', args: ['3'] })}`;
    const calls = await callsOf('claw', Array.from({ length: 6 }, () => line).join('\n'));
    assert.deepEqual(new Set(calls.map(({ tool }) => tool)), new Set(['spawn_process']));
    const codes = calls.map(({ ok, code }) => (ok ? 'ok' : code)).toSorted();
    assert.deepEqual(codes, ['ExecutionFailed', 'ok', 'ok', 'ok', 'ok', 'ok']);
  });

  it('a call made by hand means the tool of that name, whatever the agent’s model calls it', async () => {
    const made = await stack.ask('POST', '/v1/tools/spawn/invoke', {
      body: { agent: 'claw', args: { action: 'list' } },
    });
    assert.deepEqual(
      [made.body.ok, made.body.text],
      [true, 'No active tasks found.'],
      JSON.stringify(made.body),
    );
  });

  it('SA-2 spawn takes context, and with an agent it is a delegation under the rules of delegate', async () => {
    const [spawned] = await callsOf(
      'plain',
      'spawn {"action":"run","task":"datetime {}","context":"All there is."}',
    );
    assert.deepEqual([spawned?.tool, spawned?.ok], ['spawn', true], spawned?.result ?? '');
    const input = 'spawn {"action":"run","agent":"mate","task":"Say it.","context":"Loudly."}';
    const [delegated] = await callsOf('plain', input);
    assert.deepEqual([delegated?.tool, delegated?.ok], ['delegate', true], delegated?.result ?? '');
    assert.match(delegated?.result ?? '', /Say it\.[^]*Loudly\./);
    await stack.ask('PATCH', '/v1/agents/plain', { body: { tools: { deny: ['delegate'] } } });
    const [denied] = await callsOf('plain', `${input}\n`);
    assert.deepEqual([denied?.tool, denied?.code], ['delegate', 'PermissionDenied']);
  });
});
