/** DU-2: which stages of a call of an MCP server another worker may continue, and which are lost. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LiveServer } from '../activities/open-server.ts';
import { CallLost, resumeCall } from '../activities/resume-call.ts';
import type { PendingExternalCall } from '#domain/turn/pending-call.ts';
import { readSampling } from '#domain/model/sampling.ts';

const params = { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 5 };
const remaining: PendingExternalCall = {
  since: 0,
  asks: 1,
  questions: { a: { method: 'sampling/createMessage', params } },
  state: 's',
};
const answer = {
  role: 'assistant',
  content: { type: 'text', text: 'Ho' },
  model: 'm',
  stopReason: 'endTurn',
} as const;

/** The next attempt, after one that has reported nothing. */
async function again(kept: PendingExternalCall, maySample = true) {
  const log: string[] = [];
  const sent: unknown[] = [];
  const live = {
    client: {
      callTool: async (request: unknown) => {
        log.push('sent');
        sent.push(request);
        return { content: [{ type: 'text', text: 'done' }] };
      },
      getServerCapabilities: () => ({}),
    },
    talks: new Set(),
    hide: (text: string) => text,
  } as unknown as LiveServer;
  const result = await resumeCall({
    key: 'k',
    server: 'peer',
    maySample,
    begins: {
      name: 't',
      definition: { name: 't', description: '', schema: { type: 'object' } },
      args: {},
      onprogress: () => undefined,
    },
    check: () => undefined,
    use: (work) => work(live),
    held: new Map(),
    outside: {
      left: kept,
      isAgain: true,
      isStopped: false,
      answer: { status: 'approved' },
      async keep() {
        log.push('kept');
      },
      async sample() {
        log.push('asked');
        return answer;
      },
      isSampling: false,
    },
    signal: new AbortController().signal,
    mayRepeat: false,
    limitMs: 5_000,
    progress: () => undefined,
    show: () => ({ ok: true, text: 'shown' }),
    onSent: () => undefined,
  });
  return { result, log, sent };
}

describe('DU-2 a call that its server has asked about, after a worker’s death', () => {
  it('is gone on with while the model was being asked: the answer is kept, then sent', async () => {
    const { result, log, sent } = await again(remaining);
    assert.equal(result.ok, true);
    assert.deepEqual(log, ['asked', 'kept', 'sent']);
    assert.deepEqual(sent, [{ name: 't', arguments: {}, inputResponses: { a: answer }, requestState: 's' }]);
  });

  it('ends where its server may not ask the model any more, and nothing is sent', async () => {
    const { result, log } = await again(remaining, false);
    assert.equal(result.ok, false);
    assert.deepEqual(log, []);
  });

  it('is lost once all answers were kept: they may have been sent', async () => {
    await assert.rejects(again({ ...remaining, answers: { a: answer } }), CallLost);
  });
});

describe('what an MCP server may ask of the model', () => {
  const refused: readonly (readonly [string, object])[] = [
    ['tools', { ...params, tools: [] }],
    ['a picture', { ...params, messages: [{ role: 'user', content: { type: 'image', data: '' } }] }],
    ['another role', { ...params, messages: [{ role: 'system', content: { type: 'text', text: '' } }] }],
    ['no number of tokens', { ...params, maxTokens: 'many' }],
    ['nothing', { ...params, messages: [] }],
    ['51 messages', { ...params, messages: Array(51).fill(params.messages[0]) }],
    ['more than people are shown', { ...params, systemPrompt: 'x'.repeat(15_999) }],
  ];
  for (const [what, input] of refused)
    it(`is not ${what}`, () => assert.equal(readSampling('peer', input), undefined));
});
