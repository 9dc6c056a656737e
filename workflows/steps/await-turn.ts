/** What a run of a session does before its turn starts, and how it ends when none does. */
import { condition, isCancellation, setCurrentDetails } from '@temporalio/workflow';
import type { AgentTurnInput, TurnOutcome } from '#domain/turn/turn.ts';
import type { TurnInbox } from '#domain/turn/turn-inbox.ts';
import { recordLostTurns, recordTurnEnd } from './record-turn-end.ts';
import { isQuiet } from './is-quiet.ts';
import { shouldGoOnInNewRun } from './run-limits.ts';
import type { IdleStop } from './stop-idle.ts';

/** How long a run that was started without a message waits for one. */
const FIRST_MESSAGE = '30 seconds';

/** Nothing needs to happen before the turn, so a run that has its turn must not wait at all. */
export function hasTurnAtOnce({ lost }: AgentTurnInput, inbox: TurnInbox, idleStop: IdleStop): boolean {
  return inbox.hasTurn() && !lost && !idleStop.isRequired();
}

/** Undefined when a turn starts; otherwise how the run has ended without one, whatever has arrived meanwhile. */
export async function awaitTurn(
  input: AgentTurnInput,
  inbox: TurnInbox,
  idleStop: IdleStop,
): Promise<TurnOutcome | undefined> {
  if (input.lost) await recordLostTurns(input);
  else if (!inbox.hasTurn() && !inbox.hasUnbegun())
    await condition(() => inbox.hasTurn() || idleStop.isRequired(), FIRST_MESSAGE);
  const stopped = inbox.hasUnbegun() ? await recordUnbegun(input, inbox) : undefined;
  const hasCleaned = idleStop.isRequired() && (await idleStop.carryOut());
  if (stopped) return stopped;
  return inbox.hasTurn() ? undefined : outcomeWithoutTurn(input, hasCleaned);
}

/**
 * The run is over when nothing has arrived by then, when somebody cancels it, or when it has received so many messages
 * without a turn that the next one needs another run.
 */
export async function awaitNextTurn(
  seconds: number,
  inbox: TurnInbox,
  idleStop: IdleStop,
  received: () => number,
): Promise<boolean> {
  setCurrentDetails('Waits for the next message');
  const hasWork = (): boolean => inbox.hasTurn() || inbox.hasUnbegun() || idleStop.isRequired();
  const isFull = (): boolean => shouldGoOnInNewRun(received());
  try {
    await condition(() => hasWork() || isFull(), seconds * 1000);
    while (!hasWork() && isFull()) if (await isQuiet(received)) break;
  } catch (error) {
    if (!isCancellation(error)) throw error;
    // A turn would be stopped in a cancelled run, so the next run takes what has arrived.
    return false;
  }
  return hasWork();
}

/** A message and its stop may arrive at the same moment. */
async function recordUnbegun(input: AgentTurnInput, inbox: TurnInbox): Promise<TurnOutcome | undefined> {
  const unbegun = inbox.takeUnbegun();
  if (!unbegun) return undefined;
  const { turn, stop } = unbegun;
  const end = { status: 'stopped', step: 1, preview: '', settle: [], messages: turn.messages } as const;
  await recordTurnEnd(turn, end, stop, input, inbox);
  return { turn_id: turn.turnId, status: 'stopped', preview: '' };
}

/**
 * The session works on an assignment and has delegated work itself: waits for the message that announces the result,
 * which belongs to the next turn. True when somebody has ended the wait.
 */
export async function awaitAnnouncement(inbox: TurnInbox, idleStop: IdleStop): Promise<boolean> {
  setCurrentDetails('Waits for the results of what it has given away');
  try {
    await condition(() => inbox.hasTurn() || idleStop.isRequested());
  } catch (error) {
    if (!isCancellation(error)) throw error;
    return true;
  }
  if (idleStop.isRequired()) await idleStop.carryOut();
  return !inbox.hasTurn();
}

function outcomeWithoutTurn({ lost }: AgentTurnInput, hasCleaned: boolean): TurnOutcome {
  const done = lost ? 'ended turns that were lost' : 'no message came';
  const preview = hasCleaned ? 'ended what the session had left running' : done;
  return { turn_id: '', status: 'stopped', preview };
}
