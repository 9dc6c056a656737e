/** Recorded calls with everything they were judged by except the rules, to evaluate other rules. */
import { sql } from 'kysely';
import type { AgentConfig } from '#domain/agent.ts';
import type { UsedTools } from '#domain/policy/used-tools.ts';
import type { SkillInUse } from '#domain/policy/skills-in-use.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import { execute, readRows } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';

export interface PastCall {
  readonly id: string;
  readonly session_key: string;
  readonly turn_id: string;
  readonly agent_key: string;
  readonly tool: string;
  /** Arguments as people may see them; `masked` says that the real ones differ. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly masked: boolean;
  readonly summary: string;
  readonly verdict: 'allow' | 'ask' | 'deny';
  readonly context: MessageContext;
  /** Skills in use at that time. */
  readonly skills: readonly SkillInUse[];
  /** What its session had read before it. */
  readonly used: UsedTools;
  readonly created_at: Date;
  /** Microseconds since 1970, as text: it orders calls within one millisecond. */
  readonly at: string;
}

const PAST_CALL = sql`c.id, c.session_key, c.turn_id, t.agent_key, c.tool, c.args, c.args_sealed is not null as masked, c.summary,
  c.verdict, t.context, skills_before(t.skills, c.step) as skills, coalesce(used_before(s.used, c.created_at), '{}') as used,
  c.created_at, (extract(epoch from c.created_at) * 1000000)::bigint::text as at`;
const PAST_CALLS = sql`from tool_calls c join turns t on t.tenant_id = c.tenant_id and t.id = c.turn_id
  left join sessions s on s.tenant_id = c.tenant_id and s.key = c.session_key`;

/** Rows fetched at a time: arguments may be large. */
const BATCH = 200;

/**
 * Newest first, at most `limit`, batch by batch from one snapshot. Calls that were judged by no rule are left out:
 * those of unknown tools or with invalid arguments, those of replays, and copies in forks. `take` returns false to stop.
 */
export function readPastCalls(
  db: TenantDb,
  since: Date,
  limit: number,
  take: (calls: readonly PastCall[]) => Promise<boolean>,
): Promise<void> {
  return inTransaction(db, async (tx) => {
    await execute(tx)`declare past_calls no scroll cursor for
      select ${PAST_CALL} ${PAST_CALLS}
      where c.tenant_id = ${tx} and c.created_at >= ${since}
        and not (c.verdict = 'deny' and c.code in ('InvalidArgs', 'NotFound')) and not t.context ? 'stand_ins'
        and c.copied_of is null
      order by c.created_at desc, c.id desc limit ${limit}`;
    for (;;) {
      // The cursor has the tenant's rows only.
      const rows = await readRows<PastCall>(tx.unbound)`fetch ${sql.lit(BATCH)} from past_calls`;
      if (rows.length === 0 || !(await take(rows))) break;
    }
  });
}

/** A call that a person decided on unchanged, without other arguments. */
export interface DecidedPastCall extends PastCall {
  readonly approved: boolean;
}

/**
 * Newest first, each at most `limit`: calls that were approved since then, and calls that were ever rejected or
 * answered instead.
 */
export function readDecidedCalls(db: TenantDb, since: Date, limit: number): Promise<DecidedPastCall[]> {
  return readRows<DecidedPastCall>(db)`
    with decided as (
      (select id, call_id, true as approved from approvals
       where tenant_id = ${db} and status = 'approved' and created_at >= ${since} and decision in ('approve', 'approve_always')
         and form is null
       order by created_at desc limit ${limit})
      union all
      (select id, call_id, false from approvals
       where tenant_id = ${db} and status in ('denied', 'responded') order by created_at desc limit ${limit}))
    select ${PAST_CALL}, d.approved ${PAST_CALLS}
      join decided d on d.call_id = c.id
    where c.tenant_id = ${db} order by c.created_at desc, c.id desc`;
}

export interface AllowedEntry {
  readonly agent_key: string;
  readonly user_id: string | null;
  readonly tool: string;
  readonly pattern: string;
}

export interface RulesOfTenant {
  readonly agents: ReadonlyMap<string, AgentConfig>;
  readonly allowlist: readonly AllowedEntry[];
}

/** More entries than the people of any tenant allow permanently. */
const MAX_ENTRIES = 10_000;

/** The present rules of all its agents, including deleted ones. */
export async function readRulesOfTenant(db: TenantDb): Promise<RulesOfTenant> {
  const agents = await readRows<{ key: string; config: AgentConfig }>(db)`
    select key, config from agents where tenant_id = ${db}`;
  const allowlist = await readRows<AllowedEntry>(db)`
    select agent_key, user_id, tool, pattern from exec_allowlist
    where tenant_id = ${db} and revoked_at is null limit ${MAX_ENTRIES}`;
  return { agents: new Map(agents.map(({ key, config }) => [key, config])), allowlist };
}
