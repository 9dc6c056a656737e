/** A model's answer as it is recorded, with its calls and the approvals that they need. */
import type { AlwaysOffer } from '#domain/approval/approval.ts';
import type { RecordedTerms } from '#domain/approval/approval-terms.ts';
import type { BoundFile } from '#domain/approval/bound-file.ts';
import type { HookRun } from '#domain/turn/hook.ts';
import type { SandboxTerms } from '#domain/sandbox.ts';
import type { ModelUse } from '#domain/budget/model-use.ts';
import type { BudgetSettlement } from '../../domain/budget/budget.ts';

export interface AnswerRecord {
  readonly id: string;
  readonly text: string;
  readonly finish: string;
  readonly model: string;
  /** The attempt of the model call that it comes from; absent where no model was called. */
  readonly attempt?: number;
  readonly usage: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly cachedInputTokens: number;
  };
  /** Absent when the price is unknown. */
  readonly usd?: number;
  /** Other model uses of the step. */
  readonly uses?: readonly ModelUse[] | undefined;
  /** Settles what the step had reserved. */
  readonly budget?: BudgetSettlement;
  /** Position of the last row of the transcript that the model read. */
  readonly readUpTo: number;
  /** Nobody reads it before its gates have judged it (DE-6). */
  readonly withheld?: true;
  /** The answer ends the turn, unless a message waits in the session. */
  readonly ends?: true | undefined;
}

export type AnswerFate = 'recorded' | 'ended' | 'refused' | 'over';

export interface NewCall {
  readonly id: string;
  readonly index: number;
  readonly tool: string;
  readonly called_as: string;
  /** The call in one line, scrubbed. */
  readonly summary: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly sealed?: string;
  readonly digest: string;
  /** The definition that it was judged by, for a tool that the tenant has added. */
  readonly custom_tool?: { readonly id: string; readonly revision: number };
  readonly verdict: 'allow' | 'ask' | 'deny';
  readonly reason?: string;
  readonly hooks?: readonly HookRun[] | undefined;
  readonly approval_id?: string;
  readonly state?: 'done' | 'running';
  /** The call has run or runs; it was not refused. */
  readonly ran?: true;
  /** For a call that runs: the answer's record also claims it with this fence. */
  readonly fence?: string;
  readonly ok?: boolean;
  readonly code?: string;
  readonly result?: string;
}

export interface NewApproval {
  readonly id: string;
  readonly call_id: string;
  readonly user: string | null;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly summary: string;
  readonly digest: string;
  readonly reason: string;
  readonly risk?: string;
  readonly terms: RecordedTerms;
  readonly expires: number;
  /** ISO 8601, by the database's clock. */
  readonly expires_at: string;
  readonly always: AlwaysOffer;
  /** The digest is bound to these terms. */
  readonly sandbox: SandboxTerms;
  readonly files: readonly BoundFile[];
}
