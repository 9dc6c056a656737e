/** IN-6: `tempoclaw agent-links`, `delegations`, `evaluations` and `handoffs` against the whole stack. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { heldDelegation, heldEvaluation } from '#test/support/assignments.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { runCli } from './support/run-cli.ts';

describe('IN-6 tempoclaw and work that agents give to each other', () => {
  let stack: Stack;
  let folder: string;
  before(async () => {
    stack = await startStack({ agents: [{ key: 'billing', model: 'rehearsal/echo' }] });
    folder = mkdtempSync(join(tmpdir(), 'tempoclaw-cli-'));
  });
  after(async () => {
    await stack.stop();
    rmSync(folder, { recursive: true });
  });

  const cli = (...args: string[]) =>
    runCli(args, { url: stack.url, cwd: folder, env: { TEMPOCLAW_API_KEY: stack.key } });
  const until = (path: string, status: string) =>
    stack.worker.until(`${path} to be ${status}`, async () => {
      const { body } = await stack.ask('GET', path);
      return body.status === status ? body : undefined;
    });

  it('agent-links: adds, lists, changes and deletes', async () => {
    const added = await cli('agent-links', 'add', 'main', 'billing', '--max-concurrent', '3');
    assert.match(added.stdout, /^alk_\S+: main may give work to billing \(outbound, active\)\n$/);
    const id = added.stdout.split(':')[0] ?? '';
    assert.match(
      (await cli('agent-links', 'list', '--agent', 'billing')).stdout,
      /main +billing +outbound +active +3/,
    );
    const changed = await cli('agent-links', 'set', id, '--status', 'disabled', '--deny', 'bob');
    assert.match(changed.stdout, /disabled/);
    const shown = JSON.parse((await cli('agent-links', 'show', id, '--json')).stdout);
    assert.deepEqual(
      [shown.status, shown.max_concurrent, shown.settings],
      ['disabled', 3, { user_deny: ['bob'] }],
    );
    assert.equal((await cli('agent-links', 'delete', id)).stdout, `${id} is deleted\n`);
    assert.notEqual((await cli('agent-links', 'show', id)).code, 0);
  });

  it('delegations: lists, shows and stops', async () => {
    const id = await heldDelegation(stack.worker, 'cli');
    assert.match(
      (await cli('delegations', 'list', '--session', 'cli-given')).stdout,
      new RegExp(`${id} +\\S+ +main +taker`),
    );
    const stopped = await cli('delegations', 'stop', id, '--reason', 'enough');
    assert.equal(stopped.stdout, `stop was sent to ${id}\n`);
    await until(`/v1/delegations/${id}`, 'cancelled');
    assert.match((await cli('delegations', 'show', id)).stdout, /status +cancelled/);
    const late = await cli('delegations', 'stop', id);
    assert.match(late.stderr, /is not running \(status=cancelled\)/);
  });

  it('evaluations: lists, shows and stops; the turn that waits goes on', async () => {
    const id = await heldEvaluation(stack.worker, 'cli');
    assert.match(
      (await cli('evaluations', 'list', '--status', 'running')).stdout,
      new RegExp(`${id} +running +taker +taker`),
    );
    assert.equal((await cli('evaluations', 'stop', id)).stdout, `stop was sent to ${id}\n`);
    const ended = await until(`/v1/evaluations/${id}`, 'cancelled');
    assert.deepEqual(ended.rounds, []);
    assert.match((await cli('evaluations', 'show', id)).stdout, /status +cancelled/);
    const [turn] = await stack.worker.turns('cli-judged');
    assert.equal((await stack.worker.ended(turn?.id ?? '')).status, 'completed');
    const late = await cli('evaluations', 'stop', id);
    assert.match(late.stderr, /is not running \(status=cancelled\)/);
  });

  it('DE-5 handoffs: lists a chat that was handed on, and brings it back', async () => {
    await stack.ask('POST', '/v1/agent-links', { body: { source: 'main', target: 'billing' } });
    const { turn_id } = await stack.worker.say(
      'h',
      `handoff ${JSON.stringify({ agent: 'billing', reason: 'an invoice' })}\nthen\nOn.`,
      { channel: 'web', chat_id: 'c 1' },
    );
    await stack.worker.ended(turn_id);
    assert.match((await cli('handoffs')).stdout, /web +c 1 +main +billing +an invoice/);
    assert.equal(
      (await cli('handoffs', 'clear', 'web', 'c 1')).stdout,
      'c 1 of web goes to its first agent again\n',
    );
    assert.match((await cli('handoffs', 'list')).stderr, /No chat was handed on\./);
    assert.notEqual((await cli('handoffs', 'clear', 'web', 'c 1')).code, 0);
  });
});
