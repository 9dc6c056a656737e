/** The basis of a step, as `begin_step` and its read-ahead return it. */
import type { AgentConfig } from '#domain/agent.ts';
import type { AlwaysOffer } from '#domain/approval/approval.ts';
import type { ApprovalTerms } from '#domain/approval/approval-terms.ts';
import type { BoundFile } from '#domain/approval/bound-file.ts';
import type { Attachment } from '#domain/files/attachment.ts';
import type { StoredImage } from '#domain/model/image.ts';
import type { UsedTools } from '#domain/policy/used-tools.ts';
import type { SkillInUse } from '#domain/policy/skills-in-use.ts';
import type { Team } from '#domain/team/team.ts';
import type { TenantPolicy } from '#domain/tenant.ts';
import type { MessageContext, TurnOutcome } from '#domain/turn/turn.ts';
import type { BudgetHold } from '../budgets/budget-ledger.ts';
import type { InvokedCall } from './message-store.ts';

/** A call in its row; `sealed` (base64) contains the real arguments when `args` is only what people may see. */
export interface CallRow {
  readonly id: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly sealed?: string | null;
}

export interface RecordedCall extends CallRow {
  readonly tool: string;
  readonly approval: string | null;
  /** Seconds until its approval expires, when it has one. */
  readonly expires: number | null;
  /** The same as a time: milliseconds since 1970. */
  readonly until: number | null;
  readonly digest: string | null;
  readonly terms: ApprovalTerms | null;
  /** Absent or null when its approval has no offer. */
  readonly always?: AlwaysOffer | null;
  readonly files?: readonly BoundFile[] | null;
  readonly state: string;
}

export interface TranscriptCall extends CallRow {
  readonly name: string;
  readonly ok?: boolean;
  readonly state: string;
  readonly digest: string;
  readonly result?: string;
  readonly images?: readonly StoredImage[];
}

export interface TranscriptRow {
  readonly position: number;
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly turn: string;
  readonly step: number;
  /** Whose turn a user's row is in; absent for nobody's. */
  readonly user?: string;
  readonly calls?: readonly TranscriptCall[];
  readonly attachments?: readonly Attachment[];
  /** The decision of hooks on a user's row, from an earlier attempt. */
  readonly hooked?: 'allow' | 'deny';
  /** A user's row may request tools directly (`POST /v1/tools/{name}/invoke`). */
  readonly invoke?: readonly InvokedCall[];
}

export interface StepBasis {
  readonly duplicate?: true;
  /** How the turn ended, when that makes it a duplicate. */
  readonly ended?: Omit<TurnOutcome, 'turn_id'> | null;
  /** Null when no budget applies, or no reservation was requested. */
  readonly budget: BudgetHold | null;
  readonly agent: AgentConfig | null;
  readonly agent_key: string;
  /** Teams that the agent leads; null for all others. */
  readonly leads: readonly Team[] | null;
  /** The turn's revision of the agent is the newest. */
  readonly agent_current: boolean;
  /** Number of agents that it may delegate to. */
  readonly links: number | null;
  /** The sandbox of the agent's newest revision. */
  readonly sandbox: AgentConfig['sandbox'] | null;
  readonly user: string | null;
  readonly context: MessageContext;
  /** Version of the documents that the turn's user sees (VF-1); null while there are none. */
  readonly documents: string | null;
  /** Skills in use in the turn. */
  readonly skills: readonly SkillInUse[];
  readonly tenant_policy: TenantPolicy | null;
  readonly used: UsedTools;
  /** The database's clock, which decides because a worker's may be wrong; milliseconds since 1970. */
  readonly now: number;
  /** Version of the tenant's custom tools, MCP servers and skills; 0 while it has none. */
  readonly tools_version: number;
  readonly spent: {
    readonly input: number;
    readonly output: number;
    readonly usd: number | null;
    readonly unpriced: number;
  };
  readonly summary: string | null;
  readonly summary_position: number;
  /**
   * When the session was created: a session that was forgotten and used again is another one, whose positions start
   * again.
   */
  readonly since: string;
  readonly recorded: {
    readonly text: string;
    readonly finish: string;
    readonly model: string;
    /** The turn has taken messages since. */
    readonly unheard: boolean;
    /** The answer has ended the turn. */
    readonly ended: boolean;
    readonly calls: readonly RecordedCall[];
  } | null;
  /** Rows after the requested position, without this step's own answer. */
  readonly transcript: readonly TranscriptRow[];
  readonly allowlist: readonly { readonly tool: string; readonly pattern: string }[];
}
