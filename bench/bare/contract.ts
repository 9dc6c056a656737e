/**
 * Declares what the bare loops' workflows, activities and driver agree on. They share only the rehearsal model with
 * TempoClaw.
 */
import type { ChatMessage } from '#domain/turn/message.ts';

/** One activity call's name and arguments, as the model requested them. */
export interface OfferedTool {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Activities of loop A: the conversation goes through history. */
export interface CarriedActivities {
  ask_model(input: {
    messages: readonly ChatMessage[];
  }): Promise<{ text: string; calls: readonly OfferedTool[] }>;
}

/** Activities of loop B: the conversation is rows of one table, and history contains ids. */
export interface TabledActivities {
  ask_model_tabled(input: {
    conversation: string;
    step: number;
  }): Promise<{ text: string; calls: readonly string[] }>;
}

/** A tool's input in loop B: the place of its arguments and of its result. */
export interface TabledCall {
  readonly conversation: string;
  readonly step: number;
  readonly index: number;
}

export interface BareInput {
  readonly conversation: string;
  readonly text: string;
}

/** A task that a bare lead assigns to a member; its id is also that of its conversation. */
export interface BareTask {
  readonly task: string;
  readonly member: string;
}

/**
 * With a member, the task belongs to that member from the start, and the member's turn works on it. Otherwise, the
 * claimer completes it.
 */
export interface BareTaskInput {
  readonly task: string;
  readonly member?: string;
}

export const BARE_TASK = { claim: 'claim', complete: 'complete', state: 'state' } as const;

/** Activities that write rows of many agents. */
export interface AgentsActivities {
  /** Writes the child's first message and the call's result; returns the child's conversation. */
  open_child(call: TabledCall): Promise<string>;
  /** Lists the tasks, or writes one with its conversation's first message. Then it writes the call's result. */
  call_board(call: TabledCall): Promise<BareTask | null>;
  claim_task(input: { task: string; member: string }): Promise<void>;
  complete_task(input: { task: string; result: string }): Promise<void>;
}
