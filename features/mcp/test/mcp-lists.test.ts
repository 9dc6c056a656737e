/** R9, F15: lists of tools that never end, repeat, or contain invalid entries. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type McpBench, mcpBench, type ShownTool } from '#test/support/mcp-case-bench.ts';
import type { Behaviour, Revision } from '#test/support/mcp-case-peer.ts';

const REVISIONS: readonly Revision[] = ['2026-07-28', '2025-11-25'];

describe('MC lists of all kinds', () => {
  let bench: McpBench;
  before(async () => {
    bench = await mcpBench();
  });
  after(() => bench.stop());

  for (const revision of REVISIONS) {
    const list = async (kind: NonNullable<Behaviour['list']>): Promise<readonly ShownTool[]> => {
      const { added } = await bench.add(`list_${kind}_${revision.slice(0, 4)}`, 'http', {
        revision,
        list: kind,
      });
      assert.equal(added.status, 'ready', String(added.error));
      return added.tools;
    };
    it(`F15 of a list without end in ${revision} there are the tools of its first 20 pages`, async () => {
      assert.equal((await list('endless')).length, 20);
    });
    it(`F15 a list of ${revision} whose pages go round is read once`, async () => {
      assert.deepEqual(
        new Set((await list('circle')).map(({ name }) => name)),
        new Set(['page_0', 'page_1', 'page_2']),
      );
    });
    it(`R9 a tool of ${revision} that is none does not take the others with it`, async () => {
      assert.deepEqual(
        (await list('broken')).map(({ name }) => name),
        ['good'],
      );
    });
    it(`R9 of 1000 tools in ${revision} there are 200, and of two with one name the first`, async () => {
      assert.equal((await list('many')).length, 200);
      assert.match((await list('same'))[0]?.description ?? '', /The case twice|^$/);
    });
  }
});
