/**
 * Around each workflow but approvals: whether it waits for one is shown and reported; a decision token that a message brings, which all
 * can read in the history then, is used up.
 */
import {
  CancellationScope,
  ContinueAsNew,
  log,
  proxyLocalActivities,
  setDefaultSignalHandler,
  type WorkflowInterceptors,
  workflowInfo,
} from '@temporalio/workflow';
import { APPROVAL, type ApprovalActivities } from '#domain/approval.ts';
import { tokensIn } from '#domain/decision-token.ts';
import { RECORD } from './activity-options.ts';
import { createApprovalWaits } from './steps/approval-waits.ts';

const { use_up_tokens } = proxyLocalActivities<Pick<ApprovalActivities, 'use_up_tokens'>>(RECORD);

export function interceptors(): WorkflowInterceptors {
  // It looks for them itself, since it must know by which of its messages each was used up.
  if (workflowInfo().workflowType === APPROVAL.type) return {};
  let using: Promise<unknown> = Promise.resolve();
  const waits = createApprovalWaits();
  /** Where there is none, nothing is waited for. */
  const afterUse = <Result>(args: unknown[], name: string, goOn: () => Promise<Result>): Promise<Result> => {
    const tokens = tokensIn(args);
    if (tokens.length === 0) return goOn();
    log.warn('a decision token was sent to another workflow than its approval', { name });
    const { workflowId, runId } = workflowInfo();
    const message = `${workflowId}/${runId}/${name}`;
    const use = CancellationScope.nonCancellable(() => use_up_tokens({ tokens, message }));
    using = Promise.all([using, use]);
    return inOrder(use, goOn);
  };
  return {
    outbound: [waits.outbound],
    inbound: [
      {
        execute(input, next) {
          waits.begin(input.headers);
          const run = next(input).then(
            (result) => {
              waits.end();
              return result;
            },
            (error: unknown) => {
              // The next run has its state, and reports what comes of it.
              if (!(error instanceof ContinueAsNew)) waits.end();
              throw error;
            },
          );
          // After its own handlers, which take the signals that were there before it. Others would be kept without a look at them.
          setDefaultSignalHandler((name) => log.warn('unknown signal', { name }));
          return run.finally(() => using);
        },
        handleSignal: (input, next) => afterUse(input.args, input.signalName, () => next(input)),
        handleUpdate: (input, next) => afterUse(input.args, input.name, () => next(input)),
      },
    ],
  };
}

async function inOrder<Result>(first: Promise<void>, then: () => Promise<Result>): Promise<Result> {
  await first;
  return then();
}
