/**
 * openai_compat_call: a request of the caller to a server of the settings; the caller never chooses its address or key.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createOpenAiServers, type OpenAiServerParts } from '../openai-servers.ts';
import { tool } from '../tools/openai-compat-call.ts';
import type { ToolResult } from '#domain/tool.ts';
import type { NewEgressRow } from '#store/egress-store.ts';
import { toolBench } from '#test/support/tool-call.ts';
import { memoryEgress, startSite, type WebSite } from '#test/support/web-site.ts';

type Answer = Parameters<typeof startSite>[1];

const UNLIMITED: Pick<OpenAiServerParts, 'models' | 'budgets'> = {
  models: { cost: () => undefined },
  budgets: {
    around: async (_work, _attempt, run) => ({ result: await run() }),
    noteUses: async () => undefined,
  },
};

async function stage(t: Parameters<typeof toolBench>[0], answer: Answer, blockedDomains: string[] = []) {
  const site: WebSite = await startSite(t, answer);
  const rows: NewEgressRow[] = [];
  const openAiServers = createOpenAiServers({
    providers: {
      anthropic: { apiKey: 'other' },
      local: { baseUrl: `${site.url}/v1`, apiKey: 'secret://local' },
    },
    egress: memoryEgress(rows),
    egressSettings: { blockedDomains },
    resolveSecret: async (text) => (text === 'secret://local' ? 'canary-key' : text),
    ...UNLIMITED,
  });
  const bench = await toolBench(t, { deps: { openAiServers } });
  return { site, rows, run: (args: object, overrides = {}) => bench.run(tool, args, overrides) };
}

const BODY = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], logit_bias: { 7: 1 } };
const says: Answer = (_request, reply) => reply.end('{"choices":[{"message":{"content":"Ho"}}]}');

function words(result: ToolResult): string {
  return result.ok ? result.text : `${result.code}: ${result.message}`;
}

describe('TL openai_compat_call', () => {
  test('sends the body as it is, with the key of the settings, and marks what comes back', async (t) => {
    const { site, rows, run } = await stage(t, says);
    const result = await run({ body: BODY }, { idempotencyKey: 'default/c1' });
    assert.match(
      words(result),
      /^HTTP 200\n<<<EXTERNAL_UNTRUSTED_CONTENT .*source=local>>>[^]*"content":"Ho"/,
    );
    const [request] = site.requests;
    assert.equal(request?.line, 'POST /v1/chat/completions');
    assert.deepEqual(JSON.parse(request?.body ?? ''), BODY);
    assert.equal(request?.headers.authorization, 'Bearer canary-key');
    assert.equal(request?.headers['idempotency-key'], 'default/c1');
    assert.deepEqual(
      rows.map(({ purpose, status }) => [purpose, status]),
      [['openai_compat_call', 200]],
    );
    assert.doesNotMatch(JSON.stringify([result, rows]), /canary-key/);
  });

  test('other endpoints are named, and none but those that answer in JSON', async (t) => {
    const { site, run } = await stage(t, says);
    await run({ endpoint: 'embeddings', body: { model: 'e', input: 'x' } });
    assert.equal(site.requests[0]?.line, 'POST /v1/embeddings');
    for (const endpoint of ['../admin', 'http://elsewhere.example/v1', 'files', 'fine_tuning/jobs'])
      assert.match(words(await run({ endpoint, body: {} })), /^InvalidArgs: /, endpoint);
    assert.equal(site.requests.length, 1);
  });

  test('neither address nor key is the caller’s to give', async (t) => {
    const { run, site } = await stage(t, says);
    for (const field of ['base_url', 'url', 'api_key', 'headers'])
      assert.match(
        words(await run({ body: BODY, [field]: 'http://x.example' })),
        /there is no such parameter/,
      );
    assert.match(
      words(await run({ provider: 'anthropic', body: BODY })),
      /no provider "anthropic"; there are local/,
    );
    assert.equal(site.requests.length, 0);
  });

  test('an error of the server is a result, a redirect is not followed, and a stream is refused', async (t) => {
    const { run, site } = await stage(t, ({ url }, reply) => {
      if (url?.endsWith('completions')) reply.writeHead(302, { location: '/elsewhere' });
      else reply.writeHead(429);
      reply.end('{"error":"slow down"}');
    });
    assert.match(
      words(await run({ endpoint: 'embeddings', body: {} })),
      /^ExecutionFailed: HTTP 429\n[^]*slow down/,
    );
    assert.match(words(await run({ body: BODY })), /redirects; set models.providers.local.baseUrl/);
    assert.match(words(await run({ body: { ...BODY, stream: true } })), /^InvalidArgs: body.stream/);
    assert.equal(site.requests.length, 2);
  });

  test('a connection that breaks after the request leaves its outcome unknown', async (t) => {
    const { run } = await stage(t, (request) => request.socket.destroy());
    assert.match(words(await run({ body: BODY })), /^OutcomeUnknown: .*paid for/);
  });

  test('a long answer is cut with its marks, and kept whole', async (t) => {
    const { run } = await stage(t, (_request, reply) => reply.end(JSON.stringify('x'.repeat(200_000))));
    const result = await run({ body: BODY });
    assert.ok(result.ok && result.whole !== undefined && result.whole.length > 200_000);
    assert.match(
      result.text,
      /END_EXTERNAL_UNTRUSTED_CONTENT id=\S+>>>\n\[the first 20000 of 200002 characters\]$/,
    );
  });

  test('without such a server it names the setting, and one that is blocked for all is not asked', async (t) => {
    const openAiServers = createOpenAiServers({
      providers: {},
      egress: memoryEgress(),
      egressSettings: {},
      resolveSecret: async (text) => text,
      ...UNLIMITED,
    });
    const bench = await toolBench(t, { deps: { openAiServers } });
    assert.match(
      words(await bench.run(tool, { body: BODY })),
      /^NotFound: .*models\.providers\.NAME\.baseUrl/,
    );
    assert.match(
      words(await bench.run(tool, { body: BODY, provider: 'other' })),
      /^NotFound: .*models\.providers\.NAME\.baseUrl/,
    );
    const { run, site } = await stage(t, says, ['127.0.0.1']);
    assert.match(words(await run({ body: BODY })), /^PermissionDenied: /);
    assert.equal(site.requests.length, 0);
  });
});
