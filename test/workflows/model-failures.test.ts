/**
 * What a turn does when its model fails: it waits as long as requested, tries again, shortens the prompt, or ends and
 * says why.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type LiveWorker, startLiveWorker } from '#test/support/live-worker.ts';
import { SMALL } from '#test/support/window-scripts.ts';

const FLAKY = `
rules:
  - when: { user: goes on }
    reply: { text: ok }
  - when: { user: rate limit }
    reply: { text: After all., error: { status: 429, message: Slow down., retry_after: 700ms, times: 2 } }
  - when: { user: broke off }
    reply: { text: 'Half an answer', stream: { chunk: 5, every: 150ms }, error: { code: Unreachable, message: The stream broke off., times: 1 } }
  - when: { user: bad key }
    reply: { error: { status: 401, message: The key is not accepted. } }
  - when: { user: no such model }
    reply: { error: { status: 404, message: There is no such model. } }
  - when: { user: filtered }
    reply: { error: { code: Filtered, message: The provider refuses this text. } }
  - when: { user: far too much }
    reply: { error: { code: TooLarge, message: An answer without an end. } }
  - when: { user: says nothing }
    reply: { text: ' ' }
  - when: { user: thinks until its tokens are used up }
    reply: { text: ' ', finish: length }
  - when: { user: asks too often, step: 0 }
    reply: { calls: [{ tool: peek, args: { note: again }, times: 67 }] }
  - when: { user: nests too deep, step: 0 }
    reply: { calls: [{ tool: peek, args: '{"note":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}' }] }
  - when: { user: always down }
    reply: { error: { code: Unreachable, message: Nobody is there., retry_after: 1ms } }
  - reply: { text: ok }
`;

describe('MO a model that fails', () => {
  let live: LiveWorker;
  before(async () => {
    live = await startLiveWorker({
      scripts: { flaky: FLAKY, small: SMALL },
      agents: [
        { key: 'flaky', model: 'rehearsal/flaky', tools: { allow: ['peek'] } },
        { key: 'small', model: 'rehearsal/small', tools: { allow: ['peek'] } },
        { key: 'nowhere', model: 'rehearsal/no-such-script' },
        { key: 'falls-back', model: ['rehearsal/flaky', 'rehearsal/small'], tools: { allow: ['peek'] } },
      ],
    });
  });
  after(() => live.close());

  const say = async (session: string, text: string, agent = 'flaky') =>
    live.ended((await live.say(session, text, { agent })).turn_id);

  it('429 with Retry-After: the step waits that long and tries again, and the turn completes', async () => {
    const startedAt = Date.now();
    const turn = await say('limited', 'rate limit');
    assert.deepEqual([turn.status, turn.text, turn.steps], ['completed', 'After all.', 1]);
    assert.ok(Date.now() - startedAt >= 2 * 700, 'both waits were kept');
  });

  it('a stream that breaks off: the next try begins the answer anew, and readers are told to drop the half', async () => {
    const turn = await say('broke', 'broke off');
    assert.equal(turn.text, 'Half an answer');
    const events = (await live.events('broke')).filter((event) => event.type.startsWith('message.'));
    const attempts = events
      .filter((event) => event.type === 'message.delta' || event.type === 'message.reset')
      .map((event) => event.data['attempt']);
    assert.deepEqual([...new Set(attempts)], [1, 2], 'each piece says which try it is of');
    assert.equal(events.filter((event) => event.type === 'message.completed').length, 1);
  });

  it('a model that is not there is told where the next of the agent answers in its place', async () => {
    const turn = await say('replaced', 'no such model', 'falls-back');
    assert.equal(turn.status, 'completed');
    const reset = (await live.events('replaced')).find(({ type }) => type === 'message.reset');
    const { from, to, code } = reset?.data ?? {};
    assert.deepEqual([from, to, code], ['rehearsal/flaky', 'rehearsal/small', 'UnknownModel']);
  });

  for (const [text, code] of [
    ['bad key', 'Auth'],
    ['filtered', 'Filtered'],
    ['far too much', 'TooLarge'],
  ] as const)
    it(`"${text}" is not tried again: the turn fails and says ${code}`, async () => {
      const turn = await say(code, text);
      assert.deepEqual([turn.status, turn.error?.code], ['failed', 'ModelFailed']);
      assert.match(turn.error?.message ?? '', new RegExp(`^${code}: `));
      assert.equal((await say(code, 'goes on')).status, 'completed', 'the session goes on');
    });

  it('an answer without a word says so, and why as far as it is known', async () => {
    const turn = await say('silent', 'says nothing');
    assert.deepEqual([turn.status, turn.steps], ['completed', 1]);
    assert.match(turn.text ?? '', /without a word/);
    const used = await say('silent', 'thinks until its tokens are used up');
    assert.match(used.text ?? '', /used up its output tokens.*limits\.output_tokens/);
  });

  it('of too many calls in one answer the model is told which were not run', async () => {
    const { turn_id } = await live.say('many', 'asks too often', { agent: 'flaky' });
    assert.equal((await live.ended(turn_id)).status, 'completed');
    const calls = await live.calls(turn_id);
    assert.deepEqual([calls.length, calls.filter((call) => call.ok).length], [65, 64]);
    const last = calls.at(-1);
    assert.equal(last?.ok, false);
    assert.match(last?.result ?? '', /asked for 67: this one and the 2 after it have not run/);
  });

  it('arguments that are nested too deep are told to the model, and the turn goes on', async () => {
    const { turn_id } = await live.say('deep', 'nests too deep', { agent: 'flaky' });
    assert.equal((await live.ended(turn_id)).status, 'completed');
    const [call] = await live.calls(turn_id);
    assert.match(call?.result ?? '', /^InvalidArgs: .*nested deeper than 64 levels/);
  });

  it('a model that is always down ends the turn after some tries', async () => {
    const turn = await say('down', 'always down');
    assert.deepEqual([turn.status, turn.error?.code], ['failed', 'ModelFailed']);
    assert.match(turn.error?.message ?? '', /Nobody is there/);
  });

  it('a model that does not exist fails the turn with words that name it', async () => {
    const turn = await say('nowhere', 'Hello?', 'nowhere');
    assert.match(turn.error?.message ?? '', /no-such-script/);
  });

  it('an agent that does not exist fails the turn', async () => {
    const turn = await say('nobody', 'Hello?', 'nobody');
    assert.deepEqual([turn.status, turn.error?.code], ['failed', 'NotFound']);
  });

  it('falls back to the next model of the agent', async () => {
    const turn = await say('falls-back', 'bad key', 'falls-back');
    assert.deepEqual([turn.status, turn.text], ['completed', 'Noted.']);
  });

  it('a prompt that does not fit is made smaller by a summary, and the rows stay', async () => {
    for (const n of [1, 2, 3]) await say('long', `${n} ${'tea '.repeat(660)}`, 'small');
    const turn = await say('long', 'what do you know', 'small');
    assert.deepEqual([turn.status, turn.text], ['completed', 'I know what there is.']);
    const events = (await live.events('long')).map((event) => event.type);
    assert.ok(events.includes('context.compacted'));
    const { rows } = await live.pool.query<{ summary: string }>(
      'select summary from sessions where tenant_id = $1 and key = $2',
      [live.tenant, 'long'],
    );
    assert.equal(rows[0]?.summary, 'SUMMARY: the user likes tea.');
    assert.equal((await live.heard('long')).length, 4);
  });
});
