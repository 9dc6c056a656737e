import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type FakeApi, startFakeApi, turnRow } from './support/fake-api.ts';
import { runCli } from './support/run-cli.ts';

describe('IN-6 commands that read and decide', () => {
  let api: FakeApi;
  let folder: string;
  beforeEach(async () => {
    api = await startFakeApi();
    folder = mkdtempSync(join(tmpdir(), 'tempoclaw-cli-'));
  });
  afterEach(async () => {
    await api.close();
    rmSync(folder, { recursive: true });
  });

  function answer(method: string, path: string, body: unknown): void {
    api.on((request) =>
      request.method === method && request.path === path ? { status: 200, body } : undefined,
    );
  }

  const cli = (...args: string[]) => runCli(args, { url: api.url, cwd: folder });

  test('a list is a table for people and the API’s page for programs', async () => {
    const page = {
      data: [
        {
          name: 'exec',
          group: 'runtime',
          replay: 'once',
          description: 'Runs 日本 things',
          aliases: [],
          parameters: {},
        },
      ],
      has_more: false,
      next_cursor: null,
    };
    answer('GET', '/v1/tools', page);
    const table = await cli('tools');
    assert.match(
      table.stdout,
      /^TOOL +GROUP +REPLAY +WHAT IT DOES\nexec +runtime +once +Runs 日本 things\n$/,
    );
    const json = await cli('tools', 'list', '--json');
    assert.deepEqual(JSON.parse(json.stdout), page);
  });

  test('a tool is switched off and on for the tenant', async () => {
    const sent: unknown[] = [];
    api.on((request) => {
      if (request.path !== '/v1/tools/builtin/exec/tenant-config') return undefined;
      sent.push([request.method, request.body]);
      return { status: 200, body: { name: 'exec', enabled: sent.length > 1 } };
    });
    assert.equal((await cli('tools', 'disable', 'exec')).stdout, 'No agent of the tenant has exec now.\n');
    assert.equal((await cli('tools', 'enable', 'exec')).stdout, 'The tenant has exec again.\n');
    assert.deepEqual(sent, [
      ['PUT', { enabled: false }],
      ['PUT', { enabled: true }],
    ]);
  });

  test('an empty word takes back what a heartbeat may lack', async () => {
    let sent: unknown;
    api.on((request) => {
      if (request.path !== '/v1/agents/main/heartbeat') return undefined;
      sent = request.body;
      return { status: 200, body: { agent: 'main', next_runs: [], checklist: 'written' } };
    });
    const cleared = ['--hours', '', '--model', '', '--session', '', '--prompt', ''];
    const { code, stderr } = await cli('heartbeat', 'set', 'main', '--every', '600', ...cleared);
    assert.equal(code, 0, stderr);
    assert.deepEqual(sent, { interval: 600, active_hours: null, model: null, session: null, prompt: null });
  });

  test('the help has its commands in groups, and loads none of them', async () => {
    const { code, stdout } = await cli('--help');
    assert.equal(code, 0);
    for (const name of ['status', 'logs', 'open', 'completion', 'env', 'temporal', 'approvals'])
      assert.match(stdout, new RegExp(`^  ${name} `, 'm'));
    assert.match(stdout, /^Talk:\n  chat /m);
    assert.doesNotMatch(stdout, /^Commands:/m);
    assert.equal(
      (await cli('help', 'sessions', 'stop')).stdout,
      (await cli('sessions', 'stop', '--help')).stdout,
    );
    assert.match((await cli('sesions')).stderr, /Did you mean sessions/);
  });

  test('global flags hold before the command, between its names and behind it; the nearest wins', async () => {
    answer('GET', '/v1/tools', { data: [], has_more: false, next_cursor: null });
    for (const args of [
      ['--json', 'tools'],
      ['tools', '--json', 'list'],
      ['--url', 'http://127.0.0.1:1', 'tools', 'list', '--url', api.url, '--json'],
    ])
      assert.deepEqual(JSON.parse((await cli(...args)).stdout).data, [], args.join(' '));
    const { stderr } = await cli('--api-key', 'tc_wrong', 'tools');
    assert.match(stderr, /Unauthorized/);
  });

  test('completion for bash knows commands, what is below them, choices and flags', async () => {
    const { stdout: script } = await cli('completion', 'bash');
    const complete = (...words: string[]): string =>
      execFileSync(
        'bash',
        [
          '-c',
          `${script}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tempoclaw; echo "\${COMPREPLY[@]}"`,
          'bash',
          'tempoclaw',
          ...words,
        ],
        { encoding: 'utf8' },
      ).trim();
    assert.equal(complete('sess'), 'sessions');
    assert.equal(complete('--json', 'approvals', 'rej'), 'reject');
    assert.equal(complete('run', '--app'), '--approve-all');
    assert.equal(complete('logs', 'wor'), 'worker');
    assert.match((await cli('completion', 'fish')).stdout, /complete -c tempoclaw -n .*sessions.* -a 'stop'/);
  });

  test('IN-5 a session is shown with the run of each of its turns', async () => {
    const turn = {
      ...turnRow('turn_1', 's'),
      links: { temporal: 'http://ui/namespaces/n/workflows/w/run-of-it' },
    };
    answer('GET', '/v1/sessions/s', {
      key: 's',
      agent: 'main',
      turns: 1,
      links: { temporal: 'http://ui/newest' },
    });
    answer('GET', '/v1/sessions/s/turns', { data: [turn], has_more: false, next_cursor: null });
    const { stdout } = await cli('sessions', 'show', 's');
    assert.match(stdout, /^turn_1 .*\n  http:\/\/ui\/namespaces\/n\/workflows\/w\/run-of-it$/m);
    assert.doesNotMatch(stdout, /newest/);
    assert.match((await cli('turns', 'list', 's')).stdout, /^TURN .*\nturn_1 /);
  });

  test('one agent is shown for a person: fields and, as in a file, what it may do', async () => {
    const agent = {
      key: 'a',
      model: ['m/one', 'm/two'],
      type: 'open',
      revision: 2,
      tools: { allow: ['exec'] },
      created_at: '2026-01-31T12:00:00Z',
      updated_at: '2026-01-31T12:00:00Z',
    };
    answer('GET', '/v1/agents/a', agent);
    const { stdout } = await cli('agents', 'show', 'a');
    assert.match(stdout, /^model +m\/one, else m\/two$/m);
    assert.match(stdout, /^tools\n  allow:\n    - exec$/m);
    assert.deepEqual(JSON.parse((await cli('agents', 'show', 'a', '--json')).stdout), agent);
  });

  test('a list says how to get its next page', async () => {
    answer('GET', '/v1/sessions', {
      data: [{ key: 's', agent: 'main', status: 'idle', turns: 1, updated_at: '' }],
      has_more: true,
      next_cursor: 'abc',
    });
    const { stderr } = await cli('sessions', 'list', '--limit', '1');
    assert.match(stderr, /more: --after abc/);
    const sent = api.requests.at(-1);
    assert.equal(sent?.query.get('limit'), '1');
    await cli('sessions', '--after', 'abc');
    assert.equal(api.requests.at(-1)?.query.get('after'), 'abc');
  });

  test('the policy’s changes are listed, and one is taken back', async () => {
    const change = {
      id: '7',
      from: {},
      to: { tools: { deny: ['exec'] } },
      changed_by: 'ann',
      changed_at: 'then',
    };
    answer('GET', '/v1/policy/history', { data: [change], has_more: false, next_cursor: null });
    assert.match((await cli('policy', 'history')).stdout, /7 +then +ann +\{"tools":\{"deny":\["exec"\]\}\}/);
    answer('POST', '/v1/policy/restore', { warnings: [] });
    const { code, stderr } = await cli('policy', 'restore', '7');
    assert.equal(code, 0, stderr);
    assert.match(stderr, /as it was before change 7/);
    assert.deepEqual(api.requests.at(-1)?.body, { change: '7' });
    const wrong = await cli('files', 'restore', 'main', 'MEMORY.md', 'x');
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /revision must be a number, not x/);
  });

  test('an agent is made from a YAML file, and flags win over it', async () => {
    writeFileSync(
      join(folder, 'agent.yaml'),
      'key: helper\nmodel: [a/b, c/d]\nexec:\n  ask: always\n  timeout_seconds: 5\n',
    );
    answer('POST', '/v1/agents', { key: 'helper', model: 'a/b' });
    const { code } = await cli(
      'agents',
      'create',
      '--file',
      'agent.yaml',
      '--exec-ask',
      'off',
      '--name',
      'Helper',
    );
    assert.equal(code, 0);
    assert.deepEqual(api.requests.at(-1)?.body, {
      key: 'helper',
      name: 'Helper',
      model: ['a/b', 'c/d'],
      exec: { ask: 'off', timeout_seconds: 5 },
    });
  });

  test('a flag of an update changes its own setting and keeps the rest of the group', async () => {
    answer('GET', '/v1/agents/helper', {
      key: 'helper',
      model: 'a/b',
      exec: { ask: 'always', security: 'full' },
    });
    answer('PATCH', '/v1/agents/helper', { key: 'helper', model: 'a/b' });
    await cli('agents', 'update', 'helper', '--exec-ask', 'off');
    assert.deepEqual(api.requests.at(-1)?.body, { exec: { ask: 'off', security: 'full' } });
  });

  test('a broken file is a usage error that names line and column', async () => {
    writeFileSync(join(folder, 'agent.yaml'), 'key: helper\nmodel: [a\n');
    const { code, stderr } = await cli('agents', 'create', '--file', 'agent.yaml');
    assert.equal(code, 2);
    assert.match(stderr, /agent\.yaml: .*line 3, column 1/);
  });

  test('a tool that fails exits 1 with its code on stderr and its words on stdout', async () => {
    answer('POST', '/v1/tools/read_file/invoke', {
      session_key: 's',
      turn_id: 't',
      call_id: 'c',
      status: 'completed',
      ok: false,
      code: 'FileNotFound',
      text: 'no file',
      approval_id: null,
    });
    const { code, stdout, stderr } = await cli('tools', 'invoke', 'read_file', '--args', '{"path":"x"}');
    assert.equal(code, 1);
    assert.equal(stdout, 'no file\n');
    assert.match(stderr, /FileNotFound/);
    assert.deepEqual(api.requests.at(-1)?.body, { args: { path: 'x' } });
  });

  test('the events of a session are told up to its present end', async () => {
    api.emit('s', 'turn_1', 'tool.started', { call_id: 'c', tool: 'exec', step: 1, summary: 'exec: ls' });
    api.emit('s', 'turn_1', 'turn.completed', { text: 'x', steps: 1 });
    const { code, stdout } = await cli('sessions', 'events', 's', '--json');
    assert.equal(code, 0);
    assert.deepEqual(
      stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { type: string }).type),
      ['tool.started', 'turn.completed'],
    );
    assert.match((await cli('sessions', 'events', 's')).stdout, /● exec: ls/);
  });
});

describe('IN-6 errors say what, where and what to do', () => {
  test('no API known: exit 1 and how to start one', async () => {
    const { code, stderr } = await runCli(['sessions'], { cwd: tmpdir() });
    assert.equal(code, 1);
    assert.match(stderr, /No TempoClaw is known here[\s\S]*npm start/);
  });

  test('wrong usage with --json is JSON too, and each error has a remedy', async () => {
    const api = await startFakeApi();
    const errorOf = async (...args: string[]) => {
      const { code, stderr } = await runCli([...args, '--json'], { url: api.url });
      return { code, error: JSON.parse(stderr).error as Record<string, string> };
    };
    for (const [args, message] of [
      [['nope'], /^unknown command 'nope'/],
      [['sessions', 'lst'], /^unknown command 'lst' of sessions\n\(It has: list, show, /],
      [['approvals', 'aprove', 'id'], /^unknown command 'aprove' of approvals/],
      [['tools', 'custom', 'nope'], /^unknown command 'nope' of custom/],
      [['sessions', 'list', 'more'], /^too many arguments for 'list'/],
      [['sessions', 'list', '--nope'], /^unknown option '--nope'/],
      [['sessions', 'show'], /^missing required argument/],
      [['sessions', 'list', '--limit', '0'], /a number from 1 to 200/],
      [['tasks'], /a subcommand is missing/],
    ] as const) {
      const { code, error } = await errorOf(...args);
      assert.deepEqual(
        [code, error['code'], error['remedy']],
        [2, 'Usage', 'See: tempoclaw --help'],
        args.join(' '),
      );
      assert.match(error['message'] ?? '', message);
    }
    const { code, error } = await errorOf('agents', 'show', 'nobody');
    await api.close();
    assert.deepEqual([code, error['code']], [1, 'NotFound']);
    assert.match(error['remedy'] ?? '', /Check the id/);
  });

  test('nobody answers: the address, where it comes from, and how to start; as JSON for programs', async () => {
    const api = await startFakeApi();
    await api.close();
    const { code, stderr } = await runCli(['sessions', '--json'], { url: api.url });
    assert.equal(code, 1);
    const { error } = JSON.parse(stderr) as { error: Record<string, string> };
    assert.equal(error['code'], 'Unreachable');
    assert.match(
      error['message'] ?? '',
      new RegExp(`${api.url} \\(from TEMPOCLAW_URL\\) does not answer: ECONNREFUSED`),
    );
    assert.match(error['remedy'] ?? '', /npm start/);
  });

  test('a wrong key: exit 1 and where to give another', async () => {
    const api = await startFakeApi();
    const { code, stderr } = await runCli(['tools', '--api-key', 'tc_wrong'], { url: api.url });
    await api.close();
    assert.equal(code, 1);
    assert.match(stderr, /Unauthorized, HTTP 401[\s\S]*TEMPOCLAW_API_KEY or --api-key/);
    assert.doesNotMatch(stderr, /tc_wrong/);
  });

  test('wrong usage exits 2', async () => {
    for (const args of [
      ['nope'],
      ['completion', 'csh'],
      ['approvals', 'approve'],
      ['tools', 'invoke', 'x', '--args', '[]'],
    ]) {
      const { code } = await runCli(args, { url: 'http://127.0.0.1:9999' });
      assert.equal(code, 2, args.join(' '));
    }
  });

  test('help and version exit 0', async () => {
    assert.equal((await runCli(['--help'])).code, 0);
    assert.equal((await runCli(['approvals', '--help'])).code, 0);
    assert.match((await runCli(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/);
  });
});
