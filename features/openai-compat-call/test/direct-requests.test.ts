/** DU-7: openai_compat_call: an agent's own request reserves its use in its turn's budgets, and is recorded. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';
import { startSite, type WebSite } from '#test/support/web-site.ts';

const CHAT = { prompt_tokens: 100, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 40 } };
/** Answers by the endpoint. */
const ANSWERS: Readonly<Record<string, string>> = {
  'chat/completions': JSON.stringify({ usage: CHAT }),
  responses: JSON.stringify({ usage: { input_tokens: 7, output_tokens: 3 } }),
  embeddings: JSON.stringify({ usage: { prompt_tokens: 9, total_tokens: 9 } }),
  rerank: JSON.stringify({ usage: { total_tokens: 11 } }),
  moderations: 'not JSON',
};
const BODY = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 50 };

describe('TL openai_compat_call DU-7', () => {
  let site: WebSite;
  let stack: Stack;
  const ends: (() => void)[] = [];
  before(async () => {
    site = await startSite({ after: (end: () => void) => void ends.push(end) }, ({ url, socket }, reply) => {
      const answer = ANSWERS[url?.replace('/v1/', '') ?? ''];
      if (answer !== undefined) reply.end(answer);
      else if (url === '/v1/completions') socket.destroy();
      else reply.writeHead(429).end('{}');
    });
    stack = await startStack({
      settings: `
models:
  prices: { site/m: { input: 1, output: 2, cachedInput: 0.5 } }
  providers: { site: { type: openai-compatible, apiKey: k, baseUrl: '${site.url}/v1' } }
`,
      agents: [
        { key: 'free' },
        { key: 'counted', budgets: [{ scope: 'turn', calls: 100 }] },
        { key: 'poor', budgets: [{ scope: 'turn', tokens: 20_000, on_limit: 'stop' }] },
      ],
    });
  });
  after(async () => {
    await stack?.stop();
    for (const end of ends) end();
  });

  async function ask(session: string, endpoint: string, body: object = BODY, agent = 'free') {
    const args = JSON.stringify({ provider: 'site', endpoint, body });
    const { turn_id } = await stack.worker.say(session, `openai_compat_call ${args}`, { agent });
    await stack.worker.ended(turn_id);
    const { rows } = await stack.pool.query(
      `select kind, model, input_tokens::int, output_tokens::int, cached_tokens::int, usd::float8 from model_uses
       where session_key = $1 and kind <> 'answer'`,
      [session],
    );
    return { turn: turn_id, call: (await stack.worker.calls(turn_id)).at(-1), uses: rows };
  }

  it('counts what the server says that it has used, in the words of each endpoint', async () => {
    const used = async (endpoint: string) => (await ask(endpoint.replace('/', '-'), endpoint)).uses[0];
    const chat = {
      kind: 'direct',
      model: 'site/m',
      input_tokens: 100,
      output_tokens: 20,
      cached_tokens: 40,
      usd: 0.00012,
    };
    assert.deepEqual(await used('chat/completions'), chat);
    const tokens = async (endpoint: string) => {
      const { input_tokens, output_tokens } = await used(endpoint);
      return [input_tokens, output_tokens];
    };
    assert.deepEqual(await tokens('responses'), [7, 3]);
    assert.deepEqual(await tokens('embeddings'), [9, 0]);
    assert.deepEqual(await tokens('rerank'), [11, 0]);
  });

  it('counts what was expected where the server does not say, and nothing of an error', async () => {
    const silent = await ask('silent', 'moderations', { input: 'x'.repeat(4000) });
    assert.equal(silent.uses[0].model, 'site/moderations');
    assert.ok(silent.uses[0].input_tokens >= 1000);
    const refused = await ask('refused', 'images/generations', { prompt: 'x' });
    assert.equal(refused.call?.code, 'ExecutionFailed');
    assert.deepEqual(refused.uses, []);
  });

  it('what broke off counts as used, since it may have been paid for', async () => {
    const { call, uses } = await ask('broken', 'completions');
    assert.equal(call?.code, 'OutcomeUnknown');
    assert.deepEqual([uses[0].kind, uses[0].output_tokens], ['failed', 50]);
  });

  it('is one call of the turn’s budget', async () => {
    const { turn } = await ask('counted', 'embeddings', { model: 'm', input: 'x' }, 'counted');
    const { rows } = await stack.pool.query(
      `select spent::int, reserved::int from budget_accounts where subject = $1 and measure = 'calls'`,
      [turn],
    );
    assert.deepEqual(rows, [{ spent: 3, reserved: 0 }]);
  });

  it('without room nothing is sent, and the model reads why', async () => {
    const before = site.requests.length;
    const { call } = await ask('poor', 'chat/completions', { ...BODY, max_tokens: 30_000, n: 4 }, 'poor');
    assert.equal(call?.code, 'BudgetExceeded');
    assert.match(call?.result ?? '', /tokens/);
    assert.equal(site.requests.length, before);
  });
});
