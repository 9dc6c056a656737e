/** Rounds of making and judging as rows (DE-4): all drafts, all verdicts. Each change is safe to repeat. */
import type { EvaluationEndStatus, EvaluationStatus } from '#domain/evaluate-loop.ts';
import type { MessageContext, SettledCall } from '#domain/turn.ts';
import type { Pool } from './pool.ts';

export interface EvaluationRow {
  readonly id: string;
  readonly origin_session: string;
  readonly origin_turn: string;
  readonly origin_call: string;
  readonly generator_key: string;
  readonly evaluator_key: string;
  readonly user_id: string | null;
  readonly label: string;
  readonly task: string;
  readonly criteria: string | null;
  readonly context_text: string | null;
  readonly max_rounds: number;
  readonly context: MessageContext;
  readonly depth: number;
  readonly status: EvaluationStatus;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly stopped_by: string | null;
  readonly created_at: string;
  readonly ended_at: string | null;
}

export interface RoundRow {
  readonly round: number;
  readonly draft: string;
  readonly verdict: 'approved' | 'rejected' | null;
  readonly feedback: string | null;
}

export interface NewEvaluation {
  readonly id: string;
  readonly session: string;
  readonly turn: string;
  readonly call: string;
  readonly generator: string;
  readonly evaluator: string;
  readonly label: string;
  readonly task: string;
  readonly criteria?: string;
  readonly context_text?: string;
  readonly max_rounds: number;
}

export type TakenEvaluation =
  | { readonly kind: 'taken'; readonly row: EvaluationRow }
  | { readonly kind: 'refused'; readonly have: number; readonly most: number };

export interface EvaluationEnd {
  readonly status: EvaluationEndStatus;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly by: string | null;
  /** What the origin's turn reads. */
  readonly call: Omit<SettledCall, 'id'>;
}

export interface EvaluationFilter {
  readonly session?: string | undefined;
  readonly status?: EvaluationStatus | undefined;
  readonly user?: string | null | undefined;
}

export interface EvaluationStore {
  take(tenant: string, work: NewEvaluation, mostDepth: number): Promise<TakenEvaluation>;
  find(tenant: string, id: string): Promise<EvaluationRow | undefined>;
  /** Newest first; `after` is the last row of the page before. */
  page(
    tenant: string,
    filter: EvaluationFilter,
    limit: number,
    after: readonly [created: string, id: string] | undefined,
  ): Promise<readonly EvaluationRow[]>;
  /** All of the tenant that run. */
  active(tenant: string): Promise<readonly EvaluationRow[]>;
  rounds(tenant: string, id: string): Promise<readonly RoundRow[]>;
  /** The first draft of a round stays. */
  recordDraft(tenant: string, id: string, round: number, draft: string): Promise<void>;
  /** The first verdict on a round stays. */
  recordVerdict(
    tenant: string,
    id: string,
    round: number,
    verdict: 'approved' | 'rejected',
    feedback: string | null,
  ): Promise<void>;
  finish(tenant: string, id: string, end: EvaluationEnd): Promise<EvaluationRow | undefined>;
}

/** `onWrite` is told after each commit that may have added events to a session's feed. */
export function createEvaluationStore(
  pool: Pool,
  onWrite: (tenant: string, session: string) => void,
): EvaluationStore {
  return {
    async take(tenant, work, mostDepth) {
      const { rows } = await pool.query<{ result: TakenEvaluation }>(
        'select take_evaluation($1, $2, $3) as result',
        [tenant, JSON.stringify(work), mostDepth],
      );
      const taken = rows[0]?.result;
      if (!taken) throw new Error('take_evaluation returned no row');
      onWrite(tenant, work.session);
      return taken;
    },

    async find(tenant, id) {
      const { rows } = await pool.query<{ row: EvaluationRow }>(
        'select to_jsonb(e) as row from evaluations e where tenant_id = $1 and id = $2',
        [tenant, id],
      );
      return rows[0]?.row;
    },

    async page(tenant, { session, status, user }, limit, after) {
      const { rows } = await pool.query<{ row: EvaluationRow }>(
        `select to_jsonb(e) as row from evaluations e where tenant_id = $1
           and ($2::text is null or origin_session = $2) and ($3::text is null or status = $3)
           and ($4::timestamptz is null or created_at < $4 or (created_at = $4 and id > $5))
           and ($7::text is null or user_id = $7)
         order by created_at desc, id limit $6`,
        [
          tenant,
          session ?? null,
          status ?? null,
          after?.[0] ?? null,
          after?.[1] ?? null,
          limit,
          user ?? null,
        ],
      );
      return rows.map(({ row }) => row);
    },

    async active(tenant) {
      const { rows } = await pool.query<{ row: EvaluationRow }>(
        `select to_jsonb(e) as row from evaluations e where tenant_id = $1 and ended_at is null
         order by created_at limit 1000`,
        [tenant],
      );
      return rows.map(({ row }) => row);
    },

    async rounds(tenant, id) {
      const { rows } = await pool.query<RoundRow>(
        `select round, draft, verdict, feedback from evaluation_rounds where tenant_id = $1 and evaluation_id = $2
         order by round`,
        [tenant, id],
      );
      return rows;
    },

    async recordDraft(tenant, id, round, draft) {
      await pool.query(
        `insert into evaluation_rounds (tenant_id, evaluation_id, round, draft) values ($1, $2, $3, $4)
         on conflict do nothing`,
        [tenant, id, round, draft],
      );
    },

    async recordVerdict(tenant, id, round, verdict, feedback) {
      await pool.query(
        `update evaluation_rounds set verdict = $4, feedback = $5, ended_at = now()
         where tenant_id = $1 and evaluation_id = $2 and round = $3 and verdict is null`,
        [tenant, id, round, verdict, feedback],
      );
    },

    async finish(tenant, id, end) {
      const { rows } = await pool.query<{ result: EvaluationRow | null }>(
        'select finish_evaluation($1, $2, $3) as result',
        [tenant, id, JSON.stringify(end)],
      );
      const row = rows[0]?.result ?? undefined;
      if (row) onWrite(tenant, row.origin_session);
      return row;
    },
  };
}
