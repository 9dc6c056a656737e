import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  createTaskSessionFromClient,
  resultFromTaskOutcome,
  type TaskEnabledSession,
} from '@modelcontextprotocol/ext-tasks/client';
import { createServer } from '#api/server/server.ts';
import { connectMcp, textsOf } from '#test/support/mcp-client.ts';
import { type Answer, type Stack, startStack } from '#test/support/stack.ts';

describe('MC-5 TempoClaw as an MCP server over HTTP', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      agents: [
        { key: 'careful', type: 'open', model: 'rehearsal/follow', tools: { deny: ['mark'] } },
        {
          key: 'writer',
          name: 'The writer',
          description: 'Writes well',
          type: 'open',
          model: 'rehearsal/follow',
        },
      ],
    });
  });
  after(() => stack.stop());

  const connect = (options: Parameters<typeof connectMcp>[1] & { key?: string } = {}) =>
    connectMcp({ url: stack.url, key: options.key ?? stack.key }, options);
  const turnIn = (texts: readonly string[]): string =>
    /turn_[0-9a-f]{32}/.exec(texts.join('\n'))?.[0] ?? assert.fail(texts.join('\n'));
  const callsOf = async (turn: string) =>
    (await stack.ask('GET', `/v1/turns/${turn}/tool-calls`)).body.data as Record<string, unknown>[];

  for (const mode of ['auto', 'legacy'] as const)
    it(`lists the tools that the agent's policy leaves, agents and its own, and calls one (${mode})`, async () => {
      const client = await connect({ mode, query: '?agent=careful' });
      const { tools } = await client.listTools();
      const names = tools.map(({ name }) => name);
      for (const name of ['read_file', 'peek', 'poke', 'ask_main', 'ask_writer', 'decide', 'turn_result'])
        assert.ok(names.includes(name), name);
      assert.ok(!names.includes('mark'));
      assert.equal(new Set(names).size, names.length);
      const peek = tools.find(({ name }) => name === 'peek');
      assert.equal(peek?.annotations?.readOnlyHint, true);
      assert.equal(peek.inputSchema.type, 'object');
      assert.match(
        tools.find(({ name }) => name === 'ask_writer')?.description ?? '',
        /The writer.*Writes well/,
      );
      const result = await client.callTool({ name: 'peek', arguments: { note: 'mcp' } });
      assert.deepEqual([result.isError, textsOf(result)], [undefined, ['peek mcp']]);
      await client.close();
    });

  it('R3 a denied tool is refused by the policy and recorded, an unknown one is an error of the protocol', async () => {
    const client = await connect({ query: '?agent=careful' });
    const denied = await client.callTool({ name: 'mark', arguments: { note: 'denied' } });
    assert.equal(denied.isError, true);
    assert.match(textsOf(denied).join(), /mark is not among the tools that careful was given/);
    assert.ok(!stack.worker.probes.effects.some(({ note }) => note === 'denied'));
    const { rows } = await stack.pool.query("select code from tool_calls where tool = 'mark' and not ok");
    assert.equal(rows.length, 1);
    await assert.rejects(client.callTool({ name: 'no_such', arguments: {} }), /Unknown tool: no_such/);
    const wrong = await client.callTool({ name: 'peek', arguments: { note: 5, other: 1 } });
    assert.equal(wrong.isError, true);
    assert.match(textsOf(wrong).join(), /InvalidInput: .*other/);
    await client.close();
  });

  it('a tool that fails is a result with its code', async () => {
    const client = await connect();
    const failed = await client.callTool({ name: 'break_off', arguments: { note: 'it is so' } });
    assert.equal(failed.isError, true);
    assert.match(textsOf(failed).join(), /^ExecutionFailed: (?!ExecutionFailed).*it is so/);
    await client.close();
  });

  it('AP-2 waits for an approval, says so meanwhile, and gives the result when it is decided over HTTP', async () => {
    const client = await connect();
    let requested = '';
    const result = await client.callTool(
      { name: 'poke', arguments: { note: 'approved by http' } },
      {
        onprogress({ message = '' }) {
          const id = /waits for approval (\S+): poke/.exec(message)?.[1];
          if (id === undefined || requested !== '') return;
          requested = id;
          void stack.ask('POST', `/v1/approvals/${id}/decision`, { body: { decision: 'approve' } });
        },
      },
    );
    assert.notEqual(requested, '');
    assert.deepEqual(textsOf(result), ['poke approved by http']);
    await client.close();
  });

  it('AP-2 names the approval when the time is up; it is a resource, `decide` decides it, `turn_result` goes on', async () => {
    const client = await connect({ query: '?wait=1' });
    const first = textsOf(await client.callTool({ name: 'poke', arguments: { note: 'by mcp' } }));
    const turn = turnIn(first);
    const { resources } = await client.listResources();
    assert.ok(
      resources.every(({ title = '' }) => /^poke: (?!poke)/.test(title)),
      JSON.stringify(resources),
    );
    const found = resources.find(({ uri }) => first.join().includes(uri)) ?? assert.fail(first.join());
    const { contents } = await client.readResource({ uri: found.uri });
    const [words, json] = contents.map((one) => ('text' in one ? one.text : ''));
    assert.match(words ?? '', /# May this run\?[^]*poke[^]*"note": "by mcp"/);
    const approval = JSON.parse(json ?? '');
    assert.equal(approval.status, 'pending');
    const decided = await client.callTool({
      name: 'decide',
      arguments: { approval_id: approval.id, decision: 'approve', digest: approval.digest },
    });
    assert.equal(JSON.parse(textsOf(decided).join()).decided_by, 'key:test admin');
    await stack.worker.ended(turn);
    const result = await client.callTool({ name: 'turn_result', arguments: { turn_id: turn } });
    assert.deepEqual(textsOf(result), ['poke by mcp']);
    assert.ok(!(await client.listResources()).resources.some(({ uri }) => uri === found.uri));
    await client.close();
  });

  it('asks an agent with progress, and goes on in its session', async () => {
    const client = await connect();
    const received: string[] = [];
    const request = await client.callTool(
      { name: 'ask_writer', arguments: { message: 'mark {"note":"asked"}' } },
      { onprogress: ({ message = '' }) => void received.push(message) },
    );
    const texts = textsOf(request);
    const session = /session: (\S+)/.exec(texts.join('\n'))?.[1];
    assert.ok(received.includes('runs mark: asked'), received.join());
    assert.equal((await callsOf(turnIn(texts)))[0]?.['tool'], 'mark');
    const again = textsOf(
      await client.callTool({ name: 'ask_writer', arguments: { message: 'say on', session } }),
    );
    assert.ok(again.join('\n').includes(`session: ${session}`));
    const other = await client.callTool({ name: 'ask_main', arguments: { message: 'hi', session } });
    assert.equal(other.isError, true);
    assert.match(textsOf(other).join(), /Conflict: .*belongs to the agent writer/);
    await client.close();
  });

  it('the same idempotency key is the same call, and no other one', async () => {
    const client = await connect();
    const call = (name: string, args: Record<string, unknown>, key = 'k1') =>
      client.callTool({ name, arguments: args, _meta: { 'tempoclaw/idempotency-key': key } });
    const first = textsOf(await call('mark', { note: 'once only' }));
    assert.deepEqual(textsOf(await call('mark', { note: 'once only' })), first);
    assert.equal(stack.worker.probes.effects.filter(({ note }) => note === 'once only').length, 1);
    assert.deepEqual(textsOf(await call('mark', { note: 'once only' }, 'k2')), first);
    assert.equal(stack.worker.probes.effects.filter(({ note }) => note === 'once only').length, 2);
    for (const other of [
      call('mark', { note: 'another' }),
      call('peek', { note: 'once only' }),
      call('ask_main', { message: 'hello' }),
    ])
      assert.match(textsOf(await other).join(), /^IdempotencyMismatch/);
    assert.ok(!stack.worker.probes.effects.some(({ note }) => note === 'another'));
    const long = await call('mark', { note: 'long' }, 'k'.repeat(256));
    assert.match(textsOf(long).join(), /^InvalidInput: tempoclaw.idempotency-key/);
    await client.close();
  });

  it('lists many agents page by page, each once', async () => {
    const { tenant, key } = await stack.makeTenant();
    await stack.pool.query(
      `insert into agents (tenant_id, key, revision, config)
       select $1, 'a' || n, 1, jsonb_build_object('key', 'a' || n, 'type', 'open') from generate_series(1, 250) n`,
      [tenant],
    );
    const page = (cursor?: string) =>
      stack.ask('POST', '/mcp', {
        key,
        body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
        headers: { accept: 'application/json, text/event-stream' },
      });
    const messageOf = ({ body }: Answer) =>
      JSON.parse(/^data: (.*)$/m.exec(body)?.[1] ?? JSON.stringify(body));
    const names: string[] = [];
    let pages = 0;
    for (let cursor: string | undefined; ; pages += 1) {
      const { tools, nextCursor } = messageOf(await page(cursor)).result;
      names.push(...tools.map(({ name }: { name: string }) => name));
      cursor = nextCursor;
      if (cursor === undefined) break;
    }
    assert.ok(pages > 0);
    assert.equal(new Set(names).size, names.length);
    assert.equal(names.filter((name) => name.startsWith('ask_a')).length, 250);
    assert.match(messageOf(await page('nonsense')).error.message, /InvalidInput: .*not a next_cursor/);
  });

  it('a client that goes away leaves its call running and recorded', async () => {
    const client = await connect();
    const call = client.callTool({ name: 'hold', arguments: { note: 'left' } });
    const gone = assert.rejects(call);
    await stack.worker.probes.untilHeld('left');
    await client.close();
    await gone;
    stack.worker.probes.release('left');
    const text = await stack.worker.until('the result', async () => {
      const { rows } = await stack.pool.query<{ result: string }>(
        "select result from tool_calls where tool = 'hold' and state = 'done' and args ->> 'note' = 'left'",
      );
      return rows[0]?.result;
    });
    assert.equal(text, 'hold left');
  });

  it('a process of the API that stops says how to go on, and another one goes on', async () => {
    const stopping = await createServer(stack.deps);
    const url = await stopping.listen({ host: '127.0.0.1', port: 0 });
    const first = await connectMcp({ url, key: stack.key });
    const call = first.callTool({ name: 'hold', arguments: { note: 'moved' } });
    await stack.worker.probes.untilHeld('moved');
    await stopping.close();
    const texts = textsOf(await call);
    assert.match(texts.join(), /has not ended.*turn_result/s);
    stack.worker.probes.release('moved');
    const client = await connect();
    const result = await client.callTool({ name: 'turn_result', arguments: { turn_id: turnIn(texts) } });
    assert.deepEqual(textsOf(result), ['hold moved']);
    await Promise.all([first.close(), client.close()]);
  });

  it('IN-9 asks for the scope that a call needs, and lists what the key may call', async () => {
    const client = await connect({ key: await stack.makeKey(['read']) });
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['turn_result'],
    );
    for (const name of ['peek', 'ask_main', 'decide']) {
      const refused = await client.callTool({ name, arguments: { note: 'x', message: 'x' } });
      assert.equal(refused.isError, true);
      assert.match(textsOf(refused).join(), /Forbidden: This needs a key with the scope (run|approve)/);
    }
    await client.close();
    const runner = await connect({ key: await stack.makeKey(['run']) });
    await assert.rejects(runner.listTools(), /Forbidden: This needs a key with the scope read/);
    await runner.close();
    await assert.rejects(connect({ key: 'tc_wrong' }));
  });

  it('R8 a key of another tenant sees and reaches nothing of this one', async () => {
    const mine = await connect({ query: '?wait=0' });
    const first = textsOf(await mine.callTool({ name: 'poke', arguments: { note: 'mine' } }));
    const approval = await stack.worker.until('the approval', async () => {
      const { body } = await stack.ask('GET', `/v1/approvals?status=pending&turn_id=${turnIn(first)}`);
      return body.data[0]?.id as string | undefined;
    });
    const other = await connect({ key: (await stack.makeTenant()).key });
    const names = (await other.listTools()).tools.map(({ name }) => name);
    assert.ok(!names.includes('ask_writer'));
    assert.deepEqual((await other.listResources()).resources, []);
    await assert.rejects(other.readResource({ uri: `approval://${approval}` }), /There is no resource/);
    for (const [name, args] of [
      ['turn_result', { turn_id: turnIn(first) }],
      ['decide', { approval_id: approval, decision: 'approve' }],
    ] as const) {
      const answer = await other.callTool({ name, arguments: args });
      assert.deepEqual([answer.isError, textsOf(answer).join().startsWith('NotFound')], [true, true]);
    }
    await Promise.all([mine.close(), other.close()]);
  });

  it('CU-1 a custom tool stands under the namespace custom', async () => {
    const made = await stack.ask('POST', '/v1/tools/custom', {
      body: {
        name: 'decide_not',
        description: 'Says a word.',
        command: 'echo {{word}}',
        parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
      },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const client = await connect();
    const names = (await client.listTools()).tools.map(({ name }) => name);
    assert.ok(names.includes('custom__decide_not') && !names.includes('decide_not'));
    const result = await client.callTool({ name: 'custom__decide_not', arguments: { word: 'namespaced' } });
    assert.match(textsOf(result).join(), /namespaced/);
    await client.close();
  });

  /** A client that supports tasks: the extension's own requester, over plain requests of the newest protocol. */
  async function connectTasks(): Promise<TaskEnabledSession> {
    const framing = {
      protocolVersion: '2026-07-28',
      clientInfo: { name: 'tasks', version: '1' },
      clientCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } },
    };
    const client = await connect();
    return createTaskSessionFromClient(client, {
      endpointId: stack.url,
      v2RequestFraming: framing,
      async rawDispatch(message) {
        const { method, params } = message as { method: string; params: Record<string, string> };
        const { body } = await stack.ask('POST', '/mcp', {
          body: { jsonrpc: '2.0', id: 1, ...(message as object) },
          headers: {
            accept: 'application/json, text/event-stream',
            'mcp-protocol-version': framing.protocolVersion,
            'mcp-method': method,
            'mcp-name': params['name'] ?? params['taskId'] ?? '',
          },
        });
        return body;
      },
    });
  }

  it('a turn of an agent is a task for a client that takes tasks: polled, and cancelled', async () => {
    const session = await connectTasks();
    const request = await session.callTool('ask_writer', { message: 'mark {"note":"as a task"}' });
    assert.equal(request.kind, 'task');
    const { outcome } = await request.settle();
    assert.match(JSON.stringify(resultFromTaskOutcome(outcome)), /mark as a task/);

    const held = await session.callTool('ask_main', { message: 'hold {"note":"a task held"}' });
    assert.equal(held.kind, 'task');
    await stack.worker.probes.untilHeld('a task held');
    await held.cancel();
    const ended = await held.settle();
    assert.equal(ended.outcome.status, 'cancelled');
    assert.equal((await stack.worker.ended(held.handle.taskId)).status, 'stopped');
    assert.equal((await session.task(held.handle.taskId).snapshot()).status, 'cancelled');
    await session.close();
  });

  it('refuses batches, subscriptions, other methods and pages of other sites', async () => {
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const batch = await stack.ask('POST', '/mcp', { body: [ping, ping] });
    assert.equal(batch.status, 400);
    assert.equal((await stack.ask('GET', '/mcp')).status, 405);
    const listen = await stack.ask('POST', '/mcp', {
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'subscriptions/listen',
        params: {
          notifications: { resourcesListChanged: true },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      },
      headers: {
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'subscriptions/listen',
      },
    });
    assert.match(JSON.stringify(listen.body), /Subscription limit reached/);
    const page = await stack.ask('POST', '/mcp', { body: ping, headers: { origin: 'http://evil.test' } });
    assert.equal(page.status, 403);
    assert.equal((await stack.ask('POST', '/mcp', { body: ping, key: null })).status, 401);
  });
});
