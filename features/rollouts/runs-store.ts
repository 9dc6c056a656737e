/** How the turns of an agent went, by its revisions. */
import type { Pool } from '#store/postgres/pool.ts';
import { readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { MAX_COMPARED } from './schema.ts';

export interface RunsRow {
  readonly revision: number;
  readonly turns: number;
  readonly completed: number;
  readonly failed: number;
  readonly stopped: number;
  readonly open: number;
  /** Median and 95th percentile. */
  readonly steps: readonly [number, number] | null;
  readonly seconds: readonly [number, number] | null;
  readonly input_tokens: string;
  readonly output_tokens: string;
  readonly cost_usd: string | null;
  readonly calls: number;
  readonly calls_failed: number;
  readonly approvals: number;
  readonly approvals_denied: number;
  readonly policies: number;
  readonly tools: number;
}

/**
 * By revision, oldest first: the newest turns since `since`, MAX_COMPARED and one at most. Turns of replays and evals,
 * in which nothing real is called, and copies in forks do not count.
 */
export function compareRuns(db: TenantDb, key: string, since: Date): Promise<RunsRow[]> {
  return readRows<RunsRow>(db)`
    with recent as (
      select id, agent_revision as revision, status, steps, started_at, ended_at, input_tokens, output_tokens, cost_usd,
        ran_with
      from turns where tenant_id = ${db} and agent_key = ${key} and started_at >= ${since}
        and agent_revision is not null and copied_of is null and not context ? 'stand_ins'
      order by started_at desc limit ${MAX_COMPARED + 1}),
    called as (
      select r.revision, count(*)::int as calls, count(*) filter (where c.state = 'done' and not c.ok)::int as calls_failed,
        count(*) filter (where c.approval_id is not null)::int as approvals,
        count(a.id) filter (where a.status in ('denied', 'expired'))::int as approvals_denied
      from recent r join tool_calls c on c.tenant_id = ${db} and c.turn_id = r.id
        left join approvals a on a.tenant_id = ${db} and a.id = c.approval_id
      group by r.revision)
    select r.revision, count(*)::int as turns,
      count(*) filter (where status = 'completed')::int as completed, count(*) filter (where status = 'failed')::int as failed,
      count(*) filter (where status = 'stopped')::int as stopped, count(*) filter (where ended_at is null)::int as open,
      percentile_cont(array[0.5, 0.95]) within group (order by steps) filter (where ended_at is not null) as steps,
      percentile_cont(array[0.5, 0.95]) within group (order by extract(epoch from ended_at - started_at)::float)
        filter (where ended_at is not null) as seconds,
      sum(input_tokens)::text as input_tokens, sum(output_tokens)::text as output_tokens, sum(cost_usd)::text as cost_usd,
      coalesce(max(c.calls), 0) as calls, coalesce(max(c.calls_failed), 0) as calls_failed,
      coalesce(max(c.approvals), 0) as approvals, coalesce(max(c.approvals_denied), 0) as approvals_denied,
      count(distinct coalesce(ran_with ->> 'policy', ''))::int as policies,
      count(distinct coalesce(ran_with ->> 'tools', ''))::int as tools
    from recent r left join called c on c.revision = r.revision group by r.revision order by r.revision`;
}

/** When the agent's newest rollout began; undefined when it has had none. */
export async function startOfRollout(db: TenantDb, key: string): Promise<Date | undefined> {
  const row = await readRow<{ at: Date }>(db)`
    select changed_at as at from rollout_changes where tenant_id = ${db} and agent_key = ${key} and action = 'start'
     order by number desc limit 1`;
  return row?.at;
}

export interface WatchedRollout {
  readonly tenant: string;
  readonly agent: string;
  readonly rollout: string;
  readonly abort: string;
  /** Turns of its revision that have ended since its start, and those that failed. */
  readonly ended: number;
  readonly failed: number;
}

/** Rollouts with a rule to put them back, of all tenants: the sweep looks at each. */
export function watchedRollouts(pool: Pool): Promise<WatchedRollout[]> {
  return readRows<WatchedRollout>(pool)`
    select a.tenant_id as tenant, a.key as agent, a.rollout ->> 'id' as rollout, a.rollout ->> 'abort' as abort,
      count(t.id)::int as ended, count(t.id) filter (where t.status = 'failed')::int as failed
    from agents a left join lateral (
      select id, status from turns where tenant_id = a.tenant_id and agent_key = a.key
        and started_at >= (a.rollout ->> 'at')::timestamptz and agent_revision = (a.rollout ->> 'revision')::int
        and ended_at is not null and copied_of is null and not context ? 'stand_ins'
      order by started_at desc limit ${MAX_COMPARED}) t on true
    where a.rollout is not null and a.rollout ? 'abort' group by a.tenant_id, a.key, a.rollout`;
}
