/** R9, SH-3: a stdio MCP server has a box of its own: a container, else bubblewrap, and never the host. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, it, type TestContext } from 'node:test';
import { createEgress } from '#activities/egress/create-egress.ts';
import { type OpenServer, openServer } from '../activities/open-server.ts';
import type { ServerBoxing } from '../activities/server-box.ts';
import { withoutWall, createBubblewrap } from '@tempoclaw/sandbox';
import { commandFolders } from '#config';
import { type McpServerToUse, mcpServerPlace } from '../store/mcp-server-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { createSealer } from '#store/seal.ts';
import { boxesAt, findEngine, testBoxes } from '#test/support/container-engine.ts';
import { textsOf } from '#test/support/mcp-client.ts';
import { eventually, runningWith } from '#test/support/processes.ts';

const NO_ENGINE = 'unix:///nonesuch/docker.sock';
const found = await findEngine();
const bubblewrap = createBubblewrap(commandFolders());
const bubbles = await bubblewrap.works();
assert.ok(bubbles || process.env['CI'] !== 'true', 'bubblewrap must work where CI runs');
after(async () => ('engine' in found ? found.engine.stop() : undefined));

/** Runs the Python code that it gets, as an untrusted server could. */
const SERVER = `
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if 'id' not in asked: continue
    method, params = asked['method'], asked.get('params') or {}
    if method == 'initialize':
        info = {'name': 'python', 'version': '1'}
        result = {'protocolVersion': params['protocolVersion'], 'capabilities': {'tools': {}}, 'serverInfo': info}
    elif method == 'tools/list':
        result = {'tools': [{'name': 'run', 'inputSchema': {'type': 'object'}}]}
    elif method == 'tools/call':
        try: said = repr(eval(params['arguments']['code']))
        except Exception as problem: said = repr(problem)
        result = {'content': [{'type': 'text', 'text': said}]}
    else:
        print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'error': {'code': -32601, 'message': 'no'}}), flush=True)
        continue
    print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'result': result}), flush=True)
`;
const SECRET = `value-${randomUUID()}`;

function open(boxing: ServerBoxing, mark: string): Promise<OpenServer> {
  const id = randomUUID();
  const now = new Date();
  const sealer = createSealer([Buffer.alloc(32, 1)]);
  const server: McpServerToUse = {
    id,
    tenant: 'test',
    name: 'python',
    base: 'mcp_python',
    config: {
      transport: 'stdio',
      command: 'python3',
      args: ['-c', SERVER, mark],
      box: true,
      url: '',
      enabled: true,
      tool_prefix: '',
      timeout_sec: 20,
      internal_only: false,
      require_grant: false,
      trust_hints: false,
      sampling: false,
      replay: {},
      credentials: 'shared',
    },
    sealed: sealer.seal(JSON.stringify({ env: { GIVEN: SECRET }, headers: {} }), mcpServerPlace('test', id)),
    revision: 1,
    status: 'connecting',
    error: null,
    origin: 'api',
    updated_by: 'test',
    created_at: now,
    updated_at: now,
  };
  const deps = {
    egress: createEgress({ resolve: async () => [], record: async () => undefined }),
    rulesOf: async () => ({}),
    sealer,
    pool: {} as Pool,
    resolve: async (_tenant: string, text: string) => text,
    wall: withoutWall(),
    folders: join(tmpdir(), 'tempoclaw-test-mcp-servers'),
    boxing,
    environment: { PATH: process.env['PATH'] ?? '', OURS: 'not to be seen' },
    worker: 'of nobody',
  };
  const received = { onClosed: () => undefined, onToolsChanged: () => undefined };
  return openServer(deps, server, received, {
    mode: 'legacy',
    user: '',
    signal: AbortSignal.timeout(60_000),
  });
}

const PLACES: readonly {
  readonly name: string;
  readonly skip: string | false;
  boxing(t: TestContext): ServerBoxing;
}[] = [
  {
    name: 'a container',
    skip: 'skip' in found ? found.skip : false,
    boxing: (t) => ({
      boxes: testBoxes(t, 'engine' in found ? found.engine.address : NO_ENGINE),
      bubblewrap: createBubblewrap([]),
      sandbox: { mode: 'required' },
    }),
  },
  {
    name: 'bubblewrap',
    skip: bubbles ? false : 'bubblewrap is not here, or may not make namespaces',
    boxing: () => ({ boxes: boxesAt(NO_ENGINE), bubblewrap, sandbox: { mode: 'off' } }),
  },
];

describe('R9 an MCP server in a box', () => {
  for (const { name, skip, boxing } of PLACES)
    it(`in ${name}: it answers, has its own variables, sees no file or net of the host, and ends with its connection`, {
      skip,
    }, async (t) => {
      const mark = `mark-${randomUUID()}`;
      const live = await open(boxing(t), mark);
      t.after(() => live.end());
      assert.deepEqual(
        (await live.list(AbortSignal.timeout(60_000))).map(({ definition }) => definition.name),
        ['run'],
      );
      const run = async (code: string): Promise<string> =>
        textsOf(await live.client.callTool({ name: 'run', arguments: { code } })).join('');
      assert.equal(await run('__import__("os").environ["GIVEN"]'), `'${SECRET}'`);
      assert.equal(await run('"OURS" in __import__("os").environ'), 'False');
      assert.match(await run(`open(${JSON.stringify(import.meta.filename)}).read()`), /FileNotFoundError/);
      assert.match(await run('__import__("os").listdir("/workspace")'), /^\[\]$/);
      assert.match(await run('open("/usr/made", "w")'), /Read-only file system|PermissionError/);
      const dial = '__import__("socket").create_connection(("10.0.0.1", 80), 2)';
      assert.match(await run(dial), /unreachable/);
      assert.equal(await run('[i for _, i in __import__("socket").if_nameindex()]'), "['lo']");
      // Neither is in a command line, which anybody on the host may read.
      assert.ok(runningWith(mark).length > 0);
      assert.equal(runningWith(SECRET).length, 0);
      await live.end();
      assert.ok(await eventually(() => runningWith(mark).length === 0));
    });

  it('is not started on the host where no box can be had', async () => {
    const boxing = { boxes: boxesAt(NO_ENGINE), bubblewrap: createBubblewrap([]) };
    await assert.rejects(open({ ...boxing, sandbox: {} }, 'm'), /no box to run in: no engine answers/);
  });

  it('is in a container or nowhere where the settings require one', async () => {
    const boxing = { boxes: boxesAt(NO_ENGINE), bubblewrap, sandbox: { mode: 'required' } } as const;
    await assert.rejects(open(boxing, 'm'), /no box to run in: no engine answers/);
  });
});
