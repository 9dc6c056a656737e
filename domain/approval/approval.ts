/**
 * The contract of the `approval` workflow (AP-1 … AP-6): one run from the question to decision, expiry or withdrawal.
 */
import { type Fields, isRecord, isText } from '../outside-value.ts';

/** Limits of the terms on which an approval is decided. */
export const TERM_LIMITS = {
  quorum: 20,
  users: 200,
  seconds: 2_592_000,
  minRemindSeconds: 5,
  reminders: 20,
} as const;

export const APPROVAL = {
  type: 'approval',
  updates: { decide: 'decide', withdraw: 'withdraw', escalate: 'escalate' },
  signals: { decide: 'decide', withdraw: 'withdraw', escalate: 'escalate' },
  queries: { state: 'state' },
} as const;

export const DECISIONS = ['approve', 'approve_always', 'edit', 'reject', 'respond'] as const;
export type Decision = (typeof DECISIONS)[number];

/** The decision names of Agent Inbox and GoClaw, accepted as aliases of ours (AP-3). */
export const DECISION_ALIASES: Readonly<Record<string, Decision>> = {
  accept: 'approve',
  allow: 'approve',
  'allow-once': 'approve',
  'allow-always': 'approve_always',
  ignore: 'reject',
  deny: 'reject',
  response: 'respond',
};

/** What a message to an approval requests. The last two have messages of their own; `decide` carries the others. */
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

/** A day, so that an answer on the next morning is early enough; after that the approval expires and denies (SH-2). */
export const DEFAULT_APPROVAL_SECONDS = 86_400;

/** The message that withdraws or escalates an approval. All its fields are optional. */
export interface StandbyInput {
  /** A mere claim unless the token proves it. */
  readonly by?: string;
  readonly token?: string;
  readonly reason?: string;
}

/** How a decision arrived: over HTTP with a key, by a signed link, or as a message of a Temporal client. */
export type DecisionWay = 'api' | 'link' | 'temporal';

export interface DecideInput {
  readonly decision: Decision;
  /** For `edit`: the arguments that run instead. */
  readonly args?: Readonly<Record<string, unknown>>;
  /** For `reject`: the reason that the model reads. */
  readonly reason?: string;
  /** For `respond`: the text that the model reads instead of the tool's result. */
  readonly text?: string;
  /** The person who decides. The API sets it from the key. */
  readonly by?: string;
  /** A decision token, required where the approval's terms say so and to prove `by`; see docs/temporal-contract.md. */
  readonly token?: string;
  /** Digest of the call that the person read. The decision is refused when the call has been edited since. */
  readonly digest?: string;
}

export interface ApprovalInput {
  readonly tenant: string;
  readonly approval_id: string;
  /** Seconds from the start of the workflow until it expires, when `until` is absent. */
  readonly expires: number;
  /** The time when it expires, which its row contains too; milliseconds since 1970. */
  readonly until?: number;
  /** Scrubbed; the web UI shows it. */
  readonly summary: string;
  /** Digest of the call to be decided. */
  readonly digest: string;
  readonly session_key: string;
  readonly turn_id: string;
  /** How many people must agree, when more than one. */
  readonly quorum?: number;
  /** Seconds from the creation until others may decide as well. */
  readonly escalate?: number;
  /** Seconds between reminders. */
  readonly remind?: number;
  /** Says for people what `approve_always` would allow, or why it is not available. */
  readonly always?: string;
  /** Messages must contain a decision token. */
  readonly token?: true;
  /** Only a person with a proof may decide, so a signal without a token has no effect. */
  readonly bound?: true;
  /** Says for people which files of the workspace the call runs; the decision is bound to them. */
  readonly files?: string;
  /** Says for people what an MCP server asks while it processes the call, which continues whatever the decision is. */
  readonly form?: string;
  /** State of the previous run, which continued as this one. */
  readonly carried?: ApprovalCarryOver;
}

/** The state of an approval whose run has too many messages and continues as new. */
export interface ApprovalCarryOver {
  /** Summary of the call in its present form: an edit changes summary and digest. */
  readonly summary: string;
  readonly digest: string;
  /** Number of people who have agreed. */
  readonly approvals: number;
  /** Whether an escalation was tried, and whether others may decide now. */
  readonly escalated: boolean;
  readonly opened: boolean;
  readonly reminders: number;
  readonly refused: number;
  readonly last_refused?: RefusedRequest;
  /** Number of signals that could be refused without a look at the rows. */
  readonly unread: number;
}

/** A message that changed nothing. Texts are scrubbed. */
export interface RefusedRequest {
  /** `decide`, `withdraw` or `escalate`, or the decision where it could be read. */
  readonly what: string;
  /** The sender that the message claims. */
  readonly by: string;
  readonly problem: string;
  /** ISO 8601. */
  readonly at: string;
}

/**
 * What `approve_always` stores, or why the call can only be decided once. It is fixed when the approval is created, so
 * that it is what people see. It is short enough to be shown whole.
 */
export type AlwaysOffer = { readonly pattern: string; readonly shown: string } | { readonly refused: string };

/** The offer in words for people. */
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
  /** Digest of the call in its present form; a token contains it. */
  readonly digest: string;
  /** Number of messages that came too late or were not valid, and the last of them. */
  readonly refused: number;
  readonly last_refused?: RefusedRequest;
  /** How many people have agreed and how many must; absent when one decides. */
  readonly approvals?: number;
  readonly quorum?: number;
  /** True once others may decide as well. */
  readonly escalated?: true;
  /** Updates and signals must contain a decision token. */
  readonly token_required?: true;
}

export interface SettleApprovalInput {
  readonly tenant: string;
  readonly approval_id: string;
  readonly outcome: 'decided' | 'expired' | 'withdrawn';
  /**
   * Identifies this attempt and stays the same when it is repeated, so that the winner always gets the answer that it
   * won.
   */
  readonly key: string;
  /**
   * Identifies the message across all runs. The sender's key cannot: a run may accept a key that the previous run has
   * accepted.
   */
  readonly message: string;
  /** Every part of the message that may be a decision token. All of them are used up, whatever the outcome is. */
  readonly tokens?: readonly string[];
  /** What the message requests, with its data. */
  readonly decision?: Omit<DecideInput, 'decision'> & { readonly decision: ApprovalVerb };
  /** The message is a signal, which has no answer, so a late one is recorded. */
  readonly signal?: true;
  /** Number of messages that were refused before; the row may not know of all. */
  readonly refused?: number;
  /** A signal that cannot be read, and the reason; it is recorded. */
  readonly unread?: Omit<RefusedRequest, 'at'>;
}

/** The decision is recorded, and more people must agree. */
export interface CountedDecision {
  readonly kind: 'counted';
  readonly decision: Decision;
  readonly by: string;
  readonly at: string;
  readonly approvals: number;
  readonly quorum: number;
  /** This person had already agreed to this call. */
  readonly already: boolean;
  /** Summary and digest of the call in its present form; an edit changes both. */
  readonly summary: string;
  readonly digest: string;
}

/** `settled` is the row's final state, whoever caused it; `refused` changed nothing. */
export type SettleApprovalResult =
  | {
      readonly kind: 'settled';
      readonly status: ApprovalStatus;
      readonly decision: Decision | null;
      readonly by: string;
      readonly at: string;
      readonly won: boolean;
      /** Identifies the request that settled it. */
      readonly key: string | null;
      /** A late signal as it was recorded. */
      readonly noted?: RefusedRequest;
    }
  | CountedDecision
  /** Whether others may decide from now on. */
  | { readonly kind: 'escalated'; readonly opened: boolean }
  | {
      readonly kind: 'refused';
      readonly type: 'InvalidInput' | 'Forbidden' | 'Unprocessable' | 'Conflict';
      readonly message: string;
      /** The message as it was recorded; absent when the API answers its sender. */
      readonly noted?: RefusedRequest;
    };

export interface NoteApprovalInput {
  readonly tenant: string;
  readonly approval_id: string;
  readonly what: 'escalated' | 'reminded';
  /** Number of the reminder, from 1. */
  readonly count: number;
  /** The person who requested it; absent when its time had come. */
  readonly by?: string;
}

export interface UseUpTokensInput {
  readonly tokens: readonly string[];
  /** Identifies the message. */
  readonly message: string;
}

export interface ApprovalActivities {
  /** False when there was nothing to do: it is decided, or there is nobody to escalate to. */
  note_approval(input: NoteApprovalInput): Promise<boolean>;
  settle_approval(input: SettleApprovalInput): Promise<SettleApprovalResult>;
  /** Does nothing: the history has the update that it is for when it runs. */
  keep_update(): Promise<void>;
  /** Uses up the decision tokens in a message to another workflow. */
  use_up_tokens(input: UseUpTokensInput): Promise<void>;
}

const MAX_TEXT = 16_384;
/** Bytes of JSON: far below what Temporal takes in one payload (2 MB). */
const MAX_ARGS = 1_500_000;

/**
 * Undefined when the payload is a decision; otherwise what is wrong with it. It uses no zod, because workflows bundle
 * it.
 */
export function decisionProblem(input: unknown): string | undefined {
  if (!isRecord(input)) return 'a decision is an object such as {"decision":"approve"}';
  const decision = readDecision(input['decision']);
  if (!decision) return `decision must be one of ${DECISIONS.join(', ')}`;
  if (decision === 'edit' && !isRecord(input['args']))
    return 'edit needs args: the whole arguments object to run instead';
  if (decision === 'respond' && isBlank(input['text'])) return 'respond needs text';
  return argsProblem(input['args']) ?? textProblem(input);
}

/** A text of spaces alone says nothing to the model. */
function isBlank(text: unknown): boolean {
  return text === undefined || text === null || (typeof text === 'string' && text.trim() === '');
}

function argsProblem(args: unknown): string | undefined {
  if (args === undefined) return undefined;
  const { length } = new TextEncoder().encode(JSON.stringify(args));
  return length > MAX_ARGS ? `args may have ${MAX_ARGS} bytes as JSON; these have ${length}` : undefined;
}

/** Does the same for a message that withdraws or escalates. */
export function standbyProblem(input: unknown): string | undefined {
  return isRecord(input) ? textProblem(input) : 'this message is an object such as {"by":"ann"}, or empty';
}

function textProblem(input: Fields): string | undefined {
  const wrong = ['reason', 'text', 'by', 'token', 'digest'].find(
    (field) => !isText(input[field] ?? '', MAX_TEXT),
  );
  return wrong && `${wrong} must be plain text of at most ${MAX_TEXT} characters`;
}

/** Says why a message that arrives after the end is refused. */
export function lateProblem(
  id: string,
  { status, by, at }: Pick<Extract<SettleApprovalResult, { kind: 'settled' }>, 'status' | 'by' | 'at'>,
): { readonly type: 'ApprovalExpired' | 'ApprovalWithdrawn' | 'AlreadyDecided'; readonly message: string } {
  if (status === 'expired')
    return { type: 'ApprovalExpired', message: `approval ${id} expired at ${at}; nothing has run` };
  if (status !== 'withdrawn') return { type: 'AlreadyDecided', message: alreadyDecided(id, status, by, at) };
  const what = `approval ${id} was withdrawn by ${by} at ${at}`;
  return { type: 'ApprovalWithdrawn', message: by === 'system' ? `${what}: its turn was stopped` : what };
}

/** What a later decision reads (AP-2). */
export function alreadyDecided(id: string, status: string, by: string, at: string): string {
  return `approval ${id} is already decided by ${by} at ${at}: ${status}`;
}

/** Whether a message that arrives after the end requests the outcome that the approval has. */
export function isAsSettled(
  verb: ApprovalVerb,
  { status, decision }: Pick<Extract<SettleApprovalResult, { kind: 'settled' }>, 'status' | 'decision'>,
): boolean {
  if (verb === 'withdraw' || verb === 'escalate') return status === 'withdrawn';
  return isSameDecision(verb, decision);
}

/** Whether a later decision repeats the first. An edit or a response has data of its own, so none repeats another. */
export function isSameDecision(later: Decision, first: Decision | null): boolean {
  return later === first && later !== 'edit' && later !== 'respond';
}

export function readDecision(value: unknown): Decision | undefined {
  if (typeof value !== 'string') return undefined;
  const known = DECISIONS.find((decision) => decision === value);
  return known ?? (Object.hasOwn(DECISION_ALIASES, value) ? DECISION_ALIASES[value] : undefined);
}

/** Like `readDecision`, for everything that a message may request. */
export function readVerb(value: unknown): ApprovalVerb | undefined {
  return readDecision(value) ?? APPROVAL_VERBS.find((verb) => verb === value);
}
