/** How a turn ended, and its one record. */
import { CancellationScope, proxyLocalActivities, setCurrentDetails } from '@temporalio/workflow';
import type { ShownGate } from '#domain/gate/gate.ts';
import type {
  AgentTurnInput,
  HeldMessage,
  QueuedTurn,
  SettledCall,
  StopInput,
  TurnOutcome,
} from '#domain/turn/turn.ts';
import type { EndedTurn, EndTurnInput, TurnActivities } from '#domain/turn/turn-activities.ts';
import { TIME_UP } from '#domain/turn/stop-of-work.ts';
import type { TurnInbox } from '#domain/turn/turn-inbox.ts';
import { RECORD } from '../activity-options.ts';

/** How a turn ended, and the parts of it that no row has yet. */
export interface TurnEnd {
  readonly status: TurnOutcome['status'];
  readonly step: number;
  readonly preview: string;
  readonly error?: { readonly code: string; readonly message: string };
  /** The limit that ended it. */
  readonly limit?: string;
  readonly settle: readonly SettledCall[];
  readonly messages: readonly HeldMessage[];
  /** Nothing must be recorded: the messages belong to another turn, or the turn's end is already in its row. */
  readonly duplicate?: true;
  /** The record of the answer has also ended the turn. */
  readonly recorded?: true;
  /** It may have created tasks for a team. */
  readonly tasks?: true;
  /** Gates that must judge the answer before it is released. */
  readonly gates?: readonly ShownGate[];
  /** The step whose answer they have passed. */
  readonly releaseAnswer?: number;
}

/**
 * One local activity for every kind of end, in the workflow task that ends the run. `status` is how the turn ended in
 * its row: a cancelled step may have ended it before. `isPending`: the session works on an assignment, and work that it
 * has delegated itself is not answered yet.
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

/** The user reads the limit, or why a hook denies, in place of an answer or after the text before it. */
function textOf({ limit, status, error }: TurnEnd, stop: StopInput | undefined): Pick<EndTurnInput, 'text'> {
  const why = limit ?? (status === 'stopped' && stop?.reason === TIME_UP ? TIME_UP : undefined);
  const what = error?.code === 'HookDenied' ? 'a hook' : 'a limit';
  return why === undefined ? {} : { text: `This turn was ended by ${what}: ${why}.` };
}

/** Records the ends of turns whose run was ended from outside, before another one starts. */
export async function recordLostTurns({ tenant, session_key: session }: AgentTurnInput): Promise<void> {
  setCurrentDetails('Ends the turns of a run that was ended from outside');
  const { end_lost_turns } = proxyLocalActivities<TurnActivities>(RECORD);
  await CancellationScope.nonCancellable(() => end_lost_turns({ tenant, session }));
}

/** The session was stopped as a whole, by a stop or by cancelling the workflow. */
function isSessionStopped(end: TurnEnd, stop: StopInput | undefined): boolean {
  return end.status === 'stopped' && !end.duplicate && stop?.level !== 'step' && !stop?.interrupt;
}
