/**
 * DU-5, F10: every kept history replays on the current workflows, so that turns of older workers continue. The gate
 * itself is tested too: a bundle with two steps swapped must fail.
 */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { before, describe, it } from 'node:test';
import { DeterminismViolationError } from '@temporalio/workflow';
import { type KeptHistory, readHistories, withoutMachine } from '#test/support/histories.ts';
import { replayHistories } from '#test/support/replay.ts';
import { bundleWorkflows } from '#workers/bundle.ts';
import { FEATURES } from '#features';

const histories = await readHistories();

/**
 * Why each does not replay, by name, on one worker, because evaluating the bundle takes longer than replaying most of
 * them.
 */
async function replay(
  code: string,
  kept: readonly KeptHistory[],
): Promise<ReadonlyMap<string, Error | undefined>> {
  const named = kept.map(({ name, history }) => ({ workflowId: name, history }));
  const errors = new Map<string, Error | undefined>();
  for await (const { workflowId, error } of replayHistories({ code }, named)) errors.set(workflowId, error);
  return errors;
}

describe('DU-5 kept histories', () => {
  let code: string;
  let errors: ReadonlyMap<string, Error | undefined>;
  before(async () => {
    ({ code } = await bundleWorkflows(FEATURES));
    errors = await replay(code, histories);
  });

  it('are there for each workflow and each way that a run ends', () => {
    const types = new Set<string>();
    const ends = new Set<string>();
    for (const { history } of histories) {
      const { events } = history as { events: readonly Record<string, unknown>[] };
      const started = events[0]?.['workflowExecutionStartedEventAttributes'] as
        | { workflowType: { name: string } }
        | undefined;
      types.add(started?.workflowType.name ?? 'none');
      ends.add(String(events.at(-1)?.['eventType']).replace('EVENT_TYPE_WORKFLOW_EXECUTION_', ''));
    }
    assert.deepEqual([...types].sort(), [
      'agentTurn',
      'approval',
      'awaitSubagents',
      'delegation',
      'evaluateLoop',
      'forget',
      'forkSession',
      'indexDocument',
      'nexusTurn',
      'scheduledMessage',
      'subagent',
      'sweep',
      'teamTask',
      'wait',
    ]);
    assert.deepEqual([...ends].sort(), ['CANCELED', 'COMPLETED', 'CONTINUED_AS_NEW']);
  });

  it('name neither the machine that recorded them nor its folders', () => {
    for (const { name, history } of histories) assert.deepEqual(withoutMachine(history), history, name);
  });

  for (const { name } of histories)
    it(`${name} replays`, () => {
      assert.ok(errors.has(name));
      assert.ifError(errors.get(name));
    });

  it('F10: a bundle that runs the tool before it asks for the approval is caught', async () => {
    const asking = /if \(requested\.approval\) \{/;
    assert.match(code, asking, 'the line to swap is in the bundle');
    const swapped = code.replace(
      asking,
      'await around.steps.runTool(requested, { tenant: around.tenant, call: call.id }); if (requested.approval) {',
    );
    const requests = histories.filter(({ name }) => name === 'approval-approve');
    const [error] = (await replay(swapped, requests)).values();
    assert.ok(error instanceof DeterminismViolationError);
  });

  it('F10: a bundle that settles an approval twice is caught', async () => {
    const settling = /const result = (await [^;]{0,200}settle_approval\)?\()/;
    assert.match(code, settling, 'the line to change is in the bundle');
    const doubled = code.replace(
      settling,
      "$1{ tenant: '', approval_id: '', outcome: 'expired' }); const result = $1",
    );
    const settled = histories.filter(({ name }) => name === 'approval-approve.approval');
    const [error] = (await replay(doubled, settled)).values();
    assert.ok(error instanceof DeterminismViolationError);
  });
});

describe('the SDK that replays JSON', () => {
  it('has one protobufjs of its own version: with two, no history in JSON can be read', () => {
    const versions = ['common', 'proto', 'worker', 'client'].map((name) => {
      const require = createRequire(import.meta.resolve(`@temporalio/${name}`));
      return require.resolve('protobufjs/package.json');
    });
    assert.equal(new Set(versions).size, 1, versions.join('\n'));
    const { version } = createRequire(import.meta.url)(versions[0] ?? '') as { version: string };
    assert.equal(version, '8.8.1');
  });
});
