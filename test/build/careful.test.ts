import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { AgentConfig } from '#domain/agent.ts';
import { agentConfigSchema } from '#domain/schema/agent.ts';
import { type CallToJudge, createCallRules, type Verdict } from '#policy/call-rules.ts';
import { type Catalog, loadCatalog } from '#policy/catalog.ts';
import { FEATURES } from '#features';

const agent: AgentConfig = {
  key: 'main',
  type: 'open',
  model: 'rehearsal/echo',
  tools: { profile: 'careful' },
};
let catalog: Catalog;

before(async () => {
  catalog = await loadCatalog(FEATURES);
});

function judge(
  tool: string,
  args: Record<string, unknown>,
  session: Pick<CallToJudge, 'used' | 'addresses'>,
): Verdict {
  const found = catalog.find(tool);
  assert.ok(found);
  const rules = createCallRules({
    catalog,
    tools: {},
    resolveProgram: (name) => ({ path: `/usr/bin/${name}` }),
  });
  return rules.judge({ agent, user: null, context: {}, tool: found.tool, args, allowlist: [], ...session });
}

describe('PO-5 the profile careful', () => {
  const after = (tool: string, args: Record<string, unknown>, ...read: string[]) =>
    judge(tool, args, {
      used: Object.fromEntries(read.map((name) => [name, `call_of_${name}`])),
      addresses: new Set(['example.com/page']),
    });
  const command = { command: 'ls' };

  test('asks before what acts once something from outside was read, and says which call that was', () => {
    assert.equal(after('exec', command).verdict, 'allow');
    for (const read of [
      'mcp_gh__issue',
      'team__x__y',
      'a_custom_tool',
      'credentialed_exec',
      'sessions_history',
      'outside_message',
      'outside_document',
      'outside_file',
      'outside_command',
    ]) {
      const verdict = after('exec', command, 'read_file', read);
      assert.equal(verdict.verdict, 'ask', read);
      assert.ok(verdict.verdict === 'ask' && verdict.reason.endsWith(`after ${read} (call_of_${read})`));
    }
    for (const tool of ['credentialed_exec', 'sessions_send', 'delegate', 'handoff', 'evaluate_loop'])
      assert.equal(after(tool, {}, 'a_custom_tool').verdict, 'ask', tool);
  });

  test('spares what stays in the workspace or only looks, and what our own tools have told', () => {
    for (const tool of [
      'write_file',
      'edit',
      'read_file',
      'search',
      'datetime',
      'spawn',
      'team_tasks',
      'wait',
    ])
      assert.equal(after(tool, {}, 'a_custom_tool').verdict, 'allow', tool);
    assert.equal(after('process', { action: 'poll' }, 'a_custom_tool').verdict, 'allow');
    assert.equal(after('process', { action: 'write' }, 'a_custom_tool').verdict, 'ask');
    assert.equal(after('exec', command, 'read_file', 'search', 'exec', 'datetime').verdict, 'allow');
  });

  test('asks before a call of a tool that both looks and acts only where that call acts', () => {
    const url = 'https://example.com/page';
    assert.equal(after('web_fetch', { url }, 'web_search').verdict, 'allow');
    assert.equal(after('web_fetch', { url, method: 'HEAD' }, 'web_search').verdict, 'allow');
    assert.equal(after('web_fetch', { url, method: 'POST' }, 'web_search').verdict, 'ask');
    for (const other of [
      `${url}?q=words`,
      `${url}?544f50`,
      `${url}/544f50`,
      'https://example.com',
      'http://x.example',
    ])
      assert.equal(after('web_fetch', { url: other }, 'web_search').verdict, 'ask', other);
    assert.equal(after('web_fetch', { url: `${url}?q=words` }).verdict, 'allow');
    assert.equal(after('web_fetch', { url, headers: { x: 'y' } }, 'web_search').verdict, 'ask');
    assert.equal(after('web_fetch', { url, headers: {} }, 'web_search').verdict, 'allow');
    assert.equal(after('read_image', { url: `${url}.png` }, 'web_search').verdict, 'ask');
    assert.equal(after('memory_search', { query: `${url}/else` }, 'web_search').verdict, 'allow');
    assert.equal(after('browser', { action: 'snapshot' }, 'browser').verdict, 'allow');
    for (const action of ['click', 'type', 'navigate', 'evaluate'])
      assert.equal(after('browser', { action }, 'browser').verdict, 'ask', action);
  });

  test('what is denied stays denied', () => {
    assert.equal(after('exec', { command: 'sudo id' }, 'a_custom_tool').verdict, 'deny');
  });

  test('a rule that allows does not look back: what was read gives no more rights', () => {
    const rules = [{ tool: 'exec', after: ['web_fetch'], decision: 'allow' }];
    const read = agentConfigSchema.safeParse({ ...agent, tools: { rules } });
    assert.match(JSON.stringify(read.error?.issues), /does not look back/);
    const wrong = agentConfigSchema.safeParse({
      ...agent,
      tools: { ask: [{ tool: 'exec', after: ['group:nope'] }] },
    });
    assert.match(JSON.stringify(wrong.error?.issues), /there is no group/);
    for (const none of [[], 'web_fetch'])
      assert.ok(
        !agentConfigSchema.safeParse({ ...agent, tools: { ask: [{ tool: 'exec', after: none }] } }).success,
      );
  });
});
