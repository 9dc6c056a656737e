/** What a call has left outside, by which a later attempt goes on with it. Kept sealed: ids and states are a server's secrets. */
import type { ApprovalStatus } from './approval.ts';
import type { FormContent, McpForm } from './form.ts';
import type { SamplingPrompt } from './sampling.ts';
import type { ToolFailure } from './tool.ts';

export interface PendingExternalCall {
  /** The outside works at it under this id: as a task of an MCP server (2025-11-25, the extension of 2026-07-28), or as a provider's job. */
  readonly task?: string;
  /** Milliseconds since 1970: when it was begun. */
  readonly since: number;
  /** How often people were asked. */
  readonly asks: number;
  /** What the server asks now, by its keys; gone when it has the answers. */
  readonly questions?: Readonly<Record<string, unknown>>;
  readonly answers?: Readonly<Record<string, unknown>>;
  /** Opaque, handed back with the answers (2026-07-28). */
  readonly state?: string;
  /** The question came over a connection that waits for the answer: only the worker that has it can go on (2025-11-25). */
  readonly isHeld?: true;
  /** Kept before it is sent: without `task`, whether the provider has it is not known. */
  readonly order?: MediaOrder;
}

/** An order at a provider: of whom, and what went wrong with those before. */
export interface MediaOrder {
  /** `provider/model`. */
  readonly ref: string;
  readonly failed: readonly string[];
}

/** A question to people that the call waits for. */
export interface PendingForm {
  readonly form: McpForm;
  readonly left: PendingExternalCall;
}

/** How a call is not over yet: it is looked at again after so many seconds, or when people have answered. */
export type PendingCall = { readonly later: number } | PendingForm;

/** What people answered; without `content` what the form holds already. */
export interface FormAnswer {
  readonly status: ApprovalStatus;
  readonly content?: FormContent;
}

/** What the agent's model said, as the protocol has it. */
export type SampledAnswer = {
  role: 'assistant';
  content: { type: 'text'; text: string };
  model: string;
  stopReason: 'endTurn' | 'maxTokens';
};

/** What a running call has outside beyond its attempt. */
export interface CallOutside {
  readonly left: PendingExternalCall | undefined;
  /** An earlier attempt held the call and has said nothing: it may have gone further than `left`. */
  readonly isAgain: boolean;
  /** Its turn has ended: what is outside is to be cancelled. */
  readonly isStopped: boolean;
  /** Undefined when nobody was asked. */
  readonly answer: FormAnswer | undefined;
  /** Before anything is waited for. Tried until it is kept, at least once though the attempt ends; throws when another attempt has the call. */
  keep(remaining: PendingExternalCall): Promise<void>;
  /** Asks the agent's model, in a bounded time and within the turn's budgets. A repeat asks it again. */
  sample(prompt: SamplingPrompt): Promise<SampledAnswer | ToolFailure>;
  /** The model was asked and has not answered, and the server waits on nothing: another attempt may go on. */
  readonly isSampling: boolean;
}
