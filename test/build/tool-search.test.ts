/** Tools that a prompt does not describe are found by what they do. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tool } from '#activities/tools/other/tool-search.ts';
import { effectiveTools } from '#domain/policy/effective-tools.ts';
import type { ChatMessage } from '#domain/turn/message.ts';
import { policyToolOf } from '#policy/call-rules.ts';
import { scoreTexts } from '#domain/text/score-texts.ts';
import { createCatalog, loadCatalog } from '#policy/catalog.ts';
import { FEATURES } from '#features';
import { deferredGuide, type PromptNeeds, promptTools, TOOL_SEARCH } from '#policy/deferred-tools.ts';
import type { FindableTool, Tool } from '#policy/define-tool.ts';
import { TOOL_QUESTIONS } from '#test/support/tool-questions.ts';
import { toolCall } from '#test/support/tool-call.ts';

const TOOLS: readonly FindableTool[] = [
  { name: 'cron', description: 'Be sent a message later', parameters: {}, isOfServer: false },
  {
    name: 'mcp_gh__create_issue',
    description: 'Opens an issue in a repository',
    parameters: {},
    isOfServer: true,
  },
  {
    name: 'mcp_gh__list_issues',
    description: 'Lists issues',
    parameters: { type: 'object' },
    isOfServer: true,
  },
  { name: 'mcp_home__water', description: 'Waters the garden', parameters: {}, isOfServer: true },
];

async function search(args: object, findable = TOOLS): Promise<string> {
  const input = tool.input.parse(args);
  const result = await tool.run({}, input, toolCall('/nowhere', { findableTools: async () => findable }));
  assert.ok(result.ok);
  return result.text;
}

function names(text: string): string[] {
  return Array.from(text.matchAll(/^tool: (\S+)$/gm), ([, name]) => name ?? '');
}

describe('tool_search', () => {
  it('gives the likest first, with what each takes, the words of MCP servers marked as those of others', async () => {
    const text = await search({ query: 'list the issues' });
    assert.equal(names(text)[0], 'mcp_gh__list_issues');
    assert.match(text, /^<<<EXTERNAL_UNTRUSTED_CONTENT/);
    assert.match(text, /arguments: \{"type":"object"\}/);
    assert.doesNotMatch(await search({ query: 'send a message later', max_results: 1 }), /EXTERNAL/);
  });

  it('finds a part of a name, no more than are asked for, and says when there is none', async () => {
    assert.deepEqual(names(await search({ query: 'home__', max_results: 1 })), ['mcp_home__water']);
    assert.deepEqual(names(await search({ query: 'the tool cron, please', max_results: 1 })), ['cron']);
    assert.match(await search({ query: 'zzzz qqqq' }), /no tool does that/);
  });

  it('finds each tool of ours by words that people use for what it does', async () => {
    const catalog = await loadCatalog(FEATURES);
    const all = catalog.list().filter(({ name, isReversal }) => name !== TOOL_SEARCH && !isReversal);
    const findable = all.flatMap(({ name, keywords }) =>
      catalog.offer('canonical', [name]).map((one) => ({ ...one, keywords, isOfServer: false })),
    );
    const questions = all.flatMap(({ name }) =>
      (TOOL_QUESTIONS[name] ?? []).map((query) => ({ query, wanted: name })),
    );
    const missed: string[] = [];
    for (const { query, wanted } of questions)
      if (!names(await search({ query }, findable)).includes(wanted)) missed.push(`${wanted}: ${query}`);
    assert.ok(missed.length <= questions.length / 20, missed.join('\n'));
    const without = all.filter(({ name }) => TOOL_QUESTIONS[name] === undefined);
    assert.deepEqual(
      without.map(({ name }) => name),
      [],
    );
  });

  it('counts a word above a form of it, and what only begins alike is another word', () => {
    const scores = (query: string, ...texts: string[]) =>
      scoreTexts(
        texts.map((text) => [{ text, weight: 1 }]),
        query,
      );
    const [same = 0, form = 0, other] = scores('deploy', 'deploy', 'deployments', 'depend');
    assert.ok(same > form && form > 0);
    assert.equal(other, 0);
    assert.deepEqual(
      scores('days', 'day', 'summary').map((score) => score > 0),
      [true, false],
    );
    assert.deepEqual(scores('summer', 'summary'), [0]);
  });
});

const NEEDS: PromptNeeds = { groups: [], dialect: 'canonical', messages: [] };
const found = (text: string): ChatMessage[] => [
  { role: 'tool', results: [{ callId: 'c', name: TOOL_SEARCH, ok: true, text }] },
];

describe('MC-2 the tools of MCP servers that a prompt describes', () => {
  const made = (name: string, more: object): Tool => ({ ...tool, aliases: {}, forms: {}, name, ...more });
  const mcp = { server: 'many', isInternal: false };
  const many = Array.from({ length: 45 }, (_, at) => made(`mcp_many_${at + 10}`, { mcp }));
  const catalog = createCatalog([tool, made('other_tool', {}), ...many]);
  const all = catalog.list().map(({ name }) => name);

  it('are forty at most, the same each time, with the search beside them', () => {
    const { described } = promptTools(catalog, all, NEEDS);
    assert.equal(described.length, 42);
    assert.deepEqual(
      promptTools(catalog, all.toReversed(), NEEDS).described.toSorted(),
      described.toSorted(),
    );
    assert.ok(described.includes('other_tool') && described.includes(TOOL_SEARCH));
    assert.ok(!described.includes('mcp_many_54'));
  });

  it('are those besides that the search has found', () => {
    const messages = found('tool: mcp_many_54\nPokes\n\ntool: not_there');
    const { described } = promptTools(catalog, all, { ...NEEDS, messages });
    assert.ok(described.includes('mcp_many_54') && !described.includes('mcp_many_53'));
    assert.ok(!described.includes('not_there'));
  });

  it('are all of them, and no search, where they are few', () => {
    const few = all.slice(0, 12);
    assert.deepEqual(promptTools(catalog, few, NEEDS), {
      described: few.filter((name) => name !== TOOL_SEARCH),
      deferred: [],
    });
  });

  it('are all of them where the search is not among an agent’s tools', () => {
    const without = all.filter((name) => name !== TOOL_SEARCH);
    assert.deepEqual(promptTools(catalog, without, NEEDS), { described: without, deferred: [] });
  });
});

describe('the tools of ours that a prompt describes', () => {
  it('are the common ones, those that the turn is about, and those found or used, in their order', async () => {
    const catalog = await loadCatalog(FEATURES);
    const all = catalog.list().map(({ name }) => name);
    const at = (needs: Partial<PromptNeeds>) => promptTools(catalog, all, { ...NEEDS, ...needs });
    const first = at({});
    assert.deepEqual(
      first.described,
      all.filter((name) => name === TOOL_SEARCH || catalog.find(name)?.tool.common),
    );
    assert.deepEqual(
      [...first.described, ...first.deferred].toSorted(),
      all.toSorted(),
      'each is described or named',
    );
    assert.ok(at({ groups: ['teams'] }).described.includes('team_tasks'));
    const used: ChatMessage[] = [
      { role: 'assistant', text: '', calls: [{ id: 'c', name: 'cron', args: {} }] },
    ];
    const later = at({ messages: [...used, ...found('tool: canvas')] });
    assert.deepEqual(
      later.described,
      all.filter((name) => [...first.described, 'cron', 'canvas'].includes(name)),
    );
    assert.deepEqual(later.deferred, first.deferred);
  });

  it('are all of them where the search is not among an agent’s tools, or they are few', async () => {
    const catalog = await loadCatalog(FEATURES);
    const all = catalog.list().map(({ name }) => name);
    const without = all.filter((name) => name !== TOOL_SEARCH);
    assert.deepEqual(promptTools(catalog, without, NEEDS), { described: without, deferred: [] });
    const few = ['cron', 'canvas', TOOL_SEARCH];
    assert.deepEqual(promptTools(catalog, few, NEEDS).described, ['cron', 'canvas']);
    assert.equal(deferredGuide(catalog, promptTools(catalog, few, NEEDS), 'canonical'), undefined);
  });

  it('are found by agents of the profile coding, which has many, and messaging has the search too', async () => {
    const catalog = await loadCatalog(FEATURES);
    const of = (profile: string) => effectiveTools(catalog.list().map(policyToolOf), { agent: { profile } });
    const { described, deferred } = promptTools(catalog, of('coding'), NEEDS);
    assert.ok(described.includes(TOOL_SEARCH) && deferred.includes('create_image'));
    assert.ok(of('messaging').includes(TOOL_SEARCH));
  });

  it('are named and found by the names of the model’s dialect', async () => {
    const catalog = await loadCatalog(FEATURES);
    const all = catalog.list().map(({ name }) => name);
    const shown = catalog.offer('clawft', ['spawn_process'])[0]?.name ?? '';
    assert.notEqual(shown, 'spawn_process');
    const needs = { ...NEEDS, dialect: 'clawft', messages: found(`tool: ${shown}`) } as const;
    const split = promptTools(catalog, all, needs);
    assert.ok(split.described.includes('spawn_process'));
    assert.match(deferredGuide(catalog, split, 'clawft') ?? '', new RegExp(`[ ,]${shown},`));
    assert.match(
      deferredGuide(catalog, promptTools(catalog, all, NEEDS), 'goclaw') ?? '',
      /mcp_tool_search: it says/,
    );
  });
});
