/**
 * A turn whose end takes as long to be recorded as a test needs. For its workflow it is over, and the workflow accepts
 * messages in the meantime.
 */
import { AGENT_TURN } from '#domain/turn/turn.ts';
import { fetchHistory } from './histories.ts';
import { type LiveWorker, workflowIdOf } from './live-worker.ts';

/**
 * Stops a turn, after `before`, and does `meanwhile`, which sends one signal, while its end is being recorded. The recording continues
 * when the workflow has received what came. That is when the server's time limit of one workflow task ends, which is
 * short for this run.
 */
export async function recordingItsEnd(
  live: LiveWorker,
  session: string,
  meanwhile: (turn: string) => Promise<unknown>,
  before?: () => Promise<unknown>,
): Promise<void> {
  await live.client.workflow.start(AGENT_TURN.type, {
    workflowId: workflowIdOf(live, session),
    taskQueue: live.taskQueue,
    args: [{ tenant: live.tenant, session_key: session }],
    workflowTaskTimeout: '2 seconds',
  });
  const { turn_id } = await live.say(session, `hold {"note":"${session}"}`);
  await live.probes.untilHeld(session);
  await before?.();
  // The record searches for delegated work to stop, which no other step of this turn does.
  const lock = await live.pool.connect();
  try {
    await lock.query('begin');
    // It waits for longer than a connection may be idle in a transaction.
    await lock.query('set local idle_in_transaction_session_timeout = 0');
    await lock.query('lock table assignments in access exclusive mode');
    await live.temporal.stop(live.tenant, session, { turn_id, level: 'now', by: 'ann' });
    await live.until('the record of the end', async () => {
      const { rowCount } = await lock.query(
        `select 1 from pg_locks where relation = 'assignments'::regclass and not granted
           and database = (select oid from pg_database where datname = current_database())`,
      );
      return rowCount ? true : undefined;
    });
    await meanwhile(turn_id);
    await live.until('the workflow to take it', async () =>
      (await taken(live, session)) ? true : undefined,
    );
  } finally {
    await lock.query('rollback');
    lock.release();
  }
  await live.ended(turn_id);
}

/** Whether a workflow task has delivered the second signal: the server holds it back while another task is open. */
async function taken(live: LiveWorker, session: string): Promise<boolean> {
  const { events } = (await fetchHistory(live.client, workflowIdOf(live, session))) as {
    events: readonly { eventType: string }[];
  };
  const types = events.map(({ eventType }) => eventType);
  const [, received] = types.flatMap((type, at) =>
    type === 'EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED' ? [at] : [],
  );
  if (received === undefined) return false;
  const startedAt = types.indexOf('EVENT_TYPE_WORKFLOW_TASK_STARTED', received);
  return startedAt >= 0 && types.includes('EVENT_TYPE_WORKFLOW_TASK_COMPLETED', startedAt);
}
