/**
 * The contract of `agentTurn`: one run is one turn, the chain of runs under one workflow id is the session (DESIGN §1).
 * Field names on messages are snake_case, since other systems send them from any SDK (docs/temporal-contract.md).
 */
import type { RefusedSignals } from './refused-signals.ts';
import type { ApprovalInput } from './approval.ts';
import type { FailureType } from './errors.ts';
import type { DelegationContext } from './delegation.ts';
import type { GateCursor, ShownGate } from './gate.ts';
import type { SubagentContext } from './subagent.ts';
import type { UsedTools } from './policy/used-tools.ts';
import type { TeamContext } from './team.ts';

export const AGENT_TURN = {
  type: 'agentTurn',
  updates: { submit: 'submit', steer: 'steer' },
  signals: { stop: 'stop', message: 'message' },
  queries: { state: 'state' },
} as const;

/** DU-4. What happens to a message that comes while a turn runs; with no turn running all of them start one. */
export const SUBMIT_MODES = ['queue', 'steer', 'interrupt', 'collect', 'reject'] as const;
export type SubmitMode = (typeof SUBMIT_MODES)[number];

export const STOP_LEVELS = ['step', 'now', 'all'] as const;
export type StopLevel = (typeof STOP_LEVELS)[number];

export const TURN_STATUSES = [
  'queued',
  'running',
  'waiting_approval',
  'completed',
  'failed',
  'stopped',
] as const;
export type TurnStatus = (typeof TURN_STATUSES)[number];

/** Where a message comes from and what it may use; identity is set by the API from the key, never from a body. */
export interface MessageContext {
  readonly agent?: string;
  readonly user?: string;
  readonly channel?: string;
  readonly chat_id?: string;
  readonly allowed_tools?: readonly string[];
  /** Scopes of the key behind the message; only our API's rows have them. */
  readonly roles?: readonly string[];
  /** Id of the key behind the message; only our API's rows have it. */
  readonly key?: string;
  /** What the channel or group chat allows (PO-1, the seventh step). */
  readonly group?: readonly string[];
  /** Set by what starts a child, in its first message's row. Depth 1 is a child of a session; a leaf starts no more. */
  readonly subagent?: SubagentContext;
  /** Bound to the session that a member works on a task in, so that no message changes it (TE-3). */
  readonly team?: TeamContext;
  /** Bound to a session that works for another agent: what was given away, or a judgement. */
  readonly delegation?: DelegationContext;
  /** What the turn has in place of the agent's own. Set by what begins it, in its message's row. */
  readonly overrides?: {
    readonly model?: string | undefined;
    /** The only context files, by name; nothing of memory. */
    readonly files?: readonly string[] | undefined;
  };
  /** Names of the tools that the parent could use: a child never has more (SA-4). */
  readonly within?: readonly string[];
  /** What its words come from, where that is no session of ours (PO-5). Set by our API. */
  readonly read?: UsedTools | undefined;
}

/** `text` only when the sender is not our API (which has written the row before): at most 64 KB (TEMPORAL §6). */
export interface SubmitInput extends MessageContext {
  readonly id: string;
  readonly mode?: SubmitMode;
  readonly text?: string;
  /** Scrubbed words for people who look at the web UI; at most 200 characters are kept. */
  readonly preview?: string;
}

export interface SteerInput extends SubmitInput {
  /** Refused with StaleTurn when another turn runs. */
  readonly turn_id?: string;
}

export interface StopInput {
  readonly level: StopLevel;
  /** The turn that is meant, so that a late stop cannot hit the next one. */
  readonly turn_id: string;
  readonly by?: string;
  readonly reason?: string;
  /** The turn makes way for another message: what the session has started goes on. */
  readonly interrupt?: true;
}

export interface Receipt {
  readonly turn_id: string;
  readonly message_id: string;
  readonly mode: SubmitMode;
  /** Turns that must end before this one starts. */
  readonly ahead: number;
  /** For a message that steers: the step whose model call reads it. */
  readonly step?: number;
  /** The id was taken before; this is what became of it. */
  readonly duplicate?: true;
}

export interface AgentTurnInput {
  readonly tenant: string;
  readonly session_key: string;
  readonly carry?: Carry;
  /** The run before was ended from outside: this one first ends the turns that are lost by that. */
  readonly lost?: true;
  /**
   * The turn that an assignment began with, whose session this is: its run goes on until all is answered that it has given away
   * itself, and a stop that names this turn means whichever runs then.
   */
  readonly assigned?: string;
  /**
   * So long the run waits for the session's next message when its turn is over, and takes it too. Not for an assignment's session, whose
   * run says by its end that the work is done.
   */
  readonly linger_seconds?: number;
  readonly engine?: EngineHints | undefined;
}

/** What an engine of turns, or who starts a turn, tells the engine of that turn. Opaque to everything between them. */
export interface EngineHints {
  readonly [hint: string]: true | undefined;
}

/** A message as the workflow holds it: its id, and its words only while no row has them. */
export interface HeldMessage extends MessageContext {
  readonly id: string;
  readonly text?: string;
}

export interface QueuedTurn {
  readonly turnId: string;
  readonly messages: readonly HeldMessage[];
  readonly preview?: string;
  readonly collect?: true;
}

/** What one run hands to the next. Rows hold the rest. */
export interface Carry {
  readonly queue: readonly QueuedTurn[];
  /** [message id, turn id] of the ids last taken, newest last. */
  readonly seen: readonly (readonly [string, string])[];
  /** Waiting turns that were stopped and are in no row yet. */
  readonly dropped?: readonly QueuedTurn[];
  /** Set when the same turn goes on after a step boundary. */
  readonly resume?: {
    readonly turn: QueuedTurn;
    readonly step: number;
    readonly steering: readonly HeldMessage[];
    readonly settle: readonly SettledCall[];
    readonly stop?: StopInput;
    /** It may have made tasks for a team. */
    readonly tasks?: true;
    /** Gates have judged an answer of this turn, and it is being revised. */
    readonly gate?: GateCursor;
  };
}

export interface TurnState extends Partial<RefusedSignals> {
  readonly turn_id: string | null;
  readonly status: TurnStatus | 'idle';
  readonly step: number;
  readonly doing: readonly string[];
  readonly waiting_for: readonly {
    readonly approval_id: string;
    readonly workflow_id: string;
    readonly summary: string;
  }[];
  readonly queue: readonly { readonly turn_id: string; readonly messages: number }[];
  /** Messages that the next step will read. */
  readonly steering: number;
}

/** What a run returns: for people and foreign clients; the whole text is a row. */
export interface TurnOutcome {
  readonly turn_id: string;
  readonly status: 'completed' | 'failed' | 'stopped';
  /** At most 2 KB, scrubbed. */
  readonly preview: string;
  readonly error?: { readonly code: string; readonly message: string };
}

// ---- activities ---------------------------------------------------------------------------------------------------

/** How a call ended that its own activity did not record: a child workflow's end, or a lost worker. */
export interface SettledCall {
  readonly id: string;
  readonly ok: boolean;
  readonly code?: string;
  readonly text: string;
}

export interface CallModelInput {
  readonly tenant: string;
  readonly session: string;
  readonly turn: string;
  /** From 1. */
  readonly step: number;
  readonly messages: readonly HeldMessage[];
  readonly settle?: readonly SettledCall[];
  /** How often people have allowed this step more budget. */
  readonly increases?: number;
  /** An answer without calls ends the turn, in the commit that records it. */
  readonly ends?: true;
}

/** A call that the loop is to run; calls that policy refused are already recorded and not among them. */
export interface PlannedCall {
  readonly id: string;
  /** Canonical tool name = activity type. */
  readonly tool: string;
  /** Scrubbed, one line, at most 120 characters: `exec: npm test`. */
  readonly summary: string;
  /** Runs after the calls before it have ended. */
  readonly serial?: true;
  /** Start-to-close of one attempt, in seconds. */
  readonly timeout: number;
  readonly approval?: { readonly id: string } & Pick<
    ApprovalInput,
    'digest' | 'expires' | 'until' | 'quorum' | 'escalate' | 'remind' | 'always' | 'token' | 'files' | 'form'
  >;
}

export type CallModelResult =
  | {
      readonly kind: 'calls';
      readonly calls: readonly PlannedCall[];
      readonly spent?: string;
    }
  | {
      readonly kind: 'answer';
      readonly preview: string;
      readonly spent?: string;
      /** Must judge it before it is handed out; absent when there are none (DE-6). */
      readonly gates?: readonly ShownGate[];
      /** It was recorded before the turn took the messages that it has by now: another step answers them. */
      readonly unheard?: true;
      /** The turn has ended with its record. A message that has come since begins it again. */
      readonly ended?: true;
    }
  /** The messages belong to another turn already, or this one has ended: it has nothing to do. */
  | { readonly kind: 'duplicate'; readonly ended?: Omit<TurnOutcome, 'turn_id'> }
  /** Its budget is used up: people are asked for more, and the step is tried again when they allow it (DU-7). */
  | { readonly kind: 'budget'; readonly call: PlannedCall; readonly message: string }
  /** A limit, a budget or the loop guard ended the turn (EX-7, DU-7). */
  | { readonly kind: 'limit'; readonly code: string; readonly message: string };

export interface RunToolInput {
  readonly tenant: string;
  readonly call: string;
  /** The worker that alone has what it is for did not take it: it runs where it is. */
  readonly here?: true;
  /** The turn was stopped while nobody looked at what the call has outside: it is to be cancelled. */
  readonly stopped?: true;
}

/** What the loop must know of a finished call; words for the model are in its row. */
export interface RunToolResult {
  readonly ok: boolean;
  readonly code?: string;
  readonly preview?: string;
  readonly child?: ChildStart;
  /** People are asked: its files are not those that were approved and it has not run, or its MCP server has a question. */
  readonly asked?: NonNullable<PlannedCall['approval']>;
  /** It still runs, or can only run there: an activity on this queue, its worker's own, goes on with it and has its result, after the answer if `asked`. */
  readonly continues?: string;
  /** It goes on outside, and is looked at again after so many seconds. */
  readonly later?: number;
  /** What it said, at most 8 KB and scrubbed, where Postgres did not take the record: the next step writes it down. */
  readonly unrecorded?: string;
}

/** DESIGN §3.4: the tool validated and reserved; the loop starts the child and, when asked, waits for it. */
export interface ChildStart {
  readonly type: string;
  readonly id: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly wait: boolean;
  /** Given when people should find the child in the web UI by more than its parent. */
  readonly labels?: ChildLabels;
  /** The parent's model answers in it too. */
  readonly sameModel?: true;
}

/** Search attributes of a child (IN-5). */
export interface ChildLabels {
  readonly tenant: string;
  readonly session: string;
  readonly agent: string;
  readonly user?: string;
}

export interface EndTurnInput {
  readonly tenant: string;
  readonly session: string;
  readonly turn: string;
  readonly step: number;
  readonly status: 'completed' | 'failed' | 'stopped';
  readonly error?: { readonly code: string; readonly message: string };
  /** Ends the answer of a turn that a limit has ended. */
  readonly text?: string;
  readonly by?: string;
  readonly settle?: readonly SettledCall[];
  /** Messages of the turn that no model call has taken. */
  readonly messages?: readonly HeldMessage[];
  /** Turns that were waiting and are dropped. */
  readonly dropped?: readonly QueuedTurn[];
  /** The stop was for all of the session: its background commands end too. */
  readonly endCommands?: true;
  /** The session was stopped: so is what it has given away. */
  readonly endAssignments?: true;
  /** The session works on an assignment: the answer says whether what it has given away itself has yet to be answered. */
  readonly isAssigned?: true;
  /** It may have made tasks for a team, whose members begin now. */
  readonly releaseTasks?: true;
  /** The step whose answer gates have judged, and which is handed out now. */
  readonly releaseAnswer?: number;
}

export interface StopSessionInput {
  readonly tenant: string;
  readonly session: string;
  readonly by: string;
}

/** The fixed activities; tools are registered beside them under their own names. */
export interface EndedTurn {
  /** By its row, whoever ended it; null when there is none. */
  readonly status: TurnOutcome['status'] | null;
  /** What an assigned session has given away has yet to be answered there. */
  readonly isPending: boolean;
}

export interface TurnActivities {
  call_model(input: CallModelInput): Promise<CallModelResult>;
  end_turn(input: EndTurnInput): Promise<EndedTurn>;
  stop_session(input: StopSessionInput): Promise<void>;
  end_lost_turns(input: Pick<StopSessionInput, 'tenant' | 'session'>): Promise<void>;
}

/** Bounds of one session's waiting messages. */
export const INBOX_LIMITS = {
  turns: 500,
  textBytes: 64 * 1024,
  waitingTextBytes: 256 * 1024,
  /** Ids carried over continue-as-new; older ones are found by their row. */
  seen: 200,
  preview: 200,
} as const;

export interface Refusal {
  readonly type: FailureType;
  readonly message: string;
}
