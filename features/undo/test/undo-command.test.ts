/** DU-9: the command line shows and reverses the calls that it names, and no others. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FakeApi, startFakeApi } from '#test/cli/support/fake-api.ts';
import { runCli } from '#test/cli/support/run-cli.ts';

const PLAN = {
  turn_id: 'turn_1',
  undo_turn_id: null,
  status: null,
  calls: ['call_a', 'call_b'].map((id) => ({
    call_id: id,
    tool: 'write_file',
    args: { path: `${id}.md` },
    action: 'reverse',
    reason: null,
    by: { tool: 'restore_file', args: { path: `${id}.md` } },
  })),
};

describe('DU-9 tempoclaw undo --call', () => {
  let api: FakeApi;
  before(async () => {
    api = await startFakeApi();
    api.on(({ method, path }) =>
      method === 'GET' && path === '/v1/turns/turn_1/undo' ? { status: 200, body: PLAN } : undefined,
    );
  });
  after(() => api?.close());
  const cli = (...args: string[]) => runCli(['undo', 'turn_1', ...args], { url: api.url });

  it('shows these calls, for people and for programs', async () => {
    const { stdout, code } = await cli('--plan', '--call', 'call_b');
    assert.equal(code, 0);
    assert.match(stdout, /^to reverse +call_b .*write_file/);
    assert.doesNotMatch(stdout, /call_a/);
    const { calls } = JSON.parse((await cli('--plan', '--json', '--call', 'call_b')).stdout) as typeof PLAN;
    assert.deepEqual(calls, PLAN.calls.slice(1));
  });

  it('refuses a call that is none of the turn, before anybody is asked', async () => {
    for (const more of [['--plan'], ['--yes']]) {
      const { stdout, stderr, code } = await cli('--call', 'call_c', ...more);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, /call_c is no call of this turn/);
    }
    assert.ok(api.requests.every(({ method }) => method === 'GET'));
  });
});
