/** The contract of the activities of a turn: what they take and return. */
import type { ApprovalInput } from '../approval/approval.ts';
import type { ShownGate } from '../gate/gate.ts';
import type { HeldMessage, QueuedTurn, SettledCall, TurnOutcome } from './turn.ts';

export interface CallModelInput {
  readonly tenant: string;
  readonly session: string;
  readonly turn: string;
  /** Number of the step, from 1. */
  readonly step: number;
  readonly messages: readonly HeldMessage[];
  readonly settle?: readonly SettledCall[];
  /** How often people have allowed more budget for this step. */
  readonly increases?: number;
  /** An answer without calls ends the turn, in the commit that records it. */
  readonly ends?: true;
}

/** A call that the loop must run. Calls that policy refused are already recorded and not included. */
export interface PlannedCall {
  readonly id: string;
  /** The canonical tool name, which is the activity type. */
  readonly tool: string;
  /** Scrubbed, one line, at most 120 characters: `exec: npm test`. */
  readonly summary: string;
  /** It starts after the calls before it have ended. */
  readonly serial?: true;
  /** Start-to-close timeout of one attempt, in seconds. */
  readonly timeout: number;
  readonly approval?: { readonly id: string } & Pick<
    ApprovalInput,
    | 'digest'
    | 'expires'
    | 'until'
    | 'quorum'
    | 'escalate'
    | 'remind'
    | 'always'
    | 'token'
    | 'bound'
    | 'files'
    | 'form'
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
      /** Gates that must judge it before it is released; absent when there are none (DE-6). */
      readonly gates?: readonly ShownGate[];
      /** It was recorded before the turn accepted its newest messages: another step answers them. */
      readonly unheard?: true;
      /** The turn ended in the same record. A message that has arrived since starts it again. */
      readonly ended?: true;
    }
  /** The messages belong to another turn already, or this one has ended: there is nothing to do. */
  | { readonly kind: 'duplicate'; readonly ended?: Omit<TurnOutcome, 'turn_id'> }
  /** Its budget is used up: people are asked for more, and the step is retried when they allow it (DU-7). */
  | { readonly kind: 'budget'; readonly call: PlannedCall; readonly message: string }
  /** A limit, a budget or the loop guard ended the turn (EX-7, DU-7). */
  | { readonly kind: 'limit'; readonly code: string; readonly message: string };

export interface RunToolInput {
  readonly tenant: string;
  readonly call: string;
  /** The only worker with the state it needs did not accept it: it runs on this worker. */
  readonly here?: true;
  /** The turn was stopped while no worker checked what the call has outside, which must be cancelled. */
  readonly stopped?: true;
}

/** What the loop must know about a finished call; the text for the model is in its row. */
export interface RunToolResult {
  readonly ok: boolean;
  readonly code?: string;
  readonly preview?: string;
  readonly child?: ChildStart;
  /**
   * People are asked: its files differ from those that were approved and it has not run, or its MCP server has a
   * question.
   */
  readonly approval?: NonNullable<PlannedCall['approval']>;
  /**
   * It still runs, or can run only on that worker. An activity on this queue, which is its worker's own, continues it
   * and has its result, after the answer if there is an `approval`.
   */
  readonly continues?: string;
  /** It must not start yet: an ordinary activity waits for it. */
  readonly held?: true;
  /** It continues outside, and is checked again after this many seconds. */
  readonly later?: number;
  /** Its output, at most 8 KB and scrubbed, when Postgres did not accept the record: the next step records it. */
  readonly unrecorded?: string;
}

/** The tool has validated and reserved; the loop starts the child and waits for it if requested. */
export interface ChildStart {
  readonly type: string;
  readonly id: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly wait: boolean;
  /** Set when people should find the child in the web UI by more than its parent. */
  readonly labels?: ChildLabels;
  /** The parent's model also answers in it. */
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
  /** Appended to the answer of a turn that a limit has ended. */
  readonly text?: string;
  readonly by?: string;
  readonly settle?: readonly SettledCall[];
  /** Messages of the turn that no model call has read. */
  readonly messages?: readonly HeldMessage[];
  /** Waiting turns that are dropped. */
  readonly dropped?: readonly QueuedTurn[];
  /** The stop was for the whole session: its background commands end too. */
  readonly endCommands?: true;
  /** The session was stopped, so the work that it has given away is stopped too. */
  readonly endAssignments?: true;
  /**
   * The session works on an assignment: the answer says whether work that it has delegated itself is still unanswered.
   */
  readonly isAssigned?: true;
  /** It may have created tasks for a team, whose members start now. */
  readonly releaseTasks?: true;
  /** The step whose answer gates have judged, and which is released now. */
  readonly releaseAnswer?: number;
}

export interface StopSessionInput {
  readonly tenant: string;
  readonly session: string;
  readonly by: string;
}

export interface EndedTurn {
  /** The status in its row, whoever ended it; null when there is no row. */
  readonly status: TurnOutcome['status'] | null;
  /** Work that an assigned session has given away is not answered there yet. */
  readonly isPending: boolean;
}

/** The type of the activity that is a model call. */
export const MODEL_ACTIVITY = 'call_model' satisfies keyof TurnActivities;

/** The fixed activities; tools are registered under their own names. */
export interface TurnActivities {
  call_model(input: CallModelInput): Promise<CallModelResult>;
  end_turn(input: EndTurnInput): Promise<EndedTurn>;
  stop_session(input: StopSessionInput): Promise<void>;
  /** Has the workers of this workflow's activities ask at once whether they are cancelled. */
  hasten_stop(input: { readonly workflow_id: string }): Promise<void>;
  end_lost_turns(input: Pick<StopSessionInput, 'tenant' | 'session'>): Promise<void>;
}
