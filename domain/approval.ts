/** The contract of the `approval` workflow (AP-1 … AP-6): one run from asking to decision, expiry or withdrawal. */
import type { decisionReceiptSchema } from './schema/approval.ts';
import type { Kept } from './schema/scalars.ts';
import { type Fields, isRecord, isText } from './outside-value.ts';

export const APPROVAL = {
  type: 'approval',
  updates: { decide: 'decide', withdraw: 'withdraw', escalate: 'escalate' },
  signals: { decide: 'decide', withdraw: 'withdraw', escalate: 'escalate' },
  queries: { state: 'state' },
} as const;

export const DECISIONS = ['approve', 'approve_always', 'edit', 'reject', 'respond'] as const;
export type Decision = (typeof DECISIONS)[number];

/** Agent Inbox's and GoClaw's words, accepted for ours (AP-3). */
export const DECISION_ALIASES: Readonly<Record<string, Decision>> = {
  accept: 'approve',
  allow: 'approve',
  'allow-once': 'approve',
  'allow-always': 'approve_always',
  ignore: 'reject',
  deny: 'reject',
  response: 'respond',
};

/** What a message to an approval asks for; the last two are messages of their own, the rest is said by `decide`. */
export const APPROVAL_VERBS = [...DECISIONS, 'withdraw', 'escalate'] as const;
export type ApprovalVerb = (typeof APPROVAL_VERBS)[number];

export const APPROVAL_STATUSES = [
  'pending',
  'approved',
  'denied',
  'responded',
  'expired',
  'withdrawn',
] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** A day, so that the next morning is early enough; then it denies (SH-2). */
export const DEFAULT_APPROVAL_SECONDS = 86_400;

/** Who takes a question back, or lets others decide as well; both messages may be empty. */
export interface StandbyInput {
  /** A claim, unless the token proves it. */
  readonly by?: string;
  readonly token?: string;
  readonly reason?: string;
}

/** How a decision came: with a key over HTTP, by a signed link, or as a message of any Temporal client. */
export type DecisionWay = 'api' | 'link' | 'temporal';

export interface DecideInput {
  readonly decision: Decision;
  /** For `edit`: the arguments to run instead. */
  readonly args?: Readonly<Record<string, unknown>>;
  /** For `reject`: the model is told. */
  readonly reason?: string;
  /** For `respond`: what the model reads instead of the tool's result. */
  readonly text?: string;
  /** Who decides. The API sets it from the key. */
  readonly by?: string;
  /** Needed where the approval's terms say so, and to prove `by`; see docs/temporal-contract.md. */
  readonly token?: string;
  /** Of the call that was looked at: refused when it has been edited since. */
  readonly digest?: string;
}

export interface ApprovalInput {
  readonly tenant: string;
  readonly approval_id: string;
  /** Seconds from the start of the workflow until it expires, where no moment is given. */
  readonly expires: number;
  /** The moment when it expires, which its row names too; milliseconds since 1970. */
  readonly until?: number;
  /** Scrubbed; shown in the web UI. */
  readonly summary: string;
  /** Of the call that is asked about. */
  readonly digest: string;
  readonly session_key: string;
  readonly turn_id: string;
  /** How many must agree, when more than one. */
  readonly quorum?: number;
  /** Seconds from the time it was asked until others may decide as well. */
  readonly escalate?: number;
  /** Seconds between reminders. */
  readonly remind?: number;
  /** In words: what `approve_always` would allow, or why it is not to be had. */
  readonly always?: string;
  /** Its messages must carry a decision token. */
  readonly token?: true;
  /** In words: files of the workspace that it runs, to which the decision is bound. */
  readonly files?: string;
  /** In words: what an MCP server asks while it works at the call, which goes on whatever is decided. */
  readonly form?: string;
  /** Of the run before, which continued as this one. */
  readonly carried?: ApprovalCarryOver;
}

/** How an approval stands when its run, full of messages, continues as new. */
export interface ApprovalCarryOver {
  /** Of the call as it is now: an edit changes both. */
  readonly summary: string;
  readonly digest: string;
  /** People who agreed so far. */
  readonly approvals: number;
  /** Whether it was tried, and whether others may decide since. */
  readonly escalated: boolean;
  readonly opened: boolean;
  readonly reminders: number;
  readonly refused: number;
  readonly last_refused?: RefusedRequest;
}

/** A message that changed nothing. Texts are scrubbed. */
export interface RefusedRequest {
  /** `decide`, `withdraw` or `escalate`, or the decision where one was to be read. */
  readonly what: string;
  /** Who it says has sent it. */
  readonly by: string;
  readonly problem: string;
  /** ISO 8601. */
  readonly at: string;
}

/**
 * What `approve_always` stores, settled when the call is asked about, so that it is what people have seen; or why the call
 * is to be decided once only. Short enough to be shown whole.
 */
export type AlwaysOffer = { readonly pattern: string; readonly shown: string } | { readonly refused: string };

/** For people. */
export function alwaysWords(offer: AlwaysOffer): string {
  return 'refused' in offer ? `cannot be allowed always: ${offer.refused}` : offer.shown;
}

export interface ApprovalState {
  readonly approval_id: string;
  readonly status: ApprovalStatus;
  readonly decision: Decision | null;
  readonly decided_by: string | null;
  /** ISO 8601. */
  readonly decided_at: string | null;
  readonly expires_at: string;
  /** Of the call as it is now; a token names it. */
  readonly digest: string;
  /** Messages that came too late or were not valid, and the last of them. */
  readonly refused: number;
  readonly last_refused?: RefusedRequest;
  /** People who agreed so far, and how many must; only where that is more than one. */
  readonly approvals?: number;
  readonly quorum?: number;
  /** True since others may decide as well. */
  readonly escalated?: true;
  /** Updates and signals must carry a decision token. */
  readonly token_required?: true;
}

/** Answer to the winner, and to those who decided the same afterwards (`already`). */
export type DecisionReceipt = Kept<typeof decisionReceiptSchema>;

export interface SettleApprovalInput {
  readonly tenant: string;
  readonly approval_id: string;
  readonly outcome: 'decided' | 'expired' | 'withdrawn';
  /** Names this try, the same when it is repeated: who won is told that he won, however often it is recorded. */
  readonly key: string;
  /** Names the message over all runs, which its sender's key does not: a run takes a key again that the one before it has taken. */
  readonly message: string;
  /** All that the message holds which may be decision tokens; they are used up, whatever becomes of it. */
  readonly tokens?: readonly string[];
  /** What the message asks for, with what it brings along. */
  readonly decision?: Omit<DecideInput, 'decision'> & { readonly decision: ApprovalVerb };
  /** It came as a signal, which has no answer: that it came too late is written down. */
  readonly signal?: true;
  /** A signal that cannot be read, and why: it is written down. */
  readonly unread?: Omit<RefusedRequest, 'at'>;
}

/** It is recorded, and more people must agree. */
export interface CountedDecision {
  readonly kind: 'counted';
  readonly decision: Decision;
  readonly by: string;
  readonly at: string;
  readonly approvals: number;
  readonly quorum: number;
  /** This person had agreed to this call before. */
  readonly already: boolean;
  /** Of the call as it is now; an edit changes both. */
  readonly summary: string;
  readonly digest: string;
}

/** `settled` is the row's final state, whoever made it; `refused` changed nothing. */
export type SettleApprovalResult =
  | {
      readonly kind: 'settled';
      readonly status: ApprovalStatus;
      readonly decision: Decision | null;
      readonly by: string;
      readonly at: string;
      readonly won: boolean;
      /** Names the request that settled it. */
      readonly key: string | null;
      /** A signal that came too late, as it was written down. */
      readonly noted?: RefusedRequest;
    }
  | CountedDecision
  /** Whether others may decide from now on. */
  | { readonly kind: 'escalated'; readonly opened: boolean }
  | {
      readonly kind: 'refused';
      readonly type: 'InvalidInput' | 'Forbidden' | 'Unprocessable' | 'Conflict';
      readonly message: string;
      /** As it was written down; absent when whoever sent it by the API is told. */
      readonly noted?: RefusedRequest;
    };

export interface NoteApprovalInput {
  readonly tenant: string;
  readonly approval_id: string;
  readonly what: 'escalated' | 'reminded';
  /** The how manieth reminder, from 1. */
  readonly count: number;
  /** Who wanted it; absent when it was time. */
  readonly by?: string;
}

export interface UseUpTokensInput {
  readonly tokens: readonly string[];
  /** Names the message. */
  readonly message: string;
}

export interface ApprovalActivities {
  /** False when there was nothing to say: decided, or nobody to escalate to. */
  note_approval(input: NoteApprovalInput): Promise<boolean>;
  settle_approval(input: SettleApprovalInput): Promise<SettleApprovalResult>;
  /** Uses up decision tokens that a message to another workflow has brought. */
  use_up_tokens(input: UseUpTokensInput): Promise<void>;
}

const MAX_TEXT = 16_384;

/** Undefined when the payload is a decision; else what is wrong with it. Plain code, since workflows bundle it. */
export function decisionProblem(input: unknown): string | undefined {
  if (!isRecord(input)) return 'a decision is an object such as {"decision":"approve"}';
  const decision = readDecision(input['decision']);
  if (!decision) return `decision must be one of ${DECISIONS.join(', ')}`;
  if (decision === 'edit' && !isRecord(input['args']))
    return 'edit needs args: the whole arguments object to run instead';
  if (decision === 'respond' && !input['text']) return 'respond needs text';
  return textProblem(input);
}

/** The same of a message to take the question back or to escalate it. */
export function standbyProblem(input: unknown): string | undefined {
  return isRecord(input) ? textProblem(input) : 'this message is an object such as {"by":"ann"}, or empty';
}

function textProblem(input: Fields): string | undefined {
  const wrong = ['reason', 'text', 'by', 'token', 'digest'].find(
    (field) => !isText(input[field] ?? '', MAX_TEXT),
  );
  return wrong && `${wrong} must be plain text of at most ${MAX_TEXT} characters`;
}

/** Why a message that came after the end is refused. */
export function lateProblem(
  id: string,
  { status, by, at }: Pick<Extract<SettleApprovalResult, { kind: 'settled' }>, 'status' | 'by' | 'at'>,
): { readonly type: 'ApprovalExpired' | 'ApprovalWithdrawn' | 'AlreadyDecided'; readonly message: string } {
  const what = `approval ${id} was ${status} by ${by} at ${at}`;
  if (status === 'expired')
    return { type: 'ApprovalExpired', message: `approval ${id} expired at ${at}; nothing has run` };
  if (status !== 'withdrawn') return { type: 'AlreadyDecided', message: what };
  return { type: 'ApprovalWithdrawn', message: by === 'system' ? `${what}: its turn was stopped` : what };
}

/** Whether a message that comes after the end asks for what has become of it. */
export function isAsSettled(
  verb: ApprovalVerb,
  { status, decision }: Pick<Extract<SettleApprovalResult, { kind: 'settled' }>, 'status' | 'decision'>,
): boolean {
  if (verb === 'withdraw' || verb === 'escalate') return status === 'withdrawn';
  return isSameDecision(verb, decision);
}

/** Whether a later decision is the first once more. What an edit or a response brings along is its own, so none repeats another. */
export function isSameDecision(later: Decision, first: Decision | null): boolean {
  return later === first && later !== 'edit' && later !== 'respond';
}

export function readDecision(value: unknown): Decision | undefined {
  if (typeof value !== 'string') return undefined;
  const known = DECISIONS.find((decision) => decision === value);
  return known ?? (Object.hasOwn(DECISION_ALIASES, value) ? DECISION_ALIASES[value] : undefined);
}

/** As `readDecision`, of all that a message may ask for. */
export function readVerb(value: unknown): ApprovalVerb | undefined {
  return readDecision(value) ?? APPROVAL_VERBS.find((verb) => verb === value);
}
