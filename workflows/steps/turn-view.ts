/** What people see of a turn: the `state` query, and current details in the web UI (IN-5). */
import { setCurrentDetails } from '@temporalio/workflow';
import { approvalWorkflowId } from '#domain/ids.ts';
import type { ShownCheck } from '#domain/gate/gate.ts';
import { markdownCode, markdownText } from '#domain/text/markdown.ts';
import type { AgentTurnInput, QueuedTurn, TurnOutcome, TurnState } from '#domain/turn/turn.ts';
import type { CallModelResult, PlannedCall } from '#domain/turn/turn-activities.ts';
import type { TurnInbox } from '#domain/turn/turn-inbox.ts';
import { workStateNow } from './approval-waits.ts';
import { checkLine } from './gates/run-gates.ts';

export interface TurnView {
  begin(turn: QueuedTurn): void;
  /** The outcome of the turn, also after its run. */
  ended(status: TurnOutcome['status']): void;
  /** Called when no turn runs. */
  idle(): void;
  step(step: number): void;
  spent(result: CallModelResult): void;
  readonly check: (check: ShownCheck) => void;
  readonly call: (call: PlannedCall, phase: 'waiting' | 'running' | 'over') => void;
  /** Whether calls wait for decisions and none runs. */
  isWaiting(): boolean;
  state(inbox: TurnInbox): TurnState;
}

/** Current details add nothing to the history. */
export function createTurnView(session: AgentTurnInput): TurnView {
  let turn: QueuedTurn | undefined;
  let step = 0;
  let spent = '';
  let outcome: TurnOutcome['status'] | undefined;
  const waiting = new Map<string, PlannedCall>();
  const running = new Map<string, PlannedCall>();
  const checks: string[] = [];

  function show(): void {
    setCurrentDetails(details());
  }

  function details(): string {
    const lines = [
      `**${markdownText(turn?.preview || turn?.turnId || session.session_key)}**`,
      '',
      `Step ${step}${spent ? `, ${spent}` : ''}`,
      '',
    ];
    for (const call of waiting.values())
      lines.push(`- waits for a decision: ${markdownCode(call.summary)} (\`${call.approval?.id}\`)`);
    for (const call of running.values()) lines.push(`- runs: ${markdownCode(call.summary)}`);
    lines.push(...checks);
    return lines.join('\n');
  }

  return {
    begin(started) {
      turn = started;
      outcome = undefined;
      step = 0;
      spent = '';
      checks.length = 0;
      waiting.clear();
      running.clear();
      show();
    },
    ended(status) {
      outcome = status;
      waiting.clear();
      running.clear();
    },
    idle() {
      turn = undefined;
    },
    step(reached) {
      step = reached;
      show();
    },
    spent(result) {
      if ('spent' in result && result.spent) spent = result.spent;
    },
    check(check) {
      checks.push(checkLine(check));
      show();
    },
    call(call, phase) {
      waiting.delete(call.id);
      running.delete(call.id);
      if (phase === 'waiting') waiting.set(call.id, call);
      if (phase === 'running') running.set(call.id, call);
      show();
    },
    isWaiting: () => waiting.size > 0 && running.size === 0,
    state: (inbox) => ({
      turn_id: turn?.turnId ?? null,
      status: turn === undefined ? 'idle' : (outcome ?? workStateNow()),
      step,
      doing: [...running.values()].map((call) => call.summary),
      waiting_for: [...waiting.values()].flatMap((call) =>
        call.approval
          ? [
              {
                approval_id: call.approval.id,
                workflow_id: approvalWorkflowId(call.approval.id),
                summary: call.summary,
              },
            ]
          : [],
      ),
      queue: inbox.waiting().map((queued) => ({ turn_id: queued.turnId, messages: queued.messages.length })),
      steering: inbox.steeringWaits(),
    }),
  };
}
