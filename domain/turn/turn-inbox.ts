/**
 * What happens to the messages that reach a session (DU-4), as plain state and rules without clock or I/O. The
 * workflow's handlers only call it; its main function acts on the result.
 */
import { turnIdOf } from '../ids.ts';
import { isStop, submitProblem } from './submit-problem.ts';
import {
  type Carry,
  type HeldMessage,
  INBOX_LIMITS,
  type QueuedTurn,
  type Receipt,
  type Refusal,
  type SteerInput,
  STOP_LEVELS,
  type StopInput,
  type SubmitInput,
} from './turn.ts';

export interface TurnInbox {
  /**
   * Says why the message is refused; undefined when `submit` will accept it. It changes nothing, so it can be a
   * validator.
   */
  refusal(input: unknown, asSteer?: boolean): Refusal | undefined;
  submit(input: SubmitInput): Receipt;
  steer(input: SteerInput): Receipt;
  /** False when it names no turn in this inbox: a late stop has no effect. */
  stop(input: unknown): boolean;

  /** Drops what waits, while no turn runs: a stop of all that names the turn before it. */
  dropWaiting(by: StopInput): void;

  /** Whether a stop of the turn can change something: it runs or waits, or none does. */
  mayStop(turnId: unknown): boolean;

  hasTurn(): boolean;
  /** No turn runs, and none waits. */
  isIdle(): boolean;
  /** Makes the first waiting turn the current one. */
  startTurn(): QueuedTurn;
  /** Sets which step's model call comes next; a message that steers is assigned to that step. */
  reachStep(step: number): void;
  /** Returns the messages that steer the current step. */
  takeSteering(): HeldMessage[];
  steeringWaits(): number;
  /** The same messages, which stay. */
  steering(): readonly HeldMessage[];
  pendingStop(): StopInput | undefined;
  /** From now on messages wait for the next turn; those that steer come first in it. */
  endTurn(): void;
  /** Turns that were stopped before they started, returned once. */
  takeDropped(): QueuedTurn[];
  /** No turn has started and none waits, because all were stopped immediately. */
  hasUnbegun(): boolean;
  /** The first of them, and what stopped it; the others are dropped. Returned once. */
  takeUnbegun(): { readonly turn: QueuedTurn; readonly stop: StopInput } | undefined;

  waiting(): readonly QueuedTurn[];
  /** The state for the next run; `resume` when it continues the same turn. */
  carry(resume?: NonNullable<Carry['resume']>): Carry;
}

interface State {
  queue: QueuedTurn[];
  current: QueuedTurn | undefined;
  nextStep: number;
  steering: HeldMessage[];
  stopped: StopInput | undefined;
  dropped: QueuedTurn[];
  /** The stop that dropped turns while none ran. */
  droppedBy: StopInput | undefined;
  /** Turn ids by message id, oldest first. */
  readonly seen: Map<string, string>;
}

export function createTurnInbox(carry: Carry | undefined): TurnInbox {
  const resume = carry?.resume;
  const state: State = {
    queue: [...(carry?.queue ?? [])],
    current: resume?.turn,
    nextStep: resume?.step ?? 1,
    steering: [...(resume?.steering ?? [])],
    stopped: resume?.stop,
    dropped: [...(carry?.dropped ?? [])],
    droppedBy: undefined,
    seen: new Map(carry?.seen ?? []),
  };

  return {
    refusal: (input, asSteer = false) => refusal(state, input, asSteer),
    submit: (input) => submit(state, input),
    steer: (input) => steer(state, input),
    stop: (input) => stop(state, input),
    dropWaiting: (by) => dropWaiting(state, by),
    mayStop: (turnId) =>
      isIdle(state) || [state.current, ...state.queue].some((turn) => turn?.turnId === turnId),
    hasTurn: () => state.queue.length > 0,
    isIdle: () => isIdle(state),
    startTurn: () => startTurn(state),
    reachStep(step) {
      state.nextStep = step;
    },
    takeSteering() {
      state.nextStep += 1;
      return state.steering.splice(0);
    },
    steeringWaits: () => state.steering.length,
    steering: () => [...state.steering],
    pendingStop: () => state.stopped,
    endTurn: () => endTurn(state),
    takeDropped: () => state.dropped.splice(0),
    hasUnbegun: () => isUnbegun(state),
    takeUnbegun() {
      const stop = state.droppedBy;
      const turn = stop && isUnbegun(state) ? state.dropped.shift() : undefined;
      return stop && turn && { turn, stop };
    },
    waiting: () => state.queue,
    carry: (next) => ({
      queue: state.queue,
      seen: [...state.seen],
      dropped: state.dropped.length > 0 ? state.dropped : undefined,
      resume: next,
    }),
  };
}

function refusal(state: State, input: unknown, asSteer: boolean): Refusal | undefined {
  const problem = submitProblem(input);
  if (problem) return { type: 'InvalidInput', message: problem };
  const message = input as SteerInput;
  // A message that was accepted is answered again, not refused.
  if (state.seen.has(message.id)) return undefined;
  if (asSteer) {
    const stale = staleSteer(state, message);
    if (stale) return { type: 'StaleTurn', message: stale };
  }
  const busy = state.current ?? state.queue[0];
  if (message.mode === 'reject' && busy)
    return { type: 'SessionBusy', message: `turn ${busy.turnId} runs; try again later or use another mode` };
  return overfull(state, message);
}

function staleSteer(state: State, message: SteerInput): string | undefined {
  if (!state.current || state.stopped)
    return 'no turn runs that could be steered; submit the message instead';
  if (message.turn_id === undefined || message.turn_id === state.current.turnId) return undefined;
  return `turn ${message.turn_id} does not run; ${state.current.turnId} does`;
}

function overfull(state: State, message: SubmitInput): Refusal | undefined {
  // Dropped turns are held until the end of the running one records them.
  const turns = [...state.queue, ...state.dropped];
  const held = [...turns.flatMap((turn) => turn.messages), ...state.steering];
  if (held.length >= INBOX_LIMITS.turns)
    return {
      type: 'QueueFull',
      message: `${INBOX_LIMITS.turns} messages wait already; wait for some turns to end`,
    };
  if (message.text === undefined) return undefined;
  const size = held.reduce((sum, waiting) => sum + sizeOf(waiting), sizeOf(message));
  if (size <= INBOX_LIMITS.waitingTextBytes) return undefined;
  const max = `more than ${INBOX_LIMITS.waitingTextBytes} bytes of text wait`;
  return {
    type: 'QueueFull',
    message: `${max}; send messages over the HTTP API, which keeps their text elsewhere`,
  };
}

/** In UTF-16 units: what a run hands to the next must stay far below what Temporal takes in one payload (2 MB). */
function sizeOf({ text, agent, user, channel, chat_id, allowed_tools = [] }: HeldMessage): number {
  if (text === undefined) return 0;
  const words = [text, agent, user, channel, chat_id, ...allowed_tools];
  return words.reduce((sum, word) => sum + (word?.length ?? 0), 0);
}

function submit(state: State, input: SubmitInput): Receipt {
  const known = state.seen.get(input.id);
  if (known !== undefined) return again(state, input, known);
  switch (input.mode) {
    case 'steer':
      return state.current && !state.stopped && isOfSpeaker(state.current, input)
        ? steerTurn(state, input, state.current)
        : enqueue(state, input, 'last');
    case 'collect':
      return joinLast(state, input);
    case 'interrupt':
      if (!state.current) return enqueue(state, input, 'first');
      stop(state, {
        level: 'now',
        turn_id: state.current.turnId,
        reason: `interrupted by message ${input.id}`,
        interrupt: true,
      });
      return enqueue(state, input, 'first');
    default:
      return enqueue(state, input, 'last');
  }
}

function steer(state: State, input: SteerInput): Receipt {
  const steering: SubmitInput = { ...input, mode: 'steer' };
  const known = state.seen.get(input.id);
  if (known !== undefined) return again(state, steering, known);
  if (state.current && !isOfSpeaker(state.current, input)) return enqueue(state, steering, 'last');
  // The turn ended between validator and handler: the message starts the next one, so that it is not lost.
  return state.current && !state.stopped
    ? steerTurn(state, steering, state.current)
    : enqueue(state, steering, 'first');
}

/** The id was accepted before: returns the outcome of that. */
function again(state: State, input: SubmitInput, turnId: string): Receipt {
  const index = state.queue.findIndex((turn) => turn.turnId === turnId);
  const ahead = index < 0 ? 0 : turnsBefore(state, index);
  return { turn_id: turnId, message_id: input.id, mode: input.mode ?? 'queue', ahead, duplicate: true };
}

function enqueue(state: State, input: SubmitInput, place: 'first' | 'last'): Receipt {
  const mode = input.mode ?? 'queue';
  const turn: QueuedTurn = {
    turnId: turnIdOf(input.id),
    messages: [heldMessage(input)],
    preview: input.preview?.slice(0, INBOX_LIMITS.preview),
    collect: mode === 'collect' ? (true as const) : undefined,
  };
  if (place === 'first') state.queue.unshift(turn);
  else state.queue.push(turn);
  remember(state, input.id, turn.turnId);
  const ahead = turnsBefore(state, place === 'first' ? 0 : state.queue.length - 1);
  return { turn_id: turn.turnId, message_id: input.id, mode, ahead };
}

function joinLast(state: State, input: SubmitInput): Receipt {
  const last = state.queue.length - 1;
  const turn = state.queue[last];
  if (!turn?.collect || !isOfSpeaker(turn, input)) return enqueue(state, input, 'last');
  state.queue[last] = { ...turn, messages: [...turn.messages, heldMessage(input)] };
  remember(state, input.id, turn.turnId);
  return { turn_id: turn.turnId, message_id: input.id, mode: 'collect', ahead: turnsBefore(state, last) };
}

function steerTurn(state: State, input: SubmitInput, turn: QueuedTurn): Receipt {
  state.steering.push(heldMessage(input));
  remember(state, input.id, turn.turnId);
  return { turn_id: turn.turnId, message_id: input.id, mode: 'steer', ahead: 0, step: state.nextStep };
}

/** A turn runs with the rights of one person, so it takes no message of another (IN-10). */
function isOfSpeaker({ messages }: QueuedTurn, { user }: SubmitInput): boolean {
  return messages[0]?.user === user;
}

function stop(state: State, input: unknown): boolean {
  if (!isStop(input)) return false;
  const required = input as StopInput;
  const { current } = state;
  const index = state.queue.findIndex((turn) => turn.turnId === required.turn_id);
  if (required.turn_id !== current?.turnId && index < 0) return false;
  if (required.level === 'all') state.dropped.push(...lateTurns(state), ...state.queue.splice(0));
  else if (index >= 0) state.dropped.push(...state.queue.splice(index, 1));
  if (!current) state.droppedBy = required;
  if (required.turn_id === current?.turnId || required.level === 'all') {
    // A stronger stop replaces a weaker one, never the reverse.
    const isStronger =
      !state.stopped || STOP_LEVELS.indexOf(required.level) > STOP_LEVELS.indexOf(state.stopped.level);
    if (current && isStronger) state.stopped = required;
  }
  return true;
}

function dropWaiting(state: State, by: StopInput): void {
  if (state.current || state.queue.length === 0) return;
  state.dropped.push(...state.queue.splice(0));
  state.droppedBy = by;
}

function isIdle({ current, queue }: State): boolean {
  return current === undefined && queue.length === 0;
}

function isUnbegun({ current, queue, dropped, droppedBy }: State): boolean {
  return !current && queue.length === 0 && dropped.length > 0 && droppedBy !== undefined;
}

function startTurn(state: State): QueuedTurn {
  const turn = state.queue.shift();
  if (!turn) throw new Error('no turn waits');
  state.current = turn;
  state.nextStep = 1;
  return turn;
}

function endTurn(state: State): void {
  // They were assigned to a turn that is over, so they start the next one.
  state.queue.unshift(...lateTurns(state));
  state.current = undefined;
  state.stopped = undefined;
}

/** Steering messages that were not read, as turns of their own. */
function lateTurns(state: State): QueuedTurn[] {
  return state.steering.splice(0).map((message) => {
    const turnId = turnIdOf(message.id);
    state.seen.set(message.id, turnId);
    return { turnId, messages: [message] };
  });
}

function turnsBefore(state: State, index: number): number {
  return index + (state.current && !state.stopped ? 1 : 0);
}

/** Older ids are found in their rows. */
function remember(state: State, messageId: string, turnId: string): void {
  state.seen.set(messageId, turnId);
  const held = state.queue.reduce((sum, turn) => sum + turn.messages.length, 0) + state.steering.length;
  for (const oldest of state.seen.keys()) {
    if (state.seen.size <= INBOX_LIMITS.seen + held) break;
    state.seen.delete(oldest);
  }
}

/** Who speaks decides in which turn it is read. Only a message whose text is sent with it needs the rest here. */
function heldMessage(input: SubmitInput): HeldMessage {
  const { id, text, agent, user, channel, chat_id, allowed_tools } = input;
  if (text === undefined) return user === undefined ? { id } : { id, user };
  return { id, text, agent, user, channel, chat_id, allowed_tools };
}
