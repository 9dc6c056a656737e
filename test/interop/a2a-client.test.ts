/** IN-11: the A2A SDK for Python, as its users have it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pythonWith } from '#test/support/python.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const CLIENT = 'a2a-sdk==1.3.0';
const PROGRAM = fileURLToPath(new URL('a2a-client.py', import.meta.url));

describe('IN-11 the A2A SDK for Python', () => {
  let stack: Stack;
  let python: string;
  before(async () => {
    python = await pythonWith(CLIENT);
    stack = await startStack();
  });
  after(() => stack?.stop());

  for (const binding of ['JSONRPC', 'HTTP+JSON'])
    it(`gives tasks over ${binding}: whole, streamed, with an approval, and reads them`, async () => {
      const { stdout } = await promisify(execFile)(
        python,
        [PROGRAM, `${stack.url}/v1/a2a/main`, stack.key, binding],
        { timeout: 120_000 },
      );
      assert.deepEqual(JSON.parse(stdout), {
        name: 'main',
        first: ['TASK_STATE_COMPLETED', 'From Python.'],
        read: [2, 'From Python.'],
        kinds: ['task', 'status_update'],
        states: 'TASK_STATE_COMPLETED',
        streamed: 'In pieces.',
        asks: ['TASK_STATE_INPUT_REQUIRED', 'poke'],
        done: [true, 'Poked.'],
        listed: [true],
      });
    });
});
