/**
 * Wraps each workflow except approvals. It shows and reports whether the workflow waits for an approval. It uses up a
 * decision token in a message, because then everybody who reads the history can read it.
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
import { APPROVAL, type ApprovalActivities } from '#domain/approval/approval.ts';
import { tokensIn } from '#domain/approval/decision-token.ts';
import { RECORD } from './activity-options.ts';
import { createApprovalWaits } from './steps/approval-waits.ts';

const { use_up_tokens } = proxyLocalActivities<Pick<ApprovalActivities, 'use_up_tokens'>>(RECORD);

export function interceptors(): WorkflowInterceptors {
  // The approval workflow does this itself, because it must know which of its messages used up each token.
  if (workflowInfo().workflowType === APPROVAL.type) return {};
  let using: Promise<unknown> = Promise.resolve();
  const waits = createApprovalWaits();
  /** Without a token there is nothing to wait for. */
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
              // The next run takes over its state, and reports its changes.
              if (!(error instanceof ContinueAsNew)) waits.end();
              throw error;
            },
          );
          // It comes after the workflow's own handlers, which receive earlier signals. Without it, unknown signals
          // would be kept for ever.
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
