/**
 * The tables as Kysely must know them: made from the schema by `TEST_WRITE=1 npm test -- test/store/tables.test.ts`, and held
 * to it by that test. An object is given as text, since `pg` would make a list one of SQL's own.
 */
import type { ColumnType } from 'kysely';
import type { AgentConfig } from '#domain/agent.ts';
import type { Decision, AlwaysOffer } from '#domain/approval.ts';
import type { ChannelPlace, DirectPost } from '#features/channels/contract.ts';
import type { ChannelSettings } from '#features/channels/schema.ts';
import type { BoundFile } from '#domain/bound-file.ts';
import type { McpForm } from '#domain/form.ts';
import type { SandboxTerms } from '#domain/sandbox.ts';
import type { AskedTerms } from '#domain/approval-terms.ts';
import type { CanvasStep } from '#features/canvas/contract.ts';
import type { MessageContext } from '#domain/turn.ts';
import type { NodeAbout } from '#features/nodes/contract/node.ts';
import type { HeartbeatSettings } from '#features/schedules/contract/heartbeat.ts';
import type { ScheduleRights, Timing } from '#features/schedules/contract/schedule.ts';
import type { BudgetRoot } from '#domain/budget.ts';
import type { LeadNotice, TaskStatus, TaskState } from '#domain/team-task.ts';
import type { HookRun } from '#domain/hook.ts';

type Int8 = ColumnType<string, number | string, number | string>;
type Numeric = Int8;
type Timestamp = ColumnType<Date, Date | string, Date | string>;
type Json<Shape> = ColumnType<Shape, string, string>;
/** Need not be given. */
type Generated<T> =
  T extends ColumnType<infer Read, infer Insert, infer Update>
    ? ColumnType<Read, Insert | undefined, Update>
    : ColumnType<T, T | undefined, T>;

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
    via: 'api' | 'link' | 'temporal';
    digest: string | null;
    note: string | null;
    at: Generated<Timestamp>;
  };
  approval_links: {
    tenant_id: string;
    id: string;
    approval_id: string;
    hash: Buffer;
    user_id: string;
    scopes: string[];
    decision: 'approve' | 'edit' | 'reject' | null;
    created_by: string;
    created_at: Generated<Timestamp>;
    expires_at: Timestamp;
    used_at: Timestamp | null;
    used_key: string | null;
    revoked_at: Timestamp | null;
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
    terms: Generated<Json<AskedTerms>>;
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
  artifacts: {
    tenant_id: string;
    id: string;
    user_id: string | null;
    type: string;
    filename: string | null;
    digest: string;
    size: number;
    width: number | null;
    height: number | null;
    created_at: Generated<Timestamp>;
    brought_at: Generated<Timestamp>;
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
  };
  canvases: {
    tenant_id: string;
    session_key: string;
    version: number;
    steps: Json<readonly CanvasStep[]>;
    last_call: string;
  };
  channel_pairings: {
    tenant_id: string;
    channel_key: string;
    person_id: string;
    name: string;
    code: string;
    created_at: Generated<Timestamp>;
    told_at: Generated<Timestamp>;
  };
  channel_people: {
    tenant_id: string;
    channel_key: string;
    person_id: string;
    name: string;
    user_id: string;
    may_decide: boolean;
    created_by: string;
    created_at: Generated<Timestamp>;
  };
  channel_posts: {
    tenant_id: string;
    delivery_id: string;
    part: number;
    channel_key: string;
    message_id: string;
    place: Json<ChannelPlace>;
    approval_id: string | null;
    digest: string | null;
    created_at: Generated<Timestamp>;
  };
  channels: {
    tenant_id: string;
    key: string;
    webhook_id: string;
    type: 'telegram' | 'slack' | 'discord' | 'web' | 'webhook';
    agent_key: string;
    settings: Json<ChannelSettings>;
    updated_at: Generated<Timestamp>;
  };
  decision_proofs: {
    tenant_id: string;
    approval_id: string;
    key: string;
    by: string;
    user_id: string | null;
    scopes: string[];
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
  handoff_routes: {
    tenant_id: string;
    channel: string;
    chat_id: string;
    from_key: string;
    to_key: string;
    session_key: string;
    reason: string;
    path: Json<unknown>;
    created_by: string;
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
    usage: Json<unknown> | null;
    usd: Numeric | null;
    position: Int8 | null;
    created_at: Generated<Timestamp>;
  };
  model_uses: {
    tenant_id: string;
    id: Generated<string>;
    kind:
      | 'summary'
      | 'failed'
      | 'unused'
      | 'embedding'
      | 'knowledge'
      | 'memory'
      | 'reading'
      | 'media'
      | 'hook'
      | 'sampling'
      | 'direct'
      | 'forgotten';
    session_key: string;
    turn_id: string;
    agent_key: string;
    model: string;
    usage: Json<unknown>;
    usd: Numeric | null;
    created_at: Generated<Timestamp>;
  };
  node_invocations: {
    tenant_id: string;
    id: string;
    node_id: string;
    session_key: string;
    capability: string;
    sealed: string;
    status: Generated<'waiting' | 'sent' | 'done' | 'unsent' | 'unknown'>;
    journal: string | null;
    result: string | null;
    expires_at: Timestamp;
    created_at: Generated<Timestamp>;
    sent_at: Timestamp | null;
    ended_at: Timestamp | null;
  };
  nodes: {
    tenant_id: string;
    id: string;
    name: string;
    allowed: string[] | null;
    code_id: string;
    code_hash: Buffer;
    code_tries: Generated<number>;
    code_expires_at: Timestamp;
    token_hash: Buffer | null;
    sealed: string | null;
    key_id: string | null;
    about: Json<NodeAbout> | null;
    connection: string | null;
    seen_at: Timestamp | null;
    created_by: string;
    created_at: Generated<Timestamp>;
  };
  schedule_runs: {
    tenant_id: string;
    schedule_id: string;
    key: string;
    at: Timestamp;
    forced: boolean;
    state: 'started' | 'skipped' | 'refused' | 'quiet' | 'said' | 'failed' | null;
    reason: string | null;
    session_key: string | null;
    turn_id: string | null;
    attempt: Generated<number>;
    created_at: Generated<Timestamp>;
  };
  schedules: {
    tenant_id: string;
    id: string;
    name: string;
    agent_key: string;
    user_id: string | null;
    message: string;
    timing: Json<Timing>;
    session_key: string | null;
    delete_after_run: boolean;
    enabled: boolean;
    overlap: 'skip' | 'allow';
    catchup_seconds: number;
    rights: Json<ScheduleRights>;
    heartbeat: Json<HeartbeatSettings> | null;
    created_by: string;
    revision: Generated<number>;
    planned: number | null;
    planned_until: Timestamp | null;
    planner: string | null;
    planner_until: Timestamp | null;
    next_at: Timestamp | null;
    created_at: Generated<Timestamp>;
    updated_at: Generated<Timestamp>;
    deleted_at: Timestamp | null;
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
    asked_as: string;
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
    ok: boolean | null;
    code: string | null;
    result: string | null;
    whole_id: string | null;
    images: Json<unknown> | null;
    child: Json<unknown> | null;
    created_at: Generated<Timestamp>;
    started_at: Timestamp | null;
    ended_at: Timestamp | null;
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
    created_at: Generated<Timestamp>;
    started_at: Timestamp | null;
    ended_at: Timestamp | null;
  };
  webhook_deliveries: {
    tenant_id: string;
    id: string;
    webhook_id: string;
    session_key: string;
    event_id: Int8;
    event: string;
    status: Generated<'pending' | 'delivered' | 'failed'>;
    attempts: Generated<number>;
    waits: Generated<number>;
    redelivered: Generated<number>;
    next_at: Generated<Timestamp>;
    claimed_until: Generated<Timestamp>;
    held_back: Generated<boolean>;
    last_status: number | null;
    problem: string | null;
    post: Json<DirectPost> | null;
    created_at: Generated<Timestamp>;
    ended_at: Timestamp | null;
  };
  webhooks: {
    tenant_id: string;
    id: string;
    channel_key: string | null;
    approval_agents: Generated<string[]>;
    url: string;
    events: string[];
    agent_key: string | null;
    session_key: string | null;
    user_id: string | null;
    description: string | null;
    ordered: boolean;
    sealed: string;
    key_id: string;
    enabled: Generated<boolean>;
    disabled_reason: string | null;
    failing_since: Timestamp | null;
    created_by: string;
    created_at: Generated<Timestamp>;
  };
}
