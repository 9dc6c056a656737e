import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type FakeApi, startFakeApi } from './support/fake-api.ts';
import { runCli, startCli } from './support/run-cli.ts';

const VALUE = 'canary-of-the-command-line-7';

let api: FakeApi;
beforeEach(async () => {
  api = await startFakeApi();
  api.on((request) =>
    request.method === 'PUT'
      ? {
          status: 200,
          body: { name: 'github', updated_by: 'me', created_at: '', updated_at: '' },
        }
      : undefined,
  );
});
afterEach(() => api.close());

describe('SC-2 tempoclaw secrets set', () => {
  test('reads the value from a pipe, without the line end', async () => {
    const { code, stdout } = await runCli(['secrets', 'set', 'github'], {
      url: api.url,
      input: `${VALUE}\n`,
    });
    assert.equal(code, 0);
    assert.match(stdout, /secret:\/\/github/);
    const [request] = api.requests;
    assert.deepEqual(
      [request?.method, request?.path, request?.body],
      ['PUT', '/v1/secrets/github', { value: VALUE }],
    );
  });

  test('asks at a terminal and shows nothing of what is typed', async () => {
    const run = startCli(['secrets', 'set', 'github'], { url: api.url, terminal: true });
    await run.sees(/Value of github/);
    run.type(`${VALUE}\r`);
    const { code, stdout, stderr } = await run.ended;
    assert.equal(code, 0);
    assert.ok(!`${stdout}${stderr}`.includes(VALUE));
    assert.deepEqual(api.requests[0]?.body, { value: VALUE });
  });

  test('takes no value from arguments, where the list of processes shows it', async () => {
    const { code } = await runCli(['secrets', 'set', 'github', VALUE], { url: api.url, input: '' });
    assert.equal(code, 2);
    assert.equal(api.requests.length, 0);
  });
});
