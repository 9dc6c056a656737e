/**
 * The state that a call has outside, with which a later attempt continues. It is kept sealed, because ids and states
 * are secrets of a server.
 */
import type { ApprovalStatus } from '../approval/approval.ts';
import type { FormContent, McpForm } from '../form.ts';

export interface PendingExternalCall {
  /**
   * The server processes it under this id: as a task of an MCP server (2025-11-25, the extension of 2026-07-28), or as
   * a provider's job.
   */
  readonly task?: string;
  /** Time when it started; milliseconds since 1970. */
  readonly since: number;
  /** How often people were asked. */
  readonly asks: number;
  /** The server's current questions, by their keys; absent once it has the answers. */
  readonly questions?: Readonly<Record<string, unknown>>;
  readonly answers?: Readonly<Record<string, unknown>>;
  /** An opaque value that is sent back with the answers (2026-07-28). */
  readonly state?: string;
  /**
   * The question came over a connection that waits for the answer, so only the worker that has it can continue
   * (2025-11-25).
   */
  readonly isHeld?: true;
  /** Nothing of it was sent: its user has no login there, and is asked for one. */
  readonly login?: true;
  /** Kept before it is sent: without `task`, it is unknown whether the provider has it. */
  readonly order?: MediaOrder;
}

/** An order at a provider: which provider, and what went wrong with the earlier ones. */
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

/** How a call continues that is not over: it is checked again after this many seconds, or when people have answered. */
export type PendingCall = { readonly later: number } | PendingForm;

/** What people answered; without `content` the form keeps its defaults. */
export interface FormAnswer {
  readonly status: ApprovalStatus;
  readonly content?: FormContent;
}

/** The answer of the agent's model, in the protocol's form. */
export type SampledAnswer = {
  role: 'assistant';
  content: { type: 'text'; text: string };
  model: string;
  stopReason: 'endTurn' | 'maxTokens';
};
