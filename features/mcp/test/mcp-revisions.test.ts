/** MC-1, SC-4: servers of older revisions, which most still have, are detected and read like those of the newest. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type McpBench, mcpBench } from '#test/support/mcp-case-bench.ts';
import { TOOL_CASES } from '#test/support/mcp-cases.ts';

const PLACES = [
  ['2024-11-05', 'stdio'],
  ['2025-06-18', 'stdio'],
  ['2025-06-18', 'http'],
] as const;

describe('MC revisions before the newest', () => {
  let bench: McpBench;
  before(async () => {
    bench = await mcpBench();
  });
  after(() => bench.stop());

  for (const [revision, transport] of PLACES)
    it(`MC-1, SC-4 what a server of ${revision} answers over ${transport} is read as it should be`, async () => {
      const name = `${transport}_${revision.slice(0, 4)}`;
      const { added } = await bench.add(name, transport, { revision });
      assert.equal(added.status, 'ready', String(added.error));
      // Each case is of a different kind.
      const cases = TOOL_CASES.filter((_one, index) => index % Math.floor(TOOL_CASES.length / 12) === 0);
      for (const { name: tool, ok, reads, not } of cases) {
        const row = await bench.call(`mcp_${name}__${tool} {}`);
        assert.equal(row.ok, ok, `${tool}: ${row.result}`);
        assert.match(row.result, reads, tool);
        if (not) assert.doesNotMatch(row.result, not, tool);
      }
    });
});
