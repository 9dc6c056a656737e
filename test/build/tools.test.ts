import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('IN-1 tools over HTTP', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.stop());

  it('EX-1 lists tools with JSON Schema, group, replay class and aliases', async () => {
    const { body } = await stack.ask('GET', '/v1/tools');
    const read = body.data.find((tool: { name: string }) => tool.name === 'read_file');
    assert.equal(read.group, 'fs');
    assert.equal(read.replay, 'readonly');
    assert.equal(read.parameters.properties.path.type, 'string');
    assert.equal((await stack.ask('GET', '/v1/tools/read_file')).body.name, 'read_file');
    assert.equal((await stack.ask('GET', '/v1/tools/no_such_tool')).status, 404);
  });

  it('EX-1 lists them in the words of clawft and GoClaw, and those of our own at GoClaw’s address', async () => {
    const clawft = await stack.ask('GET', '/v1/tools?dialect=clawft');
    const exec = clawft.body.data.find((tool: { name: string }) => tool.name === 'exec_shell');
    assert.deepEqual(Object.keys(exec.parameters.properties), ['command', 'timeout']);
    const builtin = await stack.ask('GET', '/v1/tools/builtin?dialect=goclaw');
    const fetched = builtin.body.data.find((tool: { name: string }) => tool.name === 'web_fetch');
    assert.deepEqual(Object.keys(fetched.parameters.properties), ['url', 'extractMode', 'maxChars']);
    assert.equal((await stack.ask('GET', '/v1/tools/builtin/bash')).body.name, 'exec');
    assert.equal((await stack.ask('GET', '/v1/tools/builtin/none')).status, 404);
    assert.equal((await stack.ask('GET', '/v1/tools?dialect=french')).status, 400);
  });

  it('takes GoClaw’s form of a call, and runs nothing when it is to be tried only', async () => {
    const invoke = (body: object) => stack.ask('POST', '/v1/tools/invoke', { body });
    const ran = await invoke({
      tool: 'peek',
      action: '',
      args: { note: 'seed' },
      agentId: 'main',
      channel: 'web',
      chatId: '7',
    });
    assert.deepEqual([ran.status, ran.body.ok, ran.body.result], [200, true, { output: 'peek seed' }]);
    const tried = await invoke({ tool: 'poke', args: { note: 'tried' }, dryRun: true });
    assert.deepEqual([tried.status, tried.body.dry_run, tried.body.decision], [200, true, 'ask']);
    assert.deepEqual(
      stack.worker.probes.effects.filter(({ note }) => note === 'tried'),
      [],
    );
    assert.equal((await invoke({ tool: 'none' })).status, 404);
    assert.equal((await invoke({ tool: 'peek', args: {}, peerKind: 'group' })).status, 400);
  });

  it('runs a call as a turn of its own, with a row in the ledger', async () => {
    const { status, body } = await stack.ask('POST', '/v1/tools/peek/invoke', {
      body: { args: { note: 'api' } },
    });
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.ok, true);
    assert.equal(body.text, 'peek api');
    const calls = await stack.ask('GET', `/v1/turns/${body.turn_id}/tool-calls`);
    assert.equal(calls.body.data[0].id, body.call_id);
    assert.equal(calls.body.data[0].tool, 'peek');
    const whole = await stack.ask('GET', `/v1/tool-calls/${body.call_id}/result`);
    assert.equal(whole.headers.get('content-type'), 'text/plain; charset=utf-8');
    assert.equal(whole.body, 'peek api');
  });

  it('refuses wrong arguments before anything is written', async () => {
    const { status, body } = await stack.ask('POST', '/v1/tools/peek/invoke', {
      body: { args: { note: [] } },
    });
    assert.equal(status, 400);
    assert.equal(body.code, 'InvalidInput');
    assert.equal(body.errors[0].pointer, 'body/args');
  });

  it('answers 202 with the approval when one is needed, and the same Idempotency-Key finds the end', async () => {
    const send = () =>
      stack.ask('POST', '/v1/tools/poke/invoke', {
        body: { args: { note: 'asked' } },
        headers: { 'idempotency-key': 'poke-1' },
      });
    const first = await send();
    assert.equal(first.status, 202, JSON.stringify(first.body));
    assert.equal(first.body.status, 'waiting_approval');
    assert.ok(first.body.approval_id);
    await stack.ask('POST', `/v1/approvals/${first.body.approval_id}/decision`, {
      body: { decision: 'approve' },
    });
    await stack.worker.ended(first.body.turn_id);
    assert.equal((await send()).body.turn_id, first.body.turn_id);
    assert.equal(stack.worker.probes.effects.filter(({ note }) => note === 'asked').length, 1);
  });
});
