/** AP-2: a decision that is larger than Temporal takes is refused by its size, and the question stays open. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApprovalState } from '#domain/approval/approval.ts';
import type { DecisionReceipt } from '#domain/schema/approval.ts';
import { type LiveWorker, startLiveWorker } from '#test/support/live-worker.ts';

describe('AP-2 large arguments in a decision', () => {
  let live: LiveWorker;
  before(async () => {
    live = await startLiveWorker({ agents: [{ key: 'writes', tools: { ask: [{ tool: 'write_file' }] } }] });
  });
  after(() => live.close());

  it('are taken up to a bound, and refused in words above each limit', async () => {
    const script = 'write_file {"path":"a.txt","content":"small"}\nthen\nread_file {"path":"a.txt"}';
    const { turn_id } = await live.say('large', script, { agent: 'writes' });
    const id = await live.approvalOf('large');
    const decide = (bytes: number): Promise<DecisionReceipt | undefined> =>
      live.temporal.decide(id, {
        decision: 'edit',
        args: { path: 'a.txt', content: 'x'.repeat(bytes) },
        by: 'ann',
      });
    for (const [bytes, problem] of [
      [1_600_000, { type: 'InvalidInput', message: /^args may have 1500000 bytes/ }],
      [2_500_000, { type: 'TooLarge', message: /2 MB/ }],
      [5_000_000, { type: 'TooLarge', message: /2 MB/ }],
    ] as const)
      await assert.rejects(decide(bytes), problem, String(bytes));
    const handle = live.client.workflow.getHandle(`approval/${id}`);
    await handle.signal('decide', { decision: 'edit', args: { content: 'x'.repeat(1_600_000) } });
    await live.until('its refusal', async () => {
      const { refused, last_refused: last } = await handle.query<ApprovalState>('state');
      return refused === 1 && /1500000 bytes/.test(last?.problem ?? '') ? true : undefined;
    });
    assert.equal((await decide(1_400_000))?.status, 'approved');
    assert.equal((await live.ended(turn_id)).status, 'completed');
  });
});
