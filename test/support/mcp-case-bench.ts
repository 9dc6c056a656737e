/** MCP servers that behave as a test says, over stdio and HTTP, on a stack of their own. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-port.ts';
import { type Behaviour, peerOverHttp } from './mcp-case-peer.ts';
import { SECRET } from './mcp-cases.ts';
import { startStack } from './stack.ts';

const PEER = fileURLToPath(new URL('mcp-case-peer.ts', import.meta.url));

export type Transport = 'stdio' | 'http';

export interface ShownTool {
  readonly name: string;
  readonly description?: string;
  readonly enabled: boolean;
}

export type McpBench = Awaited<ReturnType<typeof mcpBench>>;

export async function mcpBench() {
  const port = await freePort();
  const peers = new Map<string, ReturnType<typeof peerOverHttp>>();
  const folder = await mkdtemp(join(tmpdir(), 'mcp-cases-'));
  const http = createServer((request, response) => {
    const peer = peers.get(request.url ?? '');
    if (peer) void peer(request, response);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
  const stack = await startStack({
    egress: { allowPrivate: [`127.0.0.1:${port}`] },
    settings: `egress: { allowPrivate: ["127.0.0.1:${port}"] }`,
    agents: [{ key: 'all', tools: { allow: ['*'] } }],
  });

  async function ask(method: string, path: string, body?: object, status = 200) {
    const answer = await stack.ask(method, `/v1/mcp/servers${path}`, body && { body });
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    return answer.body;
  }

  async function add(name: string, transport: Transport, behaviour: Behaviour) {
    const log = join(folder, `${name}.log`);
    const lines: object[] = [];
    if (transport === 'http') {
      peers.set(
        `/${name}`,
        peerOverHttp(behaviour, (line) => lines.push(line)),
      );
      await ask(
        'POST',
        '',
        { name, url: `http://127.0.0.1:${port}/${name}`, headers: { 'x-token': SECRET } },
        201,
      );
    } else {
      const args = ['--disable-warning=ExperimentalWarning', PEER, JSON.stringify(behaviour), log];
      await ask('POST', '', { name, command: process.execPath, args, env: { TOKEN: SECRET } }, 201);
    }
    const added = await ask('POST', `/${name}/test`, {});
    const seen = async (): Promise<readonly Record<string, unknown>[]> =>
      transport === 'http'
        ? (lines as Record<string, unknown>[])
        : (await readFile(log, 'utf8'))
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line));
    return { added, seen };
  }

  async function call(line: string) {
    const { turn_id } = await stack.worker.say(`s-${Math.random()}`, line, {});
    await stack.worker.ended(turn_id);
    const [row] = await stack.worker.calls(turn_id);
    assert.ok(row);
    return { ok: row.ok, result: row.result ?? '' };
  }

  async function stop(): Promise<void> {
    await stack.stop();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
    await rm(folder, { recursive: true });
  }

  return { stack, ask, add, call, stop };
}
