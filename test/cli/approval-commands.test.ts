/** `tempoclaw approvals`: pending ones are listed, shown and decided, by an allowed user, or by a token for another. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type FakeApi, problem, startFakeApi } from './support/fake-api.ts';
import { runCli } from './support/run-cli.ts';

describe('IN-6 tempoclaw approvals', () => {
  let api: FakeApi;
  beforeEach(async () => {
    api = await startFakeApi();
  });
  afterEach(() => api.close());

  function answer(method: string, path: string, body: unknown): void {
    api.on((request) =>
      request.method === method && request.path === path ? { status: 200, body } : undefined,
    );
  }

  const cli = (...args: string[]) => runCli(args, { url: api.url });

  test('AP-3 one approval is shown for a person: fields, the command as it is, and what happens next', async () => {
    api.setApproval('apr_1', { args: { command: 'rm -r build\necho  done', cwd: 'sub' } });
    const { stdout } = await cli('approvals', 'show', 'apr_1');
    assert.match(stdout, /^status +pending, asked .*, expires in /m);
    assert.match(stdout, /^command\n  rm -r build\n  echo  done$/m);
    assert.match(stdout, /^arguments\n  \{\n    "cwd": "sub"/m);
    assert.match(
      stdout,
      /Approved, exec runs and the turn goes on; .*\n  npx tempoclaw approvals approve apr_1 /,
    );
    api.setApproval('apr_1', { status: 'denied', decided_by: 'ann', decided_at: '2026-01-31T12:00:00Z' });
    assert.match(
      (await cli('approvals', 'show', 'apr_1')).stdout,
      /denied by ann[\s\S]*It did not run: the model was told/,
    );
  });

  test('MC-1 a question of an MCP server is shown with its fields, and how to answer it', async () => {
    const fields = [
      { name: 'name', title: 'Your name', type: 'string', required: true },
      {
        name: 'color',
        title: 'color',
        type: 'string',
        required: false,
        options: [{ value: 'r', title: 'Red' }],
      },
    ];
    const form = { server: 'peer', message: 'Who\u001b[2J are you?', fields };
    api.setApproval('apr_1', { tool: 'mcp_peer__ask', args: { color: 'r' }, form });
    const { stdout } = await cli('approvals', 'show', 'apr_1');
    assert.match(
      stdout,
      /^question\n  the MCP server peer asks: Who are you\?\n  name \(string, required\): Your name\n  color \(string\); one of r$/m,
    );
    assert.match(stdout, /Answer: npx tempoclaw approvals approve apr_1 --args/);
  });

  test('AP-3 approvals are approved, edited, allowed always, rejected and answered', async () => {
    const decisions: [string[], unknown][] = [
      [['approve', 'apr_1'], { decision: 'approve' }],
      [['approve', 'apr_1', '--always'], { decision: 'approve_always' }],
      [['approve', 'apr_1', '--args', '{"command":"ls"}'], { decision: 'edit', args: { command: 'ls' } }],
      [['reject', 'apr_1', '--reason', 'no'], { decision: 'reject', reason: 'no' }],
      [['respond', 'apr_1', '--text', 'It is 4.'], { decision: 'respond', text: 'It is 4.' }],
    ];
    for (const [args, body] of decisions) {
      const { code } = await cli('approvals', ...args);
      assert.equal(code, 0);
      assert.deepEqual(api.requests.at(-1)?.body, body);
    }
  });

  test('SH-2 what “always” would store is in the list and in one approval, or why there is nothing', async () => {
    const always = {
      allows: null,
      program: null,
      file: null,
      args: null,
      refused: 'sh runs whatever it is given',
    };
    api.setApproval('apr_offered', {});
    api.setApproval('apr_once', { always });
    const { stdout: list } = await cli('approvals', 'list');
    assert.match(list, /apr_offered .*\/usr\/bin\/rm -r build/);
    assert.match(list, /apr_once .*not offered \(sh runs whatever/);
    assert.match(
      (await cli('approvals', 'show', 'apr_once')).stdout,
      /always +not offered \(sh runs whatever it is given\)/,
    );
    const { stdout: offered } = await cli('approvals', 'show', 'apr_offered');
    assert.match(offered, /always +\/usr\/bin\/rm -r build \(\/usr\/bin\/rm is the file \/usr\/lib\/rm\)/);
    const { stdout: json } = await cli('approvals', 'show', 'apr_once', '--json');
    assert.deepEqual(JSON.parse(json).always, always);
  });

  test('AP-4 several are decided by one request, and those that were not are told', async () => {
    answer('POST', '/v1/approvals/decisions', {
      data: [
        {
          id: 'apr_1',
          ok: true,
          receipt: { approval_id: 'apr_1', status: 'pending', decided_by: 'ann', tally: '1 of 2' },
        },
        { id: 'apr_2', ok: false, error: { code: 'NotFound', status: 404, detail: 'There is none' } },
      ],
      has_more: false,
    });
    const { code, stdout, stderr } = await cli('approvals', 'approve', 'apr_1', 'apr_2');
    assert.equal(code, 1);
    assert.deepEqual(api.requests.at(-1)?.body, { ids: ['apr_1', 'apr_2'], decision: 'approve' });
    assert.match(stdout, /apr_1 is pending, 1 of 2 agreed\napr_2: There is none/);
    assert.match(stderr, /1 of 2 were not decided so/);
    assert.equal((await cli('approvals', 'approve', 'apr_1', 'apr_2', '--args', '{}')).code, 2);
  });

  test('approvals are listed by session, agent, tool, user, time and who may decide', async () => {
    const flags =
      '--session s --agent a --tool exec --user u --mine --since 2026-01-31T12:00:00Z --before 2026-02-01T12:00:00Z';
    const { code } = await cli('approvals', 'list', ...flags.split(' '));
    assert.equal(code, 0);
    assert.deepEqual(Object.fromEntries(api.requests.at(-1)?.query ?? []), {
      limit: '50',
      status: 'pending',
      session_key: 's',
      agent: 'a',
      tool: 'exec',
      user: 'u',
      requested_after: '2026-01-31T12:00:00Z',
      requested_before: '2026-02-01T12:00:00Z',
      mine: 'true',
    });
  });

  test('AP-2 a token for a Temporal client is printed alone, and how to send it beside it', async () => {
    const made = { approval_id: 'apr_1', token: 'T0ken', decision: 'reject', by: 'ann', expires_at: 'T' };
    answer('POST', '/v1/approvals/apr_1/token', made);
    const { code, stdout, stderr } = await cli(
      'approvals',
      'token',
      'apr_1',
      '--decision',
      'reject',
      '--by',
      'ann',
    );
    assert.deepEqual([code, stdout], [0, 'T0ken\n']);
    assert.match(
      stderr,
      /for reject of ann: send it once as "token" with update or signal "decide", until T/,
    );
    assert.deepEqual(api.requests.at(-1)?.body, { decision: 'reject', by: 'ann' });
    const json = await cli('approvals', 'token', 'apr_1', '--decision', 'reject', '--json');
    assert.deepEqual(JSON.parse(json.stdout), made);
    assert.equal((await cli('approvals', 'token', 'apr_1')).code, 2);
  });

  test('AP-2 a decision that came too late says who was first, and exits 1', async () => {
    api.on((request) =>
      request.method === 'POST'
        ? { status: 409, body: problem(409, 'AlreadyDecided', 'approved by key:boss') }
        : undefined,
    );
    const { code, stderr } = await cli('approvals', 'reject', 'apr_1');
    assert.equal(code, 1);
    assert.match(stderr, /✘ approved by key:boss\n {2}\(AlreadyDecided, HTTP 409, request req_1\)/);
  });
});
