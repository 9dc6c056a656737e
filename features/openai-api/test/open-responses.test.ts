/** Responses, spoken by the AI SDK's provider of the Open Responses specification. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createOpenResponses } from '@ai-sdk/open-responses';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('IN-3 responses for the AI SDK', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.stop());

  const model = () =>
    createOpenResponses({ name: 'tempoclaw', url: `${stack.url}/v1/responses`, apiKey: stack.key })('main');

  it('are text, whole and streamed', async () => {
    const { text, finishReason, usage } = await generateText({ model: model(), prompt: 'Whole.' });
    assert.deepEqual([text, finishReason], ['Whole.', 'stop']);
    assert.ok((usage.inputTokens ?? 0) > 0);
    let streamed = '';
    for await (const part of streamText({ model: model(), prompt: 'In pieces.' }).textStream)
      streamed += part;
    assert.equal(streamed, 'In pieces.');
  });

  it('call tools of the application, whose results the same turn reads', async () => {
    const get_weather = tool({
      description: 'Weather of a city',
      inputSchema: jsonSchema<{ city: string }>({
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
      }),
      execute: async ({ city }) => `12 degrees in ${city}`,
    });
    const { text, steps } = await generateText({
      model: model(),
      prompt: 'get_weather {"city":"Oslo"}',
      tools: { get_weather },
      stopWhen: stepCountIs(3),
    });
    assert.equal(steps.length, 2);
    assert.match(text, /12 degrees in Oslo/);
  });
});
