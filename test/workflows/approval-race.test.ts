/**
 * AP-2, F7, F8: many decisions at once and decisions at the instant of expiry have one outcome, and everyone gets it.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { findApproval } from '#store/approvals/approval-store.ts';
import { decideApproval } from '#api/approvals/decide-approval.ts';
import type { DecideInput } from '#domain/approval/approval.ts';
import type { DecisionReceipt } from '#domain/schema/approval.ts';
import { Failure } from '#domain/errors.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { type LiveWorker, startLiveWorker } from '#test/support/live-worker.ts';

describe('AP-2 decisions that race', () => {
  let live: LiveWorker;
  before(async () => {
    live = await startLiveWorker({
      agents: [{ key: 'brief', tools: { ask: [{ tool: 'poke', expires_seconds: 1 }] } }],
    });
  });
  after(() => live.close());

  const effectsOf = (note: string): number =>
    live.probes.effects.filter((effect) => effect.note === note).length;
  async function rowOf(approval: string) {
    const row = await findApproval(forTenant(live.pool, live.tenant), approval);
    assert.ok(row);
    return row;
  }

  for (const round of [1, 2])
    it(`fifty at once by every way: one wins, the call runs by its word, the others are told (${round})`, async () => {
      const note = `race-${round}`;
      const { turn_id } = await live.say(note, `poke {"note":"${note}"}`);
      const approval = await live.approvalOf(note);
      const row = await rowOf(approval);
      const handle = live.client.workflow.getHandle(`approval/${approval}`);
      const results = await Promise.allSettled(
        Array.from({ length: 50 }, (_, n): Promise<DecisionReceipt | undefined> => {
          const decision: DecideInput = { decision: n % 2 === 0 ? 'approve' : 'reject', by: `p${n}` };
          if (n % 5 === 3) return handle.signal('decide', decision).then(() => undefined);
          if (n % 5 === 4)
            return handle.executeUpdate<DecisionReceipt, [DecideInput]>('decide', { args: [decision] });
          return decideApproval(live, live.tenant, row, decision);
        }),
      );
      await live.ended(turn_id);
      const settled = await rowOf(approval);
      assert.ok(settled.status === 'approved' || settled.status === 'denied');
      assert.equal(effectsOf(note), settled.status === 'approved' ? 1 : 0);

      const receipts = results.flatMap((result) =>
        result.status === 'fulfilled' && result.value ? [result.value] : [],
      );
      assert.ok(receipts.filter((receipt) => !receipt.already).length <= 1, 'no two are told that they won');
      for (const receipt of receipts)
        assert.deepEqual(
          [receipt.status, receipt.decided_by],
          [settled.status, settled.decided_by],
          'everyone is told the same winner',
        );
      for (const [n, result] of results.entries()) {
        if (result.status === 'fulfilled' || n % 5 >= 3) continue;
        assert.ok(
          result.reason instanceof Failure && result.reason.type === 'AlreadyDecided',
          `${result.reason}`,
        );
        assert.match(result.reason.message, new RegExp(`by ${settled.decided_by} at`));
      }
      const decided = (await live.events(note)).filter((event) => event.type === 'approval.decided');
      assert.equal(decided.length, 1);
    });

  it('at the instant of expiry: it counts and runs, or it is refused and nothing runs', async () => {
    const offsets = Array.from({ length: 24 }, (_, n) => (n - 12) * 10);
    const outcomes = await Promise.all(
      offsets.map(async (offset) => {
        const note = `instant${offset}`;
        const { turn_id } = await live.say(note, `poke {"note":"${note}"}`, { agent: 'brief' });
        const approval = await live.approvalOf(note);
        const handle = live.client.workflow.getHandle(`approval/${approval}`);
        const { expires_at } = await handle.query<{ expires_at: string }>('state');
        await sleep(Math.max(0, Date.parse(expires_at) + offset - Date.now()));
        const answer = await decideApproval(live, live.tenant, await rowOf(approval), {
          decision: 'approve',
          by: 'ann',
        }).then(
          (receipt) => receipt.status,
          (error: unknown) => (error instanceof Failure ? error.type : error),
        );
        await live.ended(turn_id);
        const { status } = await rowOf(approval);
        return { offset, answer, status, effects: effectsOf(note) };
      }),
    );
    for (const outcome of outcomes) {
      const approved = outcome.status === 'approved';
      assert.equal(outcome.effects, approved ? 1 : 0, JSON.stringify(outcome));
      // A busy server may answer that it cannot tell.
      if (outcome.answer !== 'Unavailable')
        assert.equal(outcome.answer, approved ? 'approved' : 'ApprovalExpired', JSON.stringify(outcome));
    }
    assert.ok(outcomes.every(({ status }) => status === 'approved' || status === 'expired'));
  });

  it('a decision long after expiry changes nothing', async () => {
    const { turn_id } = await live.say('long-after', 'poke {"note":"long-after"}', { agent: 'brief' });
    const approval = await live.approvalOf('long-after');
    await live.ended(turn_id);
    await assert.rejects(
      decideApproval(live, live.tenant, await rowOf(approval), { decision: 'approve' }),
      (error: unknown) => error instanceof Failure && error.type === 'ApprovalExpired',
    );
    assert.equal(effectsOf('long-after'), 0);
    assert.equal((await live.calls(turn_id))[0]?.code, 'ApprovalExpired');
  });
});
