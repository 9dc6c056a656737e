/** PO-4 over HTTP: cases are explained under the rows of the caller's tenant, and reveal nothing of the server. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Stack, startApi, startStack, type TestApi } from '#test/support/stack.ts';
import { assertAnswer, explainCases } from './explain-cases.ts';

describe('PO-4 explain over HTTP', () => {
  let api: TestApi;
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'tempoclaw-explain-'));
    api = await startApi({ workspaceRoot: root });
    await api.ask('PATCH', '/v1/agents/main', { body: { tools: { deny: ['wait'] } } });
    await api.ask('POST', '/v1/agents', {
      body: { key: 'files', model: 'rehearsal/echo', tools: { allow: ['group:fs'] }, workspace: 'shared' },
    });
  });
  after(async () => {
    await api.stop();
    await rm(root, { recursive: true, force: true });
  });

  const explain = (kind: string, body: object, key?: string) =>
    api.ask('POST', `/v1/explain/${kind}`, { body, ...(key === undefined ? {} : { key }) });

  test('uses the rows of the agent that is named, and of main when none is', async () => {
    assert.equal((await explain('tool', { tool: 'wait' })).body.step, 'agent_deny');
    const files = await explain('tool', { tool: 'wait', agent: 'files' });
    assertAnswer(files.body, { given: {}, answer: { decision: 'deny', step: 'agent_allow', rule: null } });
    assert.ok(files.body.tools.includes('read_file'));
    assert.equal((await explain('tool', { tool: 'wait', agent: 'nobody' })).status, 404);
    const stranger = await api.makeTenant();
    assert.equal((await explain('tool', { tool: 'wait', agent: 'files' }, stranger.key)).status, 404);
  });

  test('puts settings of an agent in place of those in its rows, and of an agent that is new on those of main', async () => {
    const wait = async (agent: object) => (await explain('tool', { tool: 'wait', agent })).body;
    assert.equal((await wait({ key: 'files', instructions: 'changed' })).step, 'agent_allow');
    assert.equal((await wait({ key: 'files', tools: {} })).decision, 'allow');
    assert.equal((await wait({ key: 'files', tools: { deny: ['wait'] } })).step, 'agent_deny');
    assert.equal((await wait({ key: 'unborn' })).step, 'agent_deny');
  });

  test('answers our own cases of texts and addresses as the command line does', async () => {
    for (const [kind, one] of explainCases('')) {
      if (kind !== 'url' && kind !== 'scrub') continue;
      const { status, body } = await explain(kind, one.given);
      if (one.error === undefined) assertAnswer(body, one);
      else assert.equal(status, 400, JSON.stringify(one.given));
    }
  });

  test('looks at paths in the workspace of the agent only, and tells no path of the server', async () => {
    const workspace = join(root, api.tenant, 'shared');
    await mkdir(workspace, { recursive: true });
    await writeFile(join(workspace, 'a.txt'), 'a');
    const inside = await explain('path', { path: 'a.txt', agent: 'files' });
    assertAnswer(inside.body, { given: {}, answer: { decision: 'allow', resolved: 'a.txt', code: null } });
    const outside = await explain('path', { path: `../../${api.tenant}`, agent: 'files', op: 'list' });
    assert.equal(outside.body.code, 'InvalidPath');
    for (const answer of [inside, outside]) assert.ok(!JSON.stringify(answer.body).includes(root));
    assert.equal((await explain('path', { path: 'a', workspace: '/etc' })).status, 400);
    assert.equal((await explain('path', { path: 'a', agent: 'main' })).status, 404);
  });

  test('needs a key that may read, and a key of a user asks for that user', async () => {
    assert.equal((await explain('scrub', { text: 'a' }, await api.makeKey(['run']))).status, 403);
    const anns = await api.makeKey(['read'], { user: 'ann' });
    const bob = await explain('tool', { tool: 'wait', context: { user: 'bob' } }, anns);
    assert.equal(bob.status, 403);
    const rules = { rules: [{ tool: 'edit', user: 'ann', decision: 'deny' }] };
    const ann = await explain('tool', { tool: 'edit', config: rules }, anns);
    assert.equal(ann.body.step, 'global_rule');
  });

  test('says in words what a case lacks', async () => {
    for (const [kind, words] of [
      ['url', 'url: is required'],
      ['shell', 'command: is required'],
    ] as const) {
      const { status, body } = await explain(kind, {});
      assert.deepEqual([status, body.detail], [400, words]);
    }
  });

  test('refuses a kind that is not there', async () => {
    assert.equal((await explain('future', {})).status, 400);
  });

  test('asks of an address the rules in force of the tenant and of the agent that the case names', async () => {
    const egress = { policy: 'allowlist', allowed_domains: ['good.example', 'evil.example'] };
    await api.ask('POST', '/v1/agents', { body: { key: 'narrow', model: 'rehearsal/welcome', egress } });
    await api.ask('PUT', '/v1/policy', { body: { egress: { blocked_domains: ['evil.example'] } } });
    const rule = async (host: string, agent?: string): Promise<unknown> => {
      const dns = { [host]: ['93.184.215.14'] };
      const { body } = await api.ask('POST', '/v1/explain/url', {
        body: { url: `https://${host}/`, agent, dns },
      });
      return (body as { rule: string }).rule;
    };
    assert.equal(await rule('good.example', 'narrow'), 'public');
    assert.equal(await rule('evil.example', 'narrow'), 'blocked_domain');
    assert.equal(await rule('other.example', 'narrow'), 'not_listed');
    assert.equal(await rule('other.example'), 'public');
    assert.equal(await rule('evil.example'), 'blocked_domain');
  });
});

describe('PO-5 rules that look back', () => {
  let stack: Stack;
  before(async () => {
    const ask = [{ tool: 'nudge', after: ['peek', 'datetime'] }];
    stack = await startStack({ agents: [{ key: 'main', tools: { ask } }] });
  });
  after(() => stack.stop());

  async function say(session: string, script: string): Promise<void> {
    const { turn_id } = await stack.worker.say(session, script);
    await stack.worker.ended(turn_id);
  }
  const calls = async (session: string): Promise<readonly { readonly id: string }[]> =>
    (await stack.pool.query('select id from tool_calls where session_key = $1', [session])).rows;

  test('explain says it for a session, with the call, and for tools that the case names', async () => {
    const explain = async (context: object, tool = 'nudge') =>
      (await stack.ask('POST', '/v1/explain/tool', { body: { tool, agent: 'main', context } })).body;
    await say('explained', 'peek {"note":"a page"}');
    const [peek] = await calls('explained');
    const answer = await explain({ session: 'explained' });
    assert.deepEqual([answer.decision, answer.step, answer.rule], ['ask', 'agent_rule', 'nudge']);
    assert.equal(answer.reason, `a rule asks before nudge after peek (${peek?.id})`);
    assert.equal((await explain({ used: ['datetime'] })).decision, 'ask');
    assert.equal((await explain({ used: ['hold'] })).decision, 'allow');
    assert.equal((await explain({})).decision, 'allow');
    assert.equal((await explain({ session: 'no-such-session' })).code, 'NotFound');
    const other = await stack.makeKey(['read'], { user: 'bob' });
    const body = { tool: 'nudge', context: { session: 'explained' } };
    assert.equal((await stack.ask('POST', '/v1/explain/tool', { body, key: other })).body.code, 'NotFound');
  });

  test('a backtest judges each call by what its session had read before it', async () => {
    await say(
      'tried',
      `mark {"note":"1"}\nthen\npeek {"note":"a page"}\n mark {"note":"2"}\nthen\nmark {"note":"3"}`,
    );
    const body = { settings: { tools: { ask: [{ tool: 'mark', after: ['peek'] }] } } };
    const report = (await stack.ask('POST', '/v1/policy/backtest', { body })).body;
    const marks = report.data.filter(({ tool }: any) => tool === 'mark');
    assert.deepEqual(
      marks.map(({ summary, before: was, after: is }: any) => [summary, was, is]),
      [['mark: 3', 'allow', 'ask']],
    );
    assert.match(marks[0].reason, /^a rule asks before mark after peek \(/);
  });
});
