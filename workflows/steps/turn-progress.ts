/** How far a turn has come, and what of it a run passes to the run that goes on. */
import type { GateCursor } from '#domain/gate/gate.ts';
import type { TurnInbox } from '#domain/turn/turn-inbox.ts';
import type {
  AgentTurnInput,
  Carry,
  HeldMessage,
  ParkedSession,
  QueuedTurn,
  SettledCall,
} from '#domain/turn/turn.ts';
import type { TurnView } from './turn-view.ts';

type Resume = NonNullable<Carry['resume']>;

/** The turn so far: after a cancelled step its state is read from here. */
export interface TurnProgress {
  readonly turn: QueuedTurn;
  step: number;
  messages: readonly HeldMessage[];
  settle: readonly SettledCall[];
  /** Those of the step that runs, while other calls of it wait. */
  settled: SettledCall[];
  /** It may have created tasks for a team. */
  tasks?: true;
  /** Where judging continues once there is another answer. */
  gate?: GateCursor;
  /** How often people have allowed the step more budget. */
  increases: number;
}

export function startProgress(turn: QueuedTurn, resume: Resume | undefined): TurnProgress {
  return {
    turn,
    step: resume?.step ?? 1,
    messages: resume ? [] : turn.messages,
    settle: resume?.settle ?? [],
    settled: [],
    tasks: resume?.tasks,
    gate: resume?.gate,
    increases: resume?.increases ?? 0,
  };
}

export function resumeOf(
  { turn, step, messages, settle, settled, tasks, gate, increases }: TurnProgress,
  inbox: TurnInbox,
): Resume {
  return {
    turn,
    step,
    steering: [...messages, ...inbox.steering()],
    settle: [...settle, ...settled],
    tasks,
    stop: inbox.pendingStop(),
    gate,
    increases: increases > 0 ? increases : undefined,
  };
}

/** A step that waits is repeated by the run that goes on: its answer is a row, and its calls know what they wait for. */
export function parkedSession(
  session: AgentTurnInput,
  { inbox, progress, view }: ParkedParts,
): ParkedSession {
  const carry = inbox.carry(progress && resumeOf(progress, inbox));
  return {
    input: { ...session, carry },
    turn_id: progress?.turn.turnId ?? null,
    is_waiting: view.isWaiting(),
  };
}

interface ParkedParts {
  readonly inbox: TurnInbox;
  readonly progress: TurnProgress | undefined;
  readonly view: Pick<TurnView, 'isWaiting'>;
}
