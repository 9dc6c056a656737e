/** IN-3: OpenAI's client for Python, as its users have it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pythonWith } from '#test/support/python.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const CLIENT = 'openai==3.57.0';
const PROGRAM = fileURLToPath(new URL('openai-client.py', import.meta.url));

describe('IN-3 OpenAI’s client for Python', () => {
  let stack: Stack;
  let python: string;
  before(async () => {
    python = await pythonWith(CLIENT);
    stack = await startStack();
  });
  after(() => stack?.stop());

  it('talks with an agent: whole, streamed, with a tool of its own, and as responses', async () => {
    const { stdout } = await promisify(execFile)(python, [PROGRAM, `${stack.url}/v1`, stack.key], {
      timeout: 120_000,
    });
    const { result, models, ...said } = JSON.parse(stdout);
    assert.deepEqual(said, {
      call: ['get_weather', { city: 'Oslo' }],
      streamed: 'In pieces.',
      responses: ['One.', 'Two.', 'As events.'],
      last: 'response.completed',
    });
    assert.ok(models.includes('main'));
    assert.match(result, /12 degrees/);
  });
});
