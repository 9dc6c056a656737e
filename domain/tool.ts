/** What a tool is to everyone but itself: its kind, its call, its result. */
import type { ToolErrorCode } from './errors.ts';
import type { PendingCall } from './pending-call.ts';
import type { UsedTools } from './policy/used-tools.ts';
import type { ChildStart } from './turn.ts';

/**
 * DU-2, what a second run would do: nothing (`readonly`), the same again (`idempotent`), something a probe can find out
 * (`verify`), or harm (`once`: never run again after a claim without a result).
 */
export type ReplayClass = 'readonly' | 'idempotent' | 'verify' | 'once';

/** `short`: no heartbeat, under about 10 s, runs as a local activity. `long`: a regular activity. */
export type Duration = 'short' | 'long';

/** EX-2: who calls, from where; made anew for each call. */
export interface CallContext {
  readonly tenant: string;
  readonly agent: string;
  readonly user: string | null;
  readonly sessionKey: string;
  readonly turnId: string;
  readonly channel: string | null;
  readonly chatId: string | null;
  readonly callId: string;
  /** Absolute path of the folder that file tools are held in. */
  readonly workspace: string;
}

export type ToolResult = {
  /** What was read from outside before what it gives was written (PO-5). */
  readonly read?: UsedTools | undefined;
} & (
  | {
      readonly ok: true;
      /** What the model reads; scrubbed and cut by run-tool. */
      readonly text: string;
      /** More than the model reads, kept whole beside the result (EX-5); bounded by the tool. */
      readonly whole?: string;
      /** PNG, JPEG, GIF or WebP, as bytes; those within the bounds of domain/image.ts are kept and shown to models that see. */
      readonly images?: readonly Uint8Array[];
      readonly child?: ChildStart;
      /** It is not over; `text` is none yet. */
      readonly pending?: PendingCall;
    }
  | { readonly ok: false; readonly code: ToolErrorCode; readonly message: string; readonly whole?: string }
);

export type ToolFailure = Extract<ToolResult, { ok: false }>;

export function toolError(code: ToolErrorCode, message: string): ToolFailure {
  return { ok: false, code, message };
}

/** clawft's limit, on a UTF-8 boundary (EX-5). */
export const MODEL_RESULT_BYTES = 65_536;
