/** AP-7: rules that decisions suggest, over HTTP and at the command line, where they are accepted. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { runCli } from '#test/cli/support/run-cli.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('AP-7 rules are proposed from decisions', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
    await stack.ask('PATCH', '/v1/agents/main', { body: { tools: { ask: [{ tool: 'write_file' }] } } });
  });
  after(() => stack.stop());

  const invoke = async (tool: string, args: object) =>
    (await stack.ask('POST', `/v1/tools/${tool}/invoke?wait=30`, { body: { args } })).body;
  async function settle(tool: string, args: object, decision: string): Promise<void> {
    const { approval_id } = await invoke(tool, args);
    assert.ok(approval_id, `${tool} is asked about`);
    const body = { decision, ...(decision === 'reject' && { reason: 'no' }) };
    const { status } = await stack.ask('POST', `/v1/approvals/${approval_id}/decision`, { body });
    assert.equal(status, 200);
  }
  const listed = async (key?: string) =>
    await stack.ask('GET', '/v1/policy/proposals', key === undefined ? {} : { key });

  test('nothing is proposed of fewer than three approvals', async () => {
    for (const name of ['a', 'b'])
      await settle('write_file', { path: `notes/${name}.md`, content: name }, 'approve');
    assert.deepEqual((await listed()).body.data, []);
  });

  test('the third one suggests a rule, which is shown with what a backtest says of it', async () => {
    await settle('write_file', { path: 'notes/c.md', content: 'c' }, 'approve');
    const [proposal, ...others] = (await listed()).body.data;
    assert.equal(others.length, 0);
    const { agent, tool, adds, place, approvals, backtest } = proposal;
    assert.deepEqual(
      { agent, tool, adds, place, approvals, backtest },
      {
        agent: 'main',
        tool: 'write_file',
        adds: {
          rule: {
            tool: 'write_file',
            decision: 'allow',
            args: { path: 'notes/*' },
            only_args: ['content', 'path'],
          },
        },
        place: 'agent',
        approvals: 3,
        backtest: null,
      },
    );
    const shown = await stack.ask('GET', `/v1/policy/proposals/${proposal.id}`);
    assert.deepEqual(shown.body.backtest.before, { allow: 0, ask: 3, deny: 0 });
    assert.deepEqual(shown.body.backtest.after, { allow: 3, ask: 0, deny: 0 });
    assert.equal(
      (await invoke('write_file', { path: 'notes/d.md', content: 'd' })).status,
      'waiting_approval',
    );
  });

  test('only an admin sees and takes one; taken, it holds from the next call on and is proposed no more', async () => {
    const key = await stack.makeKey(['read', 'run', 'approve']);
    assert.equal((await listed(key)).status, 403);
    const [{ id }] = (await listed()).body.data;
    const { stdout } = await runCli(['policy', 'proposals'], {
      url: stack.url,
      env: { TEMPOCLAW_API_KEY: stack.key },
    });
    assert.match(stdout, /write_file with path notes\/\*, any content/);
    const taken = await runCli(['policy', 'proposals', 'take', id], {
      url: stack.url,
      env: { TEMPOCLAW_API_KEY: stack.key },
    });
    assert.equal(taken.code, 0, taken.stderr);
    assert.match(taken.stdout, /added to the agent’s rules for main/);
    assert.equal((await invoke('write_file', { path: 'notes/e.md', content: 'e' })).status, 'completed');
    assert.equal(
      (await invoke('write_file', { path: 'notes/../e.md', content: 'e' })).status,
      'waiting_approval',
    );
    assert.deepEqual((await listed()).body.data, []);
    assert.equal((await stack.ask('POST', `/v1/policy/proposals/${id}/take`, { body: {} })).status, 404);
  });

  test('nothing is proposed of a kind that was ever rejected, or whose approvers a rule names', async () => {
    for (const at of [1, 2, 3]) await settle('exec', { command: `gh issue close ${at}` }, 'approve');
    assert.deepEqual(
      (await listed()).body.data.map((each: { adds: object }) => each.adds),
      [{ allowlist: 'gh issue close *' }],
    );
    await settle('exec', { command: 'gh issue delete 4' }, 'reject');
    assert.deepEqual((await listed()).body.data, []);
    await stack.ask('PATCH', '/v1/agents/main', {
      body: { tools: { ask: [{ tool: 'write_file', approvers: { scopes: ['admin'] } }] } },
    });
    for (const at of [1, 2, 3])
      await settle('write_file', { path: `reports/${at}.md`, content: 'x' }, 'approve');
    assert.deepEqual((await listed()).body.data, []);
  });
});
