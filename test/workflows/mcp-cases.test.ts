/** MC-1, R9, SC-4, F12, F15: what models read of servers of both revisions, over stdio and HTTP, whatever the servers do. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from '#test/support/free-port.ts';
import { type Behaviour, peerOverHttp, type Revision } from '#test/support/mcp-case-peer.ts';
import { SECRET, TOOL_CASES } from '#test/support/mcp-cases.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const PEER = fileURLToPath(new URL('../support/mcp-case-peer.ts', import.meta.url));
const PORT = await freePort();
const REVISIONS: readonly Revision[] = ['2026-07-28', '2025-11-25'];
const TRANSPORTS = ['stdio', 'http'] as const;

interface ShownTool {
  readonly name: string;
  readonly description?: string;
  readonly enabled: boolean;
}

describe('MC servers of all kinds', () => {
  let stack: Stack;
  let folder: string;
  let http: Server;
  const peers = new Map<string, ReturnType<typeof peerOverHttp>>();
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mcp-cases-'));
    http = createServer((request, response) => {
      const peer = peers.get(request.url ?? '');
      if (peer) void peer(request, response);
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => http.listen(PORT, '127.0.0.1', resolve));
    stack = await startStack({
      egress: { allowPrivate: [`127.0.0.1:${PORT}`] },
      settings: `egress: { allowPrivate: ["127.0.0.1:${PORT}"] }`,
      agents: [{ key: 'all', tools: { allow: ['*'] } }],
    });
  });
  after(async () => {
    await stack.stop();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
    await rm(folder, { recursive: true });
  });

  async function ask(method: string, path: string, body?: object, status = 200) {
    const answer = await stack.ask(method, `/v1/mcp/servers${path}`, body && { body });
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    return answer.body;
  }

  async function add(name: string, transport: (typeof TRANSPORTS)[number], behaviour: Behaviour) {
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
        { name, url: `http://127.0.0.1:${PORT}/${name}`, headers: { 'x-token': SECRET } },
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

  for (const revision of REVISIONS)
    for (const transport of TRANSPORTS) {
      const name = `${transport}_${revision.slice(0, 4)}`;
      it(`F12, SC-2, SC-4 what a server of ${revision} answers over ${transport} is read as it should be, and the connection stays`, async () => {
        const { added, seen } = await add(name, transport, { revision });
        assert.equal(added.status, 'ready', String(added.error));
        const shown: readonly ShownTool[] = added.tools;
        assert.ok(shown.every(({ enabled }) => enabled));
        assert.doesNotMatch(JSON.stringify(shown), /\\u001b|\ufe01/);
        const wrong: string[] = [];
        const left = [...TOOL_CASES];
        const goThrough = async (): Promise<void> => {
          for (let one = left.pop(); one; one = left.pop()) {
            const row = await call(`mcp_${name}__${one.name} {}`);
            if (row.ok !== one.ok || !one.reads.test(row.result) || one.not?.test(row.result))
              wrong.push(
                `${one.name}: ok ${row.ok}, ${row.result.slice(0, 400)} … ${row.result.slice(-200)}`,
              );
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
        await add(rug, transport, { revision, changes: 'told' });
        assert.match((await call(`mcp_${rug}__changes {}`)).result, /ran agreed/);
        const second = await call(`mcp_${rug}__changes {}`);
        assert.equal(second.ok, false);
        assert.doesNotMatch(second.result, /ran changed/);
        await ask('POST', `/${rug}/consent`, {});
        assert.match((await call(`mcp_${rug}__changes {}`)).result, /ran changed/);
      });
    }

  for (const revision of REVISIONS) {
    const list = async (kind: NonNullable<Behaviour['list']>): Promise<readonly ShownTool[]> => {
      const { added } = await add(`list_${kind}_${revision.slice(0, 4)}`, 'http', { revision, list: kind });
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
    it(`MC-1 a program of ${revision} that takes six seconds to start is waited for`, async () => {
      const { added } = await add(`slow_${revision.slice(0, 4)}`, 'stdio', { revision, startMs: 6_000 });
      assert.equal(added.status, 'ready', String(added.error));
    });
  }

  it('MC-1 a program of 2025-11-25 that ends when it is asked for a newer revision is started again in the older way', async () => {
    await add('exits', 'stdio', { revision: '2025-11-25', discover: 'exit' });
    await stack.worker.until('it is ready', async () =>
      (await ask('GET', '/exits')).status === 'ready' ? true : undefined,
    );
  });

  it('MC-1 a call that is refused since its session has ended is made in a new one', async () => {
    await add('forgets', 'http', { revision: '2025-11-25', forgets: true });
    assert.match((await call('mcp_forgets__one_text {}')).result, /hello/);
  });

  it('SH-5 a program sees its own variables and where programs are, nothing else of the worker', async () => {
    const { seen } = await add('seeing', 'stdio', { revision: '2025-11-25' });
    const env = (await seen()).flatMap((line) => (line['env'] as string[] | undefined) ?? []);
    const known =
      /^(PATH|HOME|LANG|TOKEN|TEMPOCLAW_\w+|TMPDIR|XDG_\w+|npm_config_\w+|PIP_\w+|UV_\w+|NODE_\w+|PYTHON\w+|LC_CTYPE|PWD|SHLVL|_)$/;
    assert.deepEqual(
      env.filter((name) => !known.test(name)),
      [],
    );
  });

  it('F15 nothing of a stubborn program lives two seconds after its server was deleted', async () => {
    const { seen } = await add('stubborn', 'stdio', { revision: '2026-07-28', isStubborn: true });
    const pids = (await seen()).flatMap(({ start }) => (typeof start === 'number' ? [start] : []));
    assert.equal(pids.length, 2);
    await ask('DELETE', '/stubborn', undefined, 204);
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
