import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { type FakeApi, startFakeApi } from './support/fake-api.ts';
import { type CliResult, type CliSettings, runCli, startCli } from './support/run-cli.ts';

/** Replaces the real program, and prints its arguments. */
const PROGRAM = `#!/bin/sh
case "$1" in
  --version) echo 'temporal version 1.9.1 (Server 1.32.0)'; exit 0 ;;
  fail) exit 7 ;;
  hang) trap 'echo ended; exit 42' TERM; echo hangs; while :; do sleep 0.05; done ;;
esac
for word; do echo "word=$word"; done
env | grep '^TEMPORAL_' | sort
`;

describe('the TempoClaw of a state folder', () => {
  const home = mkdtempSync(join(tmpdir(), 'tempoclaw-instance-'));
  const state = join(home, '.tempoclaw');
  const bin = join(home, 'bin');
  let api: FakeApi;
  before(() => {
    mkdirSync(join(state, 'logs'), { recursive: true });
    mkdirSync(bin);
    writeFileSync(join(bin, 'temporal'), PROGRAM, { mode: 0o755 });
    writeFileSync(join(state, 'api-key'), 'tc_testkeytestkeytestkeytestkeytestkey\n');
  });
  after(() => rmSync(home, { recursive: true }));
  beforeEach(async () => {
    api = await startFakeApi();
    describeRun({});
  });
  afterEach(() => api.close());

  function describeRun(fields: Record<string, unknown>): void {
    const info = {
      api: api.url,
      api_socket: api.socket,
      temporal: '127.0.0.1:17233',
      temporal_ui: 'http://127.0.0.1:18233',
      namespace: `it's "$HOME" \`ls\``,
      task_queue: 'tempoclaw',
      database_url: 'postgres://127.0.0.1:1/none',
      api_key_file: join(state, 'api-key'),
      pids: { up: 2 ** 22 + 1 },
      ...fields,
    };
    writeFileSync(join(state, 'run.json'), JSON.stringify(info));
  }

  const settings = (env: Record<string, string> = {}): CliSettings => ({
    cwd: home,
    env: { PATH: [bin, dirname(process.execPath), process.env['PATH']].join(delimiter), ...env },
  });
  const cli = (...args: string[]): Promise<CliResult> => runCli(args, settings());

  test('env prints lines that a shell takes as they are, and what an earlier env has set does not count', async () => {
    const stale = { TEMPOCLAW_URL: 'http://127.0.0.1:1', TEMPOCLAW_API_KEY: 'old' };
    const { code, stdout } = await runCli(['env'], settings(stale));
    assert.equal(code, 0);
    const script = `${stdout}printf '%s|' "$TEMPOCLAW_URL" "$TEMPOCLAW_API_KEY" "$TEMPORAL_ADDRESS" "$TEMPORAL_NAMESPACE"`;
    assert.equal(
      execFileSync('sh', ['-c', script], { encoding: 'utf8' }),
      `${api.url}|tc_testkeytestkeytestkeytestkeytestkey|127.0.0.1:17233|it's "$HOME" \`ls\`|`,
    );
    const json = JSON.parse((await cli('env', '--json')).stdout);
    assert.equal(json.TEMPOCLAW_URL, api.url);
    const nothing = await cli('--state-dir', join(home, 'none'), 'env');
    assert.equal(nothing.code, 1);
    assert.equal(nothing.stdout, '');
  });

  test('SH-7: a key goes to no stranger who listens where the API was', async () => {
    const stranger = await startFakeApi();
    describeRun({ api: stranger.url, api_socket: join(state, 'gone') });
    const { stdout, stderr } = await cli('env');
    assert.doesNotMatch(stdout, /tc_/);
    assert.match(stderr, /its key is not given out/);
    assert.equal((await cli('approvals', 'list')).code, 1);
    await cli('temporal', 'workflow', 'list');
    assert.equal((await runCli(['approvals', 'list', '--url', stranger.url], settings())).code, 1);
    assert.deepEqual(stranger.requests, []);
    describeRun({ api: stranger.url });
    assert.equal((await cli('approvals', 'list')).code, 0);
    assert.deepEqual(stranger.requests, []);
    await stranger.close();
  });

  test('temporal runs the program with the address, and passes all that stands behind it on untouched', async () => {
    api.on(({ path }) =>
      path === '/v1/codec' ? { status: 200, body: { endpoint: `${api.url}/codec/secret` } } : undefined,
    );
    const words = ['workflow', 'list', '--json', '-o', 'two words', '--', '--url', ''];
    const profiles = join(home, 'profiles.toml');
    writeFileSync(profiles, '[profile.prod]\naddress = "prod.example:7233"\napi_key = "key-of-prod"\n');
    const { code, stdout, stderr } = await runCli(
      ['temporal', ...words],
      settings({ TEMPORAL_PROFILE: 'prod', TEMPORAL_CONFIG_FILE: profiles }),
    );
    assert.equal(code, 0, stderr);
    const lines = stdout.split('\n');
    assert.deepEqual(
      lines.filter((line) => line.startsWith('word=')).map((line) => line.slice(5)),
      words,
    );
    assert.ok(lines.includes('TEMPORAL_ADDRESS=127.0.0.1:17233'));
    assert.ok(lines.includes(`TEMPORAL_NAMESPACE=it's "$HOME" \`ls\``));
    assert.ok(lines.includes(`TEMPORAL_CODEC_ENDPOINT=${api.url}/codec/secret`));
    assert.ok(!stdout.includes('prod'), 'the profile and the key of another server do not reach this one');
  });

  test('temporal takes key and certificates from the settings, and no argument shows them', async () => {
    writeFileSync(join(home, 'ca.pem'), 'CA of ours');
    writeFileSync(
      join(home, 'cloud.yaml'),
      'temporal:\n  address: cloud.example:7233\n  apiKey: key-of-cloud\n  tls: { serverCaCertPath: ca.pem }\n',
    );
    describeRun({ temporal: 'cloud.example:7233' });
    const { stdout } = await cli('--config', 'cloud.yaml', 'temporal', 'workflow', 'list');
    assert.match(stdout, /^TEMPORAL_API_KEY=key-of-cloud$/m);
    assert.match(stdout, /^TEMPORAL_TLS=true$/m);
    assert.match(stdout, /^TEMPORAL_TLS_SERVER_CA_CERT_DATA=CA of ours$/m);
    assert.doesNotMatch(stdout, /^word=.*key-of-cloud/m);
  });

  test('temporal runs where processes of a deployment have the address, without a state folder', async () => {
    api.on(({ path }) =>
      path === '/v1/codec' ? { status: 200, body: { endpoint: `${api.url}/codec/secret` } } : undefined,
    );
    rmSync(join(state, 'run.json'));
    const deployed = { TEMPORAL_ADDRESS: 'db.example:7233', TEMPORAL_NAMESPACE: 'agents' };
    const reached = { TEMPOCLAW_URL: api.url, TEMPOCLAW_API_KEY: 'tc_testkeytestkeytestkeytestkeytestkey' };
    const { stdout } = await runCli(['temporal', 'workflow', 'list'], settings({ ...deployed, ...reached }));
    assert.match(stdout, /^TEMPORAL_ADDRESS=db\.example:7233$/m);
    assert.match(stdout, /^TEMPORAL_NAMESPACE=agents$/m);
    assert.match(stdout, /^TEMPORAL_CODEC_ENDPOINT=.*\/codec\/secret$/m);
    const named = await runCli(['--state-dir', state, 'temporal', 'workflow', 'list'], settings(deployed));
    assert.match(named.stderr, /No TempoClaw is known here/);
  });

  test('temporal ends as its program does: exit code, and signals passed on', async () => {
    assert.equal((await cli('temporal', 'fail')).code, 7);
    const run = startCli(['temporal', 'hang'], settings());
    await run.sees(/hangs/);
    run.child.kill('SIGTERM');
    const { code, stdout } = await run.ended;
    assert.equal(code, 42);
    assert.match(stdout, /ended/);
  });

  test('temporal reaches nothing where nothing runs, and its help is there all the same', async () => {
    const elsewhere = ['--state-dir', join(home, 'none'), 'temporal'];
    const { code, stderr } = await cli(...elsewhere, 'workflow', 'list');
    assert.equal(code, 1);
    assert.match(stderr, /No TempoClaw is known here: no run\.json in /);
    assert.match((await cli(...elsewhere, 'workflow', '--help')).stdout, /word=--help/);
  });

  test('status says which part has ended or is away, and exits 1', async () => {
    const { code, stdout } = await cli('status');
    assert.equal(code, 1);
    assert.match(stdout, /not ready/);
    assert.match(stdout, /^up +ended/m);
    assert.match(stdout, /^worker +ended/m);
    assert.match(stdout, /^temporal +away +127\.0\.0\.1:17233/m);
    const { ready, parts } = JSON.parse((await cli('--json', 'status')).stdout);
    assert.equal(ready, false);
    assert.deepEqual(
      parts.map(({ part }: { part: string }) => part),
      ['up', 'api', 'worker', 'temporal', 'postgres'],
    );
    assert.match((await cli('status', '--state-dir', join(home, 'none'))).stderr, /Nothing runs here/);
  });

  test('logs are one story in order of time, as they are with --json, and can be followed', async () => {
    const worker = join(state, 'logs', 'worker.log');
    writeFileSync(
      worker,
      '{"level":30,"time":1795317207000,"msg":"one"}\n{"level":50,"time":1795317209000,"msg":"three\\u001b[2J","n":3}\nno json\n',
    );
    writeFileSync(
      join(state, 'logs', 'temporal.log'),
      '{"level":"warn","ts":"2026-11-22T03:13:28.000Z","msg":"two"}\n',
    );
    const { stdout } = await cli('logs');
    assert.match(
      stdout,
      /worker .*info +one\ntemporal .*warn +two\nworker .*error three n=3\nworker +no json\n/,
    );
    const raw = await cli('logs', 'worker', '--json', '--lines', '1');
    assert.equal(raw.stdout, 'no json\n');
    const follow = startCli(['logs', 'worker', '-f', '-n', '0'], settings());
    // Lines are added until the first is seen, because nothing reports when it has started to read.
    const timer = setInterval(() => appendFileSync(worker, '{"level":30,"time":1,"msg":"four"}\n'), 50);
    await follow.sees(/info +four/);
    clearInterval(timer);
    writeFileSync(worker, '{"level":30,"time":2,"msg":"a new file"}\n');
    await follow.sees(/a new file/);
    follow.child.kill('SIGINT');
    assert.equal((await follow.ended).code, 130);
  });
});
