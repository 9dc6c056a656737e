/** IN-5, DU-3: what people see of a turn in Temporal, and what they must not: text and secrets. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { activitiesOf } from '#test/support/histories.ts';
import { type LiveWorker, startLiveWorker, workflowIdOf } from '#test/support/live-worker.ts';

/** Enough of proto.temporal.api.history.v1.IHistoryEvent for these tests. */
interface HistoryEvent {
  readonly markerRecordedEventAttributes?: { readonly markerName?: string | null } | null;
  readonly startChildWorkflowExecutionInitiatedEventAttributes?: {
    readonly workflowType?: { readonly name?: string | null } | null;
  } | null;
  readonly userMetadata?: { readonly summary?: { readonly data?: Uint8Array | null } | null } | null;
}

describe('IN-5 a turn in Temporal', () => {
  let live: LiveWorker;
  before(async () => {
    live = await startLiveWorker();
  });
  after(() => live.close());

  async function historyOf(session: string): Promise<readonly HistoryEvent[]> {
    const history = await live.client.workflow.getHandle(workflowIdOf(live, session)).fetchHistory();
    return history.events ?? [];
  }
  const summaryOf = (event: HistoryEvent): string => {
    const data = event.userMetadata?.summary?.data;
    return data ? String(JSON.parse(Buffer.from(data).toString('utf8'))) : '';
  };

  it('each model call and each tool is an activity of its own name, with words for the web UI', async () => {
    const { turn_id } = await live.say('types', 'nudge {"note":"one"}\nthen\nnudge {"note":"two"}');
    await live.ended(turn_id);
    await live.client.workflow.getHandle(workflowIdOf(live, 'types')).result();
    const ran = await activitiesOf(live.client, workflowIdOf(live, 'types'));
    const named = ran.filter(({ type }) => type !== 'end_turn').map(({ type, summary }) => [type, summary]);
    assert.deepEqual(named, [
      ['call_model', 'step 1'],
      ['nudge', 'nudge: one'],
      ['call_model', 'step 2'],
      ['nudge', 'nudge: two'],
      ['call_model', 'step 3'],
    ]);
  });

  it('an approval is a child workflow with its summary', async () => {
    const { turn_id } = await live.say('child', 'poke {"note":"seen"}');
    const approval = await live.approvalOf('child');
    const child = (await historyOf('child')).find(
      (event) => event.startChildWorkflowExecutionInitiatedEventAttributes?.workflowType?.name === 'approval',
    );
    assert.equal(child && summaryOf(child), 'poke: seen');
    await live.temporal.decide(approval, { decision: 'reject' });
    await live.ended(turn_id);
  });

  it('sessions are found by tenant, session, agent and state while they wait for an approval', async () => {
    const { turn_id } = await live.say('found', 'poke {"note":"found"}');
    const approval = await live.approvalOf('found');
    const find = async (state: string): Promise<string[]> => {
      const found: string[] = [];
      const query = `TempoclawTenant = '${live.tenant}' and TempoclawSession = 'found' and TempoclawAgent = 'main' and TempoclawState = '${state}'`;
      for await (const { workflowId } of live.client.workflow.list({ query })) found.push(workflowId);
      return found;
    };
    await live.until('the state', async () =>
      (await find('waiting_approval')).length > 0 ? true : undefined,
    );
    assert.deepEqual(await find('waiting_approval'), [workflowIdOf(live, 'found')]);
    await live.temporal.decide(approval, { decision: 'reject' });
    await live.ended(turn_id);
    await live.until('the state after', async () => ((await find('running')).length > 0 ? true : undefined));
  });

  it('approvals and what a tool starts are found by the tenant, session and agent of their turn', async () => {
    const { turn_id } = await live.say('whose', 'poke {"note":"whose"}');
    const approval = await live.approvalOf('whose');
    const mine = `TempoclawTenant = '${live.tenant}' and TempoclawSession = 'whose' and TempoclawAgent = 'main'`;
    const find = async (query: string): Promise<string[]> => {
      const found: string[] = [];
      for await (const { workflowId } of live.client.workflow.list({ query })) found.push(workflowId);
      return found;
    };
    const waits = `${mine} and WorkflowType = 'approval' and TempoclawState = 'pending'`;
    await live.until('the approval', async () => ((await find(waits)).length > 0 ? true : undefined));
    assert.deepEqual(await find(waits), [`approval/${approval}`]);
    await live.temporal.decide(approval, { decision: 'reject' });
    await live.ended(turn_id);
  });

  it('a session that another client started without labels is found by them all the same', async () => {
    const id = workflowIdOf(live, 'unlabelled');
    await live.client.workflow.signalWithStart('agentTurn', {
      workflowId: id,
      taskQueue: live.taskQueue,
      args: [{ tenant: live.tenant, session_key: 'unlabelled' }],
      signal: 'message',
      signalArgs: [{ id: 'foreign', text: 'hello' }],
    });
    await live.client.workflow.getHandle(id).result();
    const query = `TempoclawTenant = '${live.tenant}' and TempoclawSession = 'unlabelled'`;
    const found = await live.until('the session', async () => {
      for await (const { workflowId } of live.client.workflow.list({ query })) return workflowId;
      return undefined;
    });
    assert.equal(found, id);
  });

  it('current details tell the step and what is waited for, at no cost in history', async () => {
    const { turn_id } = await live.say('details', 'poke {"note":"details"}', { preview: 'Poke it.' });
    const approval = await live.approvalOf('details');
    const handle = live.client.workflow.getHandle(workflowIdOf(live, 'details'));
    const metadata = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
    assert.match(metadata.currentDetails ?? '', /Poke it\./);
    assert.match(metadata.currentDetails ?? '', /Step 1/);
    assert.match(
      metadata.currentDetails ?? '',
      new RegExp(`\\n\\n- waits for a decision: \`poke: details\` .*${approval}`),
    );
    const waiting = await live.client.workflow
      .getHandle(`approval/${approval}`)
      .query<{ currentDetails?: string }>('__temporal_workflow_metadata');
    assert.match(waiting.currentDetails ?? '', /Waits for a decision until .*[\s\S]*poke: details/);
    await live.temporal.decide(approval, { decision: 'reject' });
    await live.ended(turn_id);
  });

  it('DU-3 history holds neither the texts nor the arguments nor the results', async () => {
    const long = 'a marvellous sentence about nothing '.repeat(40);
    const { turn_id } = await live.say('small', `nudge {"note":"${long}"}\nthen\n${long}`, { preview: 'p' });
    await live.ended(turn_id);
    const bytes = JSON.stringify(await historyOf('small')).length;
    const { turn_id: longer } = await live.say('longer', `nudge {"note":"x"}\nthen\nx`, { preview: 'p' });
    await live.ended(longer);
    const base = JSON.stringify(await historyOf('longer')).length;
    // The foreign message itself is in its update and in the first step's input; previews are cut.
    assert.ok(bytes - base < 3 * long.length * 4, `${bytes - base} more bytes`);
  });

  it('AP-6 a parked turn and its approval make no history while they wait', async () => {
    const { turn_id } = await live.say('parked', 'poke {"note":"parked"}');
    const approval = await live.approvalOf('parked');
    const lengths = async (): Promise<number[]> =>
      Promise.all(
        [workflowIdOf(live, 'parked'), `approval/${approval}`].map(
          async (id) => (await live.client.workflow.getHandle(id).describe()).historyLength,
        ),
      );
    // The first tasks of both may still be under way.
    const before = await live.until('both to be parked', async () => {
      const one = await lengths();
      await sleep(300);
      return String(one) === String(await lengths()) ? one : undefined;
    });
    await sleep(1_500);
    assert.deepEqual(await lengths(), before);
    const described = await live.client.workflow.getHandle(workflowIdOf(live, 'parked')).describe();
    assert.deepEqual(described.raw.pendingActivities ?? [], []);
    await live.temporal.decide(approval, { decision: 'reject' });
    await live.ended(turn_id);
  });
});
