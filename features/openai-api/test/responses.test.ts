/** Responses, spoken by the official client and by the AI SDK's provider of Open Responses. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import OpenAI from 'openai';
import { type Stack, startStack } from '#test/support/stack.ts';

const WEATHER = {
  type: 'function',
  name: 'get_weather',
  description: 'Weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  strict: false,
} as const;

type Request = OpenAI.Responses.ResponseCreateParamsNonStreaming;

describe('IN-3 responses', () => {
  let stack: Stack;
  let client: OpenAI;
  before(async () => {
    stack = await startStack();
    client = clientOf(stack.key);
  });
  after(() => stack.stop());

  const clientOf = (apiKey: string) => new OpenAI({ baseURL: `${stack.url}/v1`, apiKey, maxRetries: 0 });
  const ask = (input: Request['input'], more: object = {}) =>
    client.responses.create({ model: 'main', input, ...more });

  it('answers, goes on after a response, and is found again', async () => {
    const first = await ask('Seals are first.');
    assert.deepEqual([first.status, first.output_text], ['completed', 'Seals are first.']);
    assert.ok((first.usage?.total_tokens ?? 0) > 0);
    const second = await ask('Seals are next.', { previous_response_id: first.id });
    assert.equal(second.output_text, 'Seals are next.');
    const { rows } = await stack.pool.query(
      `select distinct session_key from messages where tenant_id = $1 and text like 'Seals are%'`,
      [stack.worker.tenant],
    );
    assert.equal(rows.length, 1);
    const found = await client.responses.retrieve(first.id);
    assert.deepEqual([found.status, found.output_text], ['completed', 'Seals are first.']);
  });

  it('names its conversation, and goes on in one alone', async () => {
    const first = await ask('Seals meet.', { conversation: 'seal-meeting' });
    assert.deepEqual(first.conversation, { id: 'seal-meeting' });
    const both = ask('Seals?', { conversation: 'seal-meeting', previous_response_id: first.id });
    await assert.rejects(both, /not both/);
  });

  it('streams the events of the specification, in order and complete', async () => {
    const stream = client.responses.stream({ model: 'main', input: 'Written as events.' });
    const types: string[] = [];
    let last = -1;
    stream.on('event', ({ type, sequence_number: at }) => {
      types.push(type);
      assert.equal(at, last + 1);
      last = at;
    });
    const response = await stream.finalResponse();
    assert.equal(response.output_text, 'Written as events.');
    assert.deepEqual(types.slice(0, 4), [
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
    ]);
    assert.deepEqual(types.slice(-4), [
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
  });

  it('passes tools of the application on, and goes on with their results', async () => {
    const first = await ask('get_weather {"city":"Oslo"}', { tools: [WEATHER] });
    const call = first.output.find((item) => item.type === 'function_call');
    assert.deepEqual([call?.name, JSON.parse(call?.arguments ?? '')], ['get_weather', { city: 'Oslo' }]);
    const result = {
      type: 'function_call_output',
      call_id: call?.call_id ?? '',
      output: '12 degrees',
    } as const;
    const second = await ask([result], { previous_response_id: first.id, tools: [WEATHER] });
    assert.match(second.output_text, /12 degrees/);
  });

  it('asks for approvals in the protocol’s own way, and takes the decision', async () => {
    const first = await ask('poke {"note":"response"}');
    const request = first.output.find((item) => item.type === 'mcp_approval_request');
    assert.deepEqual([request?.name, JSON.parse(request?.arguments ?? '')], ['poke', { note: 'response' }]);
    const response = {
      type: 'mcp_approval_response',
      approval_request_id: request?.id ?? '',
      approve: true,
    } as const;
    const weak = clientOf(await stack.makeKey(['run']));
    await assert.rejects(
      weak.responses.create({ model: 'main', input: [response], previous_response_id: first.id }),
      OpenAI.PermissionDeniedError,
    );
    const second = await ask([response], { previous_response_id: first.id });
    assert.equal(second.status, 'completed');
    assert.equal(stack.worker.probes.effects.filter(({ note }) => note === 'response').length, 1);
  });

  it('runs in the background, and is cancelled', async () => {
    const begun = await ask('poke {"note":"background"}', { background: true });
    assert.equal(begun.status, 'in_progress');
    await stack.worker.until('the question', async () => {
      const { output } = await client.responses.retrieve(begun.id);
      return output.some(({ type }) => type === 'mcp_approval_request') || undefined;
    });
    assert.equal((await client.responses.cancel(begun.id)).status, 'cancelled');
    assert.equal((await client.responses.retrieve(begun.id)).status, 'cancelled');
  });

  it('shows nobody the responses of others', async () => {
    const first = await ask('Secret seals.', { user: 'ann' });
    const strangers = [
      clientOf((await stack.makeTenant()).key),
      clientOf(await stack.makeKey(['read', 'run'], { user: 'bob' })),
    ];
    for (const stranger of strangers) {
      await assert.rejects(stranger.responses.retrieve(first.id), OpenAI.NotFoundError);
      await assert.rejects(stranger.responses.cancel(first.id), OpenAI.NotFoundError);
      await assert.rejects(
        stranger.responses.create({ model: 'main', input: 'And?', previous_response_id: first.id }),
        OpenAI.NotFoundError,
      );
    }
  });

  it('refuses what it cannot pass on, whatever is sent', async () => {
    await assert.rejects(ask('Hello.', { tools: [{ type: 'web_search' }] }), OpenAI.BadRequestError);
    await assert.rejects(
      ask('Hello.', { tools: [{ ...WEATHER, name: 'exec' }] }),
      OpenAI.UnprocessableEntityError,
    );
    await assert.rejects(ask('Hello.', { tools: [{ ...WEATHER, name: 'a b' }] }), OpenAI.BadRequestError);
    await assert.rejects(ask('Hello.', { tools: [WEATHER, WEATHER] }), OpenAI.BadRequestError);
    for (const body of [
      'null',
      '[]',
      '{}',
      '{"model":"main"}',
      '{"model":{},"input":[{}]}',
      '{"model":"main","input":[{"type":"function_call_output","call_id":"x","output":1}]}',
    ]) {
      const { status } = await fetch(`${stack.url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json' },
        body,
      });
      assert.ok(status >= 400 && status < 500, `${body}: ${status}`);
    }
  });
});
