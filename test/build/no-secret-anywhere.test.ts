/** SC-3: secrets are planted in every way into real turns; then everything that was stored is searched for them. */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createLogStream } from '#store/secrets/log-stream.ts';
import { insertTenant } from '#store/api-key-store.ts';
import { putSecret, secretPlace } from '#store/secret-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { startServer, type TestServer } from '../activities/model/provider-server.ts';
import {
  canaryForms,
  createSearch,
  plantCanaries,
  searchHistories,
  searchTables,
} from '../support/canaries.ts';
import { openSse } from '../support/sse.ts';
import { startStack, type Stack } from '../support/stack.ts';

const canary = plantCanaries(
  'text',
  'stream',
  'args',
  'output',
  'error',
  'user',
  'steer',
  'denied',
  'invalid',
  'name',
  'approval',
  'reason',
  'edited',
  'cli',
  'provider',
  'providers_words',
  'setting',
  'progress',
  'invoked',
);

/** The ways in which programs print it. */
function spoken(value: string): string {
  const { raw, base64, url } = canaryForms(value);
  return `${raw} and ${base64} and ${url}`;
}

const shell = (text: string): string => `'${text}'`;

const LEAKY = JSON.stringify({
  // This is slow enough that pieces of it are shown.
  stream: { chunk: 5, every: 8 },
  rules: [
    {
      when: { step: 0, user: { regex: '^Do it' } },
      reply: {
        text: `I know ${spoken(canary.stream)} of it.`,
        calls: [
          { tool: 'write_file', args: { path: 'kept.txt', content: spoken(canary.args) } },
          {
            tool: 'exec',
            args: { command: `echo ${shell(spoken(canary.output))}; echo ${shell(canary.progress)} >&2` },
          },
          { tool: 'read_file', args: { path: `missing ${canary.error}` } },
          { tool: 'read_file', args: { path: 'x', [canary.invalid]: canary.invalid } },
          { tool: `tool_${canary.name}`, args: {} },
          { tool: 'exec', args: { command: `mkfs.ext4 /dev/sda # ${canary.denied}` } },
          { tool: 'credentialed_exec', args: { command: 'show-credential CANARY' } },
        ],
      },
    },
    {
      when: { step: 1 },
      reply: {
        calls: [
          { tool: 'poke', args: { note: spoken(canary.approval) } },
          { tool: 'poke', args: { note: 'plain' } },
        ],
      },
    },
    { reply: { text: `That was ${spoken(canary.text)}.` } },
  ],
});

let stack: Stack;
let provider: TestServer;
let folder: string;
const logs: string[] = [];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tempoclaw-canary-'));
  await writeFile(join(folder, 'show-credential'), '#!/bin/sh\nprintenv "$1"\n');
  await chmod(join(folder, 'show-credential'), 0o755);
  provider = await startServer((request, response) => {
    response.writeHead(401, { 'content-type': 'application/json' });
    const words = `bad key ${String(request.headers.authorization)} and ${spoken(canary.providers_words)}`;
    response.end(JSON.stringify({ error: { message: words } }));
  });
  const stream = createLogStream({ write: (line) => logs.push(line) });
  stack = await startStack({
    logs: stream,
    scripts: { leaky: LEAKY },
    agents: [
      { key: 'leaky', model: 'rehearsal/leaky', exec: { ask: 'off' } },
      { key: 'refused', model: 'local/some-model' },
    ],
    settings: `
approvals: { decisionToken: { secret: '${canary.setting.padEnd(40, 'x')}' } }
models: { providers: { local: { type: openai-compatible, baseUrl: '${provider.url}', apiKey: 'secret://provider' } } }
`,
  });
  stream.hide(stack.deps.secrets.vault.scrubberOfAll);
  await insertTenant(stack.pool, 'default', 'Default');
  const { sealer } = stack.deps.secrets;
  await putSecret(forTenant(stack.pool, 'default'), {
    name: 'provider',
    sealed: sealer.seal(canary.provider, secretPlace('default', 'provider')),
    keyId: sealer.keyId,
    by: 'test',
  });
  // The others are reported in ways of their own.
  const own: readonly string[] = ['provider', 'cli', 'setting'];
  for (const [name, value] of Object.entries(canary).filter(([name]) => !own.includes(name)))
    assert.equal((await stack.ask('PUT', `/v1/secrets/${name}`, { body: { value } })).status, 200);
  const cli = {
    path: join(folder, 'show-credential'),
    agents: ['leaky'],
    env: [{ name: 'CANARY', value: canary.cli }],
  };
  assert.equal((await stack.ask('PUT', '/v1/secure-clis/show-credential', { body: cli })).status, 200);
});

after(async () => {
  await stack?.stop();
  await provider?.close();
  await rm(folder, { recursive: true, force: true });
});

describe('SC-3 no secret is written down', () => {
  const search = createSearch(canary);

  test('a turn in which the model, tools, users and deciders all speak of secrets', async () => {
    const say = (session: string, agent: string, text: string) =>
      stack.ask('POST', `/v1/sessions/${session}/messages`, { body: { agent, text } });
    const sent = await say('leaky', 'leaky', `Do it with ${spoken(canary.user)}`);
    assert.equal(sent.status, 202);
    const first = await stack.worker.approvalOf('leaky');
    await stack.ask('POST', '/v1/sessions/leaky/steer', { body: { text: `Also ${spoken(canary.steer)}` } });
    const waiting = await stack.worker.until('two approvals', async () => {
      const { waiting_for = [] } = (await stack.worker.state('leaky')) ?? {};
      return waiting_for.length === 2 ? waiting_for.map((one) => one.approval_id) : undefined;
    });
    const second = waiting.find((id) => id !== first) ?? assert.fail();
    const decide = (id: string, body: object) => stack.ask('POST', `/v1/approvals/${id}/decision`, { body });
    const edited = { decision: 'edit', args: { note: spoken(canary.edited) }, reason: spoken(canary.reason) };
    for (const [id, body] of [
      [first, edited],
      [second, { decision: 'reject', reason: spoken(canary.reason) }],
    ] as const) {
      const decided = await decide(id, body);
      assert.ok(decided.status < 300, JSON.stringify(decided.body));
      search.look('answer of a decision', decided.body);
    }
    const turn = await stack.worker.ended(sent.body.turn_id);
    assert.equal(turn.status, 'completed', JSON.stringify(turn.error));
    const calls = await stack.worker.calls(turn.id);
    assert.equal(calls.length, 9);
    // The secrets were present: what ran had them.
    assert.ok(stack.worker.probes.effects.some(({ note }) => note === spoken(canary.edited)));
    const shown = calls.find((call) => call.tool === 'credentialed_exec');
    assert.deepEqual([shown?.ok, shown?.result], [true, '[REDACTED]']);
    assert.match(turn.text ?? '', /^That was \[REDACTED\] and \[REDACTED\] and \[REDACTED\]\.$/);
  });

  test('a call by hand, and a provider that fails and repeats the key', async () => {
    const invoked = await stack.ask('POST', '/v1/tools/exec/invoke?wait=60', {
      body: { args: { command: `echo ${shell(spoken(canary.invoked))}` }, agent: 'leaky' },
    });
    assert.ok(invoked.status < 300, JSON.stringify(invoked.body));
    search.look('answer of a call by hand', invoked.body);
    const refused = await stack.ask('POST', '/v1/sessions/refused/messages?wait=60', {
      body: { agent: 'refused', text: 'hello' },
    });
    assert.equal(refused.body.status, 'failed', JSON.stringify(refused.body));
    assert.ok(provider.seen.some(({ headers }) => headers.authorization === `Bearer ${canary.provider}`));
    search.look('answer of a failed turn', refused.body);
  });

  test('SH-4 a program with credentials is refused to exec before anybody is asked', async () => {
    const body = { args: { command: 'env show-credential CANARY' } };
    const refused = await stack.ask('POST', '/v1/tools/exec/invoke?wait=60', { body });
    assert.match(JSON.stringify(refused.body), /requires a secure CLI grant/);
    const { rows } = await stack.pool.query('select 1 from approvals where args::text like $1', [
      '%show-credential%',
    ]);
    assert.equal(rows.length, 0);
  });

  test('searching every history event, table, log line, event and answer finds none', async () => {
    assert.ok((await searchHistories(search, stack.worker.client, stack.tenant)) > 50);
    assert.ok((await searchTables(search, stack.pool)) > 50);
    for (const session of ['leaky', 'refused']) {
      const headers = { authorization: `Bearer ${stack.key}`, 'last-event-id': '0' };
      const feed = await openSse(`${stack.url}/v1/sessions/${session}/events`, headers);
      const events = await feed.until(({ event }) => /^turn\.(completed|failed)$/.test(event));
      feed.close();
      assert.ok(events.length > 2);
      search.look(`events of ${session}`, events);
      for (const path of [`/v1/sessions/${session}/messages`, `/v1/sessions/${session}`])
        search.look(path, (await stack.ask('GET', path)).body);
    }
    for (const path of ['/v1/approvals?status=all', '/v1/secrets', '/v1/secure-clis', '/v1/sessions'])
      search.look(path, (await stack.ask('GET', path)).body);
    // This error contains a secret, as a driver's or a library's might.
    stack.app.log.error(
      { err: new Error(`cannot reach ${spoken(canary.text)}`), nested: { value: canary.cli } },
      canary.args,
    );
    assert.ok(logs.length > 10);
    search.look('logs', logs);
    assert.deepEqual(search.findings, []);
    assert.ok(search.searched > 100_000);
  });

  test('the search itself finds what is there, in each form', () => {
    const control = createSearch(canary);
    for (const text of Object.values(canaryForms(canary.text)))
      control.look('control', { deep: [Buffer.from(`x${text}y`)] });
    assert.ok(control.findings.length >= Object.keys(canaryForms(canary.text)).length);
  });
});
