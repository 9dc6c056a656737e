/** Finds the place in a session's transcript at which it is forked, or says why it cannot be forked there. */
import { Failure, fieldFailure } from '#domain/errors.ts';
import type { MessageContext, TurnStatus } from '#domain/turn/turn.ts';
import { readRow } from '#store/postgres/statements.ts';
import type { TenantDb, TenantTx } from '#store/postgres/tenant-db.ts';

export interface RequestedPoint {
  readonly session: string;
  /** Absent means the last turn. */
  readonly turn?: string | undefined;
  /** From 1: the first step that is not copied. Absent means the end of the turn. */
  readonly step?: number | undefined;
}

export interface ForkPlace {
  readonly session: string;
  readonly agent: string;
  readonly user: string | null;
  readonly title: string | null;
  /** Rows of the transcript below this position are copied. */
  readonly position: number;
  readonly turn: TurnAt;
  /** Null for the end of the turn. */
  readonly step: number | null;
  /** What was read before this time was read before the fork: seconds since 1970; null means all. */
  readonly before: number | null;
}

export interface TurnAt {
  readonly id: string;
  readonly context: MessageContext;
}

interface SessionAt {
  readonly agent: string;
  readonly user: string | null;
  readonly title: string | null;
  readonly bound: readonly string[];
  readonly last: string | null;
  readonly forgetting: boolean;
}

/** @throws Failure NotFound, Conflict, Unprocessable */
export async function findPlace(db: TenantDb | TenantTx, at: RequestedPoint): Promise<ForkPlace> {
  const { session: key } = at;
  const found = await readRow<SessionAt>(db)`
    select s.agent_key as agent, s.user_id as user, s.title,
      array(select jsonb_object_keys(coalesce(s.bound_context, '{}'))) as bound,
      (select m.turn_id from messages m where m.tenant_id = s.tenant_id and m.session_key = s.key and m.position is not null
        order by m.position desc limit 1) as last,
      exists (select from forgettings f where f.tenant_id = s.tenant_id and f.ended_at is null and s.key = any (f.sessions)) as forgetting
    from sessions s where s.tenant_id = ${db} and s.key = ${key}`;
  if (!found) throw new Failure('NotFound', `There is no session ${key}`);
  refuseSession(key, found);
  const session = { session: key, agent: found.agent, user: found.user, title: found.title };
  const turn = at.turn ?? found.last;
  if (turn === null) throw new Failure('Unprocessable', `The session ${key} has no turn yet`);
  return { ...session, ...(await placeInTurn(db, key, turn, at.step ?? undefined)) };
}

function refuseSession(key: string, { bound, forgetting }: SessionAt): void {
  if (forgetting) throw new Failure('Conflict', `The session ${key} is being forgotten`);
  const other = bound.find((name) => name !== 'fork');
  if (other === 'stand_ins')
    throw new Failure('Unprocessable', `The session ${key} is a replay; fork the session that was recorded`);
  if (other !== undefined)
    throw new Failure(
      'Unprocessable',
      `The session ${key} works for another session or a team, which waits for its result; fork the session that gave the work`,
    );
}

interface TurnRow {
  readonly session: string;
  readonly status: TurnStatus;
  readonly started: boolean;
  readonly ended: boolean;
  readonly context: MessageContext;
  readonly invoked: boolean;
  readonly steps: number;
  /** The first step with a call that has no result. */
  readonly running: number | null;
  readonly answer: string | null;
  readonly answered: number | null;
  readonly last: string | null;
}

async function placeInTurn(
  db: TenantDb | TenantTx,
  session: string,
  id: string,
  step: number | undefined,
): Promise<Pick<ForkPlace, 'position' | 'turn' | 'step' | 'before'>> {
  const row = await readRow<TurnRow>(db)`
    select t.session_key as session, t.status, t.started_at is not null as started, t.ended_at is not null as ended, t.context,
      exists (select from messages m where m.tenant_id = t.tenant_id and m.turn_id = t.id and m.role = 'user' and m.calls is not null) as invoked,
      coalesce((select max(m.step) from messages m where m.tenant_id = t.tenant_id and m.turn_id = t.id and m.role = 'assistant'), 0) as steps,
      (select min(c.step) from tool_calls c where c.tenant_id = t.tenant_id and c.turn_id = t.id and c.state <> 'done') as running,
      (select m.position from messages m where m.tenant_id = t.tenant_id and m.turn_id = t.id and m.role = 'assistant' and m.step = ${step}) as answer,
      (select extract(epoch from m.created_at)::float8 from messages m where m.tenant_id = t.tenant_id and m.turn_id = t.id
        and m.role = 'assistant' and m.step = ${step}) as answered,
      (select max(m.position) from messages m where m.tenant_id = t.tenant_id and m.turn_id = t.id) as last
    from turns t where t.tenant_id = ${db} and t.id = ${id}`;
  if (row?.session !== session)
    throw fieldFailure('NotFound', 'body/turn_id', `there is no turn ${id} in the session ${session}`);
  if (!row.started || row.last === null)
    throw fieldFailure('Unprocessable', 'body/turn_id', `the turn ${id} has not begun, so it has no steps`);
  const turn = { id, context: row.context };
  if (step === undefined) {
    if (!row.ended)
      throw new Failure(
        'Conflict',
        `The turn ${id} has not ended: name one of its steps (turn_id, step), wait for it, or stop it`,
      );
    return { position: Number(row.last) + 1, turn, step: null, before: await endOf(db, id) };
  }
  refuseStep(id, step, row);
  const position = row.answer === null ? Number(row.last) + 1 : Number(row.answer);
  return { position, turn, step, before: row.answered };
}

function refuseStep(id: string, step: number, { status, invoked, steps, running }: TurnRow): void {
  if (invoked)
    throw fieldFailure(
      'Unprocessable',
      'body/step',
      `the turn ${id} is a call over the API, and no model has steps in it`,
    );
  const last = status === 'completed' ? steps : steps + 1;
  if (step > last)
    throw fieldFailure(
      'Unprocessable',
      'body/step',
      `the turn ${id} has the steps 1 to ${last}; there is no step ${step}`,
    );
  if (running !== null && running < step)
    throw fieldFailure(
      'Conflict',
      'body/step',
      `the calls of step ${running} of the turn ${id} have not ended; fork at step ${running} or before, or wait`,
    );
}

async function endOf(db: TenantDb | TenantTx, turn: string): Promise<number | null> {
  const row = await readRow<{ at: number | null }>(db)`
    select extract(epoch from ended_at)::float8 as at from turns where tenant_id = ${db} and id = ${turn}`;
  return row?.at ?? null;
}
