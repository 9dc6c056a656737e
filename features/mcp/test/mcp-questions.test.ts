/** MC-1, AP-1: people answer what an MCP server asks during a call, and its tasks are followed; in both revisions. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { textsOf } from '#test/support/mcp-client.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const EVERYTHING = fileURLToPath(
  import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'),
);
const PEER = fileURLToPath(new URL('../../../test/support/mcp-task-peer.ts', import.meta.url));

describe('MC questions and tasks of MCP servers', () => {
  let stack: Stack;
  let folder: string;
  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'mcp-test-')));
    stack = await startStack({});
    await add('old', [EVERYTHING, 'stdio']);
    await add('new', ['--disable-warning=ExperimentalWarning', PEER, folder]);
  });
  after(async () => {
    await stack.stop();
    await rm(folder, { recursive: true });
  });

  async function add(name: string, args: readonly string[]): Promise<void> {
    const body = { name, command: process.execPath, args };
    const added = await stack.ask('POST', '/v1/mcp/servers', { body });
    assert.equal(added.status, 201, JSON.stringify(added.body));
    const tested = await stack.ask('POST', `/v1/mcp/servers/${name}/test`, { body: {} });
    assert.equal(tested.body.status, 'ready', JSON.stringify(tested.body));
  }

  const seen = async (): Promise<{ method?: string; name?: string }[]> =>
    (await readFile(join(folder, 'log'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

  /** The approval that a call leads to. */
  async function ask(session: string, line: string) {
    const { turn_id } = await stack.worker.say(session, line);
    const id = await stack.worker.approvalOf(session);
    const { body } = await stack.ask('GET', `/v1/approvals/${id}`);
    const decide = async (decision: object, status = 200): Promise<void> => {
      const answer = await stack.ask('POST', `/v1/approvals/${id}/decision`, { body: decision });
      assert.equal(answer.status, status, JSON.stringify(answer.body));
    };
    const end = async () => {
      await stack.worker.ended(turn_id);
      const [row] = await stack.worker.calls(turn_id);
      assert.ok(row);
      return row;
    };
    return { id, approval: body, decide, end, turn: turn_id };
  }

  it('2026-07-28: a form that is filled in goes to the server, and the call goes on', async () => {
    const { approval, decide, end } = await ask('form', 'mcp_new__ask {}');
    assert.equal(approval.form.message, 'Who are you?');
    assert.deepEqual(
      approval.form.fields.map(({ name, type, required }: Record<string, unknown>) => [name, type, required]),
      [
        ['name', 'string', true],
        ['age', 'integer', false],
      ],
    );
    assert.deepEqual(approval.args, { age: 40 });
    await decide({ decision: 'approve' }, 422);
    await decide({ decision: 'edit', args: { name: 'x' } }, 422);
    await decide({ decision: 'edit', args: { name: 'Ada', other: 1 } }, 422);
    await decide({ decision: 'respond', text: 'no' }, 422);
    await decide({ decision: 'edit', args: { name: 'Ada' } });
    const row = await end();
    assert.equal(row.ok, true, row.result ?? '');
    assert.match(row.result ?? '', /state-7 \{"who":\{"action":"accept","content":\{"name":"Ada"\}\}\}/);
  });

  it('2026-07-28: a question that is rejected is declined, and the server hears it', async () => {
    const { decide, end } = await ask('declined', 'mcp_new__ask {}');
    await decide({ decision: 'reject' });
    assert.match((await end()).result ?? '', /\{"who":\{"action":"decline"\}\}/);
  });

  it('2025-11-25: the connection waits in the worker for the answer, with the defaults of the form', async () => {
    const { approval, decide, end } = await ask('held', 'mcp_old__trigger-elicitation-request {}');
    assert.equal(approval.form.server, 'old');
    assert.equal(approval.args.integer, 42);
    await decide({ decision: 'edit', args: { ...approval.args, name: 'Ada', email: 'not one' } }, 422);
    await decide({ decision: 'edit', args: { ...approval.args, name: 'Ada', integer: 7 } });
    const row = await end();
    assert.equal(row.ok, true, row.result ?? '');
    assert.match(row.result ?? '', /Name: Ada/);
    assert.match(row.result ?? '', /"integer": 7/);
  });

  it('2025-11-25: a task that asks meanwhile goes on with the answer', async () => {
    const { approval, decide, end } = await ask(
      'research',
      'mcp_old__simulate-research-query {"topic":"python","ambiguous":true}',
    );
    const [field] = approval.form.fields;
    await decide({ decision: 'edit', args: { [field.name]: field.options[0].value } });
    const row = await end();
    assert.equal(row.ok, true, row.result ?? '');
    assert.match(row.result ?? '', /python/i);
  });

  it('2026-07-28: a task is begun once, followed to its end, and what it says is shown', async () => {
    const { turn_id } = await stack.worker.say('task', 'mcp_new__work {}');
    await stack.worker.until(
      'a look at the task',
      async () => (await seen()).some(({ method }) => method === 'tasks/get') || undefined,
    );
    await writeFile(join(folder, 'finish'), '');
    await stack.worker.ended(turn_id);
    const [row] = await stack.worker.calls(turn_id);
    assert.match(row?.result ?? '', /work is done/);
    const started = (await seen()).filter(({ method, name }) => method === 'tools/call' && name === 'work');
    assert.equal(started.length, 1);
    const events = await stack.worker.events('task');
    assert.ok(events.some(({ type, data }) => type === 'tool.output' && data['text'] === 'work is working'));
    const { rows } = await stack.pool.query(`select from tool_calls t where t::text ~ 'task-[0-9]+-[0-9]'`);
    assert.equal(rows.length, 0, 'its id is sealed');
    await rm(join(folder, 'finish'));
  });

  it('2026-07-28: a task that asks gets the answer, and its end is the call’s', async () => {
    const { decide, end } = await ask('asking-task', 'mcp_new__ask_task {}');
    await decide({ decision: 'edit', args: { name: 'Grace', age: 41 } });
    assert.match((await end()).result ?? '', /ask_task is done .*"content":\{"name":"Grace","age":41\}/);
  });

  for (const tool of ['work', 'ask_task'])
    it(`a stop of the turn cancels the task (${tool})`, async () => {
      const before = (await seen()).filter(({ method }) => method === 'tasks/cancel').length;
      const { turn_id } = await stack.worker.say(`stop-${tool}`, `mcp_new__${tool} {}`);
      if (tool === 'work')
        await stack.worker.until(
          'its progress',
          async () =>
            (await stack.worker.events(`stop-${tool}`)).some(({ type }) => type === 'tool.output') ||
            undefined,
        );
      else await stack.worker.approvalOf(`stop-${tool}`);
      const stopped = await stack.ask('POST', `/v1/sessions/stop-${tool}/stop`, { body: {} });
      assert.equal(stopped.status, 202, JSON.stringify(stopped.body));
      await stack.worker.ended(turn_id);
      const [row] = await stack.worker.calls(turn_id);
      assert.deepEqual([row?.ok, row?.code], [false, 'Cancelled'], row?.result ?? '');
      const after = (await seen()).filter(({ method }) => method === 'tasks/cancel').length;
      assert.equal(after, before + 1);
    });

  it('a form is answered by a signal of any Temporal client as well', async () => {
    const { turn_id } = await stack.worker.say('signalled', 'mcp_new__ask {}');
    const id = await stack.worker.approvalOf('signalled');
    await stack.worker.client.workflow
      .getHandle(`approval/${id}`)
      .signal('decide', { decision: 'edit', args: { name: 'Signal' }, by: 'ann' });
    await stack.worker.ended(turn_id);
    const [row] = await stack.worker.calls(turn_id);
    assert.match(row?.result ?? '', /"content":\{"name":"Signal"\}/);
  });

  it('2026-07-28: an address is shown, opened by the person, and approved when it is done', async () => {
    const { id, approval, decide, end } = await ask('url', 'mcp_new__ask_url {}');
    assert.equal(approval.form.url, 'https://login.example/a%20b');
    const made = await stack.ask('POST', `/v1/approvals/${id}/links`, { body: { for: 'ann' } });
    const page = await (await fetch(made.body.url)).text();
    assert.match(page, /<pre>https:\/\/login\.example\/a%20b<\/pre>/);
    assert.doesNotMatch(page, /href="https:\/\/login/);
    await decide({ decision: 'edit', args: { name: 'Ada' } }, 422);
    await decide({ decision: 'approve' });
    assert.match((await end()).result ?? '', /\{"who":\{"action":"accept"\}\}/);
  });

  it('AP-1 a form is answered by the person at the MCP client that made the call', async () => {
    const client = new Client(
      { name: 'person', version: '1' },
      { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: { form: {} } } },
    );
    client.setRequestHandler('elicitation/create', ({ params }) => {
      assert.equal(params.message, 'the MCP server new asks: Who are you?');
      assert.ok('requestedSchema' in params);
      assert.deepEqual(params.requestedSchema.required, ['name']);
      return { action: 'accept', content: { name: 'Lin', age: 7 } };
    });
    const requestInit = { headers: { authorization: `Bearer ${stack.key}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${stack.url}/mcp`), { requestInit }));
    const result = await client.callTool({ name: 'mcp_new__ask', arguments: {} });
    assert.match(textsOf(result).join(), /"content":\{"name":"Lin","age":7\}/);
    await client.close();
  });

  it('AP-2 the page behind a link is the form itself', async () => {
    const { id, end } = await ask('page', 'mcp_new__ask {}');
    const made = await stack.ask('POST', `/v1/approvals/${id}/links`, { body: { for: 'ann' } });
    const page = await (await fetch(made.body.url)).text();
    assert.match(page, /The MCP server new asks<\/h1><pre>Who are you\?<\/pre>/);
    assert.match(page, /<input type="number" step="any" id="field:age" name="field:age" value="40">/);
    const digest = /name="digest" value="([0-9a-f]{64})"/.exec(page)?.[1] ?? '';
    const send = (fields: Record<string, string>): Promise<Response> =>
      fetch(made.body.url, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams({ decision: 'approve', digest, ...fields }),
      });
    const short = await send({ 'field:name': 'A', 'field:age': '41' });
    assert.equal(short.status, 422);
    assert.match(await short.text(), /name must be at least 2 characters/);
    assert.equal((await send({ 'field:name': 'Ann', 'field:age': '41' })).status, 303);
    assert.match((await end()).result ?? '', /"content":\{"name":"Ann","age":41\}/);
  });
});
