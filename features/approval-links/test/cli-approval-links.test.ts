/** `tempoclaw approvals link`: a link that decides is printed alone. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type FakeApi, startFakeApi } from '#test/cli/support/fake-api.ts';
import { runCli } from '#test/cli/support/run-cli.ts';

describe('IN-6 tempoclaw approvals link', () => {
  let api: FakeApi;
  beforeEach(async () => {
    api = await startFakeApi();
  });
  afterEach(() => api.close());

  test('AP-2 a link to decide is printed alone, with a warning beside it', async () => {
    const url = 'http://x/a/token';
    const body = { id: 'l', url, for: 'ann', decision: 'reject', expires_at: 'T' };
    api.on(({ path }) => (path === '/v1/approvals/apr_1/links' ? { status: 200, body } : undefined));
    const cli = (...args: string[]) => runCli(['approvals', 'link', 'apr_1', ...args], { url: api.url });
    const flags = ['--for', 'ann', '--only', 'reject', '--expires', '60'];
    const { code, stdout, stderr } = await cli(...flags);
    assert.deepEqual([code, stdout], [0, `${url}\n`]);
    assert.match(stderr, /decides as ann, once/);
    const sent = { for: 'ann', decision: 'reject', expires_seconds: 60 };
    assert.deepEqual(api.requests.at(-1)?.body, sent);
    assert.equal((await cli()).code, 2);
    assert.equal((await cli('--for', 'ann', '--expires', 'soon')).code, 2);
  });
});
