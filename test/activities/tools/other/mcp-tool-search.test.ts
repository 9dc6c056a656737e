/** REFERENCE §11: tools of MCP servers that a model is not told of are found by what they do. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tool } from '#activities/tools/other/mcp-tool-search.ts';
import type { OfferedTool } from '#domain/model.ts';
import { createCatalog } from '#policy/catalog.ts';
import type { Tool } from '#policy/define-tool.ts';
import { MCP_TOOL_SEARCH, toldTools } from '#policy/mcp/deferred-tools.ts';
import { toolCall } from '#test/support/tool-call.ts';

const TOOLS: readonly OfferedTool[] = [
  { name: 'mcp_gh__create_issue', description: 'Opens an issue in a repository', parameters: {} },
  { name: 'mcp_gh__list_issues', description: 'Lists issues', parameters: { type: 'object' } },
  { name: 'mcp_home__water', description: 'Waters the garden', parameters: {} },
];

async function search(args: object): Promise<string> {
  const input = tool.input.parse(args);
  const result = await tool.run({}, input, toolCall('/nowhere', { offeredMcpTools: async () => TOOLS }));
  assert.ok(result.ok);
  return result.text;
}

function names(text: string): string[] {
  return Array.from(text.matchAll(/^tool: (\S+)$/gm), ([, name]) => name ?? '');
}

describe('mcp_tool_search', () => {
  it('gives the likest first, with what each takes, marked as the words of others', async () => {
    const text = await search({ query: 'list the issues' });
    assert.equal(names(text)[0], 'mcp_gh__list_issues');
    assert.match(text, /^<<<EXTERNAL_UNTRUSTED_CONTENT/);
    assert.match(text, /arguments: \{"type":"object"\}/);
  });

  it('finds a part of a name, no more than are asked for, and says when there is none', async () => {
    assert.deepEqual(names(await search({ query: 'home__', max_results: 1 })), ['mcp_home__water']);
    assert.match(await search({ query: 'zzzz qqqq' }), /no tool of an MCP server/);
  });
});

describe('MC-2 the tools that a model is told of', () => {
  const made = (name: string, more: object): Tool => ({ ...tool, name, ...more });
  const mcp = { server: 'many', tool: 'x', requireGrant: false, grants: [], isInternal: false };
  const many = Array.from({ length: 45 }, (_, at) => made(`mcp_many_${at + 10}`, { mcp }));
  const catalog = createCatalog([tool, made('other_tool', {}), ...many]);
  const all = catalog.list().map(({ name }) => name);

  it('are forty of MCP servers at most, the same each time, with the search beside them', () => {
    const told = toldTools(catalog, all, () => []);
    assert.equal(told.length, 42);
    assert.deepEqual(toldTools(catalog, all.toReversed(), () => []).toSorted(), told.toSorted());
    assert.ok(told.includes('other_tool') && told.includes(MCP_TOOL_SEARCH));
    assert.ok(!told.includes('mcp_many_54'));
  });

  it('are those besides that the search has found', () => {
    const told = toldTools(catalog, all, () => ['tool: mcp_many_54\nPokes', 'tool: not_there']);
    assert.ok(told.includes('mcp_many_54') && !told.includes('mcp_many_53') && !told.includes('not_there'));
  });

  it('are all of them, and no search, where they are few', () => {
    const few = all.slice(0, 12);
    assert.deepEqual(
      toldTools(catalog, few, () => assert.fail('nothing is looked for')),
      few.filter((name) => name !== MCP_TOOL_SEARCH),
    );
  });
});
