import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startFakeApi } from '#test/cli/support/fake-api.ts';
import { runCli } from '#test/cli/support/run-cli.ts';

describe('the crash demo', () => {
  test('kills nothing when no local worker is known', async () => {
    const api = await startFakeApi();
    const { code, stderr } = await runCli(['demo', 'crash'], { url: api.url });
    await api.close();
    assert.equal(code, 1);
    assert.match(stderr, /started in this folder/);
  });
});
