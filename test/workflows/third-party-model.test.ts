/** MO-1: whole turns over the providers' own protocols, with a server that is not ours (@copilotkit/aimock). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startProvider } from '#test/activities/model/provider-server.ts';
import { type LiveWorker, startLiveWorker } from '#test/support/live-worker.ts';

const MODELS = {
  anthropic: 'anthropic/claude-sonnet-4-6',
  responses: 'openai/gpt-4.1-mini',
  chat: 'chat/gpt-4.1-mini',
  google: 'google/gemini-2.5-flash',
} as const;

/** `thinking: high` in each protocol; the model of `responses` cannot think, so nothing is sent. */
const THINKS_MUCH = /"effort":"high"|"reasoning_effort":"high"|"thinkingBudget":\d{5}/;

describe('MO-1 a turn with a model behind a provider', () => {
  let provider: Awaited<ReturnType<typeof startProvider>>;
  let live: LiveWorker;
  before(async () => {
    provider = await startProvider();
    provider.mock.onTurn(0, 'look and ask', {
      content: 'I will look first.',
      toolCalls: [
        { name: 'peek', arguments: '{"note":"seen"}' },
        { name: 'poke', arguments: '{"note":"done"}' },
      ],
    });
    provider.mock.onTurn(1, 'look and ask', { content: 'Looked and asked.' });
    const baseUrl = provider.url;
    const key = 'apiKey: planted-key';
    live = await startLiveWorker({
      settings: `
models:
  providers:
    anthropic: { ${key}, baseUrl: '${baseUrl}' }
    openai: { ${key}, baseUrl: '${baseUrl}', api: responses }
    chat: { type: openai, ${key}, baseUrl: '${baseUrl}', api: chat }
    google: { ${key}, baseUrl: '${baseUrl}' }
`,
      agents: Object.entries(MODELS).map(([agent, model]) => ({ key: agent, model, thinking: 'high' })),
    });
  });
  after(async () => {
    await live?.close();
    await provider?.close();
  });

  for (const agent of Object.keys(MODELS))
    it(`${agent}: calls its tools, waits for the approval, reads their results, answers`, async () => {
      const { turn_id } = await live.say(agent, 'look and ask', { agent });
      const approval = await live.approvalOf(agent);
      await live.temporal.decide(approval, { decision: 'approve', by: 'ann' });
      const turn = await live.ended(turn_id);
      assert.deepEqual(
        [turn.status, turn.text, turn.steps, turn.error],
        ['completed', 'Looked and asked.', 2, null],
      );
      assert.deepEqual(
        (await live.calls(turn_id)).map((call) => [call.tool, call.ok, call.result]),
        [
          ['peek', true, 'peek seen'],
          ['poke', true, 'poke done'],
        ],
      );
      const last = JSON.stringify(provider.seen.at(-1)?.body);
      assert.match(last, /peek seen/);
      assert.match(last, /poke done/);
      if (agent !== 'responses')
        assert.match(last, THINKS_MUCH, 'what the agent is set to reaches the provider');
    });

  it('SC-3 the key of a provider is in no event and no row of the turn', async () => {
    const { rows } = await live.pool.query<{ found: number }>(
      `select (select count(*) from events where data::text like '%planted-key%')::int
            + (select count(*) from messages where text like '%planted-key%')::int as found`,
    );
    assert.equal(rows[0]?.found, 0);
  });
});
