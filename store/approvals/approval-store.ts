/** Approvals as the API reads them; approval-record.ts decides them. */
import { type RawBuilder, sql } from 'kysely';
import type { ApprovalStatus, DecisionWay } from '#domain/approval/approval.ts';
import { isVoteInForce } from './approval-record.ts';
import { maySee, type Viewer } from './approval-visibility.ts';
import type { Pool } from '../postgres/pool.ts';
import {
  affects,
  below,
  execute,
  type PageEnd,
  readRow,
  readRows,
  type RowOf,
} from '../postgres/statements.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';
import type { Stored } from '#domain/schema/scalars.ts';
import type { recordedDecisionSchema } from '#domain/schema/approval.ts';

/** The delegated work that the call belongs to. */
export interface WaitingWork {
  readonly id: string;
  readonly label: string;
  readonly parent_session: string;
}

export interface ApprovalRow
  extends RowOf<'approvals', 'args' | 'args_sealed' | 'reminders' | 'used_at' | 'changed_at'> {
  readonly args: Record<string, unknown>;
  /** That its turn runs with; null for a call of no turn. */
  readonly agent_revision: number | null;
  /** Secrets are masked in `args`: a person who edits them must enter them again. */
  readonly is_masked: boolean;
  /** The subagent or the other agent whose turn has the call. */
  readonly subagent: WaitingWork | null;
  readonly delegation: WaitingWork | null;
  /** The people who agreed to the present form of the call, when the terms have a quorum. */
  readonly agreed: readonly string[];
  readonly created_text: string;
  /** Whether the approval has expired, by the database's clock. */
  readonly is_over: boolean;
}

const COLUMNS = sql`id, call_id, session_key, turn_id, agent_key, user_id, tool, args, summary, digest, reason, risk, status,
  decision, decided_by, decision_key, decided_at, note, terms, always, sandbox, files, form, escalated_at, refused, last_refused - 'key' as last_refused, created_at, created_at::text as created_text,
  expires_at, expires_at <= now() as is_over,
  (select t.agent_revision from turns t where t.tenant_id = approvals.tenant_id and t.id = approvals.turn_id) as agent_revision,
  (args_sealed is not null or exists(select from tool_calls c where c.tenant_id = approvals.tenant_id and c.id = approvals.call_id
     and c.args_sealed is not null)) as is_masked,
  (select jsonb_build_object('id', s.id, 'label', s.label, 'parent_session', s.origin_session) from assignments s
     where s.kind = 'subagent' and s.tenant_id = approvals.tenant_id and s.session_key = approvals.session_key) as subagent,
  (select jsonb_build_object('id', d ->> 'id', 'label', d ->> 'label', 'parent_session', d ->> 'session')
     from (select s.bound_context -> 'delegation' as d from sessions s
       where s.tenant_id = approvals.tenant_id and s.key = approvals.session_key) x where d is not null) as delegation,
  case when (terms ->> 'quorum')::int > 1 then
    array(select by from (select distinct on (person) by, at from approval_decisions v where v.tenant_id = approvals.tenant_id
      and v.approval_id = approvals.id and v.digest = approvals.digest and person is not null and ${isVoteInForce('v')} order by person, at) people order by at, by)
    else '{}' end as agreed`;

export function findApproval(db: TenantDb, id: string): Promise<ApprovalRow | undefined> {
  return readRow<ApprovalRow>(db)`
    select ${COLUMNS} from approvals where tenant_id = ${db} and id = ${id}`;
}

/** Like `findApproval`, but also undefined for viewers whom it does not concern. */
export function findVisibleApproval(
  db: TenantDb,
  viewer: Viewer,
  id: string,
): Promise<ApprovalRow | undefined> {
  return readRow<ApprovalRow>(db)`
    select ${COLUMNS} from approvals where tenant_id = ${db} and id = ${id}
       and (${maySee(viewer)}) is not null`;
}

export interface ApprovalFilter {
  readonly status?: ApprovalStatus | undefined;
  readonly session?: string | undefined;
  readonly turn?: string | undefined;
  /** Only those that the feed of a session has as of this turn: its own, and those of all work below it. */
  readonly requestedOn?: { readonly session: string; readonly turn: string } | undefined;
  readonly agent?: string | undefined;
  readonly tool?: string | undefined;
  readonly user?: string | undefined;
  /** A user who may decide it. */
  readonly assignee?: string | undefined;
  /** ISO 8601. */
  readonly requestedAfter?: string | undefined;
  readonly requestedBefore?: string | undefined;
  /** Only approvals that the viewer may decide. */
  readonly mine?: boolean | undefined;
}

function conditions(tenant: string, viewer: Viewer, filter: ApprovalFilter): RawBuilder<unknown> {
  const {
    status,
    session,
    turn,
    requestedOn,
    agent,
    tool,
    user,
    assignee = null,
    requestedAfter,
    requestedBefore,
  } = filter;
  return sql`tenant_id = ${tenant} and (${maySee(viewer)}) ${filter.mine ? sql`= 'decide'` : sql`is not null`}
    and (${status}::text is null or status = ${status}) and (${turn}::text is null or turn_id = ${turn})
    and (${session}::text is null or session_key = ${session} or session_key in (select s.session_key from assignments s
      where s.tenant_id = ${tenant} and s.origin_session = ${session}) or session_key in (select s.key from sessions s
      where s.tenant_id = ${tenant} and s.bound_context #>> '{delegation,session}' = ${session}))
    ${
      requestedOn
        ? sql`and id in (select e.data ->> 'approval_id' from events e where e.tenant_id = ${tenant}
      and e.session_key = ${requestedOn.session} and e.turn_id = ${requestedOn.turn} and e.type = 'approval.requested')`
        : sql``
    }
    and (${agent}::text is null or agent_key = ${agent}) and (${tool}::text is null or tool = ${tool})
    and (${user}::text is null or user_id = ${user})
    and (${assignee}::text is null or (${maySee({ user: assignee, scopes: new Set(['approve']) })}) = 'decide')
    and (${requestedAfter}::timestamptz is null or created_at > ${requestedAfter})
    and (${requestedBefore}::timestamptz is null or created_at < ${requestedBefore})`;
}

/** The approvals that the viewer may see, newest first. */
export function listApprovals(
  db: TenantDb,
  viewer: Viewer,
  filter: ApprovalFilter,
  limit: number,
  after: PageEnd | undefined,
): Promise<ApprovalRow[]> {
  return readRows<ApprovalRow>(db)`
    select ${COLUMNS} from approvals where ${conditions(db.tenant, viewer, filter)} ${below('created_at', 'id', after)}
    order by approvals.created_at desc, id limit ${limit}`;
}

/** Microseconds that may pass between a change's timestamp and its commit without readers missing it. */
const COMMIT_LAG = 10_000_000;

export interface ChangedApproval extends ApprovalRow {
  /** Microseconds since 1970. */
  readonly changed: number;
}

/**
 * Position of a reader of changes: everything before `since` was read, and of the current page everything up to `page`.
 */
export interface ChangesRead {
  readonly since: number;
  readonly page?: readonly [changed: number, id: string];
}

/** The database's clock, in microseconds since 1970. */
export async function readChangeClock(pool: Pool): Promise<number> {
  const row = await readRow<{ now: string }>(pool)`
    select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now`;
  return Number(row?.now);
}

/**
 * Another text whenever an approval of the tenant has changed, and sometimes without a change. It looks at the last
 * minutes alone: longer than a change takes to be committed.
 */
export async function approvalsVersion(db: TenantDb): Promise<string> {
  const row = await readRow<{ version: string }>(db)`
    select concat_ws(' ', count(*), max(changed_at)) as version from approvals
    where tenant_id = ${db} and changed_at > date_trunc('minute', now()) - interval '1 minute'`;
  return row?.version ?? '';
}

/**
 * Approvals that the viewer may see and that have changed, oldest change first. Some that were read before are
 * repeated.
 */
export async function listChangedApprovals(
  db: TenantDb,
  viewer: Viewer,
  { since, page }: ChangesRead,
  filter: ApprovalFilter,
  limit: number,
): Promise<ChangedApproval[]> {
  const rows = await readRows<ApprovalRow & { readonly changed: string }>(db)`
    select ${COLUMNS}, (extract(epoch from changed_at) * 1000000)::bigint as changed
    from approvals where ${conditions(db.tenant, viewer, filter)} and changed_at > ${microseconds(since - COMMIT_LAG)}
      ${page ? sql`and (changed_at, id) > (${microseconds(page[0])}, ${page[1]})` : sql``}
    order by approvals.changed_at, id limit ${limit}`;
  return rows.map((row) => ({ ...row, changed: Number(row.changed) }));
}

function microseconds(moment: number): RawBuilder<unknown> {
  return sql`('epoch'::timestamptz + ${Math.max(0, moment)}::bigint * interval '1 microsecond')`;
}

export type DecisionRow = Stored<typeof recordedDecisionSchema>;

/** Every decision that was recorded, oldest first. */
export function listDecisions(db: TenantDb, approvalId: string): Promise<DecisionRow[]> {
  return readRows<DecisionRow>(db)`
    select d.decision, d.by, d.via, d.note, d.at, d.digest is not distinct from a.digest and ${isVoteInForce('d')} as counts,
       d.api_key_id is not null or d.person is not null as proven,
       (select k.name from api_keys k where k.tenant_id = d.tenant_id and k.id = d.api_key_id) as key_name
     from approval_decisions d join approvals a on a.tenant_id = d.tenant_id and a.id = d.approval_id
     where d.tenant_id = ${db} and d.approval_id = ${approvalId} order by d.at, d.key limit 100`;
}

/** Whether the decision with this key was recorded. */
export function hasDecision(db: TenantDb, approvalId: string, key: string): Promise<boolean> {
  return affects(db)`
    select 1 from approval_decisions where tenant_id = ${db} and approval_id = ${approvalId} and key = ${key}`;
}

/**
 * Proves to the approval's workflow who sends the decision with this key. Nothing is written when it is settled. The
 * row is locked, so this waits for a concurrent settlement, and a later one deletes this proof with the others.
 */
export async function insertDecisionProof(
  db: TenantDb,
  approvalId: string,
  key: string,
  sender: {
    readonly by: string;
    readonly user: string | null;
    readonly scopes: readonly string[];
    readonly groups?: readonly string[];
    readonly keyId: string | null;
    readonly via: DecisionWay;
    readonly linkId?: string;
    /** Arguments of an edit, sealed at `decisionPlace`, when the decision itself hides some of them. */
    readonly sealedArgs?: string | undefined;
  },
): Promise<void> {
  await execute(db)`
    insert into decision_proofs (tenant_id, approval_id, key, by, user_id, scopes, groups, api_key_id, via, link_id,
      sealed_args)
     select tenant_id, id, ${key}, ${sender.by}, ${sender.user}, ${sender.scopes}, ${sender.groups ?? []}::text[], ${sender.keyId}, ${sender.via},
       ${sender.linkId}, ${sender.sealedArgs} from approvals
     where tenant_id = ${db} and id = ${approvalId} and status = 'pending'
     for share
     on conflict do nothing`;
}

/** The place that the arguments of a decision are sealed for. */
export function decisionPlace(tenant: string, approvalId: string): string {
  return `${tenant}/decisions/${approvalId}`;
}
