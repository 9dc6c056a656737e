/**
 * The contract of `agentTurn`: one run is one turn, and the chain of runs under one workflow id is the session. Field
 * names in messages are snake_case, because other systems send them from any SDK (docs/temporal-contract.md).
 */
import type { RefusedSignals } from '../approval/refused-signals.ts';
import type { FailureType } from '../errors.ts';
import type { DelegationContext } from '../assignment/delegation.ts';
import type { GateCursor } from '../gate/gate.ts';
import type { SubagentContext } from '../assignment/subagent.ts';
import type { ClientTool } from '../schema/client-tool.ts';
import type { UsedTools } from '../policy/used-tools.ts';
import type { TeamContext } from '../team/team.ts';

export const AGENT_TURN = {
  type: 'agentTurn',
  updates: { submit: 'submit', steer: 'steer', stop: 'stop' },
  signals: { stop: 'stop', message: 'message' },
  queries: { state: 'state', parked: 'parked' },
} as const;

/** DU-4. What happens to a message that arrives while a turn runs; without a running turn each mode starts one. */
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

/** Where a message comes from and what it may use. The API sets the identity from the key, never from a body. */
export interface MessageContext {
  readonly agent?: string;
  readonly user?: string;
  readonly channel?: string;
  readonly chat_id?: string;
  readonly allowed_tools?: readonly string[];
  /** Tools that the sender runs, in the turn that the message starts; only our API's rows have them. */
  readonly client_tools?: readonly ClientTool[];
  /** Scopes of the key that sent the message; only our API's rows have them. */
  readonly roles?: readonly string[];
  /** Id of the key that sent the message; only our API's rows have it. */
  readonly key?: string;
  /** Tools that the channel or group chat allows (PO-1, the seventh step). */
  readonly group?: readonly string[];
  /**
   * Set by the code that starts a child, in its first message's row. Depth 1 is a child of a session; a leaf starts no
   * more.
   */
  readonly subagent?: SubagentContext;
  /** Bound to the session in which a member works on a task, so that no message changes it (TE-3). */
  readonly team?: TeamContext;
  /** Bound to a session that works for another agent: the delegated work, or a judgement. */
  readonly delegation?: DelegationContext;
  /** Replaces the agent's own settings in the turn. The code that starts the turn sets it in its message's row. */
  readonly overrides?: {
    readonly model?: string | undefined;
    /** The only context files, by name; without memory. */
    readonly files?: readonly string[] | undefined;
  };
  /** Names of the tools that the parent could use: a child never has more (SA-4). */
  readonly within?: readonly string[];
  /** The span that caused the message, as a `traceparent` (domain/turn/trace.ts); only our API's rows have it. */
  readonly trace?: string | undefined;
  /** Bound to a session whose models, tools and people have stand-ins (activities/stand-ins.ts): their id. */
  readonly stand_ins?: string;
  /** Bound to a session that was forked from another one (DU-6), and passed to the work that it gives away. */
  readonly fork?: ForkContext;
  /** Outside sources of the text, when it does not come from one of our sessions (PO-5). Our API sets it. */
  readonly read?: UsedTools | undefined;
}

/** The fork that a turn works in. */
export interface ForkContext {
  /** The session of the fork: the files of all its work are copies that belong to it. */
  readonly session: string;
  /** Where it was forked; only in the fork's own session. */
  readonly from?: ForkPoint;
  /** The step whose answer was given with the request to fork; only in the turn that goes on. */
  readonly answer_step?: number;
}

export interface ForkPoint {
  readonly session: string;
  readonly turn_id: string;
  /** The first step that was not copied; null for the end of the turn. */
  readonly step: number | null;
}

/**
 * `text` is present only when the sender is not our API, which writes the row first; at most 64 KB
 * (docs/temporal-contract.md).
 */
export interface SubmitInput extends MessageContext {
  readonly id: string;
  readonly mode?: SubmitMode;
  readonly text?: string;
  /** Scrubbed text for people in the web UI; at most 200 characters are kept. */
  readonly preview?: string;
}

export interface SteerInput extends SubmitInput {
  /** The request is refused with StaleTurn when another turn runs. */
  readonly turn_id?: string;
}

export interface StopInput {
  readonly level: StopLevel;
  /** The turn to stop, so that a late stop cannot stop the next one. */
  readonly turn_id: string;
  readonly by?: string;
  readonly reason?: string;
  /** The turn yields to another message: work that the session has started continues. */
  readonly interrupt?: true;
}

export type StopReceipt = Pick<StopInput, 'turn_id' | 'level'>;

export interface Receipt {
  readonly turn_id: string;
  readonly message_id: string;
  readonly mode: SubmitMode;
  /** Number of turns that must end before this one starts. */
  readonly ahead: number;
  /** For a message that steers: the step whose model call reads it. */
  readonly step?: number;
  /** The id was accepted before; this is the outcome. */
  readonly duplicate?: true;
}

export interface AgentTurnInput {
  readonly tenant: string;
  readonly session_key: string;
  readonly carry?: Carry;
  /** The previous run was ended from outside: this one first ends the turns that were lost. */
  readonly lost?: true;
  /**
   * The turn that an assignment started with, when this is its session. The run continues until all work that it has
   * delegated itself is answered. A stop that names this turn stops whichever turn runs then.
   */
  readonly assigned?: string;
  /**
   * How long the run waits for the session's next message after its turn, to process it too. Not for an assignment's
   * session, whose end of the run means that the work is done.
   */
  readonly linger_seconds?: number;
  readonly engine?: EngineHints | undefined;
}

/**
 * Hints for the engine of a turn, from an engine or from the code that starts the turn. All other code passes them on
 * unread.
 */
export interface EngineHints {
  readonly [hint: string]: true | undefined;
}

/** A message as the workflow keeps it: its id, who says it, and the rest only while no row has it. */
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

/** What one run passes to the next; rows contain the rest. */
export interface Carry {
  readonly queue: readonly QueuedTurn[];
  /** [message id, turn id] of the ids accepted last, newest last. */
  readonly seen: readonly (readonly [string, string])[];
  /** Waiting turns that were stopped and are not in a row yet. */
  readonly dropped?: readonly QueuedTurn[];
  /** Set when the same turn continues after a step. */
  readonly resume?: {
    readonly turn: QueuedTurn;
    readonly step: number;
    readonly steering: readonly HeldMessage[];
    readonly settle: readonly SettledCall[];
    readonly stop?: StopInput;
    /** It may have created tasks for a team. */
    readonly tasks?: true;
    /** Gates have judged an answer of this turn, and it is being revised. */
    readonly gate?: GateCursor;
    /** How often people have allowed more budget for this step. */
    readonly increases?: number;
  };
}

/**
 * What a session's run would pass to its next run at this moment. A run that starts with `input` goes on from there,
 * also in another namespace (features/tenant-move).
 */
export interface ParkedSession {
  readonly input: AgentTurnInput;
  /** The turn that has started; null when none has. */
  readonly turn_id: string | null;
  /** All that the turn waits for are decisions: nothing of it runs. */
  readonly is_waiting: boolean;
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
  /** Number of messages that the next step will read. */
  readonly steering: number;
}

/** What a run returns, for people and other clients; the whole text is in a row. */
export interface TurnOutcome {
  readonly turn_id: string;
  readonly status: 'completed' | 'failed' | 'stopped';
  /** At most 2 KB, scrubbed. */
  readonly preview: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/** How a call ended that its own activity did not record: by a child workflow's end, or by a lost worker. */
export interface SettledCall {
  readonly id: string;
  readonly ok: boolean;
  readonly code?: string;
  readonly text: string;
}

/** Limits of one session's waiting messages. */
export const INBOX_LIMITS = {
  turns: 500,
  textBytes: 64 * 1024,
  waitingTextBytes: 256 * 1024,
  /** Ids that continue-as-new keeps; older ones are found in their rows. */
  seen: 200,
  preview: 200,
} as const;

export interface Refusal {
  readonly type: FailureType;
  readonly message: string;
}
