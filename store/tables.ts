/**
 * The tables of the core for Kysely, generated from the schema by
 * `TEST_WRITE=1 npm test -- test/store/tables.test.ts` and checked by that test.
 */
import type { Generated, Int8, Json, Numeric, Timestamp } from '#store/postgres/column-types.ts';
import type { AgentConfig } from '#domain/agent.ts';
import type { Decision, AlwaysOffer } from '#domain/approval/approval.ts';
import type { RecordedTerms } from '#domain/approval/approval-terms.ts';
import type { SandboxTerms } from '#domain/sandbox.ts';
import type { BoundFile } from '#domain/approval/bound-file.ts';
import type { McpForm } from '#domain/form.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import type { BudgetRoot } from '#domain/budget/budget.ts';
import type { TaskStatus, LeadNotice, TaskState } from '#domain/team/team-task.ts';
import type { HookRun } from '#domain/turn/hook.ts';

export interface Tables {
  agents: {
    tenant_id: string;
    key: string;
    revision: number;
    config: Json<AgentConfig>;
    links: Generated<number>;
    created_at: Generated<Timestamp>;
    updated_at: Generated<Timestamp>;
    deleted_at: Timestamp | null;
  };
  approval_decisions: {
    tenant_id: string;
    approval_id: string;
    key: string;
    decision: Decision;
    by: string;
    person: string | null;
    api_key_id: string | null;
    groups: string[] | null;
    via: 'api' | 'link' | 'temporal';
    digest: string | null;
    note: string | null;
    at: Generated<Timestamp>;
  };
  approvals: {
    tenant_id: string;
    id: string;
    call_id: string;
    session_key: string;
    turn_id: string;
    agent_key: string;
    user_id: string | null;
    tool: string;
    args: Json<unknown>;
    summary: string;
    digest: string;
    reason: string | null;
    risk: string | null;
    terms: Generated<Json<RecordedTerms>>;
    escalated_at: Timestamp | null;
    reminders: Generated<number>;
    refused: Generated<number>;
    last_refused: Json<unknown> | null;
    always: Json<AlwaysOffer>;
    sandbox: Json<SandboxTerms> | null;
    files: Generated<Json<readonly BoundFile[]>>;
    form: Json<McpForm> | null;
    args_sealed: Buffer | null;
    status: Generated<'pending' | 'approved' | 'denied' | 'responded' | 'expired' | 'withdrawn'>;
    decision: Decision | null;
    decided_by: string | null;
    decision_key: string | null;
    decided_at: Timestamp | null;
    note: string | null;
    used_at: Timestamp | null;
    created_at: Generated<Timestamp>;
    expires_at: Timestamp;
    changed_at: Generated<Timestamp>;
  };
  budget_accounts: {
    tenant_id: string;
    budget_id: string;
    subject: string;
    since: Timestamp;
    measure: 'tokens' | 'usd' | 'seconds' | 'calls';
    spent: Generated<Numeric>;
    reserved: Generated<Numeric>;
    extra: Generated<Numeric>;
    shard: Generated<number>;
    share: Generated<Numeric>;
    share_of: Generated<Numeric>;
  };
  decision_proofs: {
    tenant_id: string;
    approval_id: string;
    key: string;
    by: string;
    user_id: string | null;
    scopes: string[];
    groups: Generated<string[]>;
    api_key_id: string | null;
    via: string;
    link_id: string | null;
    sealed_args: string | null;
    message: string | null;
    created_at: Generated<Timestamp>;
  };
  decision_tokens: {
    tenant_id: string;
    approval_id: string;
    nonce: string;
    message: string;
  };
  egress_requests: {
    tenant_id: string;
    id: Generated<Int8>;
    purpose: string;
    call_id: string | null;
    method: string;
    host: string;
    status: number | null;
    bytes: Int8;
    milliseconds: number;
    problem: string | null;
    created_at: Generated<Timestamp>;
  };
  exec_allowlist: {
    tenant_id: string;
    id: string;
    agent_key: string;
    user_id: string | null;
    tool: string;
    pattern: string;
    approval_id: string | null;
    created_by: string;
    created_at: Generated<Timestamp>;
    revoked_by: string | null;
    revoked_at: Timestamp | null;
  };
  forgettings: {
    tenant_id: string;
    id: string;
    kind: 'session' | 'user';
    subject: string;
    sessions: Generated<string[]>;
    removed: Generated<Json<unknown>>;
    requested_by: string;
    created_at: Generated<Timestamp>;
    until: Timestamp | null;
    ended_at: Timestamp | null;
  };
  gate_checks: {
    tenant_id: string;
    owner_id: string;
    gate: number;
    attempt: number;
    name: string;
    kind: 'passed' | 'failed' | 'broken';
    step: 'pass' | 'retry' | 'warn' | 'block';
    feedback: string;
    created_at: Generated<Timestamp>;
  };
  messages: {
    tenant_id: string;
    id: string;
    session_key: string;
    turn_id: string | null;
    step: number | null;
    role: 'user' | 'assistant';
    text: string;
    calls: Json<unknown> | null;
    attachments: Json<unknown> | null;
    is_own: Generated<boolean>;
    mode: string | null;
    context: Json<MessageContext> | null;
    hooked: 'allow' | 'deny' | null;
    budget_root: Json<unknown> | null;
    finish: string | null;
    model: string | null;
    attempt: number | null;
    usage: Json<unknown> | null;
    usd: Numeric | null;
    position: Int8 | null;
    created_at: Generated<Timestamp>;
  };
  sessions: {
    tenant_id: string;
    key: string;
    agent_key: string;
    user_id: string | null;
    channel: string | null;
    chat_id: string | null;
    title: string | null;
    bound_context: Json<MessageContext> | null;
    budget_root: Json<BudgetRoot> | null;
    position: Generated<Int8>;
    event_seq: Generated<Int8>;
    summary: string | null;
    summary_position: Generated<Int8>;
    recorded: Generated<Int8>;
    turns: Generated<number>;
    has_unwritten: Generated<boolean>;
    used: Generated<Json<unknown>>;
    created_at: Generated<Timestamp>;
    updated_at: Generated<Timestamp>;
  };
  team_comments: {
    tenant_id: string;
    id: string;
    team_key: string;
    number: number;
    kind: 'note' | 'blocker' | 'result' | 'reason' | 'question' | null;
    author: string;
    text: string;
    revision: number | null;
    created_at: Generated<Timestamp>;
  };
  team_members: {
    tenant_id: string;
    team_key: string;
    agent_key: string;
    added_at: Generated<Timestamp>;
  };
  team_task_blockers: {
    tenant_id: string;
    team_key: string;
    number: number;
    blocker: number;
  };
  team_task_events: {
    tenant_id: string;
    team_key: string;
    number: number;
    revision: number;
    refusal: Generated<number>;
    id: Generated<Int8>;
    action: string;
    actor: string;
    reason: string | null;
    status: TaskStatus;
    owner: string | null;
    run: string | null;
    cause: string | null;
    notices: Json<readonly LeadNotice[]> | null;
    at: Generated<Timestamp>;
  };
  team_task_files: {
    tenant_id: string;
    id: string;
    team_key: string;
    number: number;
    digest: string;
    name: string;
    size: number;
    author: string;
    revision: number | null;
    created_at: Generated<Timestamp>;
  };
  team_tasks: {
    tenant_id: string;
    team_key: string;
    number: number;
    subject: string;
    description: Generated<string>;
    words: Generated<string | null>;
    status:
      | 'pending'
      | 'in_progress'
      | 'in_review'
      | 'blocked'
      | 'completed'
      | 'failed'
      | 'cancelled'
      | 'stale';
    assignee: string | null;
    owner: string | null;
    priority: Generated<number>;
    percent: Generated<number>;
    reason: string | null;
    result: string | null;
    state: Json<TaskState>;
    revision: number;
    origin_session: string | null;
    origin_turn: string | null;
    origin_context: Generated<Json<MessageContext>>;
    announced_by: number | null;
    refused: Generated<number>;
    last_refused: Json<unknown> | null;
    create_key: string;
    created_by: string;
    created_at: Generated<Timestamp>;
    updated_at: Generated<Timestamp>;
    started_at: Timestamp | null;
    closed_at: Timestamp | null;
  };
  teams: {
    tenant_id: string;
    key: string;
    name: string | null;
    description: string | null;
    lead: string;
    settings: Generated<Json<unknown>>;
    task_seq: Generated<number>;
    created_by: string | null;
    created_at: Generated<Timestamp>;
    updated_at: Generated<Timestamp>;
    deleted_at: Timestamp | null;
  };
  tool_calls: {
    tenant_id: string;
    id: string;
    session_key: string;
    turn_id: string;
    step: number;
    index: number;
    tool: string;
    called_as: string;
    summary: string;
    args: Json<unknown>;
    args_sealed: Buffer | null;
    digest: string;
    custom_tool_id: string | null;
    custom_tool_revision: number | null;
    verdict: 'allow' | 'ask' | 'deny';
    reason: string | null;
    hooks: Json<readonly HookRun[]> | null;
    approval_id: string | null;
    outside: Buffer | null;
    form_id: string | null;
    state: Generated<'requested' | 'running' | 'done'>;
    fence: string | null;
    attempts: Generated<number>;
    ok: boolean | null;
    code: string | null;
    result: string | null;
    whole_id: string | null;
    images: Json<unknown> | null;
    child: Json<unknown> | null;
    created_at: Generated<Timestamp>;
    started_at: Timestamp | null;
    ended_at: Timestamp | null;
    copied_of: string | null;
  };
  turns: {
    tenant_id: string;
    id: string;
    session_key: string;
    agent_key: string;
    agent_revision: number | null;
    status: 'queued' | 'running' | 'waiting_approval' | 'completed' | 'failed' | 'stopped';
    steps: Generated<number>;
    text: string | null;
    error: Json<unknown> | null;
    context: Generated<Json<MessageContext>>;
    skills: Generated<Json<unknown>>;
    budget_root: Json<unknown> | null;
    run_id: string | null;
    input_tokens: Generated<Int8>;
    output_tokens: Generated<Int8>;
    cached_tokens: Generated<Int8>;
    cost_usd: Numeric | null;
    unpriced_calls: Generated<number>;
    uses_once: Generated<string[]>;
    created_at: Generated<Timestamp>;
    started_at: Timestamp | null;
    ended_at: Timestamp | null;
    copied_of: string | null;
  };
}
