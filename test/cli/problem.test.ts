/** What a command prints of a refusal. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError } from '#cli/client.ts';

const linesOf = (detail: string, ...errors: { pointer?: string; message: string }[]): string[] =>
  new ApiError(422, { detail, code: 'Unprocessable', errors }, undefined).message.split('\n').slice(0, -1);

describe('IN-6 a refusal in a terminal', () => {
  it('names a field only where the detail does not have its words already', () => {
    const message = 'unknown time zone "Mars"';
    assert.deepEqual(linesOf(`tz: ${message}`, { pointer: 'body/schedule/tz', message }), [`tz: ${message}`]);
    assert.deepEqual(
      linesOf('Nothing would differ', { pointer: 'body/change', message: 'changes nothing' }),
      ['Nothing would differ', '  body/change: changes nothing'],
    );
    const required = ['key', 'model'].map((field) => ({ pointer: `body/${field}`, message: 'is required' }));
    assert.deepEqual(linesOf('body/key: is required', ...required), [
      'body/key: is required',
      '  body/model: is required',
    ]);
  });

  it('has each fact once for programs, in a field of its own', () => {
    const errors = [{ pointer: 'body/model', message: 'is required' }];
    const problem = { detail: 'body/model: is required', code: 'InvalidInput', request_id: 'req_1', errors };
    assert.deepEqual(new ApiError(400, problem, undefined).forPrograms(), {
      message: 'body/model: is required',
      status: 400,
      request_id: 'req_1',
      errors,
    });
  });
});
