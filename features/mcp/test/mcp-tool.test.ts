/** MC-2: names of an MCP server's tool, here and in other systems. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { policyWarnings } from '#domain/policy/check-policy.ts';
import { matchesTool } from '#domain/policy/tool-groups.ts';
import { mcpServerCreateSchema } from '../schema/mcp-server.ts';
import { splitServer } from '../rules/server.ts';
import { policyToolOf } from '#policy/call-rules.ts';
import { createCatalog } from '#policy/catalog.ts';
import { catalogedMcpTools } from '../policy/mcp-tool.ts';

const { config } = splitServer(
  mcpServerCreateSchema.parse({ name: 'every', url: 'https://mcp.example.com/' }),
);
const tools = catalogedMcpTools({
  name: 'every',
  base: 'mcp_every',
  config,
  grants: [],
  tools: [
    {
      id: 'mcpt_1',
      revision: 1,
      definition: { name: 'echo', description: 'Says it again.', schema: { type: 'object', properties: {} } },
    },
  ],
});

test('PO-2 its canonical name, GoClaw’s with one underscore and clawft’s are understood in rules and calls', () => {
  const catalog = createCatalog([]).with(tools);
  const known = tools.map(policyToolOf);
  for (const name of ['mcp_every__echo', 'mcp_every_echo', 'every__echo']) {
    assert.equal(catalog.find(name)?.tool.name, 'mcp_every__echo', name);
    assert.ok(
      known.every((tool) => matchesTool(name, tool)),
      name,
    );
    assert.deepEqual(policyWarnings({ deny: [name] }, known), []);
  }
  const wrong = policyWarnings({ deny: ['mcp_every_ecko', 'group:mcp:everything'] }, known);
  assert.deepEqual(
    wrong.map(({ path }) => path.join('.')),
    ['deny.0', 'deny.1'],
  );
});
