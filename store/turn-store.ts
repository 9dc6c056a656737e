/** Turns as the API reads them; the loop's own writes are functions of the schema. */
import type { MessageContext, TurnStatus } from '#domain/turn.ts';
import type { Pool } from './pool.ts';

export interface TurnRow {
  readonly id: string;
  readonly session_key: string;
  readonly agent_key: string;
  readonly agent_revision: number | null;
  readonly status: TurnStatus;
  readonly steps: number;
  readonly text: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly run_id: string | null;
  /** bigint and numeric: as text. */
  readonly input_tokens: string;
  readonly output_tokens: string;
  readonly cached_tokens: string;
  readonly cost_usd: string | null;
  readonly unpriced_calls: number;
  readonly created_at: Date;
  readonly created_text: string;
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
}

const COLUMNS = `id, session_key, agent_key, agent_revision, status, steps, text, error, run_id, input_tokens, output_tokens,
  cached_tokens, cost_usd, unpriced_calls, created_at, created_at::text as created_text, started_at, ended_at`;

export async function findTurn(pool: Pool, tenant: string, id: string): Promise<TurnRow | undefined> {
  const { rows } = await pool.query<TurnRow>(
    `select ${COLUMNS} from turns where tenant_id = $1 and id = $2`,
    [tenant, id],
  );
  return rows[0];
}

/** Newest first. */
export async function listTurns(
  pool: Pool,
  tenant: string,
  session: string,
  limit: number,
  after: readonly [created: string, id: string] | undefined,
): Promise<TurnRow[]> {
  const { rows } = await pool.query<TurnRow>(
    `select ${COLUMNS} from turns where tenant_id = $1 and session_key = $2
       and ($3::timestamptz is null or created_at < $3 or (created_at = $3 and id > $4))
     order by created_at desc, id limit $5`,
    [tenant, session, after?.[0] ?? null, after?.[1] ?? null, limit],
  );
  return rows;
}

/** The turn that a stop without an id means: the one that runs, else the one that waits first. */
export async function findOpenTurn(
  pool: Pool,
  tenant: string,
  session: string,
): Promise<TurnRow | undefined> {
  const { rows } = await pool.query<TurnRow>(
    `select ${COLUMNS} from turns
     where tenant_id = $1 and session_key = $2 and status in ('running', 'waiting_approval', 'queued')
     order by (status = 'queued'), turns.created_at limit 1`,
    [tenant, session],
  );
  return rows[0];
}

/** How many turns of the session are open that came before this one, which itself need not be there yet. */
export async function countTurnsBefore(
  pool: Pool,
  tenant: string,
  session: string,
  id: string,
): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int as count from turns
     where tenant_id = $1 and session_key = $2 and id <> $3 and status in ('running', 'waiting_approval', 'queued')
       and created_at <= coalesce((select created_at from turns where tenant_id = $1 and id = $3), now())`,
    [tenant, session, id],
  );
  return rows[0]?.count ?? 0;
}

export interface QueuedTurn {
  readonly id: string;
  readonly session: string;
  readonly context: MessageContext;
  /** Turns before it; with any, the feed says that it waits. */
  readonly ahead: number;
  readonly messageId: string;
}

/**
 * Records that a turn waits; nothing when the loop has begun it already. True when the feed has grown (tell the readers).
 * Runs again safely.
 */
export async function insertQueuedTurn(pool: Pool, tenant: string, turn: QueuedTurn): Promise<boolean> {
  const { rowCount } = await pool.query(
    `with made as (
       insert into turns (tenant_id, id, session_key, agent_key, status, context)
       select $1, $2, $3, s.agent_key, 'queued', $4 from sessions s where s.tenant_id = $1 and s.key = $3
       on conflict do nothing returning id)
     select append_events($1, $3, id, $5) from made where jsonb_array_length($5) > 0`,
    [
      tenant,
      turn.id,
      turn.session,
      JSON.stringify(turn.context),
      JSON.stringify(
        turn.ahead > 0
          ? [{ type: 'turn.queued', data: { message_id: turn.messageId, ahead: turn.ahead } }]
          : [],
      ),
    ],
  );
  return (rowCount ?? 0) > 0;
}

export interface LostTurn {
  readonly id: string;
  /** None of the session has begun after it. */
  readonly is_last: boolean;
}

/** Those of a session that are open, of which no run knows; of those that wait only older ones. Oldest first. */
export async function lostTurns(
  pool: Pool,
  tenant: string,
  session: string,
  waitingSeconds: number,
): Promise<readonly LostTurn[]> {
  const { rows } = await pool.query<LostTurn>(
    `select id, started_at is not null and not exists (
         select 1 from turns y where y.tenant_id = t.tenant_id and y.session_key = t.session_key
           and y.started_at > t.started_at) as is_last
     from turns t where tenant_id = $1 and session_key = $2 and ended_at is null
       and (status <> 'queued' or created_at < now() - make_interval(secs => $3))
     order by created_at, id`,
    [tenant, session, waitingSeconds],
  );
  return rows;
}

/** For /metrics: over all tenants, only what is open, so that the count stays cheap. */
export async function countOpenTurns(pool: Pool): Promise<readonly { status: TurnStatus; count: number }[]> {
  const { rows } = await pool.query<{ status: TurnStatus; count: number }>(
    `select status, count(*)::int as count from turns
     where status in ('queued', 'running', 'waiting_approval') group by status`,
  );
  return rows;
}
