/** A tool as other code sees it: its kind, its call, its result. */
import type { ToolErrorCode } from './errors.ts';
import type { SamplingPrompt } from './model/sampling.ts';
import type { FormAnswer, PendingCall, PendingExternalCall, SampledAnswer } from './turn/pending-call.ts';
import type { UsedTools } from './policy/used-tools.ts';
import type { ChildStart } from './turn/turn-activities.ts';

/**
 * DU-2: what a second run would do. `readonly`: nothing. `idempotent`: the same effect. `verify`: a probe can find out
 * whether it ran. `once`: harm, so it never runs again after a claim without a result.
 */
export type ReplayClass = 'readonly' | 'idempotent' | 'verify' | 'once';

/** `short`: no heartbeat, under about 10 s, runs as a local activity. `long`: a regular activity. */
export type Duration = 'short' | 'long';

/** EX-2: who calls, and from where; created for each call. */
export interface CallContext {
  readonly tenant: string;
  readonly agent: string;
  readonly user: string | null;
  readonly sessionKey: string;
  readonly turnId: string;
  readonly channel: string | null;
  readonly chatId: string | null;
  readonly callId: string;
  /** Absolute path of the folder that file tools are confined to. */
  readonly workspace: string;
}

export type ToolResult = {
  /** What was read from outside before the returned content was written (PO-5). */
  readonly read?: UsedTools | undefined;
  /** What its row keeps of the files that it has changed. */
  readonly changedFiles?: readonly string[] | undefined;
} & (
  | {
      readonly ok: true;
      /** What the model reads; run-tool scrubs and cuts it. */
      readonly text: string;
      /** More than the model reads, stored whole beside the result (EX-5); the tool limits its size. */
      readonly whole?: string;
      /**
       * Bytes of PNG, JPEG, GIF or WebP images; those within the limits of domain/model/image.ts are stored and shown to
       * models that see.
       */
      readonly images?: readonly Uint8Array[];
      readonly child?: ChildStart;
      /** The call is not over, and `text` is not its result. */
      readonly pending?: PendingCall;
    }
  | { readonly ok: false; readonly code: ToolErrorCode; readonly message: string; readonly whole?: string }
);

export type ToolFailure = Extract<ToolResult, { ok: false }>;

/** The state of a running call outside its attempt. */
export interface CallOutside {
  readonly left: PendingExternalCall | undefined;
  /** An earlier attempt had the call and did not report: it may have got further than `left`. */
  readonly isAgain: boolean;
  /** Its turn has ended, so the outside work must be cancelled. */
  readonly isStopped: boolean;
  /** Undefined when nobody was asked. */
  readonly answer: FormAnswer | undefined;
  /**
   * Saves the state before the call waits. It is retried until it succeeds, at least once even if the attempt ends. It
   * throws when another attempt has the call.
   */
  keep(remaining: PendingExternalCall): Promise<void>;
  /** Calls the agent's model, in a bounded time and within the turn's budgets. A repeat calls it again. */
  sample(prompt: SamplingPrompt): Promise<SampledAnswer | ToolFailure>;
  /** The model was called and has not answered, and the server waits for nothing: another attempt may continue. */
  readonly isSampling: boolean;
}

export function toolError(code: ToolErrorCode, message: string): ToolFailure {
  return { ok: false, code, message };
}

/** clawft's limit, cut at a UTF-8 boundary (EX-5). */
export const MODEL_RESULT_BYTES = 65_536;
