import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type LiveWorker, startLiveWorker } from '#test/support/live-worker.ts';

describe('EX-6 tool calls of a session are limited', () => {
  let worker: LiveWorker;
  before(async () => {
    // Ten are allowed in an hour, and one at once, so the second call comes too soon.
    worker = await startLiveWorker({ settings: 'tools: { rate_limit_per_hour: 10, rate_limit_burst: 1 }' });
  });
  after(() => worker.close());

  test('a call too many returns RateLimited with the seconds to wait and does not run; another session is not touched', async () => {
    const twice =
      'write_file {"path":"a.txt","content":"1"}\nthen\nwrite_file {"path":"b.txt","content":"2"}';
    const { turn_id } = await worker.say('limited', twice);
    await worker.ended(turn_id);
    const [first, second] = await worker.calls(turn_id);
    assert.equal(first?.ok, true);
    assert.equal(second?.code, 'RateLimited');
    assert.match(
      second?.result ?? '',
      /^RateLimited: tool rate limit exceeded: 10 actions\/hour for key \S+; wait \d+ s\. The call has not run\.$/,
    );

    const receipt = await worker.say('other', 'glob {"pattern":"*.txt"}');
    await worker.ended(receipt.turn_id);
    const [listed] = await worker.calls(receipt.turn_id);
    assert.match(listed?.result ?? '', /a\.txt/);
    assert.doesNotMatch(listed?.result ?? '', /b\.txt/);
  });

  test('parallel calls cannot share a token', async () => {
    const calls = [1, 2, 3].map((n) => `write_file {"path":"p${n}.txt","content":"x"}`).join('\n');
    const { turn_id } = await worker.say('burst', calls);
    await worker.ended(turn_id);
    const made = await worker.calls(turn_id);
    assert.equal(made.filter((call) => call.ok).length, 1);
    assert.equal(made.filter((call) => call.code === 'RateLimited').length, 2);
  });
});

describe('EX-6 how many calls may be made at once is a setting', () => {
  test('of three an hour all run at once without it, and the fourth comes too soon', async () => {
    const worker = await startLiveWorker({ settings: 'tools: { rate_limit_per_hour: 3 }' });
    try {
      const calls = [1, 2, 3, 4].map((n) => `write_file {"path":"p${n}.txt","content":"x"}`).join('\n');
      const { turn_id } = await worker.say('hour', calls);
      await worker.ended(turn_id);
      const made = await worker.calls(turn_id);
      assert.equal(made.filter((call) => call.ok).length, 3);
      assert.equal(made.filter((call) => call.code === 'RateLimited').length, 1);
    } finally {
      await worker.close();
    }
  });

  test('a limit below zero is none', async () => {
    const worker = await startLiveWorker({ settings: 'tools: { rate_limit_per_hour: -5 }' });
    try {
      const { turn_id } = await worker.say('free', 'glob {"pattern":"*"}\nthen\nglob {"pattern":"*"}');
      await worker.ended(turn_id);
      assert.deepEqual(
        (await worker.calls(turn_id)).map((call) => call.ok),
        [true, true],
      );
    } finally {
      await worker.close();
    }
  });

  test('of ten an hour three run at once, and the fourth comes too soon', async () => {
    const worker = await startLiveWorker({
      settings: 'tools:\n  rate_limit_per_hour: 10\n  rate_limit_burst: 3\n',
    });
    try {
      const calls = [1, 2, 3, 4].map((n) => `write_file {"path":"p${n}.txt","content":"x"}`).join('\n');
      const { turn_id } = await worker.say('burst', calls);
      await worker.ended(turn_id);
      const made = await worker.calls(turn_id);
      assert.equal(made.filter((call) => call.ok).length, 3);
      assert.equal(made.filter((call) => call.code === 'RateLimited').length, 1);
    } finally {
      await worker.close();
    }
  });
});
