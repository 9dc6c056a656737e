/** The approval's row as its workflow writes it: settled once, by whichever attempt is first. */
import type { AgentConfig } from '#domain/agent.ts';
import type {
  AlwaysOffer,
  ApprovalStatus,
  DecisionWay,
  NoteApprovalInput,
  RefusedRequest,
  SettleApprovalResult,
} from '#domain/approval/approval.ts';
import type { RecordedTerms } from '#domain/approval/approval-terms.ts';
import type { McpForm } from '#domain/form.ts';
import type { UsedTools } from '#domain/policy/used-tools.ts';
import type { SandboxTerms } from '#domain/sandbox.ts';
import type { Scope } from '#domain/schema/api-key.ts';
import type { TenantPolicy } from '#domain/tenant.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import { noteApproval, noteRefusal, settleApproval } from './approval-record.ts';
import type { NewRefusal, SettleRecord } from './settle-record.ts';
import type { Pool } from '../postgres/pool.ts';
import { readRow } from '../postgres/statements.ts';
import { forTenant } from '../postgres/tenant-db.ts';

/** The sender of a decision, as the API proves it. */
export interface DecisionProof {
  readonly by: string;
  readonly user_id: string | null;
  readonly scopes: readonly Scope[];
  readonly groups: readonly string[];
  readonly api_key_id: string | null;
  readonly via: DecisionWay;
  /** Arguments of an edit, sealed at `decisionPlace`. */
  readonly sealed_args: string | null;
}

export interface ApprovalBasis {
  readonly status: ApprovalStatus;
  readonly call_id: string;
  readonly session: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly digest: string;
  readonly terms: RecordedTerms;
  /** The user whose turn it is. */
  readonly requester: string | null;
  readonly escalated: boolean;
  readonly proof: DecisionProof | null;
  readonly agent: AgentConfig;
  readonly context: MessageContext;
  readonly tenant_policy: TenantPolicy | null;
  /** The definition that was shown, for a tool that the tenant has added. */
  readonly custom_tool: { readonly id: string; readonly revision: number } | null;
  readonly allowlist: readonly { readonly tool: string; readonly pattern: string }[];
  /** What the session had read when the call was requested. */
  readonly used: UsedTools;
  readonly always: AlwaysOffer;
  /** The question of an MCP server; then `args` are the answer. */
  readonly form: McpForm | null;
  /** Null for a question for more budget. */
  readonly sandbox: SandboxTerms | null;
}

export interface ApprovalLedger {
  /**
   * Changes nothing when the approval is settled already: then `won` is false and the rest is the first outcome.
   * `counted` while more people must agree.
   */
  settle(record: SettleRecord): Promise<SettleApprovalResult>;
  /** What has to be decided, and who sent the decision with this key, if no other message had it before. */
  basis(tenant: string, id: string, key: string, message: string): Promise<ApprovalBasis | undefined>;
  note(input: NoteApprovalInput): Promise<boolean>;
  /** Uses up a token for this message. False when another message has used it, or when its approval is not pending. */
  useToken(tenant: string, id: string, nonce: string, message: string): Promise<boolean>;
  /** Records a refused message; undefined when the approval does not exist. */
  noteRefusal(refusal: NewRefusal): Promise<RefusedRequest | undefined>;
}

/** `onWrite` is called after each commit that may have added events. */
export function createApprovalLedger(
  pool: Pool,
  onWrite: (tenant: string, session: string) => void,
): ApprovalLedger {
  return {
    async settle(record) {
      const answered = await settleApproval(forTenant(pool, record.tenant), record);
      if (!answered)
        return { kind: 'refused', type: 'InvalidInput', message: `approval ${record.id} does not exist` };
      onWrite(record.tenant, answered.session);
      return answered.result;
    },

    async basis(tenant, id, key, message) {
      const { rows } = await pool.query<ApprovalBasis>({
        name: 'approval_basis',
        text: `with sent as (
                 update decision_proofs set message = $4
                 where tenant_id = $1 and approval_id = $2 and key = $3 and coalesce(message, $4) = $4 returning *)
               select a.status, a.call_id, a.session_key as session, a.tool, a.args, a.digest, a.terms, a.always, a.form, a.sandbox, a.user_id as requester,
                 a.escalated_at is not null as escalated, to_jsonb(p) as proof, coalesce(agent_in_force(a.tenant_id, a.agent_key, t.agent_revision), g.config) as agent, coalesce(t.context, '{}') as context, n.policy as tenant_policy,
                 (select jsonb_build_object('id', c.custom_tool_id, 'revision', c.custom_tool_revision) from tool_calls c
                  where c.tenant_id = a.tenant_id and c.id = a.call_id and c.custom_tool_id is not null) as custom_tool,
                 allowlist_of(a.tenant_id, a.agent_key, t.context ->> 'user') as allowlist,
                 coalesce((select used_before(s.used, a.created_at) from sessions s
                   where s.tenant_id = a.tenant_id and s.key = a.session_key), '{}') as used
               from approvals a
               left join turns t on t.tenant_id = a.tenant_id and t.id = a.turn_id
               join tenants n on n.id = a.tenant_id
               join agents g on g.tenant_id = a.tenant_id and g.key = a.agent_key
               left join sent p on true
               where a.tenant_id = $1 and a.id = $2`,
        values: [tenant, id, key, message],
      });
      return rows[0];
    },

    async note(input) {
      const answered = await noteApproval(forTenant(pool, input.tenant), input);
      if (answered) onWrite(input.tenant, answered.session);
      return answered?.result ?? false;
    },

    async useToken(tenant, id, nonce, message) {
      const row = await readRow<{ message: string }>(pool)`
        insert into decision_tokens (tenant_id, approval_id, nonce, message)
          select tenant_id, id, ${nonce}, ${message} from approvals
          where tenant_id = ${tenant} and id = ${id} and status = 'pending'
          for share
          on conflict (tenant_id, approval_id, nonce) do update set nonce = excluded.nonce returning message`;
      return row?.message === message;
    },

    async noteRefusal({ tenant, ...refusal }) {
      const answered = await noteRefusal(forTenant(pool, tenant), refusal);
      if (answered) onWrite(tenant, answered.session);
      return answered?.result;
    },
  };
}
