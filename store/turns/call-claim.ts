/** What `claim_call_2` returns to an attempt of a call. */
import type { AgentConfig } from '#domain/agent.ts';
import type { ApprovalStatus } from '#domain/approval/approval.ts';
import type { ApprovalTerms } from '#domain/approval/approval-terms.ts';
import type { BoundFile } from '#domain/approval/bound-file.ts';
import type { BudgetExceeded } from '#domain/budget/budget.ts';
import type { UsedTools } from '#domain/policy/used-tools.ts';
import type { SandboxTerms } from '#domain/sandbox.ts';
import type { SkillInUse } from '#domain/policy/skills-in-use.ts';
import type { TenantPolicy } from '#domain/tenant.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import type { ChildStart } from '#domain/turn/turn-activities.ts';
import type { BudgetRequest } from '../budgets/budget-ledger.ts';
import type { RepeatedApproval } from '../approvals/approval-questions.ts';

export type Claim =
  | { readonly kind: 'missing' }
  | {
      readonly kind: 'lost';
      readonly session: string;
      readonly turn: string;
      readonly args: Readonly<Record<string, unknown>>;
    }
  | {
      readonly kind: 'done';
      readonly ok: boolean;
      readonly code: string | null;
      readonly result: string | null;
      readonly child: ChildStart | null;
    }
  /** An earlier attempt has asked again, and nobody has decided yet. */
  | ({ readonly kind: 'asked' } & RepeatedApproval)
  | { readonly kind: 'refused'; readonly status: string; readonly session: string; readonly turn: string }
  | { readonly kind: 'limited'; readonly seconds: number; readonly session: string; readonly turn: string }
  | {
      readonly kind: 'over_budget';
      readonly exceeded: BudgetExceeded;
      readonly session: string;
      readonly turn: string;
    }
  | {
      readonly kind: 'run';
      /** False for a call that only reads: nothing was written, and its row will be its result. */
      readonly claimed: boolean;
      /** It has reserved budget, which is settled with its result. */
      readonly budgeted: boolean;
      readonly session: string;
      readonly turn: string;
      readonly step: number;
      readonly tool: string;
      readonly called_as: string;
      readonly summary: string;
      readonly args: Readonly<Record<string, unknown>>;
      readonly sealed: string | null;
      readonly digest: string;
      readonly approved: boolean;
      /** The sandbox that the digest of an approved call is bound to. */
      readonly sandbox?: SandboxTerms | null;
      readonly files?: readonly BoundFile[] | null;
      readonly approval?: string | null;
      readonly terms?: ApprovalTerms | null;
      readonly context: MessageContext;
      /** Version of the documents that the turn's user sees (VF-1); null while there are none. */
      readonly documents: string | null;
      /** Skills in use before its step. */
      readonly skills: readonly SkillInUse[];
      readonly tenant_policy: TenantPolicy | null;
      readonly agent: AgentConfig;
      readonly allowlist: readonly { readonly tool: string; readonly pattern: string }[];
      /** What the session had read before the call was requested. */
      readonly used: UsedTools;
      /** State that an earlier attempt has left at an MCP server, sealed. */
      readonly outside?: string | null;
      /** An earlier attempt had the call and did not report. */
      readonly again?: boolean;
      /** How people answered the server's question; `sealed` contains what they changed. */
      readonly form?: {
        readonly id: string;
        readonly status: ApprovalStatus;
        readonly sealed: string | null;
      } | null;
    };

export interface ClaimRules {
  /** A claim without a result is `lost`, not run again. */
  readonly once: boolean;
  /** It runs without a claim; its row is its result. */
  readonly reads: boolean;
  /** 0 means no limit (EX-6). */
  readonly perHour: number;
  readonly burst: number;
  /** For costly tools (DU-7). */
  readonly budget?: BudgetRequest;
}
