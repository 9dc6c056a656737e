/** PO-4: backtest tries other rules on the recorded calls, over HTTP and on the command line. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { runCli } from '#test/cli/support/run-cli.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { temporaryFolder } from '#test/support/tool-call.ts';

describe('PO-4 backtest', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
    for (const [tool, args] of [
      ['datetime', {}],
      ['exec', { command: 'ls' }],
      ['exec', { command: 'id -u' }],
      ['exec', { command: 'sudo id' }],
      ['exec', { command: 'echo password=hunter2hunter2' }],
    ] as const)
      await stack.ask('POST', `/v1/tools/${tool}/invoke?wait=30`, { body: { args } });
  });
  after(() => stack.stop());

  const backtest = async (body: object, key?: string) =>
    (await stack.ask('POST', '/v1/policy/backtest', { body, ...(key === undefined ? {} : { key }) })).body;
  const rows = async () => (await stack.pool.query('select count(*)::int as n from tool_calls')).rows[0];

  test('by the rules in force nothing differs', async () => {
    const report = await backtest({});
    assert.equal(report.calls, 5);
    assert.deepEqual(report.before, report.after);
    assert.deepEqual([report.differ, report.unreadable, report.truncated], [0, 0, false]);
    assert.deepEqual(report.data, []);
  });

  test('counts what other settings would allow, ask and deny, names each call that differs, and runs nothing', async () => {
    const had = await rows();
    const report = await backtest({
      days: 1,
      settings: {
        tools: { deny: ['datetime'], ask: [{ tool: 'exec', args: { command: 'ls*' } }] },
        exec: { categories: { privilege_escalation: false } },
      },
    });
    assert.deepEqual(report.before, { allow: 3, ask: 1, deny: 1 });
    assert.equal(report.after.deny, 1);
    const of = (words: string): any => report.data.find((one: any) => one.summary.startsWith(words));
    assert.deepEqual(
      [of('datetime').before, of('datetime').after, of('datetime').step],
      ['allow', 'deny', 'global_deny'],
    );
    assert.deepEqual(
      [of('exec: ls').after, of('exec: ls').step, of('exec: ls').rule],
      ['ask', 'global_rule', 'exec'],
    );
    assert.deepEqual([of('exec: sudo id').before, of('exec: sudo id').after], ['deny', 'ask']);
    assert.equal(report.differ, 3);
    assert.deepEqual(await rows(), had);
  });

  test('tries rules of the tenant and of one agent, in place of theirs', async () => {
    const tenant = await backtest({ tenant: { tools: { allow: ['datetime'] } } });
    assert.equal(tenant.after.deny, 4);
    const agents = await backtest({ agents: { main: { tools: { deny: ['group:runtime'] } } } });
    assert.equal(agents.after.deny, 4);
    assert.equal((await backtest({ agents: { other: { tools: { deny: ['*'] } } } })).differ, 0);
  });

  test('gives pages that have each differing call once, newest first', async () => {
    const question = { settings: { tools: { deny: ['*'] } } };
    const whole = await backtest(question);
    assert.equal(whole.differ, 4);
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: any = await backtest({
        ...question,
        limit: 1,
        ...(cursor === '' ? {} : { after: cursor }),
      });
      assert.deepEqual([page.differ, page.calls], [4, 5]);
      seen.push(...page.data.map((one: any) => one.call_id));
      cursor = page.next_cursor;
    }
    assert.deepEqual(
      seen,
      whole.data.map((one: any) => one.call_id),
    );
  });

  test('judges a call with a secret as people may see it, and says so', async () => {
    const report = await backtest({ settings: { tools: { deny: ['*'] } } });
    const masked = report.data.filter((one: any) => one.masked);
    assert.equal(masked.length, 1);
    assert.ok(!JSON.stringify(report).includes('hunter2'));
  });

  test('is one tenant’s, for admins, and refuses rules and cursors that are none', async () => {
    const other = await stack.makeTenant();
    assert.equal((await backtest({}, other.key)).calls, 0);
    const runner = await stack.makeKey(['read', 'run', 'approve']);
    assert.equal((await backtest({}, runner)).code, 'Forbidden');
    for (const body of [
      { days: 0 },
      { days: 91 },
      { settings: { tools: { profile: 'codding' } } },
      { after: 'x' },
      { config: {} },
    ])
      assert.equal((await backtest(body)).code, 'InvalidInput', JSON.stringify(body));
  });

  test('reads the settings to try from a file, on the command line', async (t) => {
    const folder = await temporaryFolder(t);
    await writeFile(
      join(folder, 'strict.yaml'),
      'tools:\n  deny: ["group:runtime"]\n  rate_limit_per_hour: 5\n',
    );
    await writeFile(join(folder, 'broken.yaml'), 'tools:\n  profile: codding\n');
    const env = { TEMPOCLAW_API_KEY: stack.key, HOME: folder };
    const run = (...args: string[]) => runCli(['policy', ...args], { cwd: folder, url: stack.url, env });
    const shown = await run('backtest', '--days', '2', '--config', 'strict.yaml');
    assert.equal(shown.code, 0, shown.stderr);
    assert.match(shown.stdout, /as it was +3 +1 +1\n[^]*as it would be +1 +0 +4\n/);
    assert.match(shown.stderr, /3 of 5 calls since [\d-]+ would be judged otherwise/);
    assert.match(shown.stdout, /exec: ls/);
    const broken = await run('backtest', '--config', 'broken.yaml');
    assert.match(broken.stderr, /broken\.yaml:2:12: tools\.profile/);

    await writeFile(join(folder, 'policy.yaml'), 'tools:\n  deny: [wait]\n');
    assert.equal((await run('set', 'policy.yaml')).code, 0);
    assert.match((await run('show')).stdout, /wait/);
    await stack.ask('PUT', '/v1/policy', { body: {} });
  });
});
