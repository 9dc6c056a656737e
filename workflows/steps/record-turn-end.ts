/** How a turn ended, and the one record of it. */
import { CancellationScope, proxyLocalActivities, setCurrentDetails } from '@temporalio/workflow';
import type { ShownGate } from '#domain/gate.ts';
import type {
  AgentTurnInput,
  EndedTurn,
  EndTurnInput,
  HeldMessage,
  QueuedTurn,
  SettledCall,
  StopInput,
  TurnActivities,
  TurnOutcome,
} from '#domain/turn.ts';
import { TIME_UP } from '#domain/stop-of-work.ts';
import type { TurnInbox } from '#domain/turn-inbox.ts';
import { RECORD } from '../activity-options.ts';

/** How a turn ended, and what of it is in no row yet. */
export interface TurnEnd {
  readonly status: TurnOutcome['status'];
  readonly step: number;
  readonly preview: string;
  readonly error?: { readonly code: string; readonly message: string };
  /** Which limit ended it. */
  readonly limit?: string;
  readonly settle: readonly SettledCall[];
  readonly messages: readonly HeldMessage[];
  /** Nothing is to be recorded: the messages belong to another turn, or the turn's end is in its row already. */
  readonly duplicate?: true;
  /** The record of the answer has ended the turn as well. */
  readonly recorded?: true;
  /** It may have made tasks for a team. */
  readonly tasks?: true;
  /** Must judge the answer before it is handed out. */
  readonly gates?: readonly ShownGate[];
  /** The step whose answer they have let pass. */
  readonly releaseAnswer?: number;
}

/**
 * One local activity for every kind of end, in the same workflow task that ends the run. `status` is how the turn ended by its row: a
 * step that was cancelled may have ended it before. `isPending`: the session works on an assignment, and what it has given
 * away itself has yet to be answered.
 */
export async function recordTurnEnd(
  turn: QueuedTurn,
  end: TurnEnd,
  stop: StopInput | undefined,
  input: AgentTurnInput,
  inbox: TurnInbox,
): Promise<EndedTurn> {
  const { end_turn } = proxyLocalActivities<TurnActivities>(RECORD);
  const record: EndTurnInput = {
    tenant: input.tenant,
    session: input.session_key,
    turn: turn.turnId,
    step: end.step,
    status: end.status,
    error: end.error,
    ...textOf(end, stop),
    by: stop?.by,
    endCommands: stop?.level === 'all' ? (true as const) : undefined,
    endAssignments: isSessionStopped(end, stop) ? (true as const) : undefined,
    isAssigned: input.assigned === undefined ? undefined : (true as const),
    releaseTasks: end.tasks,
    releaseAnswer: end.releaseAnswer,
    settle: end.settle.length > 0 ? end.settle : undefined,
    messages: end.messages.length > 0 ? end.messages : undefined,
  };
  let dropped = inbox.takeDropped();
  const known = { status: end.status, isPending: false };
  if ((end.duplicate || (end.recorded && !stop)) && dropped.length === 0) return known;
  let ended: EndedTurn;
  do {
    const drops = dropped.length > 0 ? { dropped } : {};
    ended = await CancellationScope.nonCancellable(() => end_turn({ ...record, ...drops }));
    // Waiting turns that were stopped while the end was being recorded.
    dropped = inbox.takeDropped();
  } while (dropped.length > 0);
  return end.duplicate ? { ...ended, status: end.status } : ended;
}

/** Who asked reads the limit in place of an answer, or after what was said before it. */
function textOf({ limit, status }: TurnEnd, stop: StopInput | undefined): Pick<EndTurnInput, 'text'> {
  const why = limit ?? (status === 'stopped' && stop?.reason === TIME_UP ? TIME_UP : undefined);
  return why === undefined ? {} : { text: `This turn was ended by a limit: ${why}.` };
}

/** Of turns that a run had which was ended from outside; before another one begins. */
export async function recordLostTurns({ tenant, session_key: session }: AgentTurnInput): Promise<void> {
  setCurrentDetails('Ends the turns of a run that was ended from outside');
  const { end_lost_turns } = proxyLocalActivities<TurnActivities>(RECORD);
  await CancellationScope.nonCancellable(() => end_lost_turns({ tenant, session }));
}

/** Now or altogether, by a stop or by cancelling the workflow. */
function isSessionStopped(end: TurnEnd, stop: StopInput | undefined): boolean {
  return end.status === 'stopped' && !end.duplicate && stop?.level !== 'step' && !stop?.interrupt;
}
