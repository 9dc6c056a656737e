/** The approval's row as its workflow writes it: settled once, whoever tries. */
import type { AgentConfig } from '#domain/agent.ts';
import type { ApprovalStatus, Decision, SettleApprovalResult } from '#domain/approval.ts';
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
  };
  /** Allows calls like this one from now on. */
  readonly allow?: { readonly id: string; readonly pattern: string };
}

export interface ApprovalBasis {
  readonly call_id: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly agent: AgentConfig;
  readonly context: MessageContext;
  readonly tenant_policy: TenantPolicy | null;
  readonly allowlist: readonly { readonly tool: string; readonly pattern: string }[];
}

export interface ApprovalLedger {
  /** Changes nothing when it was settled before: then `won` is false and the rest is the first one's outcome. */
  settle(record: SettleRecord): Promise<SettleApprovalResult>;
  basis(tenant: string, id: string): Promise<ApprovalBasis | undefined>;
}

interface SettledRow {
  readonly status: Exclude<ApprovalStatus, 'pending'>;
  readonly decision: Decision | null;
  readonly decided_by: string;
  readonly decided_at: string;
  readonly session_key: string;
  readonly won: boolean;
  readonly decision_key: string | null;
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
        text: 'select settle_approval($1,$2,$3,$4,$5,$6,$7,$8,$9,$10) as row',
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
        ],
      });
      const row = rows[0]?.row;
      if (!row) return { kind: 'refused', type: 'InvalidInput', message: `approval ${r.id} does not exist` };
      onWrite(r.tenant, row.session_key);
      const at = new Date(row.decided_at).toISOString();
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

    async basis(tenant, id) {
      const { rows } = await pool.query<ApprovalBasis>({
        name: 'approval_basis',
        text: `select a.call_id, a.tool, a.args, g.config as agent, t.context, n.policy as tenant_policy,
                 allowlist_of(a.tenant_id, a.agent_key, t.context ->> 'user') as allowlist
               from approvals a
               join turns t on t.tenant_id = a.tenant_id and t.id = a.turn_id
               join tenants n on n.id = a.tenant_id
               join agents g on g.tenant_id = a.tenant_id and g.key = a.agent_key
               where a.tenant_id = $1 and a.id = $2`,
        values: [tenant, id],
      });
      return rows[0];
    },
  };
}
