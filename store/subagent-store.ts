/** Subagents' rows: each change is one function of the schema, one commit, safe to repeat. */
import type { AnnounceMode, SubagentEndStatus, SubagentStatus } from '#domain/subagent.ts';
import type { Thinking } from '#domain/thinking.ts';
import type { MessageContext, SettledCall } from '#domain/turn.ts';
import type { Pool } from './pool.ts';
import { createSqlCall } from './sql-call.ts';

export interface SubagentRow {
  readonly id: string;
  readonly parent_session: string;
  readonly parent_turn: string;
  readonly parent_call: string;
  readonly session_key: string;
  readonly depth: number;
  readonly agent_key: string;
  /** Of the turn that started it. */
  readonly context: MessageContext;
  readonly user_id: string | null;
  readonly label: string;
  readonly task: string;
  readonly mode: 'async' | 'sync';
  readonly announce: AnnounceMode;
  readonly detached: boolean;
  readonly timeout_seconds: number;
  readonly status: SubagentStatus;
  readonly result: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly iterations: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly stopped_by: string | null;
  readonly replaced_by: string | null;
  readonly waiter: string | null;
  readonly told_by: string | null;
  /** ISO 8601, as Postgres writes it in JSON. */
  readonly created_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
}

export interface NewSubagent {
  readonly id: string;
  /** Of the parent. */
  readonly session: string;
  readonly turn: string;
  readonly call: string;
  readonly label: string;
  readonly task: string;
  readonly model?: string;
  readonly thinking?: Thinking;
  readonly mode: 'async' | 'sync';
  readonly announce: AnnounceMode;
  readonly detached: boolean;
  readonly timeout_seconds: number;
  /** Names of the tools that the parent has. */
  readonly within: readonly string[];
}

export interface SpawnLimits {
  readonly depth: number;
  readonly concurrent: number;
  readonly children: number;
  readonly iterations: number;
}

export type SpawnedRow =
  | { readonly kind: 'spawned'; readonly row: SubagentRow }
  /** The call has a result: its turn has ended. */
  | { readonly kind: 'over' }
  | {
      readonly kind: 'refused';
      readonly limit: 'depth' | 'concurrent' | 'children';
      readonly have: number;
      readonly most: number;
    };

export interface SubagentEnd {
  readonly status: SubagentEndStatus;
  readonly result: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly by: string | null;
  readonly silent: boolean;
  /** What the parent's turn reads when it waits for it. */
  readonly call: Omit<SettledCall, 'id'>;
  readonly next?: { readonly id: string; readonly label: string; readonly task: string };
}

export interface FinishedRow {
  readonly row: SubagentRow;
  readonly next: SubagentRow | null;
  readonly untold: number;
  /** Nothing was recorded: see has_pending_results. */
  readonly pending?: true;
}

export interface Announcement {
  /** To be told. */
  readonly session: string;
  /** Of the turn that started them. */
  readonly context: MessageContext;
  readonly told: readonly SubagentRow[];
}

export interface SubagentStore {
  spawn(tenant: string, child: NewSubagent, limits: SpawnLimits): Promise<SpawnedRow>;
  begin(tenant: string, id: string): Promise<boolean>;
  /**
   * Says who ends it, before its workflow is told: one that has not begun will not. `silent`: its parent knows.
   * False when it has ended.
   */
  markStopped(tenant: string, id: string, by: string, silent: boolean): Promise<boolean>;
  /** Undefined when there is no such row. */
  finish(tenant: string, id: string, end: SubagentEnd): Promise<FinishedRow | undefined>;
  /** Undefined when its end is told or will be by somebody else. */
  claimAnnouncement(tenant: string, by: string, most: number): Promise<Announcement | undefined>;
  find(tenant: string, id: string): Promise<SubagentRow | undefined>;
  /** Newest first: those that run, and those that ended within so many minutes. */
  list(tenant: string, parentSession: string, archiveMinutes: number): Promise<readonly SubagentRow[]>;
  /** Also those that are archived, newest first; `after` is the last row of the page before. */
  page(
    tenant: string,
    filter: { readonly session: string; readonly status?: SubagentStatus | undefined },
    limit: number,
    after: readonly [created: string, id: string] | undefined,
  ): Promise<readonly SubagentRow[]>;
  /** All of the tenant that hold a place. */
  active(tenant: string): Promise<readonly SubagentRow[]>;
  /**
   * Sessions of all that it has started or given away, and of theirs, the newest 1000: subagents, delegations, agents at gates
   * and rounds of judging. Those that are over too, but none that is detached.
   */
  sessionsBelow(tenant: string, session: string): Promise<readonly string[]>;
  /** What the session's waiter has to look at; those that run will signal it at their end. */
  collect(tenant: string, session: string, waiter: string): Promise<readonly SubagentRow[]>;
  /** Records the result of the call that tells of these. */
  tellByCall(
    key: { readonly tenant: string; readonly session: string; readonly turn: string },
    call: SettledCall,
    ids: readonly string[],
  ): Promise<void>;
  /** How the subagent's last turn ended. */
  outcome(tenant: string, id: string): Promise<TurnEnd | undefined>;
}

export interface TurnEnd {
  readonly status: string;
  /** Model calls over all turns of the subagent. */
  readonly iterations: number;
  readonly text: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** `onWrite` is told after each commit that may have added events to a session's feed. */
export function createSubagentStore(
  pool: Pool,
  onWrite: (tenant: string, session: string) => void,
): SubagentStore {
  const call = createSqlCall(pool);

  const find = async (tenant: string, id: string): Promise<SubagentRow | undefined> => {
    const { rows } = await pool.query<{ row: SubagentRow }>(
      'select to_jsonb(s) as row from subagents s where tenant_id = $1 and id = $2',
      [tenant, id],
    );
    return rows[0]?.row;
  };

  return {
    find,
    spawn: (tenant, child, limits) =>
      call('spawn_subagent', [tenant, JSON.stringify(child), JSON.stringify(limits)]),

    async begin(tenant, id) {
      const begun: boolean = await call('begin_subagent', [tenant, id]);
      const row = begun ? await find(tenant, id) : undefined;
      if (row) onWrite(tenant, row.parent_session);
      return begun;
    },

    async markStopped(tenant, id, by, silent) {
      const { rowCount } = await pool.query(
        `update subagents set stopped_by = coalesce(stopped_by, $3), told_by = case when $4 then 'nobody' else told_by end
         where tenant_id = $1 and id = $2 and ended_at is null`,
        [tenant, id, by, silent],
      );
      return rowCount === 1;
    },

    async finish(tenant, id, end) {
      const finished: FinishedRow | null = await call('finish_subagent', [tenant, id, JSON.stringify(end)]);
      if (finished) onWrite(tenant, finished.row.parent_session);
      return finished ?? undefined;
    },

    async claimAnnouncement(tenant, by, most) {
      const claimed: Announcement | null = await call('claim_announcement', [tenant, by, most]);
      return claimed ?? undefined;
    },

    async list(tenant, parentSession, archiveMinutes) {
      const { rows } = await pool.query<{ row: SubagentRow }>({
        name: 'subagents_list',
        text: `select to_jsonb(s) as row from subagents s where tenant_id = $1 and parent_session = $2
                 and (ended_at is null or ended_at > now() - make_interval(secs => $3::float * 60))
               order by created_at desc, id limit 200`,
        values: [tenant, parentSession, archiveMinutes],
      });
      return rows.map(({ row }) => row);
    },

    async page(tenant, { session, status }, limit, after) {
      const { rows } = await pool.query<{ row: SubagentRow }>(
        `select to_jsonb(s) as row from subagents s where tenant_id = $1 and parent_session = $2
           and ($3::text is null or status = $3)
           and ($4::timestamptz is null or created_at < $4 or (created_at = $4 and id > $5))
         order by created_at desc, id limit $6`,
        [tenant, session, status ?? null, after?.[0] ?? null, after?.[1] ?? null, limit],
      );
      return rows.map(({ row }) => row);
    },

    async active(tenant) {
      const { rows } = await pool.query<{ row: SubagentRow }>(
        `select to_jsonb(s) as row from subagents s where tenant_id = $1 and ended_at is null
         order by created_at limit 1000`,
        [tenant],
      );
      return rows.map(({ row }) => row);
    },

    async sessionsBelow(tenant, session) {
      const { rows } = await pool.query<{ session_key: string }>(
        `with recursive below (session_key, created_at) as (
           select $2::text, now()
           union select s.session_key, s.created_at from below b cross join lateral (
             select session_key, created_at from subagents
               where tenant_id = $1 and parent_session = b.session_key and not detached
             union all select key, created_at from sessions
               where tenant_id = $1 and bound_context #>> '{delegation,session}' = b.session_key) s)
         select session_key from below where session_key <> $2 order by created_at desc limit 1000`,
        [tenant, session],
      );
      return rows.map(({ session_key }) => session_key);
    },

    collect: (tenant, session, waiter) => call('collect_subagents', [tenant, session, waiter]),

    async tellByCall({ tenant, session, turn }, settled, ids) {
      await call('tell_by_call', [tenant, session, turn, JSON.stringify(settled), JSON.stringify(ids)]);
      onWrite(tenant, session);
    },

    async outcome(tenant, id) {
      const { rows } = await pool.query<TurnEnd>(
        `select t.status, t.text, t.error, (select sum(o.steps)::int from turns o
             where o.tenant_id = t.tenant_id and o.session_key = t.session_key) as iterations
         from turns t join subagents s on s.tenant_id = t.tenant_id
           and s.session_key = t.session_key
         where t.tenant_id = $1 and s.id = $2 and t.ended_at is not null
         order by t.ended_at desc limit 1`,
        [tenant, id],
      );
      return rows[0];
    },
  };
}
