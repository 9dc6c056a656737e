/** DU-2: a call of an MCP server that a quick answer requests starts with the record of that answer. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isPlainEngine } from '#test/support/engine.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const PEER = fileURLToPath(new URL('../../../test/support/mcp-peer.ts', import.meta.url));

describe('DU-2 calls of MCP servers on the fast path', { skip: isPlainEngine() }, () => {
  let stack: Stack;
  let folder: string;
  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'mcp-test-')));
    stack = await startStack();
    const tools = [{ name: 'poke', description: 'Pokes', inputSchema: { type: 'object' } }];
    await writeFile(join(folder, 'peer.json'), JSON.stringify({ tools }));
    const args = ['--disable-warning=ExperimentalWarning', PEER, join(folder, 'peer.json'), log()];
    const body = { name: 'early', command: process.execPath, args };
    assert.equal((await stack.ask('POST', '/v1/mcp/servers', { body })).status, 201);
    const tested = await stack.ask('POST', '/v1/mcp/servers/early/test', { body: {} });
    assert.equal(tested.body.status, 'ready', JSON.stringify(tested.body));
  });
  after(async () => {
    await stack.stop();
    await rm(folder, { recursive: true });
  });

  const log = (): string => join(folder, 'log');
  const made = async (): Promise<number> => (await readFile(log(), 'utf8')).split('"tools/call"').length - 1;

  it('one begins with the record of the answer that asks for it, is announced once and made once', async () => {
    // This fails only if the machine is so busy that nothing is quick.
    await stack.worker.until('one that has begun so', async () => {
      const before = await made();
      const session = `early-${before}`;
      const script = 'datetime {}\nthen\nmcp_early__poke {}\nthen\nDone.';
      const { turn_id } = await stack.worker.say(session, script);
      assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
      assert.equal(await made(), before + 1);
      const call = (await stack.worker.calls(turn_id)).at(-1);
      assert.deepEqual([call?.tool, call?.ok], ['mcp_early__poke', true]);
      const started = (await stack.worker.events(session)).filter(({ type }) => type === 'tool.started');
      assert.equal(started.filter(({ data }) => data['call_id'] === call?.id).length, 1);
      const { rows } = await stack.pool.query(
        `select c.started_at = m.created_at as together from tool_calls c
           join messages m on m.tenant_id = c.tenant_id and m.turn_id = c.turn_id and m.step = c.step and m.role = 'assistant'
         where c.tenant_id = $1 and c.id = $2`,
        [stack.tenant, call?.id],
      );
      return rows[0]?.together || undefined;
    });
  });
});
