/** `approvals watch`: the feed of all sessions continues after cuts, and a terminal asks. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type FakeApi, startFakeApi } from '#test/cli/support/fake-api.ts';
import { type CliRun, startCli } from '#test/cli/support/run-cli.ts';

const ENTER = '\r';

describe('AP-2 approvals watch', () => {
  let api: FakeApi;
  let watch: CliRun;
  beforeEach(async () => {
    api = await startFakeApi();
  });
  afterEach(async () => {
    watch.child.kill('SIGKILL');
    await api.close();
  });

  const start = (terminal: boolean, ...args: string[]): void => {
    watch = startCli(['approvals', 'watch', ...args], { url: api.url, ...(terminal ? { terminal } : {}) });
  };
  const printed = (stdout: string): unknown[] =>
    stdout
      .trim()
      .split('\n')
      .map((line) => {
        const { id, digest } = JSON.parse(line) as { id: string; digest: string };
        return [id, digest];
      });

  test('prints each one that comes, once, and again when its call was edited', async () => {
    api.setApproval('apr_1', {});
    api.setApproval('apr_0', { status: 'approved' });
    start(false, '--json');
    await watch.sees(/"id":"apr_1"/);
    api.setApproval('apr_2', {});
    await watch.sees(/"id":"apr_2"/);
    api.setApproval('apr_2', { tally: '1 of 2' });
    api.setApproval('apr_1', { status: 'approved' });
    api.setApproval('apr_2', { digest: 'edited' });
    await watch.sees(/"digest":"edited"/);
    watch.child.kill('SIGINT');
    const { code, stdout } = await watch.ended;
    assert.equal(code, 130);
    assert.deepEqual(printed(stdout), [
      ['apr_1', 'd'],
      ['apr_2', 'd'],
      ['apr_2', 'edited'],
    ]);
    assert.ok(!api.requests.some(({ query }) => query.has('status')), 'nothing is polled');
  });

  test('goes on where it was after a cut: what came meanwhile is printed, what was printed is not', async () => {
    api.setApproval('apr_1', {});
    start(false, '--json');
    await watch.sees(/"id":"apr_1"/);
    await api.cut();
    api.setApproval('apr_2', {});
    await api.restart();
    await watch.sees(/"id":"apr_2"/);
    const resumed = api.requests.filter(({ path }) => path === '/v1/approvals/events').at(-1);
    assert.equal(resumed?.headers['last-event-id'], '1');
    watch.child.kill('SIGINT');
    const { stdout, stderr } = await watch.ended;
    assert.deepEqual(printed(stdout), [
      ['apr_1', 'd'],
      ['apr_2', 'd'],
    ]);
    assert.match(stderr, /The API is back/);
  });

  test('ends with the reason when it may not look', async () => {
    api.on(() => ({ status: 403, body: { code: 'Forbidden', status: 403, detail: 'not with this key' } }));
    start(false);
    const { code, stderr } = await watch.ended;
    assert.equal(code, 1);
    assert.match(stderr, /not with this key/);
  });

  test('a question goes away when somebody else decides, and the next one is asked', async () => {
    api.setApproval('apr_1', { summary: 'exec: the first' });
    start(true);
    await watch.sees(/the first[\s\S]*Run it\?/);
    api.setApproval('apr_2', { summary: 'exec: the second' });
    const from = watch.stdout().length;
    api.setApproval('apr_1', { status: 'denied' });
    const requested = await watch.sees(/meanwhile[\s\S]*the second[\s\S]*Run it\?/, from);
    assert.match(requested, /always: \/usr\/bin\/rm -r build/);
    assert.match(requested, /runs: run\.sh \(12 bytes, sha256 a{64}\)/);
    watch.type(`approve${ENTER}`);
    await watch.sees(/approved by key:test/, from);
    assert.deepEqual(api.requests.find(({ path }) => path.endsWith('apr_2/decision'))?.body, {
      decision: 'approve',
      digest: 'd',
    });
  });

  test('Ctrl-C at a question leaves', async () => {
    api.setApproval('apr_1', {});
    start(true);
    await watch.sees(/Run it\?/);
    watch.type('\u0003');
    assert.equal((await watch.ended).code, 130);
  });
});
