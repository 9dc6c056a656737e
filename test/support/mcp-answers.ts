/** Tests what models read of servers of each revision over each transport, whatever the servers answer. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type McpBench, mcpBench, type ShownTool, type Transport } from './mcp-case-bench.ts';
import type { Revision } from './mcp-case-peer.ts';
import { TOOL_CASES, type ToolCase } from './mcp-cases.ts';

const KINDS: readonly (readonly [Transport, Revision])[] = [
  ['stdio', '2026-07-28'],
  ['http', '2025-11-25'],
  ['stdio', '2025-11-25'],
  ['http', '2026-07-28'],
];

/** Each kind of server gives every answer, or one of four: each answer comes from one of the kinds. */
export function answersTests(which: 'all' | 'in turn'): void {
  describe('MC answers of servers', () => {
    let bench: McpBench;
    before(async () => {
      bench = await mcpBench();
    });
    after(() => bench.stop());

    for (const [kind, [transport, revision]] of KINDS.entries()) {
      const cases = TOOL_CASES.filter((_, at) => which === 'all' || at % KINDS.length === kind);
      answersOf(() => bench, transport, revision, cases);
    }
  });
}

function answersOf(
  bench: () => McpBench,
  transport: Transport,
  revision: Revision,
  cases: readonly ToolCase[],
): void {
  const name = `${transport}_${revision.slice(0, 4)}`;
  it(`F12, SC-2, SC-4 what a server of ${revision} answers over ${transport} is read as it should be, and the connection stays`, async () => {
    const { added, seen } = await bench().add(name, transport, { revision });
    assert.equal(added.status, 'ready', String(added.error));
    const shown: readonly ShownTool[] = added.tools;
    assert.ok(shown.every(({ enabled }) => enabled));
    assert.doesNotMatch(JSON.stringify(shown), /\\u001b|\ufe01/);
    const wrong: string[] = [];
    const remaining = [...cases];
    const goThrough = async (): Promise<void> => {
      for (let one = remaining.pop(); one; one = remaining.pop()) {
        const row = await bench().call(`mcp_${name}__${one.name} {}`);
        if (row.ok !== one.ok || !one.reads.test(row.result) || one.not?.test(row.result))
          wrong.push(`${one.name}: ok ${row.ok}, ${row.result.slice(0, 400)} … ${row.result.slice(-200)}`);
      }
    };
    await Promise.all(Array.from({ length: 4 }, goThrough));
    assert.deepEqual(wrong, []);
    const once = (await seen()).filter(
      ({ method }) => method === 'initialize' || method === 'subscriptions/listen',
    );
    assert.equal(once.length, 1, 'one connection all the while');
  });

  it(`R9 a tool that a server of ${revision} changes over ${transport}, and says so, does not run before somebody agrees`, async () => {
    const rug = `rug_${name}`;
    await bench().add(rug, transport, { revision, changes: 'told' });
    assert.match((await bench().call(`mcp_${rug}__changes {}`)).result, /ran agreed/);
    // What the server says reaches the worker when it can, behind its answer.
    await bench().stack.worker.until('the change being known', async () => {
      const { tools } = await bench().ask('GET', `/${rug}`);
      return tools.some((tool: { changed?: true }) => tool.changed) ? true : undefined;
    });
    const second = await bench().call(`mcp_${rug}__changes {}`);
    assert.equal(second.ok, false);
    assert.doesNotMatch(second.result, /ran changed/);
    await bench().ask('POST', `/${rug}/consent`, {});
    assert.match((await bench().call(`mcp_${rug}__changes {}`)).result, /ran changed/);
  });
}
