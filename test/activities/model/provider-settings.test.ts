/** MO-1: the address at which a provider is called, as its base URL says. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { baseUrlOf } from '#activities/model/provider-settings.ts';

describe('MO-1 the address of a provider', () => {
  for (const [name, baseUrl, expected] of [
    ['dashscope', 'https://dashscope-intl.aliyuncs.com/api/v1', '/compatible-mode/v1'],
    ['dashscope', 'https://dashscope-intl.aliyuncs.com/api/v1/', '/compatible-mode/v1'],
    ['dashscope', 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1', '/compatible-mode/v1'],
    ['other', 'https://models.example/api/v1', '/api/v1'],
    ['other', 'https://models.example', '/v1'],
  ] as const)
    test(`of ${name} at ${baseUrl} has the path ${expected}`, () => {
      assert.equal(new URL(baseUrlOf({ name, baseUrl }, 'https://usual.example/v1')).pathname, expected);
    });
});
