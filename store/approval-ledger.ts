/** The approval's row as its workflow writes it: settled once, whoever tries. */
import type { AgentConfig } from '#domain/agent.ts';
import type {
  AlwaysOffer,
  ApprovalStatus,
  Decision,
  DecisionWay,
  NoteApprovalInput,
  SettleApprovalResult,
} from '#domain/approval.ts';
import type { ApprovalTerms } from '#domain/approval-terms.ts';
import type { BoundFile } from '#domain/bound-file.ts';
import type { SandboxTerms } from '#domain/sandbox.ts';
import type { Scope } from '#domain/schema/api-key.ts';
import type { TenantPolicy } from '#domain/tenant.ts';
import type { MessageContext, SettledCall } from '#domain/turn.ts';
import type { Pool } from './pool.ts';

export interface SettleRecord {
  readonly tenant: string;
  readonly id: string;
  readonly status: Exclude<ApprovalStatus, 'pending'>;
  readonly by: string;
  /** Names the try; see SettleApprovalInput. */
  readonly key: string;
  readonly decision?: Decision;
  readonly note?: string;
  /** The result of a call that will not run. */
  readonly call?: Omit<SettledCall, 'id'>;
  /** Runs instead; `sealed` holds the real arguments where `args` is only what people may see. */
  readonly edit?: {
    readonly args: Readonly<Record<string, unknown>>;
    readonly digest: string;
    readonly summary: string;
    readonly sealed: string | null;
    readonly files?: readonly BoundFile[];
  };
  /** Allows calls like this one from now on. */
  readonly allow?: { readonly id: string; readonly pattern: string };
  /** Who decided; absent when nobody did. */
  readonly vote?: {
    /** One spelling of the proven user; absent for a service's key and for a mere claim. */
    readonly person?: string;
    readonly api_key_id?: string;
    readonly via: DecisionWay;
  };
}

/** Who the API says sent a decision. */
export interface DecisionProof {
  readonly by: string;
  readonly user_id: string | null;
  readonly scopes: readonly Scope[];
  readonly api_key_id: string | null;
  readonly via: DecisionWay;
  /** Of an edit, at `decisionPlace`. */
  readonly sealed_args: string | null;
}

export interface ApprovalBasis {
  readonly status: ApprovalStatus;
  readonly call_id: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly digest: string;
  readonly terms: ApprovalTerms;
  /** The user whose turn it is. */
  readonly requester: string | null;
  readonly escalated: boolean;
  readonly proof: DecisionProof | null;
  readonly agent: AgentConfig;
  readonly context: MessageContext;
  readonly tenant_policy: TenantPolicy | null;
  /** The definition that was shown, when the tool is one of the tenant's own. */
  readonly custom_tool: { readonly id: string; readonly revision: number } | null;
  readonly allowlist: readonly { readonly tool: string; readonly pattern: string }[];
  readonly always: AlwaysOffer;
  /** Null for more of a budget. */
  readonly sandbox: SandboxTerms | null;
}

export interface ApprovalLedger {
  /**
   * Changes nothing when it was settled before: then `won` is false and the rest is the first one's outcome. `counted` while
   * more people must agree.
   */
  settle(record: SettleRecord): Promise<SettleApprovalResult>;
  /** What is asked, and who sent the decision with this key. */
  basis(tenant: string, id: string, key: string): Promise<ApprovalBasis | undefined>;
  note(input: NoteApprovalInput): Promise<boolean>;
}

interface SettledRow {
  readonly status: ApprovalStatus;
  readonly decision: Decision | null;
  readonly decided_by: string;
  readonly decided_at: string;
  readonly session_key: string;
  readonly won: boolean;
  readonly decision_key: string | null;
  readonly summary: string;
  /** These three while it is pending. */
  readonly approvals: number;
  readonly quorum: number;
  readonly already: boolean;
  /** Nothing was recorded: the link by which it came does not work any more. */
  readonly link_used?: true;
}

/** `onWrite` is told after each commit that may have added events. */
export function createApprovalLedger(
  pool: Pool,
  onWrite: (tenant: string, session: string) => void,
): ApprovalLedger {
  return {
    async settle(r) {
      const { rows } = await pool.query<{ row: SettledRow | null }>({
        name: 'settle_approval',
        text: 'select settle_approval($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11) as row',
        values: [
          r.tenant,
          r.id,
          r.status,
          r.decision ?? null,
          r.by,
          r.key,
          r.note ?? null,
          r.edit ? JSON.stringify(r.edit) : null,
          r.call ? JSON.stringify(r.call) : null,
          r.allow ? JSON.stringify(r.allow) : null,
          r.vote ? JSON.stringify(r.vote) : null,
        ],
      });
      const row = rows[0]?.row;
      if (!row) return { kind: 'refused', type: 'InvalidInput', message: `approval ${r.id} does not exist` };
      onWrite(r.tenant, row.session_key);
      const at = new Date(row.decided_at).toISOString();
      if (row.link_used)
        return {
          kind: 'refused',
          type: 'Conflict',
          message: 'this link was used, was revoked or has expired',
        };
      if (row.status === 'pending') return counted(r, row, at);
      return {
        kind: 'settled',
        status: row.status,
        decision: row.decision,
        by: row.decided_by,
        at,
        won: row.won,
        key: row.decision_key,
      };
    },

    async basis(tenant, id, key) {
      const { rows } = await pool.query<ApprovalBasis>({
        name: 'approval_basis',
        text: `select a.status, a.call_id, a.tool, a.args, a.digest, a.terms, a.always, a.sandbox, a.user_id as requester,
                 a.escalated_at is not null as escalated, to_jsonb(p) as proof, g.config as agent, coalesce(t.context, '{}') as context, n.policy as tenant_policy,
                 (select jsonb_build_object('id', c.custom_tool_id, 'revision', c.custom_tool_revision) from tool_calls c
                  where c.tenant_id = a.tenant_id and c.id = a.call_id and c.custom_tool_id is not null) as custom_tool,
                 allowlist_of(a.tenant_id, a.agent_key, t.context ->> 'user') as allowlist
               from approvals a
               left join turns t on t.tenant_id = a.tenant_id and t.id = a.turn_id
               join tenants n on n.id = a.tenant_id
               join agents g on g.tenant_id = a.tenant_id and g.key = a.agent_key
               left join decision_proofs p on p.tenant_id = a.tenant_id and p.approval_id = a.id and p.key = $3
               where a.tenant_id = $1 and a.id = $2`,
        values: [tenant, id, key],
      });
      return rows[0];
    },

    async note({ tenant, approval_id, what, count }) {
      const { rows } = await pool.query<{ noted: boolean; session_key: string }>({
        name: 'note_approval',
        text: `select note_approval($1, $2, $3, $4) as noted, session_key from approvals where tenant_id = $1 and id = $2`,
        values: [tenant, approval_id, what, count],
      });
      const row = rows[0];
      if (!row) return false;
      onWrite(tenant, row.session_key);
      return row.noted;
    },
  };
}

function counted(record: SettleRecord, row: SettledRow, at: string): SettleApprovalResult {
  const { approvals, quorum, already, summary } = row;
  const decision = record.decision ?? 'approve';
  return { kind: 'counted', decision, by: row.decided_by, at, approvals, quorum, already, summary };
}
