/**
 * DU-2, F15: kill -9 of the worker during a call of an MCP server: the call is not made again, and what it had started
 * is ended.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isAlive, processRow } from '@tempoclaw/sandbox';
import { hasWall } from '#test/start/wall.ts';
import { createStand, type Stand } from '#test/support/faults.ts';
import type { Peer } from '#test/support/mcp-peer.ts';
import { eventually, runningWith, uniqueSeconds } from '#test/support/processes.ts';

const TASK_PEER = fileURLToPath(new URL('../support/mcp-task-peer.ts', import.meta.url));
const PEER = fileURLToPath(new URL('../support/mcp-peer.ts', import.meta.url));

describe('DU-2 kill -9 of the worker under a call of an MCP server', { timeout: 300_000 }, () => {
  let stand: Stand;
  before(async () => {
    stand = await createStand({ workers: 1 });
  });
  after(() => stand?.close());

  it('a call that may not be made twice ends as OutcomeUnknown; one that may is made again', async () => {
    const [tenant] = stand.tenants;
    const [worker] = stand.workers;
    assert.ok(worker);
    const tool = { description: 'Pokes', inputSchema: { type: 'object' } };
    const own = join(stand.folder, 'mcp-servers', tenant.id, 'peer');
    await mkdir(own, { recursive: true });
    const file = join(own, 'peer.json');
    const record = join(own, 'peer.log');
    const peer: Peer = {
      tools: [
        { ...tool, name: 'once' },
        { ...tool, name: 'again' },
      ],
      call: 'silent',
    };
    await writeFile(file, JSON.stringify(peer));
    const lines = async (): Promise<{ start?: number; method?: string; name?: string }[]> =>
      (await readFile(record, 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    const callsOf = async (name: string): Promise<number> =>
      (await lines()).filter((line) => line.method === 'tools/call' && line.name === name).length;

    const args = ['--disable-warning=ExperimentalWarning', PEER, file, record];
    const body = { name: 'peer', command: process.execPath, args, replay: { again: 'idempotent' } };
    assert.equal((await stand.ask(tenant, 'POST', '/v1/mcp/servers', { body }))?.status, 201);
    const tested = await stand.ask(tenant, 'POST', '/v1/mcp/servers/peer/test', { body: {} });
    assert.equal(tested?.body['status'], 'ready', JSON.stringify(tested?.body));

    const turns = await Promise.all(
      ['once', 'again'].map((name) => stand.say(tenant, name, name, { text: `mcp_peer__${name} {}` })),
    );
    await stand.until('both calls', async () =>
      (await callsOf('once')) + (await callsOf('again')) === 2 ? true : undefined,
    );
    const pid = (await lines()).find((line) => line.start)?.start ?? 0;
    await worker.kill();
    await writeFile(file, JSON.stringify({ tools: peer.tools }));
    await worker.start();

    const results = await stand.until('the ends of the turns', async () => {
      const { rows } = await stand.pool.query<{ tool: string; ok: boolean; code: string | null }>(
        `select c.tool, c.ok, c.code from tool_calls c join turns t on t.tenant_id = c.tenant_id and t.id = c.turn_id
         where t.id = any ($1) and t.ended_at is not null order by c.tool`,
        [turns],
      );
      return rows.length === 2 ? rows : undefined;
    });
    assert.deepEqual(results, [
      { tool: 'mcp_peer__again', ok: true, code: null },
      { tool: 'mcp_peer__once', ok: false, code: 'OutcomeUnknown' },
    ]);
    assert.deepEqual([await callsOf('once'), await callsOf('again')], [1, 2]);
    const remaining = processRow(pid);
    assert.ok(remaining === undefined || !isAlive(remaining), 'the process of the worker that was killed');
  });

  it('a program ends with its worker, whatever it ignores and hides, and its temporary folder goes with the next start', async (t) => {
    if (!hasWall()) return t.skip('this kernel has no Landlock');
    const [tenant] = stand.tenants;
    const [worker] = stand.workers;
    assert.ok(worker);
    const own = join(stand.folder, 'mcp-servers', tenant.id, 'stubborn');
    await mkdir(own, { recursive: true });
    const file = join(own, 'peer.json');
    await writeFile(file, JSON.stringify({ tools: [] } satisfies Peer));
    const mark = uniqueSeconds();
    const script = `process.on('SIGTERM', () => undefined);
      setInterval(() => undefined, 1_000);
      require('node:fs').writeFileSync('temporary', process.env.TMPDIR);
      const { spawn } = require('node:child_process');
      spawn('sleep', ['${mark}'], { env: {}, detached: true, stdio: 'ignore' });
      spawn(process.execPath, process.argv.slice(2), { stdio: 'inherit' });`;
    await writeFile(join(own, `stubborn-${mark}.cjs`), script);
    const peerArgs = ['--disable-warning=ExperimentalWarning', PEER, file, join(own, 'log')];
    const args = [join(own, `stubborn-${mark}.cjs`), ...peerArgs];
    const body = { name: 'stubborn', command: process.execPath, args };
    const made = await stand.ask(tenant, 'POST', '/v1/mcp/servers', { body });
    assert.equal(made?.status, 201, JSON.stringify(made?.body));
    const tested = await stand.ask(tenant, 'POST', '/v1/mcp/servers/stubborn/test', { body: {} });
    assert.equal(tested?.body['status'], 'ready', JSON.stringify(tested?.body));
    const temporary = (await readFile(join(own, 'temporary'), 'utf8')).trim();
    assert.ok(existsSync(temporary));
    assert.ok(runningWith(mark).length > 0);

    await worker.kill();
    assert.ok(await eventually(() => runningWith(mark).length === 0), 'all of it is over without a worker');
    await worker.start();
    assert.ok(await eventually(() => !existsSync(temporary)), 'nothing of it is left');
  });

  it('a task is followed by its id after the worker’s death, and begun once; a call that was never answered is lost', async () => {
    const [tenant] = stand.tenants;
    const [worker] = stand.workers;
    assert.ok(worker);
    const folder = join(stand.folder, 'mcp-servers', tenant.id, 'tasks');
    await mkdir(folder, { recursive: true });
    const seen = async (): Promise<{ method?: string; name?: string }[]> =>
      (await readFile(join(folder, 'log'), 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    const count = async (method: string, name?: string): Promise<number> =>
      (await seen()).filter((line) => line.method === method && (name === undefined || line.name === name))
        .length;

    const args = ['--disable-warning=ExperimentalWarning', TASK_PEER, folder];
    const body = { name: 'tasks', command: process.execPath, args, sampling: true };
    assert.equal((await stand.ask(tenant, 'POST', '/v1/mcp/servers', { body }))?.status, 201);
    const tested = await stand.ask(tenant, 'POST', '/v1/mcp/servers/tasks/test', { body: {} });
    assert.equal(tested?.body['status'], 'ready', JSON.stringify(tested?.body));

    const tools = ['work', 'lose', 'ask', 'ask_task', 'ask_model'];
    const turns = await Promise.all(
      tools.map((name) =>
        stand.say(tenant, `tasks-${name}`, `tasks-${name}`, { text: `mcp_tasks__${name} {}` }),
      ),
    );
    const requests = await stand.until('all calls at their server, three of them with people', async () => {
      const { rows } = await stand.pool.query<{ id: string; tool: string }>(
        `select id, tool from approvals where turn_id = any ($1) and status = 'pending' order by tool`,
        [turns],
      );
      const isThere = (await count('tasks/get')) > 1 && (await count('tools/call', 'lose')) === 1;
      return rows.length === 3 && isThere ? rows : undefined;
    });
    await worker.kill();
    // People's answers in the meantime are there when a worker is.
    const answers = Promise.all(
      requests.map(({ id, tool }) =>
        stand.until('an answer', async () => {
          const isModel = tool === 'mcp_tasks__ask_model';
          const decision = isModel ? { decision: 'approve' } : { decision: 'edit', args: { name: 'Ada' } };
          const reply = await stand.ask(tenant, 'POST', `/v1/approvals/${id}/decision`, { body: decision });
          return reply?.status === 200 || reply?.status === 409 ? true : undefined;
        }),
      ),
    );
    await writeFile(join(folder, 'finish'), '');
    await worker.start();
    await answers;

    const results = await stand.until('the ends of the turns', async () => {
      const { rows } = await stand.pool.query<{ tool: string; code: string | null; result: string }>(
        `select c.tool, c.code, c.result from tool_calls c join turns t on t.tenant_id = c.tenant_id and t.id = c.turn_id
         where t.id = any ($1) and t.ended_at is not null order by c.tool`,
        [turns],
      );
      return rows.length === tools.length ? rows : undefined;
    });
    assert.deepEqual(
      results.map(({ tool, code }) => [tool, code]),
      [
        ['mcp_tasks__ask', null],
        ['mcp_tasks__ask_model', null],
        ['mcp_tasks__ask_task', null],
        ['mcp_tasks__lose', 'OutcomeUnknown'],
        ['mcp_tasks__work', null],
      ],
    );
    assert.match(results[0]?.result ?? '', /state-7 .*"name":"Ada"/);
    assert.match(results[1]?.result ?? '', /state-7 .*"role":"assistant".*Say otter/);
    assert.match(results[2]?.result ?? '', /ask_task is done .*"name":"Ada"/);
    assert.match(results[4]?.result ?? '', /work is done/);
    // `ask` and `ask_model` are sent again with the answer, as their revision requires.
    const calls = await Promise.all(tools.map((name) => count('tools/call', name)));
    assert.deepEqual(calls, [1, 1, 2, 1, 2]);
  });
});
