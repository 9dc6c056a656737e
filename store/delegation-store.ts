/** Delegations' rows (DE-2): each change is one function of the schema, one commit, safe to repeat. */
import type { DelegationEndStatus, DelegationMode, DelegationStatus } from '#domain/delegation.ts';
import type { QualityGate } from '#domain/gate.ts';
import type { MessageContext, SettledCall } from '#domain/turn.ts';
import type { Pool } from './pool.ts';

export interface DelegationRow {
  readonly id: string;
  readonly origin_session: string;
  readonly origin_turn: string;
  readonly origin_call: string;
  readonly link_id: string | null;
  readonly source_key: string;
  readonly target_key: string;
  readonly session_key: string;
  readonly depth: number;
  readonly user_id: string | null;
  readonly label: string;
  readonly task: string;
  readonly mode: DelegationMode;
  readonly timeout_seconds: number;
  readonly context: MessageContext;
  readonly gates: readonly QualityGate[];
  readonly status: DelegationStatus;
  readonly result: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly warnings: readonly string[];
  readonly iterations: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly stopped_by: string | null;
  readonly told_by: string | null;
  /** ISO 8601, as Postgres writes it in JSON. */
  readonly created_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
}

export interface NewDelegation {
  readonly id: string;
  /** Of the one who gives the work. */
  readonly session: string;
  readonly turn: string;
  readonly call: string;
  readonly link: string;
  readonly target: string;
  /** Most delegations that the target works on. */
  readonly load: number;
  readonly label: string;
  readonly task: string;
  /** The first message to the target. */
  readonly text: string;
  readonly mode: DelegationMode;
  readonly timeout_seconds: number;
  readonly gates: readonly QualityGate[];
}

export type TakenDelegation =
  | { readonly kind: 'taken'; readonly row: DelegationRow }
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'refused';
      readonly limit: 'depth' | 'link' | 'target';
      readonly have: number;
      readonly most: number;
    };

export interface DelegationEnd {
  readonly status: DelegationEndStatus;
  readonly result: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly warnings: readonly string[];
  readonly by: string | null;
  readonly silent: boolean;
  /** What the origin's turn reads when it waits for it. */
  readonly call: Omit<SettledCall, 'id'>;
}

export interface FinishedDelegationRow {
  readonly row: DelegationRow;
  readonly untold: number;
  readonly pending?: true;
}

export interface DelegationAnnouncement {
  readonly session: string;
  readonly context: MessageContext;
  readonly told: readonly DelegationRow[];
  /** Results that are left for another message. */
  readonly more: number;
}

export interface DelegationFilter {
  readonly source?: string | undefined;
  readonly target?: string | undefined;
  readonly session?: string | undefined;
  readonly status?: DelegationStatus | undefined;
  readonly user?: string | null | undefined;
}

/** How the last of a session's turns that gave an answer, or else the last one, ended. */
export interface WorkEnd {
  readonly status: string;
  readonly iterations: number;
  readonly text: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface DelegationStore {
  take(tenant: string, work: NewDelegation, mostDepth: number): Promise<TakenDelegation>;
  begin(tenant: string, id: string): Promise<boolean>;
  /** Says who ends it, before its workflow is told: one that has not begun will not. False when it has ended. */
  markStopped(tenant: string, id: string, by: string, silent: boolean): Promise<boolean>;
  /** Undefined when there is no such row. */
  finish(tenant: string, id: string, end: DelegationEnd): Promise<FinishedDelegationRow | undefined>;
  /** Undefined when all is told, or a sibling still runs. */
  claimResults(
    tenant: string,
    by: string,
    claim: string,
    most: number,
  ): Promise<DelegationAnnouncement | undefined>;
  hasPendingWork(tenant: string, session: string): Promise<boolean>;
  find(tenant: string, id: string): Promise<DelegationRow | undefined>;
  /** Newest first; `after` is the last row of the page before. */
  page(
    tenant: string,
    filter: DelegationFilter,
    limit: number,
    after: readonly [created: string, id: string] | undefined,
  ): Promise<readonly DelegationRow[]>;
  /** All of the tenant that hold a place; `session`: those that it gave. */
  active(tenant: string, session?: string): Promise<readonly DelegationRow[]>;
  workEnd(tenant: string, session: string): Promise<WorkEnd | undefined>;
}

/** `onWrite` is told after each commit that may have added events to a session's feed. */
export function createDelegationStore(
  pool: Pool,
  onWrite: (tenant: string, session: string) => void,
): DelegationStore {
  async function call<Result>(name: string, values: readonly unknown[]): Promise<Result> {
    const marks = values.map((_, index) => `$${index + 1}`).join(',');
    const { rows } = await pool.query<{ result: Result }>({
      name,
      text: `select ${name}(${marks}) as result`,
      values: [...values],
    });
    const row = rows[0];
    if (!row) throw new Error(`${name} returned no row`);
    return row.result;
  }

  const find = async (tenant: string, id: string): Promise<DelegationRow | undefined> => {
    const { rows } = await pool.query<{ row: DelegationRow }>(
      'select to_jsonb(d) as row from delegations d where tenant_id = $1 and id = $2',
      [tenant, id],
    );
    return rows[0]?.row;
  };

  return {
    find,
    take: (tenant, work, mostDepth) => call('take_delegation', [tenant, JSON.stringify(work), mostDepth]),

    async begin(tenant, id) {
      const begun = await call<boolean>('begin_delegation', [tenant, id]);
      const row = begun ? await find(tenant, id) : undefined;
      if (row) onWrite(tenant, row.origin_session);
      return begun;
    },

    async markStopped(tenant, id, by, silent) {
      const { rowCount } = await pool.query(
        `update delegations set stopped_by = coalesce(stopped_by, $3), told_by = case when $4 then 'nobody' else told_by end
         where tenant_id = $1 and id = $2 and ended_at is null`,
        [tenant, id, by, silent],
      );
      return rowCount === 1;
    },

    async finish(tenant, id, end) {
      const values = [tenant, id, JSON.stringify(end)];
      const finished = await call<FinishedDelegationRow | null>('finish_delegation', values);
      if (finished) onWrite(tenant, finished.row.origin_session);
      return finished ?? undefined;
    },

    claimResults: async (tenant, by, claim, most) =>
      (await call<DelegationAnnouncement | null>('claim_delegation_results', [tenant, by, claim, most])) ??
      undefined,

    hasPendingWork: (tenant, session) => call('has_pending_results', [tenant, session]),

    async page(tenant, { source, target, session, status, user }, limit, after) {
      const { rows } = await pool.query<{ row: DelegationRow }>(
        `select to_jsonb(d) as row from delegations d where tenant_id = $1
           and ($2::text is null or source_key = $2) and ($3::text is null or target_key = $3)
           and ($4::text is null or origin_session = $4) and ($5::text is null or status = $5)
           and ($6::text is null or user_id = $6)
           and ($7::timestamptz is null or created_at < $7 or (created_at = $7 and id > $8))
         order by created_at desc, id limit $9`,
        [
          tenant,
          source ?? null,
          target ?? null,
          session ?? null,
          status ?? null,
          user ?? null,
          after?.[0] ?? null,
          after?.[1] ?? null,
          limit,
        ],
      );
      return rows.map(({ row }) => row);
    },

    async active(tenant, session) {
      const { rows } = await pool.query<{ row: DelegationRow }>(
        `select to_jsonb(d) as row from delegations d where tenant_id = $1 and ended_at is null
           and ($2::text is null or origin_session = $2) order by created_at limit 1000`,
        [tenant, session ?? null],
      );
      return rows.map(({ row }) => row);
    },

    async workEnd(tenant, session) {
      const { rows } = await pool.query<WorkEnd>(
        `select status, text, error, (select sum(o.steps)::int from turns o
             where o.tenant_id = $1 and o.session_key = $2) as iterations
         from turns where tenant_id = $1 and session_key = $2 and ended_at is not null
         order by (status = 'completed') desc, ended_at desc limit 1`,
        [tenant, session],
      );
      return rows[0];
    },
  };
}
