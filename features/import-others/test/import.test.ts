/** A folder of another system is brought to an installation: a plan, the change, and nothing the second time. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startApi, type TestApi } from '#test/support/stack.ts';
import { CLAWFT, GOCLAW, makeFolder } from './folders.ts';

describe('tempoclaw import', { timeout: 120_000 }, () => {
  let api: TestApi;
  const folders = { goclaw: '', clawft: '' };
  before(async () => {
    api = await startApi();
    folders.goclaw = makeFolder(GOCLAW);
    folders.clawft = makeFolder(CLAWFT);
  });
  after(async () => {
    for (const folder of Object.values(folders)) rmSync(folder, { recursive: true });
    await api.stop();
  });

  function cli(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const env = { ...process.env, TEMPOCLAW_URL: api.url, TEMPOCLAW_API_KEY: api.key, NO_COLOR: '1' };
    return new Promise((resolve) => {
      execFile(
        process.execPath,
        ['bin/tempoclaw.js', 'import', ...args],
        { env },
        (error, stdout, stderr) => {
          resolve({ code: Number(error?.code ?? 0), stdout, stderr });
        },
      );
    });
  }

  type Change = { action: string; kind: string; name: string; fields: string[]; missing: string[] };
  async function imported(system: 'goclaw' | 'clawft', ...more: readonly string[]) {
    const { code, stdout, stderr } = await cli(system, folders[system], '--json', ...more);
    assert.equal(code, 0, stderr);
    const answer = JSON.parse(stdout);
    const words = (list: Change[]) =>
      list.map(({ action, kind, name, fields, missing }) =>
        [action, kind, name, ...fields, ...missing].join(' '),
      );
    return { ...answer, changes: words(answer.changes), waiting: words(answer.waiting) };
  }
  const setSecret = (name: string) =>
    api.ask('PUT', `/v1/secrets/${name}`, { body: { value: `${name}-value` } });

  const ALL = [
    'create skill release-notes',
    'create agent default',
    'create agent writer',
    'create agent support',
    'create file AGENTS.md of default',
    'create file SOUL.md of default',
    'create file memory/2026-11-01.md of default',
    'create file IDENTITY.md of writer',
    'create file SOUL.md of support',
    'create file USER.md of support for ann',
    'create file MEMORY.md of support',
    'create file memory/orders.md of support for ann',
    'create mcp server search',
    'create grant support on search',
    'create schedule sweep',
    'create schedule Morning-Report',
  ];
  const WAITING = [
    'create mcp server github mcp_github_GITHUB_TOKEN',
    'create custom tool lookup_order lookup_order_ORDERS_TOKEN',
    'create channel telegram telegram_token telegram_secret_token',
  ];

  it('shows a plan, and changes nothing unasked', async () => {
    const { changes, waiting, applied } = await imported('goclaw', '--plan');
    assert.deepEqual({ changes, waiting, applied }, { changes: ALL, waiting: WAITING, applied: false });
    const unasked = await cli('goclaw', folders.goclaw);
    assert.equal(unasked.code, 1);
    assert.match(unasked.stdout, /^\? channel telegram: needs telegram_token, telegram_secret_token$/m);
    assert.match(unasked.stdout, /^! agent writer: temperature: models run with their own$/m);
    assert.match(unasked.stdout, /^ {2}npx tempoclaw secrets set telegram_token$/m);
    assert.match(unasked.stderr, /Nobody can be asked here/);
    assert.equal((await api.ask('GET', '/v1/agents/support')).status, 404);
  });

  it('brings everything whose secrets are set, once', async () => {
    assert.deepEqual((await imported('goclaw', '--yes')).changes, ALL);
    const again = await imported('goclaw', '--yes');
    assert.deepEqual([again.changes, again.waiting], [[], WAITING]);
    const { body } = await api.ask('GET', '/v1/agents/support/files/MEMORY.md');
    assert.equal(body.text, 'Closed on Sundays.');
    const { body: schedules } = await api.ask('GET', '/v1/schedules?name=sweep');
    assert.partialDeepStrictEqual(schedules.data, [
      { agent: 'support', enabled: false, message: 'Look for late orders.' },
    ]);
  });

  it('brings the rest when the user has set the secrets', async () => {
    for (const name of [
      'mcp_github_GITHUB_TOKEN',
      'lookup_order_ORDERS_TOKEN',
      'telegram_token',
      'telegram_secret_token',
    ])
      await setSecret(name);
    assert.equal((await imported('goclaw', '--yes')).changes.length, 3);
    const again = await imported('goclaw', '--yes');
    assert.deepEqual([again.changes, again.waiting], [[], []]);
    const { body: channel } = await api.ask('GET', '/v1/channels/telegram');
    assert.deepEqual([channel.agent, channel.settings], ['writer', { groups: 'all', people: 'pairing' }]);
    const { body: server } = await api.ask('GET', '/v1/mcp/servers/github');
    assert.deepEqual(server.env_names, ['GITHUB_TOKEN']);
  });

  it('leaves alone what somebody has changed here, unless it is to replace it', async () => {
    await api.ask('PATCH', '/v1/agents/writer', { body: { model: 'rehearsal/follow' } });
    await api.ask('PUT', '/v1/agents/default/files/SOUL.md', { body: { text: 'You are quick.' } });
    await api.ask('PATCH', '/v1/mcp/servers/search', { body: { timeout_sec: 5 } });
    await api.ask('PATCH', '/v1/channels/telegram', { body: { settings: { people: 'list' } } });
    const { changes, remarks } = await imported('goclaw', '--yes');
    assert.deepEqual(changes, []);
    assert.deepEqual(remarks[0], {
      what: 'agent writer',
      why: 'it is there and differs (model); --replace changes it',
    });
    assert.deepEqual((await imported('goclaw', '--yes', '--replace')).changes, [
      'change agent writer model',
      'change file SOUL.md of default text',
      'change mcp server search timeout_sec',
      'change channel telegram people',
    ]);
    assert.deepEqual((await imported('goclaw', '--yes', '--replace')).changes, []);
  });

  it('makes what it can when something is refused, and names that', async () => {
    writeFileSync(
      join(folders.goclaw, 'servers.jsonl'),
      '{"name":"shell","transport":"stdio","command":"bash"}\n{"name":"late","url":"https://late.example.com/mcp"}\n',
    );
    const { code, stdout, stderr } = await cli('goclaw', folders.goclaw, '--yes');
    assert.equal(code, 1);
    assert.match(stderr, /mcp server shell: body\/command: must be one of node/);
    assert.match(stdout, /^1 changes applied$/m);
    assert.equal((await api.ask('GET', '/v1/mcp/servers/late')).status, 200);
  });

  it('brings a folder of clawft', async () => {
    for (const name of ['mcp_db_DB_PASSWORD', 'slack_token', 'slack_signing_secret']) await setSecret(name);
    assert.deepEqual((await imported('clawft', '--yes')).changes, [
      'create skill older',
      'create skill research',
      'create agent clawft',
      'create agent researcher',
      'create agent reviewer',
      'create file MEMORY.md of clawft',
      'create file SOUL.md of clawft',
      'create file AGENTS.md of clawft',
      'create file SOUL.md of researcher',
      'create mcp server db',
      'create schedule daily-report',
      'create channel slack',
    ]);
    assert.deepEqual((await imported('clawft', '--yes')).changes, []);
  });
});
