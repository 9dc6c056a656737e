/** AP-1, MC-5: an approval is a question to the person at an MCP client, which accepts certain answers. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Client, type ElicitResult, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { connectMcp, textsOf } from '#test/support/mcp-client.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('MC-5 the person at an MCP client', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({});
  });
  after(() => stack.stop());

  const connect = (options: Parameters<typeof connectMcp>[1] & { key?: string } = {}) =>
    connectMcp({ url: stack.url, key: options.key ?? stack.key }, options);
  const turnIn = (texts: readonly string[]): string =>
    /turn_[0-9a-f]{32}/.exec(texts.join('\n'))?.[0] ?? assert.fail(texts.join('\n'));

  /** A client of the newest revision whose person returns these answers, one after the other. */
  async function connectPerson(answers: readonly ElicitResult[], key = stack.key) {
    const requests: string[] = [];
    const client = new Client(
      { name: 'person', version: '1' },
      { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: {} } },
    );
    client.setRequestHandler('elicitation/create', ({ params }) => {
      requests.push(params.message);
      return answers[requests.length - 1] ?? { action: 'cancel' };
    });
    const requestInit = { headers: { authorization: `Bearer ${key}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${stack.url}/mcp`), { requestInit }));
    return { client, asked: requests };
  }

  it('AP-1 the person at a client that shows questions decides there, in the name of the key', async () => {
    const approve = { action: 'accept', content: { decision: 'approve' } } as const;
    const { client, asked } = await connectPerson([approve]);
    const done = await client.callTool({ name: 'poke', arguments: { note: 'asked there' } });
    assert.deepEqual(textsOf(done), ['poke asked there']);
    assert.match(asked.join(), /May this run\? poke: asked there\nbecause: test/);
    await client.close();

    const reject = { action: 'accept', content: { decision: 'reject', reason: 'not now' } } as const;
    const second = await connectPerson([reject]);
    const refused = await second.client.callTool({ name: 'poke', arguments: { note: 'refused there' } });
    assert.match(textsOf(refused).join(), /ApprovalDenied: .*not now/);
    await second.client.close();
  });

  it('AP-1 a question that is put aside stays open; a key that may not decide is not asked at all', async () => {
    const { client, asked } = await connectPerson([{ action: 'cancel' }]);
    const pending = client.callTool({ name: 'poke', arguments: { note: 'put aside' } });
    const id = await stack.worker.until('the approval', async () => {
      const { body } = await stack.ask('GET', '/v1/approvals?status=pending&tool=poke');
      const found = body.data.find(({ summary }: { summary: string }) => summary.includes('put aside'));
      return asked.length > 0 ? (found?.id as string | undefined) : undefined;
    });
    assert.equal(
      (await stack.ask('POST', `/v1/approvals/${id}/decision`, { body: { decision: 'approve' } })).status,
      200,
    );
    assert.deepEqual(textsOf(await pending), ['poke put aside']);
    await client.close();

    const runner = await connectPerson([], await stack.makeKey(['read', 'run']));
    const waits = runner.client.callTool({ name: 'poke', arguments: { note: 'by others' } });
    const other = await stack.worker.until('the approval', async () => {
      const { body } = await stack.ask('GET', '/v1/approvals?status=pending&tool=poke');
      return body.data.find(({ summary }: { summary: string }) => summary.includes('by others'))?.id as
        | string
        | undefined;
    });
    await stack.ask('POST', `/v1/approvals/${other}/decision`, { body: { decision: 'approve' } });
    assert.deepEqual(textsOf(await waits), ['poke by others']);
    assert.deepEqual(runner.asked, []);
    await runner.client.close();
  });

  it('R3 an answer decides only in the name of a key that may, and only what it says', async () => {
    const mine = await connect({ query: '?wait=0' });
    const turn = turnIn(textsOf(await mine.callTool({ name: 'poke', arguments: { note: 'forged' } })));
    const row = await stack.worker.until('the approval', async () => {
      const { body } = await stack.ask('GET', `/v1/approvals?status=pending&turn_id=${turn}`);
      return body.data[0] as { id: string; digest: string } | undefined;
    });
    const send = async (key: string, content: object, digest = row.digest): Promise<string> => {
      const client = await connect({ key });
      const requestState = JSON.stringify({ turn, approval: row.id, digest });
      const inputResponses = { [row.id]: { action: 'accept', content } };
      const params = { name: 'poke', arguments: { note: 'forged' }, inputResponses, requestState };
      const refused = await client.callTool(params);
      await client.close();
      assert.equal(refused.isError, true);
      return textsOf(refused).join();
    };
    const approve = { decision: 'approve' };
    assert.match(await send(await stack.makeKey(['read', 'run']), approve), /Forbidden: .* scope approve/);
    assert.match(await send(await stack.makeKey(['approve']), approve), /Forbidden: .* scope read/);
    assert.match(await send((await stack.makeTenant()).key, approve), /InvalidInput: requestState/);
    for (const content of [{}, { decision: 'edit', args: { note: 'other' } }, { decision: 'yes' }])
      assert.match(await send(stack.key, content), /InvalidInput: decision must be approve or reject/);
    assert.match(await send(stack.key, approve, '0'.repeat(64)), /Conflict/);
    assert.equal((await stack.ask('GET', `/v1/approvals/${row.id}`)).body.status, 'pending');
    await mine.close();
  });

  it('R8 a state that is not one of the key’s is refused, whatever answer comes with it', async () => {
    const client = await connect();
    const state = (turn: string, approval: string): string =>
      JSON.stringify({ turn, approval, digest: '0'.repeat(64) });
    for (const requestState of ['{}', 'nothing', state('m-unknown', 'apr_unknown')]) {
      const params = { name: 'poke', arguments: { note: 'x' }, inputResponses: {}, requestState };
      const refused = await client.callTool(params);
      assert.equal(refused.isError, true);
      assert.match(textsOf(refused).join(), /InvalidInput: requestState/);
    }
    await client.close();
  });
});
