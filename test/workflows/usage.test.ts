/** DU-7: `/v1/usage` has all paid model calls, answered or not, of every user. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CRITIC, DRAFTS } from '#test/support/gate-scripts.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { SMALL } from '#test/support/window-scripts.ts';

/** Refuses the first attempt without a word. */
const BUSY = `
rules:
  - when: { attempt: 1 }
    reply: { error: { status: 529, message: The scripted model is overloaded. } }
  - reply: { text: ok }
`;

describe('DU-7 usage', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      scripts: { busy: BUSY, small: SMALL, drafts: DRAFTS, critic: CRITIC },
      settings: 'budgets: [{ scope: turn, tokens: 1000000, calls: 100 }]',
      agents: [
        { key: 'flaky', model: 'rehearsal/flaky' },
        { key: 'busy', model: 'rehearsal/busy' },
        { key: 'chain', model: ['rehearsal/flaky', 'rehearsal/echo'] },
        { key: 'small', model: 'rehearsal/small', tools: { allow: ['peek'] } },
        { key: 'critic', model: 'rehearsal/critic' },
        {
          key: 'gated',
          model: 'rehearsal/drafts',
          quality_gates: [{ event: 'turn.completed', type: 'agent', agent: 'critic', max_retries: 2 }],
        },
      ],
    });
  });
  after(() => stack.stop());

  const ended = async (session: string, text: string, agent: string) =>
    stack.worker.ended((await stack.worker.say(session, text, { agent })).turn_id);
  const usage = async (query: string) => (await stack.ask('GET', `/v1/usage?${query}`)).body.data;
  const spentTokens = async (turn: string): Promise<number> => {
    const path = `/v1/budgets/accounts?budget=settings:turn:*:total&subject=${turn}`;
    const { body } = await stack.ask('GET', path);
    return body.data.find(({ measure }: { measure: string }) => measure === 'tokens')?.spent ?? 0;
  };

  it('names what is wrong in a request, and refuses a filter that it does not have', async () => {
    for (const [query, pointer] of [
      ['agnet=busy', 'query/agnet'],
      ['from=2026-02-02&to=2026-02-01', 'query/from'],
      ['from=2020-01-01&to=2026-02-01', 'query/from'],
    ] as const) {
      const { status, body } = await stack.ask('GET', `/v1/usage?${query}`);
      assert.deepEqual([status, body.errors?.[0]?.pointer], [400, pointer], JSON.stringify(body));
    }
  });

  it('has what a model wrote before it broke off, of the turn and of its budget too', async () => {
    const { id } = await ended('chains', 'cut off', 'chain');
    const { usage: turn } = (await stack.ask('GET', `/v1/turns/${id}`)).body;
    const rows = await usage('by=model,kind&session=chains');
    assert.deepEqual(
      rows.map(({ model, kind, calls }: Record<string, unknown>) => [model, kind, calls]),
      [
        ['rehearsal/echo', 'answer', 1],
        ['rehearsal/flaky', 'failed', 1],
      ],
    );
    const [answer, failed] = rows;
    assert.ok(failed.input_tokens > 0 && failed.output_tokens > 0);
    assert.deepEqual(
      [turn.input_tokens, turn.output_tokens],
      [answer.input_tokens + failed.input_tokens, answer.output_tokens + failed.output_tokens],
    );
    assert.equal(
      await spentTokens(id),
      answer.input_tokens + failed.input_tokens + answer.output_tokens + failed.output_tokens,
    );
  });

  it('has each attempt that broke off before one answered, and none that was refused', async () => {
    await ended('breaks', 'cut off', 'flaky');
    await ended('waits', 'Hello.', 'busy');
    const kinds = async (session: string) =>
      (await usage(`by=kind&session=${session}`)).map(({ kind, calls }: Record<string, unknown>) => [
        kind,
        calls,
      ]);
    assert.deepEqual(await kinds('breaks'), [
      ['answer', 1],
      ['failed', 1],
    ]);
    assert.deepEqual(await kinds('waits'), [['answer', 1]]);
  });

  it('has the summaries that a long conversation needs', async () => {
    for (let n = 0; n < 12; n += 1) await ended('long', `${n} ${'tea '.repeat(200)}`, 'small');
    const rows = await usage('by=agent,kind&session=long');
    const summary = rows.find(({ kind }: { kind: string }) => kind === 'summary');
    assert.ok(summary.calls > 0 && summary.input_tokens > 0);
    assert.deepEqual([summary.agent, summary.unpriced_calls], ['small', 0]);
  });

  it('has what agents say at gates, as theirs', async () => {
    await ended('gates', 'Write.', 'gated');
    const judged = await usage('by=agent&agent=critic');
    assert.equal(judged[0].calls, 2);
  });
});
