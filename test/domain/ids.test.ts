/** DU-2: ids say what belongs to what, also if messages' ids contain dots. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  approvalIdOf,
  approvalWorkflowId,
  callIdOf,
  isCallOf,
  isMessageId,
  isSessionKey,
  MAX_TENANT,
  MAX_WORKFLOW_ID,
  sessionWorkflowId,
  turnIdOf,
} from '#domain/ids.ts';
import { MAX_ITERATIONS } from '#domain/agent.ts';
import { taskWorkflowId } from '#domain/team/team.ts';

describe('DU-2 the id of a call', () => {
  it('names its turn, and no other one whose id begins alike', () => {
    const [turn, alike] = [turnIdOf('m.1'), turnIdOf('m.1.2.0')];
    assert.ok(isCallOf(turn, callIdOf(turn, 2, 0)));
    assert.ok(isCallOf(alike, callIdOf(alike, 2, 0)));
    assert.ok(!isCallOf(turn, callIdOf(alike, 2, 0)));
    assert.ok(!isCallOf(alike, callIdOf(turn, 2, 0)));
  });
});

describe('the ids of workflows', () => {
  it('fit what a SQL store of Temporal takes, however long their parts are', () => {
    const [tenant, name] = ['t'.repeat(MAX_TENANT), 'n'.repeat(64)];
    const [session, message] = ['s'.repeat(200), `msg_${'m'.repeat(124)}`];
    assert.ok(isSessionKey(session) && !isSessionKey(`${session}s`));
    assert.ok(isMessageId(message) && !isMessageId(`${message}m`));
    const call = callIdOf(turnIdOf(message), MAX_ITERATIONS, 64);
    for (const id of [
      sessionWorkflowId(tenant, session),
      approvalWorkflowId(`${approvalIdOf(tenant, call)}:asks-100`),
      taskWorkflowId(tenant, name, 2 ** 31),
      `subagents-wait/${tenant}/${call}`,
    ])
      assert.ok(id.length <= MAX_WORKFLOW_ID, `${id.length}: ${id}`);
  });
});
