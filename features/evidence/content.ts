/**
 * What an entry covers of its row, as one JSON text that Postgres writes. Columns that change after a row is final, and
 * sealed texts, which a rotation of the key changes, are left out. The text of a kind never changes, because the
 * digests of existing entries are of it: another form is another kind.
 */
import { type RawBuilder, sql } from 'kysely';

function time(column: string): RawBuilder<unknown> {
  return sql`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

const CALL = sql`(jsonb_build_object('id', r.id, 'session', r.session_key, 'turn', r.turn_id, 'step', r.step, 'index', r.index,
  'tool', r.tool, 'called_as', r.called_as, 'summary', r.summary, 'args', r.args, 'digest', r.digest,
  'custom_tool', r.custom_tool_id, 'custom_tool_revision', r.custom_tool_revision, 'verdict', r.verdict, 'reason', r.reason,
  'hooks', r.hooks, 'approval', r.approval_id, 'form', r.form_id, 'attempts', r.attempts, 'ok', r.ok, 'code', r.code,
  'result', r.result, 'whole', (select encode(sha256(convert_to(w.text, 'UTF8')), 'hex') from tool_results w
    where w.tenant_id = r.tenant_id and w.id = r.whole_id),
  'images', r.images, 'child', r.child, 'created_at', ${time('r.created_at')}, 'started_at', ${time('r.started_at')},
  'ended_at', ${time('r.ended_at')})
  || case when r.copied_of is null then '{}' else jsonb_build_object('copied_of', r.copied_of) end)`;

const APPROVAL = sql`jsonb_build_object('id', r.id, 'call', r.call_id, 'session', r.session_key, 'turn', r.turn_id,
  'agent', r.agent_key, 'user', r.user_id, 'tool', r.tool, 'args', r.args, 'summary', r.summary, 'digest', r.digest,
  'reason', r.reason, 'risk', r.risk, 'terms', r.terms, 'sandbox', r.sandbox, 'files', r.files, 'form', r.form,
  'status', r.status, 'decision', r.decision, 'by', r.decided_by, 'key', r.decision_key, 'note', r.note,
  'created_at', ${time('r.created_at')}, 'decided_at', ${time('r.decided_at')}, 'expires_at', ${time('r.expires_at')})`;

const DECISION = sql`jsonb_build_object('approval', r.approval_id, 'key', r.key, 'decision', r.decision, 'by', r.by,
  'person', r.person, 'api_key', r.api_key_id, 'groups', r.groups, 'via', r.via, 'digest', r.digest, 'note', r.note,
  'at', ${time('r.at')})`;

const POLICY = sql`jsonb_build_object('id', r.id, 'before', r.before, 'after', r.after, 'by', r.changed_by,
  'at', ${time('r.changed_at')})`;

const REVISION = sql`jsonb_build_object('agent', r.agent_key, 'revision', r.revision, 'config', r.config, 'by', r.created_by,
  'at', ${time('r.created_at')})`;

const ROLLOUT = sql`jsonb_build_object('agent', r.agent_key, 'number', r.number, 'rollout', r.rollout_id, 'action', r.action,
  'base', r.base, 'revision', r.revision, 'share', r.share, 'users', r.users, 'sessions', r.sessions, 'reason', r.reason,
  'by', r.changed_by, 'at', ${time('r.changed_at')})`;

/** The content of the row that `e` (kind, subject, part) names; null when it is not there or not final. */
export function contentOf(tenant: string): RawBuilder<string | null> {
  const own = sql`r.tenant_id = ${tenant}`;
  return sql`case e.kind
    when 'call' then (select ${CALL}::text from tool_calls r where ${own} and r.id = e.subject and r.state = 'done')
    when 'approval' then (select ${APPROVAL}::text from approvals r where ${own} and r.id = e.subject and r.status <> 'pending')
    when 'decision' then (select ${DECISION}::text from approval_decisions r where ${own} and r.approval_id = e.subject and r.key = e.part)
    when 'policy' then (select ${POLICY}::text from policy_changes r where ${own} 
      and r.id = case when e.subject ~ '^\\d{1,18}$' then e.subject::bigint end)
    when 'revision' then (select ${REVISION}::text from agent_revisions r where ${own} and r.agent_key = e.subject
      and r.revision = case when e.part ~ '^\\d{1,9}$' then e.part::int end)
    when 'rollout' then (select ${ROLLOUT}::text from rollout_changes r where ${own} and r.agent_key = e.subject
      and r.number = case when e.part ~ '^\\d{1,9}$' then e.part::int end) end`;
}

/** Final rows of the ledger, as (kind, subject, part). */
export function finalRows(tenant: string): RawBuilder<unknown> {
  return sql`select 'call' as kind, id as subject, '' as part from tool_calls where tenant_id = ${tenant} and state = 'done'
    union all select 'approval', id, '' from approvals where tenant_id = ${tenant} and status <> 'pending'
    union all select 'decision', approval_id, key from approval_decisions where tenant_id = ${tenant}
    union all select 'policy', id::text, '' from policy_changes where tenant_id = ${tenant}
    union all select 'revision', agent_key, revision::text from agent_revisions where tenant_id = ${tenant}
    union all select 'rollout', agent_key, number::text from rollout_changes where tenant_id = ${tenant}`;
}
