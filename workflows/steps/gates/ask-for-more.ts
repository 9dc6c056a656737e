/**
 * A gate's command at the limit of a budget: the work waits for people to allow more, as long as its own time limit
 * permits.
 */
import { CancellationScope, condition } from '@temporalio/workflow';
import type { GateAsk } from '#domain/gate/gate-activities.ts';
import { askForBudget } from '../ask-for-budget.ts';
import type { CallSurroundings } from '../run-calls.ts';
import type { SessionLimits } from '../run-session.ts';

interface LimitedWork {
  readonly tenant: string;
  readonly limits: SessionLimits;
  readonly onAsk?: CallSurroundings['onChange'];
}

/** Undefined when more was allowed; otherwise the reason. */
export async function askForMore(
  { call, message, session, turn }: GateAsk,
  { tenant, limits, onAsk }: LimitedWork,
): Promise<string | undefined> {
  const scope = new CancellationScope();
  const around = {
    tenant,
    sessionKey: session,
    turnId: turn,
    onChange: onAsk ?? (() => undefined),
    questions: scope,
  };
  let isSettled = false;
  const settled = scope
    .run(() => askForBudget({ kind: 'budget', call, message }, around))
    .finally(() => (isSettled = true));
  // It is awaited below, unless the work itself is cancelled.
  settled.catch(() => undefined);
  const isOver = (): boolean => isSettled || limits.isCancelRequested();
  const remaining = limits.deadline - Date.now();
  if (Number.isFinite(remaining)) await condition(isOver, Math.max(1, remaining));
  else await condition(isOver);
  if (isSettled) return settled;
  scope.cancel();
  return `${message}; nobody has allowed more before the work was over`;
}
