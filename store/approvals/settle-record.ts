/** What a message about an approval has the rows record: a decision, or that it was refused. */
import type { ApprovalStatus, Decision, DecisionWay, RefusedRequest } from '#domain/approval/approval.ts';
import type { BoundFile } from '#domain/approval/bound-file.ts';
import type { SettledCall } from '#domain/turn/turn.ts';

export interface SettleRecord {
  readonly tenant: string;
  readonly id: string;
  readonly status: Exclude<ApprovalStatus, 'pending'>;
  readonly by: string;
  /** Identifies the attempt; see SettleApprovalInput. */
  readonly key: string;
  readonly decision?: Decision;
  readonly note?: string;
  /** The result of a call that will not run. */
  readonly call?: Omit<SettledCall, 'id'>;
  /** Arguments that run instead; `sealed` contains the real ones when `args` is only what people may see. */
  readonly edit?: {
    readonly args: Readonly<Record<string, unknown>>;
    readonly digest: string;
    readonly summary: string;
    readonly sealed: string | null;
    readonly files?: readonly BoundFile[];
  };
  /** Allows calls like this one from now on. */
  readonly allow?: { readonly id: string; readonly pattern: string };
  /** The person who decided; absent when nobody did. */
  readonly vote?: {
    /** The proven user in one spelling; absent for a service's key and for a mere claim. */
    readonly person?: string;
    readonly api_key_id?: string;
    /** Groups of which the person must be in one for the decision to count; absent when it counts without any. */
    readonly groups?: string[] | undefined;
    readonly via: DecisionWay;
  };
}

/** A message that changed nothing; texts are scrubbed. */
export interface NewRefusal extends Omit<RefusedRequest, 'at'> {
  /** Number of messages that were refused before, if the row may not know of all. */
  readonly before?: number | undefined;
  readonly tenant: string;
  readonly id: string;
  /** Identifies the message. */
  readonly key: string;
}
