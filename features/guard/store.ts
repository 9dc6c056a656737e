/** The rows of guarded calls, and the questions to people about them: one commit each, safe to repeat. */
import { sql } from 'kysely';
import type { AlwaysOffer, ApprovalStatus } from '#domain/approval/approval.ts';
import type { RecordedTerms } from '#domain/approval/approval-terms.ts';
import { appendEventsUpwards, lockSession, openSession } from '#store/turns/session-writes.ts';
import { affects, below, execute, type PageEnd, readRow, readRows } from '#store/postgres/statements.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import { IS_THAWED, refuseFrozen } from '#store/tenant-freeze.ts';
import type { GUARDED_REPLAYS, OUTCOMES } from './resource.ts';

export type Outcome = (typeof OUTCOMES)[number];

/** A call as it is begun. */
export interface NewGuardedCall {
  readonly id: string;
  readonly session_key: string;
  readonly agent_key: string;
  readonly user_id: string | null;
  readonly namespace: string;
  readonly workflow_id: string;
  readonly run_id: string;
  readonly tool: string;
  readonly replay: (typeof GUARDED_REPLAYS)[number];
  readonly args: Readonly<Record<string, unknown>>;
  readonly digest: string;
  readonly summary: string;
  readonly verdict: 'allow' | 'ask' | 'deny';
  readonly reason: string | null;
  readonly created_by: string;
}

/** What people are asked about it. */
export interface GuardQuestion {
  readonly id: string;
  readonly terms: RecordedTerms;
  readonly always: AlwaysOffer;
  /** `always` in words, for the feed. */
  readonly words: string;
  /** Base64 of the arguments, sealed, when people see others. */
  readonly sealed: string | null;
  /** Seconds. */
  readonly expires: number;
}

export interface GuardedCallRow extends NewGuardedCall {
  readonly approval_id: string | null;
  readonly outcome: Outcome | null;
  readonly code: string | null;
  readonly text: string | null;
  readonly created_at: Date;
  readonly created_text: string;
  readonly ended_at: Date | null;
  /** Null when nobody was asked, or when the question was forgotten. */
  readonly question: {
    readonly status: ApprovalStatus;
    readonly by: string | null;
    readonly note: string | null;
    readonly args: Readonly<Record<string, unknown>>;
    readonly sealed: string | null;
    readonly digest: string;
    readonly terms: RecordedTerms;
    readonly always: AlwaysOffer;
    /** Seconds that it waits in all, and its end in milliseconds since 1970. */
    readonly expires: number;
    readonly until: number;
  } | null;
}

const COLUMNS = sql`c.id, c.session_key, c.agent_key, c.user_id, c.namespace, c.workflow_id, c.run_id, c.tool, c.replay, c.args, c.digest,
  c.summary, c.verdict, c.reason, c.approval_id, c.outcome, c.code, c.text, c.created_by, c.created_at, c.created_at::text as created_text, c.ended_at,
  case when a.id is not null then jsonb_build_object('status', a.status, 'by', a.decided_by, 'note', a.note, 'args', a.args,
    'sealed', encode(a.args_sealed, 'base64'), 'digest', a.digest, 'terms', a.terms, 'always', a.always,
    'expires', round(extract(epoch from a.expires_at - a.created_at)), 'until', round(extract(epoch from a.expires_at) * 1000)) end as question`;

const FROM = sql`guarded_calls c left join approvals a on a.tenant_id = c.tenant_id and a.id = c.approval_id`;

export function findGuardedCall(db: TenantDb, id: string): Promise<GuardedCallRow | undefined> {
  return readRow<GuardedCallRow>(
    db,
  )`select ${COLUMNS} from ${FROM} where c.tenant_id = ${db} and c.id = ${id}`;
}

/** The calls that the user may see (null: of all users), newest first. */
export function listGuardedCalls(
  db: TenantDb,
  user: string | null,
  {
    tool,
    agent,
    workflow_id,
    outcome,
  }: Readonly<Partial<Record<'tool' | 'agent' | 'workflow_id' | 'outcome', string | undefined>>>,
  limit: number,
  after: PageEnd | undefined,
): Promise<GuardedCallRow[]> {
  return readRows<GuardedCallRow>(db)`
    select ${COLUMNS} from ${FROM} where c.tenant_id = ${db}
      and (${user}::text is null or c.user_id = ${user}) and (${tool}::text is null or c.tool = ${tool})
      and (${agent}::text is null or c.agent_key = ${agent}) and (${workflow_id}::text is null or c.workflow_id = ${workflow_id})
      and (${outcome}::text is null or coalesce(c.outcome, 'none') = ${outcome})
      ${below('c.created_at', 'c.id', after)} order by c.created_at desc, c.id limit ${limit}`;
}

/** What people have allowed always for the agent and the user. */
export async function findAllowed(
  db: TenantDb,
  agent: string,
  user: string | null,
): Promise<readonly { readonly tool: string; readonly pattern: string }[]> {
  const row = await readRow<{ allowed: { tool: string; pattern: string }[] }>(db)`
    select allowlist_of(${db}, ${agent}, ${user}) as allowed`;
  return row?.allowed ?? [];
}

/**
 * Writes the call and its question in one commit. An existing call stays unchanged; then false. @throws Failure
 * TenantFrozen
 */
export function insertGuardedCall(
  db: TenantDb,
  call: NewGuardedCall,
  question: GuardQuestion | undefined,
): Promise<boolean> {
  const { session_key: session, agent_key: agent, user_id: user, run_id, workflow_id } = call;
  return inTransaction(db, async (tx) => {
    await refuseFrozen(tx);
    await openSession(tx, {
      session,
      agent,
      user,
      channel: undefined,
      chat_id: undefined,
      title: workflow_id,
      giver: null,
      root: null,
    });
    await lockSession(tx, session);
    const isNew = await affects(tx)`
      insert into guarded_calls (tenant_id, id, session_key, agent_key, user_id, namespace, workflow_id, run_id, tool, replay, args,
        digest, summary, verdict, reason, approval_id, created_by)
      values (${tx}, ${call.id}, ${session}, ${agent}, ${user}, ${call.namespace}, ${workflow_id}, ${run_id}, ${call.tool}, ${call.replay},
        ${JSON.stringify(call.args)}, ${call.digest}, ${call.summary}, ${call.verdict}, ${call.reason}, ${question?.id}, ${call.created_by})
      on conflict do nothing`;
    if (!isNew || !question) return isNew;
    const { id, terms, always, words, sealed, expires } = question;
    const turn = call.id;
    await execute(tx)`
      insert into approvals (tenant_id, id, call_id, session_key, turn_id, agent_key, user_id, tool, args, args_sealed, summary, terms, digest,
        reason, always, expires_at)
      values (${tx}, ${id}, ${call.id}, ${session}, ${turn}, ${agent}, ${user}, ${call.tool}, ${JSON.stringify(call.args)},
        decode(${sealed}, 'base64'), ${call.summary}, ${JSON.stringify(terms)}, ${call.digest}, ${call.reason}, ${JSON.stringify(always)},
        date_trunc('milliseconds', now() + make_interval(secs => ${expires})))`;
    const { tool, summary, args, reason } = call;
    const expires_at = new Date(Date.now() + expires * 1000).toISOString();
    const data = {
      approval_id: id,
      call_id: call.id,
      tool,
      summary,
      args,
      reason,
      terms,
      always: words,
      files: [],
      expires_at,
    };
    await appendEventsUpwards(tx, { session, turn }, [{ type: 'approval.requested', data }]);
    return true;
  });
}

/** Records its end once; false when it had one. */
export function endGuardedCall(
  db: TenantDb,
  id: string,
  {
    outcome,
    code,
    text,
  }: { readonly outcome: Outcome; readonly code: string | undefined; readonly text: string | undefined },
): Promise<boolean> {
  return affects(db)`
    update guarded_calls set outcome = ${outcome}, code = ${code}, text = ${text}, ended_at = now()
    where tenant_id = ${db} and id = ${id} and outcome is null`;
}

export interface OldQuestion {
  readonly tenant_id: string;
  readonly call_id: string;
  readonly approval_id: string;
  /** Whether the call has ended; then nobody waits for the decision. */
  readonly is_ended: boolean;
}

/** Of all tenants, for the sweep: pending questions, except of frozen tenants, whose workflows may be parked. */
export function oldQuestions(
  pool: Pool,
  olderThanSeconds: number,
  after: OldQuestion | undefined,
  max: number,
): Promise<OldQuestion[]> {
  return readRows<OldQuestion>(pool)`
    select tenant_id, turn_id as call_id, id as approval_id, exists (select from guarded_calls c
      where c.tenant_id = approvals.tenant_id and c.id = turn_id and c.outcome is not null) as is_ended
    from approvals where status = 'pending' and terms ->> 'guarded' is not null and ${IS_THAWED}
      and created_at < now() - make_interval(secs => ${olderThanSeconds})
      and (tenant_id, turn_id) > (${after?.tenant_id ?? ''}, ${after?.call_id ?? ''})
    order by tenant_id, turn_id limit ${max}`;
}
