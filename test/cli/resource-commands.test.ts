/** The commands from a resource's definition; the tests use agent links, teams and the allow list. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type FakeApi, startFakeApi } from './support/fake-api.ts';
import { runCli } from './support/run-cli.ts';

const AT = '2026-01-31T12:00:00.000Z';
const LINK = {
  id: 'alk_1',
  source: 'lead',
  target: 'writer',
  direction: 'outbound',
  status: 'active',
  max_concurrent: 0,
  settings: { user_deny: ['eve'] },
  description: null,
  created_by: 'key:test',
  created_at: AT,
  updated_at: AT,
};

describe('IN-6 commands of a definition', () => {
  let api: FakeApi;
  beforeEach(async () => {
    api = await startFakeApi();
    api.on(({ method, path }) => {
      if (method === 'DELETE') return { status: 204 };
      if (method === 'GET' && path === '/v1/agent-links')
        return { status: 200, body: { data: [LINK], has_more: true, next_cursor: 'c2' } };
      return { status: 200, body: LINK };
    });
  });
  afterEach(() => api.close());

  const cli = (...args: string[]) => runCli(args, { url: api.url });

  test('a list is a table with the way to the next page; its flags are the query', async () => {
    const { stdout, stderr } = await cli('agent-links', '--agent', 'lead', '--limit', '1');
    assert.match(
      stdout,
      /^LINK +SOURCE +TARGET +DIRECTION +STATUS +AT ONCE\nalk_1 +lead +writer +outbound +active +-\n$/,
    );
    assert.match(stderr, /more: --after c2/);
    assert.equal(api.requests[0]?.query.toString(), 'limit=1&agent=lead');
  });

  test('the health of an installation is tables, or the API’s JSON', async () => {
    const at = new Date().toISOString();
    const health = {
      version: '0.1.0',
      postgres: 'ok',
      temporal: 'away',
      workers: [{ id: 'w1', version: '0.1.0', build: 'b1', running: { exec: 2 }, seen_at: at }],
      queues: [{ queue: 'tempoclaw', kind: 'activity', waiting: 3, oldest_seconds: 9 }],
      sweep: [{ part: 'prune_rows', ended_at: at, found: 4, failed: 1 }],
      disk: { free_bytes: 5e9, total_bytes: 2e10 },
      database_bytes: null,
    };
    api.on(({ path }) => (path === '/v1/gateway/health' ? { status: 200, body: health } : undefined));
    const { stdout } = await cli('gateway', 'health');
    for (const words of [
      /^temporal +away$/m,
      /^disk +5\.00 GB free of 20\.00 GB$/m,
      /^w1 +0\.1\.0 +b1 .* ago +2 exec$/m,
      /^tempoclaw \(activity\) +3 +9 s$/m,
      /^prune_rows .* ago +4 +1$/m,
    ])
      assert.match(stdout, words);
    assert.deepEqual(JSON.parse((await cli('gateway', 'health', '--json')).stdout), health);
  });

  test('one is shown as fields, or as the API’s JSON', async () => {
    assert.match(
      (await cli('agent-links', 'show', 'alk_1')).stdout,
      /^settings +\{"user_deny":\["eve"\]\}$/m,
    );
    assert.deepEqual(JSON.parse((await cli('agent-links', 'show', 'a/b', '--json')).stdout), LINK);
    assert.equal(api.requests[1]?.path, '/v1/agent-links/a%2Fb');
  });

  test('without what it needs, or with what contradicts, a command is wrong usage and sends nothing', async () => {
    const timed = ['schedules', 'add', 'tea', '--message', 'Make tea.', '--cron', '0 9 * * *'];
    for (const [args, words] of [
      [['schedules', 'add', 'tea', '--every', '60'], /--message <text>' not specified/],
      [['channels', 'pair', 'tg', '7KQ4MX2D'], /--user <name>' not specified/],
      [['teams', 'create', 'report'], /--lead <agent>' not specified/],
      [['mcp', 'requests', 'create', 'github'], /--reason <text>' not specified/],
      [[...timed, '--every', '60'], /'--cron <expression>' cannot be used with option '--every <seconds>'/],
      [[...timed, '--at', AT], /cannot be used with option '--at <time>'/],
      [['schedules', 'update', 'tea', '--pause', '--resume'], /cannot be used with option '--resume'/],
      [['heartbeat', 'set', 'main', '--pause', '--resume'], /cannot be used with option '--resume'/],
      [['schedules', 'update', 'tea', '--zone', 'UTC'], /--zone does nothing without --cron/],
      [[...timed.slice(0, 5), '--every', '60', '--zone', 'UTC'], /--zone does nothing without --cron/],
      [['eval', '--junit', '/nowhere/x.xml'], /There is no folder \/nowhere/],
      [['eval', '--only', '('], /It is no regular expression/],
      [['test', 'tea.rec', '--junit', '/'], /It is a folder/],
      [['record', 'tea', '--out', '/nowhere/tea.rec'], /There is no folder \/nowhere/],
      [['record', 'tea', '--since', '7d'], /--since and --outcome choose sessions of --agent/],
    ] as const) {
      const { code, stderr } = await cli(...args);
      assert.equal(code, 2, stderr);
      assert.match(stderr, words);
    }
    assert.deepEqual(api.requests, []);
  });

  test('arguments and flags make the body; what is not named is not sent', async () => {
    const made = await cli(
      'agent-links',
      'add',
      'lead',
      'writer',
      '--max-concurrent',
      '2',
      '--deny',
      'eve',
      'bob',
    );
    assert.equal(made.stdout, 'alk_1: lead may give work to writer (outbound, active)\n');
    await cli('agent-links', 'set', 'alk_1', '--status', 'disabled');
    assert.deepEqual(
      api.requests.map(({ method, path, body }) => [method, path, body]),
      [
        [
          'POST',
          '/v1/agent-links',
          { source: 'lead', target: 'writer', max_concurrent: 2, settings: { user_deny: ['eve', 'bob'] } },
        ],
        ['PATCH', '/v1/agent-links/alk_1', { status: 'disabled' }],
      ],
    );
    assert.equal((await cli('agent-links', 'set', 'alk_1', '--status', 'sideways')).code, 2);
    assert.equal((await cli('teams', 'update', 'crew', '--settings', '[1]')).code, 2);
    assert.equal(api.requests.length, 2);
  });

  test('a flag is read as the schema of its field says, and a file is sent in base64', async () => {
    api.on(() => ({ status: 200, body: { id: 'key_1', secret: 'tc_new', number: 7, status: 'pending' } }));
    const made = await cli('api-keys', 'create', 'ci', '--scopes', 'read,run', '--user', 'ann');
    assert.equal(made.stdout, 'key_1; its secret, shown this once: tc_new\n');
    assert.equal((await cli('api-keys', 'create', 'ci')).code, 2);
    await cli('tasks', 'update', 'crew', '7', '--priority', '3', '--blocked-by', '1,2');
    const attached = await cli('tasks', 'attach', 'crew', '7', '--file', import.meta.filename);
    assert.equal(attached.stdout, '#7 is pending\n');
    const [key, update, attach] = api.requests.map(({ body }) => body as Record<string, unknown>);
    assert.deepEqual(key, { name: 'ci', scopes: ['read', 'run'], user: 'ann' });
    assert.deepEqual(update, { priority: 3, blocked_by: ['1', '2'] });
    const { name, content } = Object(attach)['file'] as Record<string, string>;
    assert.equal(name, 'resource-commands.test.ts');
    assert.equal(Buffer.from(content ?? '', 'base64').toString(), readFileSync(import.meta.filename, 'utf8'));
  });

  test('what is deleted is said, in JSON by the name of its key', async () => {
    assert.equal((await cli('allowlist', 'revoke', 'apr_1')).stdout, 'apr_1 is asked about again\n');
    assert.deepEqual(JSON.parse((await cli('teams', 'delete', 'crew', '--json')).stdout), {
      key: 'crew',
      deleted: true,
    });
    assert.deepEqual(
      api.requests.map(({ method, path }) => `${method} ${path}`),
      ['DELETE /v1/exec-allowlist/apr_1', 'DELETE /v1/teams/crew'],
    );
  });

  test('a name does for the id of what has one, unless several have it', async () => {
    const rows = [
      { id: 's-1', name: 'water', agent: 'main' },
      { id: 's-2', name: 'report', agent: 'main' },
      { id: 's-3', name: 'report', agent: 'writer' },
    ];
    api.on(({ method, path, query }) =>
      method === 'GET' && /^\/v1\/(schedules|knowledge\/entities)$/.test(path)
        ? {
            status: 200,
            body: { data: rows.filter(({ name }) => name === query.get('name')), has_more: false },
          }
        : { status: 200, body: { ...rows[0], data: [], has_more: false, next_runs: [] } },
    );
    const last = () => `${api.requests.at(-1)?.method} ${api.requests.at(-1)?.path}`;
    for (const [line, sent] of [
      ['schedules runs water', 'GET /v1/schedules/s-1/runs'],
      ['schedules run water', 'POST /v1/schedules/s-1/run'],
      ['schedules update water --pause', 'PATCH /v1/schedules/s-1'],
      ['schedules remove water', 'DELETE /v1/schedules/s-1'],
      ['schedules remove s-9', 'DELETE /v1/schedules/s-9'],
      ['knowledge entities merge s-2 water', 'POST /v1/knowledge/entities/s-2/merge'],
    ] as const) {
      await cli(...line.split(' '));
      assert.equal(last(), sent);
    }
    assert.deepEqual(api.requests.at(-1)?.body, { into: 's-1' });
    const { code, stderr } = await cli('schedules', 'run', 'report');
    assert.equal(code, 2);
    assert.match(stderr, /Several are named report: s-2 \(main\), s-3 \(writer\)/);
  });
});
