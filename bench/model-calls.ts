/** Reads from histories when the first model calls of a run, and of what it started, began and ended. */
import type { Client, WorkflowHandle } from '@temporalio/client';

/** A run whose history, or whose child's history, has a model call. */
export interface Run {
  readonly workflowId: string;
  readonly runId: string;
}

export interface ModelCall {
  /** Milliseconds since 1970, by the clock that server and worker share. */
  readonly began: number;
  readonly ended: number;
}

export type Events = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>;
type Timestamp = Events[number]['eventTime'];

const MODEL_CALLS: readonly string[] = ['call_model', 'ask_model_tabled'];

/** The first model calls of a run and of the first child run that makes one. */
export async function modelCallsOf(
  client: Client,
  run: Run,
): Promise<{ readonly parent: ModelCall; readonly child: ModelCall }> {
  const events = await historyOf(client, run);
  const parent = firstModelCall(events);
  const child = await firstModelCallBelow(client, events);
  if (!parent || !child) throw new Error(`${run.workflowId} or what it has started has no model call`);
  return { parent, child };
}

async function firstModelCallBelow(client: Client, parent: Events): Promise<ModelCall | undefined> {
  for (const child of childrenOf(parent)) {
    const events = await historyOf(client, child);
    const call = firstModelCall(events) ?? (await firstModelCallBelow(client, events));
    if (call) return call;
  }
  return undefined;
}

export async function historyOf(client: Client, { workflowId, runId }: Run): Promise<Events> {
  return (await client.workflow.getHandle(workflowId, runId).fetchHistory()).events ?? [];
}

export function childrenOf(events: Events): Run[] {
  return events.flatMap((event) => {
    const { workflowId, runId } = event.childWorkflowExecutionStartedEventAttributes?.workflowExecution ?? {};
    return workflowId && runId ? [{ workflowId, runId }] : [];
  });
}

function firstModelCall(events: Events): ModelCall | undefined {
  return firstOfItsOwn(events) ?? firstWithinTask(events);
}

/** The model call that is an activity of its own. */
function firstOfItsOwn(events: Events): ModelCall | undefined {
  const scheduled = events.find((event) =>
    MODEL_CALLS.includes(event.activityTaskScheduledEventAttributes?.activityType?.name ?? ''),
  );
  const isOfIt = (of: { scheduledEventId?: unknown } | null | undefined): boolean =>
    of !== null && of !== undefined && String(of.scheduledEventId) === String(scheduled?.eventId);
  const began = events.find((event) => isOfIt(event.activityTaskStartedEventAttributes))?.eventTime;
  const ended = events.find((event) => isOfIt(event.activityTaskCompletedEventAttributes))?.eventTime;
  return began && ended ? { began: millis(began), ended: millis(ended) } : undefined;
}

interface LocalActivity {
  readonly activity_type: string;
  readonly original_schedule_time: Timestamp;
  readonly complete_time: Timestamp;
}

/**
 * The model call that is the first local activity of its workflow task. The marker's end is in the workflow's time,
 * which stops at the task's start until the activity is over. Both together therefore say how long it took.
 */
function firstWithinTask(events: Events): ModelCall | undefined {
  let taskBegan: Timestamp;
  for (const event of events) {
    if (event.workflowTaskStartedEventAttributes) taskBegan = event.eventTime;
    const data = event.markerRecordedEventAttributes?.details?.['data']?.payloads?.[0]?.data;
    if (!data) continue;
    const local = JSON.parse(Buffer.from(data).toString()) as LocalActivity;
    if (!MODEL_CALLS.includes(local.activity_type)) return undefined;
    const began = millis(local.original_schedule_time);
    return { began, ended: began + millis(local.complete_time) - millis(taskBegan) };
  }
  return undefined;
}

function millis(time: Timestamp): number {
  return Number(time?.seconds ?? 0) * 1_000 + (time?.nanos ?? 0) / 1e6;
}
