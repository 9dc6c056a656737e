/** What a step goes by, as `begin_step` and what reads ahead for it give it. */
import type { AgentConfig } from '#domain/agent.ts';
import type { AlwaysOffer } from '#domain/approval.ts';
import type { ApprovalTerms } from '#domain/approval-terms.ts';
import type { BoundFile } from '#domain/bound-file.ts';
import type { Attachment } from '#domain/artifact.ts';
import type { StoredImage } from '#domain/image.ts';
import type { UsedTools } from '#domain/policy/used-tools.ts';
import type { SkillInUse } from '#domain/policy/skills-in-use.ts';
import type { Team } from '#domain/team.ts';
import type { TenantPolicy } from '#domain/tenant.ts';
import type { MessageContext, TurnOutcome } from '#domain/turn.ts';
import type { BudgetHold } from './budget-ledger.ts';
import type { InvokedCall } from './message-store.ts';

/** A call as its row has it; `sealed` (base64) holds the real arguments when `args` is only what people may see. */
export interface CallRow {
  readonly id: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly sealed?: string | null;
}

export interface RecordedCall extends CallRow {
  readonly tool: string;
  readonly approval: string | null;
  /** Seconds that its approval has, when it has one. */
  readonly expires: number | null;
  /** The same as a moment: milliseconds since 1970. */
  readonly until: number | null;
  readonly digest: string | null;
  readonly terms: ApprovalTerms | null;
  /** Absent or null where its approval does not say. */
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
  readonly calls?: readonly TranscriptCall[];
  readonly attachments?: readonly Attachment[];
  /** What hooks said of a user's row, by an earlier attempt. */
  readonly hooked?: 'allow' | 'deny';
  /** A user's row may ask for tools directly (`POST /v1/tools/{name}/invoke`). */
  readonly invoke?: readonly InvokedCall[];
}

export interface StepBasis {
  readonly duplicate?: true;
  /** How the turn ended, when that is why it is a duplicate. */
  readonly ended?: Omit<TurnOutcome, 'turn_id'> | null;
  /** Null when no budget applies, or none was asked for. */
  readonly budget: BudgetHold | null;
  readonly agent: AgentConfig | null;
  readonly agent_key: string;
  /** Teams that the agent leads; null for all others. */
  readonly leads: readonly Team[] | null;
  /** The turn's revision of the agent is the newest one. */
  readonly agent_current: boolean;
  /** Agents that it may give work to. */
  readonly links: number | null;
  /** Of the newest revision. */
  readonly sandbox: AgentConfig['sandbox'] | null;
  readonly user: string | null;
  readonly context: MessageContext;
  /** Version of those that the turn's user sees (VF-1); null while there is none. */
  readonly documents: string | null;
  /** In use in the turn. */
  readonly skills: readonly SkillInUse[];
  readonly tenant_policy: TenantPolicy | null;
  readonly used: UsedTools;
  /** The database's clock, which decides where a worker's may be wrong (F11); milliseconds since 1970. */
  readonly now: number;
  /** Of the tenant's custom tools, MCP servers and skills; 0 while it has none. */
  readonly tools_version: number;
  readonly spent: {
    readonly input: number;
    readonly output: number;
    readonly usd: number | null;
    readonly unpriced: number;
  };
  readonly summary: string | null;
  readonly summary_position: number;
  /** When the session was made: one that was forgotten and is spoken in again is another one, whose positions begin anew. */
  readonly since: string;
  readonly recorded: {
    readonly text: string;
    readonly finish: string;
    readonly model: string;
    /** The turn has taken messages since. */
    readonly unheard: boolean;
    /** The turn has ended with it. */
    readonly ended: boolean;
    readonly calls: readonly RecordedCall[];
  } | null;
  /** Rows after the position asked for, without this step's own answer. */
  readonly transcript: readonly TranscriptRow[];
  readonly allowlist: readonly { readonly tool: string; readonly pattern: string }[];
}
