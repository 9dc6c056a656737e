/** DU-12: Temporal takes the waiting tasks of tenants in turn, by the fairness key of their workflows. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type LiveWorker, startLiveWorker } from '#test/support/live-worker.ts';

describe('DU-12 the fairness key of a tenant', () => {
  let live: LiveWorker;
  before(async () => {
    live = await startLiveWorker();
  });
  after(() => live.close());

  const keyOf = async (workflowId: string): Promise<string | null | undefined> => {
    const { raw } = await live.client.workflow.getHandle(workflowId).describe();
    return raw.workflowExecutionInfo?.priority?.fairnessKey;
  };

  it('is on its sessions, and what they start inherits it', async () => {
    const receipt = await live.say('fair', 'spawn {"task":"Say hello.","label":"child"}\nthen\nDone.');
    await live.ended(receipt.turn_id);
    const { rows } = await live.pool.query<{ workflow_id: string }>(
      `select 'subagent/' || id as workflow_id from assignments where tenant_id = $1`,
      [live.tenant],
    );
    assert.equal(rows.length, 1);
    assert.equal(await keyOf(`session/${live.tenant}/fair`), live.tenant);
    assert.equal(await keyOf(rows[0]?.workflow_id ?? ''), live.tenant);
  });
});
