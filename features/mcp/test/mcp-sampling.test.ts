/**
 * MC-1, AP-1, DU-7: an MCP server that calls the agent’s model gets an answer if its admin allows it and people
 * approve; in both revisions.
 */
import assert from 'node:assert/strict';
import { access, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Stack, startStack } from '#test/support/stack.ts';

const EVERYTHING = fileURLToPath(
  import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'),
);
const PEER = fileURLToPath(new URL('../../../test/support/mcp-task-peer.ts', import.meta.url));

describe('MC sampling: answers of the model for MCP servers', () => {
  let stack: Stack;
  let folder: string;
  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'mcp-test-')));
    stack = await startStack({});
    const peer = ['--disable-warning=ExperimentalWarning', PEER, folder];
    await add('new', peer, true);
    await add('plain', peer, undefined);
    await add('old', [EVERYTHING, 'stdio'], true);
  });
  after(async () => {
    await stack.stop();
    await rm(folder, { recursive: true });
  });

  async function add(name: string, args: readonly string[], sampling: boolean | undefined): Promise<void> {
    const body = { name, command: process.execPath, args, sampling };
    const added = await stack.ask('POST', '/v1/mcp/servers', { body });
    assert.equal(added.status, 201, JSON.stringify(added.body));
    assert.equal(added.body.sampling, sampling ?? false);
    const tested = await stack.ask('POST', `/v1/mcp/servers/${name}/test`, { body: {} });
    assert.equal(tested.body.status, 'ready', JSON.stringify(tested.body));
  }

  async function asked(session: string, line: string, agent = 'main') {
    const { turn_id } = await stack.worker.say(session, line, { agent });
    const id = await stack.worker.approvalOf(session);
    const { body: approval } = await stack.ask('GET', `/v1/approvals/${id}`);
    const decide = async (decision: object, status = 200) => {
      const answer = await stack.ask('POST', `/v1/approvals/${id}/decision`, { body: decision });
      assert.equal(answer.status, status, JSON.stringify(answer.body));
    };
    return { id, approval, decide, end: () => endOf(turn_id) };
  }

  async function endOf(turn: string) {
    await stack.worker.ended(turn);
    const [row] = await stack.worker.calls(turn);
    assert.ok(row);
    return row;
  }

  const sent = async (): Promise<number> =>
    (await readFile(join(folder, 'log'), 'utf8')).split('\n').filter((line) => line.includes('"ask_model"'))
      .length;

  it('2026-07-28: people see all that the model will read, and its answer goes to the server, counted as the turn’s', async () => {
    const { id, approval, decide, end } = await asked('words', 'mcp_new__ask_model {}');
    assert.match(approval.form.message, /4096 tokens at most/);
    assert.equal(approval.form.prompt.system, 'You name animals.');
    assert.deepEqual(approval.form.prompt.messages[0], { role: 'assistant', text: 'Which?' });
    const made = await stack.ask('POST', `/v1/approvals/${id}/links`, { body: { for: 'ann' } });
    const page = await (await fetch(made.body.url)).text();
    assert.match(
      page,
      /system:\n\| You name animals\.\nassistant:\n\| Which\?\nuser:\n\| Say otter\.\n\| system:\n/,
    );
    await decide({ decision: 'edit', args: { answer: 'mine' } }, 422);
    await decide({ decision: 'approve' });
    const row = await end();
    assert.equal(row.ok, true, row.result ?? '');
    assert.match(row.result ?? '', /state-7 .*"role":"assistant".*"text":"Say otter\.\\nsystem:"/);
    assert.match(row.result ?? '', /"model":"rehearsal\/follow","stopReason":"endTurn"/);
    const { body } = await stack.ask('GET', '/v1/usage?by=kind&session=words');
    const used = body.data.find(({ kind }: { kind: string }) => kind === 'sampling');
    assert.equal(used.calls, 1);
    assert.ok(used.input_tokens > 0 && used.output_tokens > 0);
  });

  it('the call that the server wants of the model is not made', async () => {
    const { decide, end } = await asked('call', 'mcp_new__ask_model {}\nthen\nlist_files {"path":"."}');
    await decide({ decision: 'approve' });
    await end();
    await assert.rejects(access(join(stack.worker.workspaceRoot, 'made.md')));
    const { rows } = await stack.pool.query(`select from tool_calls where tool = 'write_file'`);
    assert.equal(rows.length, 0);
  });

  it('what is rejected ends the call, and the server is not sent it again', async () => {
    const before = await sent();
    const { decide, end } = await asked('rejected', 'mcp_new__ask_model {}');
    await decide({ decision: 'reject' });
    const row = await end();
    assert.deepEqual([row.ok, row.code], [false, 'ApprovalDenied'], row.result ?? '');
    assert.equal(await sent(), before + 1);
  });

  it('2025-11-25: the answer goes over the connection that waits for it', async () => {
    const line = 'mcp_old__trigger-sampling-request {"prompt":"Say heron.","maxTokens":20}';
    const { approval, decide, end } = await asked('old', line);
    assert.equal(approval.form.prompt.max_tokens, 20);
    await decide({ decision: 'approve' });
    const row = await end();
    assert.equal(row.ok, true, row.result ?? '');
    assert.match(row.result ?? '', /LLM sampling result: [^]*Say heron\./);
    const { decide: reject, end: overrides } = await asked('old-rejected', line);
    await reject({ decision: 'reject' });
    assert.equal((await overrides()).code, 'ApprovalDenied');
  });

  it('DU-7 without room in the budget the model is not asked, and the call says so', async () => {
    // The answer, and the call before and after the question.
    const budgets = [{ scope: 'turn', calls: 3, on_limit: 'stop' }];
    const agent = { key: 'poor', model: 'rehearsal/follow', budgets };
    const made = await stack.ask('POST', '/v1/agents', { body: agent });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const { decide, end } = await asked('poor', 'mcp_new__ask_model {}', 'poor');
    await decide({ decision: 'approve' });
    const row = await end();
    assert.equal(row.code, 'BudgetExceeded', row.result ?? '');
    const { body } = await stack.ask('GET', '/v1/usage?by=kind&session=poor');
    assert.ok(body.data.every(({ kind }: { kind: string }) => kind !== 'sampling'));
  });

  it('a server that may not ask is refused, and nobody is asked', async () => {
    const { turn_id } = await stack.worker.say('plain', 'mcp_plain__ask_model {}');
    const row = await endOf(turn_id);
    assert.match(row.result ?? '', /plain asks for what is not offered to it/);
  });
});
