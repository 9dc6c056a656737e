/** MC-1, SH-5, F15: how the programs and sessions of MCP servers start, what they see, and that they end. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type McpBench, mcpBench } from '#test/support/mcp-case-bench.ts';
import type { Revision } from '#test/support/mcp-case-peer.ts';

const REVISIONS: readonly Revision[] = ['2026-07-28', '2025-11-25'];

describe('MC programs of all kinds', () => {
  let bench: McpBench;
  before(async () => {
    bench = await mcpBench();
  });
  after(() => bench.stop());

  for (const revision of REVISIONS)
    it(`MC-1 a program of ${revision} that takes six seconds to start is waited for`, async () => {
      const { added } = await bench.add(`slow_${revision.slice(0, 4)}`, 'stdio', {
        revision,
        startMs: 6_000,
      });
      assert.equal(added.status, 'ready', String(added.error));
    });

  it('MC-1 a program of 2025-11-25 that ends when it is asked for a newer revision is started again in the older way', async () => {
    await bench.add('exits', 'stdio', { revision: '2025-11-25', discover: 'exit' });
    await bench.stack.worker.until('it is ready', async () =>
      (await bench.ask('GET', '/exits')).status === 'ready' ? true : undefined,
    );
  });

  it('MC-1 a call that is refused since its session has ended is made in a new one', async () => {
    await bench.add('forgets', 'http', { revision: '2025-11-25', forgets: true });
    assert.match((await bench.call('mcp_forgets__one_text {}')).result, /hello/);
  });

  it('SH-5 a program sees its own variables and where programs are, nothing else of the worker', async () => {
    const { seen } = await bench.add('seeing', 'stdio', { revision: '2025-11-25' });
    const env = (await seen()).flatMap((line) => (line['env'] as string[] | undefined) ?? []);
    const known =
      /^(PATH|HOME|LANG|TOKEN|TEMPOCLAW_\w+|TMPDIR|XDG_\w+|npm_config_\w+|PIP_\w+|UV_\w+|NODE_\w+|PYTHON\w+|LC_CTYPE|PWD|SHLVL|_)$/;
    assert.deepEqual(
      env.filter((name) => !known.test(name)),
      [],
    );
  });

  it('F15 nothing of a stubborn program lives two seconds after its server was deleted', async () => {
    const { seen } = await bench.add('stubborn', 'stdio', { revision: '2026-07-28', isStubborn: true });
    const pids = (await seen()).flatMap(({ start }) => (typeof start === 'number' ? [start] : []));
    assert.equal(pids.length, 2);
    await bench.ask('DELETE', '/stubborn', undefined, 204);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    assert.deepEqual(pids.filter(isThere), []);
  });
});

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
