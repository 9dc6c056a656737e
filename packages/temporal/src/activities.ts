/** The plugin's activities: one asks whether a call may run, the other records how it ended. Both are safe to repeat. */
import { createHash } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { ASK, FAILURES, type GuardActivities, RECORD } from './contract.ts';
import { begin, type CallPlace, finish, Refusal, type ServerOptions } from './server.ts';

/** Seconds that one attempt waits for a person: its worker has no place for other activities in that time. */
const WAIT_SECONDS = 10;
/** Seconds until it is asked again: a tenth of the question's age. */
const AGAIN_SECONDS = { min: 1, max: 30 };
const HEARTBEAT_MS = 4_000;

export function createGuardActivities(options: ServerOptions): GuardActivities {
  return {
    [ASK]: (request) =>
      reported(async (signal) => {
        const place = callPlace(request.number);
        const answer = await begin(options, place, request, WAIT_SECONDS, signal);
        if (answer.decision === 'waiting') throw stillWaits(answer.approval_id, answer.created_at);
        const { decision, reason, answer: text, edited_args } = answer;
        return { decision, reason, answer: text, edited_args };
      }),
    [RECORD]: (end) =>
      reported((signal) => finish(options, callPlace(end.number), end, signal).catch(ifOver)),
  };
}

/** The same for all attempts, on whichever worker. */
export function callPlace(number: number | string): CallPlace {
  const { workflowNamespace: namespace, workflowExecution } = Context.current().info;
  if (!workflowExecution)
    throw ApplicationFailure.nonRetryable('it belongs to no workflow', FAILURES.refused);
  const { workflowId: workflow_id, runId: run_id } = workflowExecution;
  const place = JSON.stringify([namespace, workflow_id, run_id, Number(number)]);
  const id = `gc_${createHash('sha256').update(place).digest('hex').slice(0, 40)}`;
  return { id, namespace: namespace ?? '', workflow_id, run_id };
}

/**
 * A call that was forgotten, or never began, has no end to record. Other refusals, such as of a key that was revoked,
 * are repeated until somebody has seen to them: what has run must not fail for its record.
 */
function ifOver(error: unknown): void {
  if (!(error instanceof Refusal)) throw error;
  if (error.status !== 404 && error.status !== 409) throw new Error(error.message, { cause: error });
}

/** Temporal repeats the activity, which is then no event of the workflow's history. */
function stillWaits(approval: string | null, since: string): ApplicationFailure {
  const age = (Date.now() - Date.parse(since)) / 1000;
  const seconds = Math.min(AGAIN_SECONDS.max, Math.max(AGAIN_SECONDS.min, Math.round(age / 10)));
  return ApplicationFailure.create({
    message: `waits for the approval ${approval ?? ''}`,
    type: 'Waiting',
    nextRetryDelay: seconds * 1000,
    category: ApplicationFailureCategory.BENIGN,
  });
}

/** A refusal fails the activity for good; other errors pass, and Temporal tries again. */
async function reported<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
  try {
    return await work(context.cancellationSignal);
  } catch (error) {
    context.cancellationSignal.throwIfAborted();
    if (error instanceof Refusal) throw ApplicationFailure.nonRetryable(error.message, FAILURES.refused);
    throw error;
  } finally {
    clearInterval(beat);
  }
}
