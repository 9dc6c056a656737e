/** What the bare loops' workflows, activities and driver agree on. They share nothing with TempoClaw but the rehearsal model. */
import type { ChatMessage } from '#domain/message.ts';

/** One activity call's name and arguments, as the model asked. */
export interface AskedTool {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Loop A: the conversation goes through history. */
export interface CarriedActivities {
  ask_model(input: {
    messages: readonly ChatMessage[];
  }): Promise<{ text: string; calls: readonly AskedTool[] }>;
}

/** Loop B: the conversation is rows of one table, history has ids. */
export interface TabledActivities {
  ask_model_tabled(input: {
    conversation: string;
    step: number;
  }): Promise<{ text: string; calls: readonly string[] }>;
}

/** A tool's input in loop B: where its arguments are and its result goes. */
export interface TabledCall {
  readonly conversation: string;
  readonly step: number;
  readonly index: number;
}

export interface BareInput {
  readonly conversation: string;
  readonly text: string;
}

/** A task that a bare lead gives to a member; its id is that of its conversation too. */
export interface BareTask {
  readonly task: string;
  readonly member: string;
}

/** With a member it is that one's from the start, whose turn works on it; else whoever claims it completes it. */
export interface BareTaskInput {
  readonly task: string;
  readonly member?: string;
}

export const BARE_TASK = { claim: 'claim', complete: 'complete', state: 'state' } as const;

/** Rows of many agents. */
export interface AgentsActivities {
  /** Writes the child's first message and the call's result; gives the child's conversation. */
  open_child(call: TabledCall): Promise<string>;
  /** Lists the tasks; or writes one with its conversation's first message. Then the call's result. */
  call_board(call: TabledCall): Promise<BareTask | null>;
  claim_task(input: { task: string; member: string }): Promise<void>;
  complete_task(input: { task: string; result: string }): Promise<void>;
}
