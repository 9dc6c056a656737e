/** Made by scripts/generate-console-types.ts from the OpenAPI document: the operations that the console uses. */
export interface Operations {
  'GET /v1/agents': {
    params: {  };
    query: { limit?: number; after?: string; cursor?: string; };
    body: undefined;
    answer: { readonly data: readonly ({ readonly key: string; readonly name?: string; readonly type: "open" | "predefined"; readonly model: string | readonly (string)[]; readonly thinking?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max"; readonly instructions?: string; readonly tools?: { readonly profile?: string; readonly allow?: readonly (string)[]; readonly deny?: readonly (string)[]; readonly also_allow?: readonly (string)[]; readonly disabled?: readonly (string)[]; readonly by_provider?: Readonly<Record<string, { readonly profile?: string; readonly allow?: readonly (string)[]; }>>; readonly rules?: readonly ({ readonly tool: string; readonly args?: Readonly<Record<string, string>>; readonly only_args?: readonly (string)[]; readonly agent?: string; readonly user?: string; readonly channel?: string; readonly after?: readonly (string)[]; readonly address?: "new"; readonly approvers?: { readonly users?: readonly (string)[]; readonly scopes?: readonly ("read" | "run" | "approve" | "metrics" | "admin")[]; }; readonly quorum?: number; readonly exclude_requester?: boolean; readonly expires_seconds?: number; readonly on_expiry?: "deny"; readonly escalate?: { readonly after_seconds: number; readonly to: { readonly users?: readonly (string)[]; readonly scopes?: readonly ("read" | "run" | "approve" | "metrics" | "admin")[]; }; }; readonly remind_seconds?: number; readonly reason?: string; readonly decision: "allow" | "ask" | "deny"; })[]; readonly ask?: readonly ({ readonly tool: string; readonly args?: Readonly<Record<string, string>>; readonly only_args?: readonly (string)[]; readonly agent?: string; readonly user?: string; readonly channel?: string; readonly after?: readonly (string)[]; readonly address?: "new"; readonly approvers?: { readonly users?: readonly (string)[]; readonly scopes?: readonly ("read" | "run" | "approve" | "metrics" | "admin")[]; }; readonly quorum?: number; readonly exclude_requester?: boolean; readonly expires_seconds?: number; readonly on_expiry?: "deny"; readonly escalate?: { readonly after_seconds: number; readonly to: { readonly users?: readonly (string)[]; readonly scopes?: readonly ("read" | "run" | "approve" | "metrics" | "admin")[]; }; }; readonly remind_seconds?: number; readonly reason?: string; })[]; }; readonly tool_names?: "canonical" | "goclaw" | "clawft"; readonly exec?: { readonly security?: "deny" | "allowlist" | "full"; readonly ask?: "off" | "on-miss" | "always"; readonly allowlist?: readonly (string)[]; readonly categories?: Readonly<Record<string, boolean>>; readonly categories_off?: readonly ("destructive_ops" | "destructive_files" | "disk_destruction" | "system_control" | "fork_bomb" | "destructive_sql" | "data_exfiltration" | "remote_code" | "upload" | "dns_query" | "sends_files" | "local_address" | "reverse_shell" | "code_injection" | "privilege_escalation" | "dangerous_paths" | "env_injection" | "container_escape" | "crypto_mining" | "filter_bypass" | "network_recon" | "package_install" | "persistence" | "process_control" | "env_dump" | "credential_access")[]; readonly timeout_seconds?: number; }; readonly egress?: { readonly policy?: "allow_all" | "allowlist"; readonly allowed_domains?: readonly (string)[]; readonly blocked_domains?: readonly (string)[]; }; readonly sandbox?: "off" | "preferred" | "required" | { readonly mode?: "off" | "preferred" | "required"; readonly image?: string; readonly scope?: "session" | "agent" | "shared"; readonly network?: boolean; readonly workspace?: "rw" | "ro" | "none"; readonly memory?: string; readonly cpus?: number; readonly pids?: number; readonly runtime?: "runsc"; }; readonly limits?: { readonly iterations?: number; readonly output_tokens?: number; }; readonly budgets?: readonly ({ readonly scope: "turn" | "session" | "agent"; readonly tokens?: number; readonly usd?: number; readonly seconds?: number; readonly calls?: number; readonly period?: "total" | "day" | "month"; readonly on_limit?: "ask" | "stop"; readonly reserve?: { readonly tokens?: number; readonly usd?: number; readonly seconds?: number; }; })[]; readonly workspace?: string | { readonly scope: "user" | "session" | "team" | "shared"; readonly name?: string; readonly from?: string; }; readonly description?: string; readonly frontmatter?: string; readonly max_delegation_load?: number; readonly quality_gates?: readonly ({ readonly event: "delegation.completed" | "task.completed" | "turn.completed"; readonly type: "command" | "agent"; readonly command?: string; readonly agent?: string; readonly criteria?: string; readonly block_on_failure?: boolean; readonly max_retries?: number; readonly timeout_seconds?: number; })[]; readonly hooks?: readonly ({ readonly event: "session_start" | "user_prompt_submit" | "pre_tool_use" | "subagent_start"; readonly name?: string; readonly tools?: readonly (string)[]; readonly type: "command" | "http" | "prompt"; readonly command?: string; readonly url?: string; readonly headers?: Readonly<Record<string, string>>; readonly prompt?: string; readonly model?: string; readonly timeout_seconds?: number; })[]; readonly memory?: { readonly at_compaction?: boolean; readonly conversations?: boolean; readonly model?: string | readonly (string)[]; }; readonly knowledge?: { readonly model: string | readonly (string)[]; }; readonly visible?: boolean; readonly warnings?: readonly (string)[]; readonly revision: number; readonly created_at: string; readonly updated_at: string; })[]; readonly has_more: boolean; readonly next_cursor: string | null; };
  };
  'GET /v1/approvals': {
    params: {  };
    query: { limit?: number; after?: string; cursor?: string; status?: "pending" | "approved" | "denied" | "responded" | "expired" | "withdrawn"; session_key?: string; turn_id?: string; agent?: string; tool?: string; user?: string; assignee?: string; requested_after?: string; requested_before?: string; mine?: "true" | "false"; };
    body: undefined;
    answer: { readonly data: readonly ({ readonly id: string; readonly workflow_id: string; readonly status: "pending" | "approved" | "denied" | "responded" | "expired" | "withdrawn"; readonly tool: string; readonly args: Readonly<Record<string, unknown>>; readonly is_masked: boolean; readonly summary: string; readonly reason: string | null; readonly risk: string | null; readonly call_id: string; readonly turn_id: string; readonly session_key: string; readonly subagent: { readonly id: string; readonly label: string; readonly parent_session: string; } | null; readonly delegation: { readonly id: string; readonly label: string; readonly parent_session: string; } | null; readonly agent: string; readonly user: string | null; readonly digest: string; readonly decision: "approve" | "approve_always" | "edit" | "reject" | "respond" | null; readonly decided_by: string | null; readonly decided_at: string | null; readonly note: string | null; readonly terms: { readonly approvers?: { readonly users?: readonly (string)[]; readonly scopes?: readonly ("read" | "run" | "approve" | "metrics" | "admin")[]; }; readonly quorum?: number; readonly exclude_requester?: boolean; readonly expires_seconds?: number; readonly on_expiry?: "deny"; readonly escalate?: { readonly after_seconds: number; readonly to: { readonly users?: readonly (string)[]; readonly scopes?: readonly ("read" | "run" | "approve" | "metrics" | "admin")[]; }; }; readonly remind_seconds?: number; readonly decision_token?: true; }; readonly always: { readonly allows: string | null; readonly program: string | null; readonly file: string | null; readonly args: readonly (string)[] | null; readonly refused: string | null; }; readonly sandbox: Readonly<Record<string, unknown>> | null; readonly files: readonly ({ readonly path: string; readonly sha256: string | null; readonly bytes: number | null; readonly missing: boolean; readonly unbound: string | null; })[]; readonly form: { readonly server: string; readonly message: string; readonly url?: string; readonly prompt?: { readonly system: string; readonly messages: readonly ({ readonly role: "user" | "assistant"; readonly text: string; })[]; readonly max_tokens: number; }; readonly fields: readonly ({ readonly name: string; readonly title: string; readonly description?: string; readonly type: "string" | "number" | "integer" | "boolean" | "choices"; readonly required: boolean; readonly format?: "email" | "uri" | "date" | "date-time"; readonly min?: number; readonly max?: number; readonly options?: readonly ({ readonly value: string; readonly title: string; })[]; readonly default?: string | number | boolean | readonly (string)[]; })[]; } | null; readonly runs: "container" | "bubblewrap" | "walled_host" | "host" | null; readonly approved_by: readonly (string)[]; readonly tally: string | null; readonly escalated_at: string | null; readonly refused: number; readonly last_refused: { readonly what: string; readonly by: string; readonly problem: string; readonly at: string; } | null; readonly created_at: string; readonly expires_at: string; readonly links: { readonly temporal: string | null; }; })[]; readonly has_more: boolean; readonly next_cursor: string | null; };
  };
  'GET /v1/approvals/events': {
    params: {  };
    query: { after?: number; session_key?: string; agent?: string; tool?: string; user?: string; mine?: "true" | "false"; };
    body: undefined;
    answer: { readonly id: string; readonly workflow_id: string; readonly status: "pending" | "approved" | "denied" | "responded" | "expired" | "withdrawn"; readonly tool: string; readonly args: Readonly<Record<string, unknown>>; readonly is_masked: boolean; readonly summary: string; readonly reason: string | null; readonly risk: string | null; readonly call_id: string; readonly turn_id: string; readonly session_key: string; readonly subagent: { readonly id: string; readonly label: string; readonly parent_session: string; } | null; readonly delegation: { readonly id: string; readonly label: string; readonly parent_session: string; } | null; readonly agent: string; readonly user: string | null; readonly digest: string; readonly decision: "approve" | "approve_always" | "edit" | "reject" | "respond" | null; readonly decided_by: string | null; readonly decided_at: string | null; readonly note: string | null; readonly terms: { readonly approvers?: { readonly users?: readonly (string)[]; readonly scopes?: readonly ("read" | "run" | "approve" | "metrics" | "admin")[]; }; readonly quorum?: number; readonly exclude_requester?: boolean; readonly expires_seconds?: number; readonly on_expiry?: "deny"; readonly escalate?: { readonly after_seconds: number; readonly to: { readonly users?: readonly (string)[]; readonly scopes?: readonly ("read" | "run" | "approve" | "metrics" | "admin")[]; }; }; readonly remind_seconds?: number; readonly decision_token?: true; }; readonly always: { readonly allows: string | null; readonly program: string | null; readonly file: string | null; readonly args: readonly (string)[] | null; readonly refused: string | null; }; readonly sandbox: Readonly<Record<string, unknown>> | null; readonly files: readonly ({ readonly path: string; readonly sha256: string | null; readonly bytes: number | null; readonly missing: boolean; readonly unbound: string | null; })[]; readonly form: { readonly server: string; readonly message: string; readonly url?: string; readonly prompt?: { readonly system: string; readonly messages: readonly ({ readonly role: "user" | "assistant"; readonly text: string; })[]; readonly max_tokens: number; }; readonly fields: readonly ({ readonly name: string; readonly title: string; readonly description?: string; readonly type: "string" | "number" | "integer" | "boolean" | "choices"; readonly required: boolean; readonly format?: "email" | "uri" | "date" | "date-time"; readonly min?: number; readonly max?: number; readonly options?: readonly ({ readonly value: string; readonly title: string; })[]; readonly default?: string | number | boolean | readonly (string)[]; })[]; } | null; readonly runs: "container" | "bubblewrap" | "walled_host" | "host" | null; readonly approved_by: readonly (string)[]; readonly tally: string | null; readonly escalated_at: string | null; readonly refused: number; readonly last_refused: { readonly what: string; readonly by: string; readonly problem: string; readonly at: string; } | null; readonly created_at: string; readonly expires_at: string; readonly links: { readonly temporal: string | null; }; };
  };
  'GET /v1/approvals/{id}': {
    params: { id: string; };
    query: {  };
    body: undefined;
    answer: { readonly id: string; readonly workflow_id: string; readonly status: "pending" | "approved" | "denied" | "responded" | "expired" | "withdrawn"; readonly tool: string; readonly args: Readonly<Record<string, unknown>>; readonly is_masked: boolean; readonly summary: string; readonly reason: string | null; readonly risk: string | null; readonly call_id: string; readonly turn_id: string; readonly session_key: string; readonly subagent: { readonly id: string; readonly label: string; readonly parent_session: string; } | null; readonly delegation: { readonly id: string; readonly label: string; readonly parent_session: string; } | null; readonly agent: string; readonly user: string | null; readonly digest: string; readonly decision: "approve" | "approve_always" | "edit" | "reject" | "respond" | null; readonly decided_by: string | null; readonly decided_at: string | null; readonly note: string | null; readonly terms: { readonly approvers?: { readonly users?: readonly (string)[]; readonly scopes?: readonly ("read" | "run" | "approve" | "metrics" | "admin")[]; }; readonly quorum?: number; readonly exclude_requester?: boolean; readonly expires_seconds?: number; readonly on_expiry?: "deny"; readonly escalate?: { readonly after_seconds: number; readonly to: { readonly users?: readonly (string)[]; readonly scopes?: readonly ("read" | "run" | "approve" | "metrics" | "admin")[]; }; }; readonly remind_seconds?: number; readonly decision_token?: true; }; readonly always: { readonly allows: string | null; readonly program: string | null; readonly file: string | null; readonly args: readonly (string)[] | null; readonly refused: string | null; }; readonly sandbox: Readonly<Record<string, unknown>> | null; readonly files: readonly ({ readonly path: string; readonly sha256: string | null; readonly bytes: number | null; readonly missing: boolean; readonly unbound: string | null; })[]; readonly form: { readonly server: string; readonly message: string; readonly url?: string; readonly prompt?: { readonly system: string; readonly messages: readonly ({ readonly role: "user" | "assistant"; readonly text: string; })[]; readonly max_tokens: number; }; readonly fields: readonly ({ readonly name: string; readonly title: string; readonly description?: string; readonly type: "string" | "number" | "integer" | "boolean" | "choices"; readonly required: boolean; readonly format?: "email" | "uri" | "date" | "date-time"; readonly min?: number; readonly max?: number; readonly options?: readonly ({ readonly value: string; readonly title: string; })[]; readonly default?: string | number | boolean | readonly (string)[]; })[]; } | null; readonly runs: "container" | "bubblewrap" | "walled_host" | "host" | null; readonly approved_by: readonly (string)[]; readonly tally: string | null; readonly escalated_at: string | null; readonly refused: number; readonly last_refused: { readonly what: string; readonly by: string; readonly problem: string; readonly at: string; } | null; readonly created_at: string; readonly expires_at: string; readonly links: { readonly temporal: string | null; }; readonly decisions: readonly ({ readonly decision: "approve" | "approve_always" | "edit" | "reject" | "respond"; readonly by: string; readonly via: "api" | "link" | "temporal"; readonly note: string | null; readonly at: string; readonly counts: boolean; readonly proven: boolean; })[]; };
  };
  'GET /v1/budgets/use': {
    params: {  };
    query: {  };
    body: undefined;
    answer: { readonly data: readonly ({ readonly subject: string; readonly since: string; readonly measure: "tokens" | "usd" | "seconds" | "calls"; readonly spent: number; readonly reserved: number; readonly extra: number; readonly budget: string; readonly scope: "turn" | "session" | "agent" | "team" | "tenant"; readonly limit: number; readonly on_limit: "ask" | "stop"; readonly renews_at: string | null; })[]; };
  };
  'GET /v1/egress': {
    params: {  };
    query: { limit?: number; after?: string; cursor?: string; call_id?: string; host?: string; purpose?: string; };
    body: undefined;
    answer: { readonly data: readonly ({ readonly id: string; readonly purpose: string; readonly call_id: string | null; readonly method: string; readonly host: string; readonly status: number | null; readonly bytes: number; readonly milliseconds: number; readonly problem: string | null; readonly created_at: string; })[]; readonly has_more: boolean; readonly next_cursor: string | null; };
  };
  'GET /v1/me': {
    params: {  };
    query: {  };
    body: undefined;
    answer: { readonly tenant: string; readonly key: { readonly id: string; readonly name: string; }; readonly user: string | null; readonly scopes: readonly ("read" | "run" | "approve" | "metrics" | "admin")[]; readonly version: string; readonly temporal_ui: string | null; };
  };
  'GET /v1/policy/proposals': {
    params: {  };
    query: {  };
    body: undefined;
    answer: { readonly data: readonly ({ readonly id: string; readonly agent: string; readonly tool: string; readonly adds: { readonly allowlist: string; } | { readonly rule: { readonly tool: string; readonly decision: "allow"; readonly args: Readonly<Record<string, string>>; readonly only_args: readonly (string)[]; readonly agent?: string; }; }; readonly place: "agent" | "tenant" | "settings"; readonly approvals: number; readonly examples: readonly (string)[]; readonly backtest: { readonly since: string; readonly calls: number; readonly truncated: boolean; readonly before: { readonly allow: number; readonly ask: number; readonly deny: number; }; readonly after: { readonly allow: number; readonly ask: number; readonly deny: number; }; readonly differ: number; readonly unreadable: number; } | null; })[]; };
  };
  'GET /v1/sessions': {
    params: {  };
    query: { limit?: number; after?: string; cursor?: string; agent?: string; user?: string; channel?: string; };
    body: undefined;
    answer: { readonly data: readonly ({ readonly key: string; readonly agent: string; readonly user: string | null; readonly channel: string | null; readonly chat_id: string | null; readonly title: string | null; readonly status: "idle" | "queued" | "running" | "waiting_approval"; readonly turn_id: string | null; readonly turns: number; readonly last_event_id: number; readonly workflow_id: string; readonly links: { readonly temporal: string | null; }; readonly created_at: string; readonly updated_at: string; })[]; readonly has_more: boolean; readonly next_cursor: string | null; };
  };
  'GET /v1/sessions/{key}': {
    params: { key: string; };
    query: {  };
    body: undefined;
    answer: { readonly key: string; readonly agent: string; readonly user: string | null; readonly channel: string | null; readonly chat_id: string | null; readonly title: string | null; readonly status: "idle" | "queued" | "running" | "waiting_approval"; readonly turn_id: string | null; readonly turns: number; readonly last_event_id: number; readonly workflow_id: string; readonly links: { readonly temporal: string | null; }; readonly created_at: string; readonly updated_at: string; };
  };
  'GET /v1/sessions/{key}/canvas': {
    params: { key: string; };
    query: {  };
    body: undefined;
    answer: { readonly version: number; readonly steps: readonly ({ readonly do: "show"; readonly html: string; } | { readonly do: "update"; readonly selector: string; readonly html: string; } | { readonly do: "eval"; readonly script: string; })[]; };
  };
  'GET /v1/sessions/{key}/events': {
    params: { key: string; };
    query: { after?: number; };
    body: undefined;
    answer: { readonly id: number; readonly type: "turn.queued" | "turn.started" | "turn.completed" | "turn.failed" | "turn.stopped" | "message.received" | "message.delta" | "message.reset" | "message.completed" | "hook.decided" | "tool.started" | "tool.output" | "tool.completed" | "approval.requested" | "approval.voted" | "approval.escalated" | "approval.reminded" | "approval.refused" | "approval.decided" | "subagent.started" | "subagent.completed" | "delegation.started" | "delegation.completed" | "gate.checked" | "evaluation.started" | "evaluation.completed" | "handoff" | "canvas.changed" | "context.compacted" | "memory.recorded"; readonly session_key: string; readonly turn_id?: string; readonly at: string; readonly data: Readonly<Record<string, unknown>>; };
  };
  'GET /v1/sessions/{key}/messages': {
    params: { key: string; };
    query: { limit?: number; after?: string; cursor?: string; order?: "asc" | "desc"; };
    body: undefined;
    answer: { readonly data: readonly ({ readonly id: string; readonly role: "user" | "assistant"; readonly text: string; readonly turn_id: string | null; readonly step: number | null; readonly position: number; readonly calls: readonly ({ readonly id?: string; readonly tool: string; readonly args: Readonly<Record<string, unknown>>; })[] | null; readonly model: string | null; readonly created_at: string; })[]; readonly has_more: boolean; readonly next_cursor: string | null; };
  };
  'GET /v1/sessions/{key}/tree': {
    params: { key: string; };
    query: {  };
    body: undefined;
    answer: { readonly data: readonly ({ readonly kind: "subagent" | "delegation" | "evaluation" | "gate" | "round" | "task"; readonly id: string; readonly label: string; readonly agent: string | null; readonly status: string; readonly session_key: string | null; readonly turn_id: string | null; readonly created_at: string; readonly started_at: string | null; readonly ended_at: string | null; readonly parent: string; readonly depth: number; readonly steps: number; readonly tokens: number; readonly cost_usd: number | null; })[]; readonly truncated: boolean; };
  };
  'GET /v1/teams': {
    params: {  };
    query: { limit?: number; after?: string; cursor?: string; };
    body: undefined;
    answer: { readonly data: readonly ({ readonly key: string; readonly name: string | null; readonly description: string | null; readonly lead: string; readonly members: readonly (string)[]; readonly settings: Readonly<Record<string, unknown>>; readonly created_at: string; readonly updated_at: string; })[]; readonly has_more: boolean; readonly next_cursor: string | null; };
  };
  'GET /v1/teams/{team}': {
    params: { team: string; };
    query: {  };
    body: undefined;
    answer: { readonly key: string; readonly name: string | null; readonly description: string | null; readonly lead: string; readonly members: readonly (string)[]; readonly settings: Readonly<Record<string, unknown>>; readonly created_at: string; readonly updated_at: string; };
  };
  'GET /v1/teams/{team}/events': {
    params: { team: string; };
    query: { limit?: number; after?: string; cursor?: string; task?: number; };
    body: undefined;
    answer: { readonly data: readonly ({ readonly id: number; readonly task_id: string; readonly number: number; readonly revision: number; readonly action: string; readonly actor: string; readonly reason: string | null; readonly status: "pending" | "in_progress" | "in_review" | "blocked" | "completed" | "failed" | "cancelled" | "stale"; readonly owner: string | null; readonly at: string; })[]; readonly has_more: boolean; readonly next_cursor: string | null; };
  };
  'GET /v1/teams/{team}/tasks': {
    params: { team: string; };
    query: { limit?: number; after?: string; cursor?: string; status?: "active" | "all" | "pending" | "in_progress" | "in_review" | "blocked" | "completed" | "failed" | "cancelled" | "stale"; owner?: string; priority?: number; q?: string; };
    body: undefined;
    answer: { readonly data: readonly ({ readonly id: string; readonly number: number; readonly team: string; readonly workflow_id: string; readonly subject: string; readonly description: string; readonly status: "pending" | "in_progress" | "in_review" | "blocked" | "completed" | "failed" | "cancelled" | "stale"; readonly assignee: string | null; readonly owner: string | null; readonly lease: { readonly member: string; readonly fence: number; readonly until: string | null; } | null; readonly priority: number; readonly percent: number; readonly blocked_by: readonly (string)[]; readonly waiting_for: readonly (string)[]; readonly question: string | null; readonly judging: boolean; readonly reason: string | null; readonly result: string | null; readonly created_by: string; readonly session_key: string | null; readonly turn_id: string | null; readonly revision: number; readonly refused: number; readonly last_refused: { readonly what: string; readonly by: string; readonly problem: string; readonly at: string; } | null; readonly links: { readonly temporal: string | null; }; readonly created_at: string; readonly updated_at: string; readonly started_at: string | null; readonly closed_at: string | null; })[]; readonly has_more: boolean; readonly next_cursor: string | null; };
  };
  'GET /v1/teams/{team}/tasks/{id}': {
    params: { team: string; id: string; };
    query: {  };
    body: undefined;
    answer: { readonly id: string; readonly number: number; readonly team: string; readonly workflow_id: string; readonly subject: string; readonly description: string; readonly status: "pending" | "in_progress" | "in_review" | "blocked" | "completed" | "failed" | "cancelled" | "stale"; readonly assignee: string | null; readonly owner: string | null; readonly lease: { readonly member: string; readonly fence: number; readonly until: string | null; } | null; readonly priority: number; readonly percent: number; readonly blocked_by: readonly (string)[]; readonly waiting_for: readonly (string)[]; readonly question: string | null; readonly judging: boolean; readonly reason: string | null; readonly result: string | null; readonly created_by: string; readonly session_key: string | null; readonly turn_id: string | null; readonly revision: number; readonly refused: number; readonly last_refused: { readonly what: string; readonly by: string; readonly problem: string; readonly at: string; } | null; readonly links: { readonly temporal: string | null; }; readonly created_at: string; readonly updated_at: string; readonly started_at: string | null; readonly closed_at: string | null; };
  };
  'GET /v1/teams/{team}/tasks/{id}/comments': {
    params: { team: string; id: string; };
    query: { limit?: number; after?: string; cursor?: string; };
    body: undefined;
    answer: { readonly data: readonly ({ readonly id: string; readonly kind: string; readonly author: string; readonly text: string; readonly created_at: string; })[]; readonly has_more: boolean; readonly next_cursor: string | null; };
  };
  'GET /v1/tools/{name}': {
    params: { name: string; };
    query: { agent?: string; };
    body: undefined;
    answer: { readonly name: string; readonly description: string; readonly group: string; readonly replay: "readonly" | "idempotent" | "verify" | "once"; readonly parameters: Readonly<Record<string, unknown>>; readonly aliases: readonly (string)[]; };
  };
  'GET /v1/turns/{id}': {
    params: { id: string; };
    query: {  };
    body: undefined;
    answer: { readonly id: string; readonly session_key: string; readonly agent: string; readonly agent_revision: number | null; readonly status: "queued" | "running" | "waiting_approval" | "completed" | "failed" | "stopped"; readonly text: string | null; readonly error: { readonly code: string; readonly message: string; } | null; readonly steps: number; readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly cached_tokens: number; readonly cost_usd: number | null; readonly unpriced_calls: number; }; readonly workflow_id: string; readonly links: { readonly temporal: string | null; }; readonly created_at: string; readonly started_at: string | null; readonly ended_at: string | null; };
  };
  'GET /v1/turns/{id}/compare/{other}': {
    params: { id: string; other: string; };
    query: {  };
    body: undefined;
    answer: { readonly turn: { readonly id: string; readonly session_key: string; readonly agent: string; readonly agent_revision: number | null; readonly status: "queued" | "running" | "waiting_approval" | "completed" | "failed" | "stopped"; readonly text: string | null; readonly error: { readonly code: string; readonly message: string; } | null; readonly steps: number; readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly cached_tokens: number; readonly cost_usd: number | null; readonly unpriced_calls: number; }; readonly workflow_id: string; readonly links: { readonly temporal: string | null; }; readonly created_at: string; readonly started_at: string | null; readonly ended_at: string | null; }; readonly other: { readonly id: string; readonly session_key: string; readonly agent: string; readonly agent_revision: number | null; readonly status: "queued" | "running" | "waiting_approval" | "completed" | "failed" | "stopped"; readonly text: string | null; readonly error: { readonly code: string; readonly message: string; } | null; readonly steps: number; readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly cached_tokens: number; readonly cost_usd: number | null; readonly unpriced_calls: number; }; readonly workflow_id: string; readonly links: { readonly temporal: string | null; }; readonly created_at: string; readonly started_at: string | null; readonly ended_at: string | null; }; readonly first: { readonly step: number; readonly differs: readonly ("model" | "text" | "tools" | "arguments" | "results" | "end")[]; } | null; };
  };
  'GET /v1/turns/{id}/steps': {
    params: { id: string; };
    query: { limit?: number; after?: string; cursor?: string; after_step?: number; };
    body: undefined;
    answer: { readonly data: readonly ({ readonly step: number; readonly model: string | null; readonly attempt: number | null; readonly text: string; readonly finish: string | null; readonly input_tokens: number; readonly output_tokens: number; readonly cached_tokens: number; readonly cost_usd: number | null; readonly started_at: string; readonly ended_at: string; readonly calls: readonly ({ readonly id: string; readonly index: number; readonly tool: string; readonly summary: string; readonly verdict: "allow" | "ask" | "deny"; readonly state: "requested" | "running" | "done"; readonly ok: boolean | null; readonly code: string | null; readonly attempts: number; readonly approval: { readonly id: string; readonly status: string; readonly decided_by: string | null; readonly created_at: string; readonly decided_at: string | null; } | null; readonly work: readonly ({ readonly kind: "subagent" | "delegation" | "evaluation" | "gate" | "round" | "task"; readonly id: string; readonly label: string; readonly agent: string | null; readonly status: string; readonly session_key: string | null; readonly turn_id: string | null; readonly created_at: string; readonly started_at: string | null; readonly ended_at: string | null; })[]; readonly created_at: string; readonly started_at: string | null; readonly ended_at: string | null; })[]; })[]; readonly has_more: boolean; readonly next_cursor: string | null; };
  };
  'GET /v1/turns/{id}/steps/{step}': {
    params: { id: string; step: number; };
    query: {  };
    body: undefined;
    answer: { readonly step: number; readonly model: string | null; readonly attempt: number | null; readonly text: string; readonly finish: string | null; readonly input_tokens: number; readonly output_tokens: number; readonly cached_tokens: number; readonly cost_usd: number | null; readonly started_at: string; readonly ended_at: string; readonly calls: readonly ({ readonly id: string; readonly index: number; readonly tool: string; readonly summary: string; readonly verdict: "allow" | "ask" | "deny"; readonly state: "requested" | "running" | "done"; readonly ok: boolean | null; readonly code: string | null; readonly attempts: number; readonly approval: { readonly id: string; readonly status: string; readonly decided_by: string | null; readonly created_at: string; readonly decided_at: string | null; } | null; readonly work: readonly ({ readonly kind: "subagent" | "delegation" | "evaluation" | "gate" | "round" | "task"; readonly id: string; readonly label: string; readonly agent: string | null; readonly status: string; readonly session_key: string | null; readonly turn_id: string | null; readonly created_at: string; readonly started_at: string | null; readonly ended_at: string | null; })[]; readonly created_at: string; readonly started_at: string | null; readonly ended_at: string | null; })[]; readonly after_position: number; readonly messages: readonly ({ readonly id: string; readonly role: "user" | "assistant"; readonly text: string; readonly turn_id: string | null; readonly step: number | null; readonly position: number; readonly calls: readonly ({ readonly id?: string; readonly tool: string; readonly args: Readonly<Record<string, unknown>>; })[] | null; readonly model: string | null; readonly created_at: string; })[]; readonly results: readonly ({ readonly id: string; readonly turn_id: string; readonly session_key: string; readonly step: number; readonly index: number; readonly tool: string; readonly called_as: string; readonly args: Readonly<Record<string, unknown>>; readonly verdict: "allow" | "ask" | "deny"; readonly reason: string | null; readonly hooks: readonly ({ readonly hook: string; readonly event: "session_start" | "user_prompt_submit" | "pre_tool_use" | "subagent_start"; readonly decision: "allow" | "ask" | "deny"; readonly reason?: string; readonly changed?: readonly (string)[]; readonly milliseconds: number; })[] | null; readonly approval_id: string | null; readonly state: "requested" | "running" | "done"; readonly ok: boolean | null; readonly code: string | null; readonly text: string | null; readonly images: readonly ({ readonly type: string; readonly width: number; readonly height: number; readonly size: number; readonly url: string; })[]; readonly whole: boolean; readonly created_at: string; readonly started_at: string | null; readonly ended_at: string | null; })[]; readonly tool_calls: readonly ({ readonly id: string; readonly turn_id: string; readonly session_key: string; readonly step: number; readonly index: number; readonly tool: string; readonly called_as: string; readonly args: Readonly<Record<string, unknown>>; readonly verdict: "allow" | "ask" | "deny"; readonly reason: string | null; readonly hooks: readonly ({ readonly hook: string; readonly event: "session_start" | "user_prompt_submit" | "pre_tool_use" | "subagent_start"; readonly decision: "allow" | "ask" | "deny"; readonly reason?: string; readonly changed?: readonly (string)[]; readonly milliseconds: number; })[] | null; readonly approval_id: string | null; readonly state: "requested" | "running" | "done"; readonly ok: boolean | null; readonly code: string | null; readonly text: string | null; readonly images: readonly ({ readonly type: string; readonly width: number; readonly height: number; readonly size: number; readonly url: string; })[]; readonly whole: boolean; readonly created_at: string; readonly started_at: string | null; readonly ended_at: string | null; })[]; };
  };
  'GET /v1/usage': {
    params: {  };
    query: { by?: string; from?: string; to?: string; agent?: string; user?: string; session?: string; model?: string; };
    body: undefined;
    answer: { readonly from: string; readonly to: string; readonly data: readonly ({ readonly agent?: string; readonly user?: string; readonly session?: string; readonly model?: string; readonly day?: string; readonly kind?: "answer" | "summary" | "failed" | "unused" | "embedding" | "knowledge" | "memory" | "reading" | "media" | "hook" | "sampling" | "direct"; readonly calls: number; readonly input_tokens: number; readonly output_tokens: number; readonly cached_tokens: number; readonly cost_usd: number | null; readonly unpriced_calls: number; })[]; readonly truncated: boolean; };
  };
  'POST /v1/approvals/{id}/decision': {
    params: { id: string; };
    query: {  };
    body: { readonly decision: "approve" | "approve_always" | "edit" | "reject" | "respond" | "accept" | "allow" | "allow-once" | "allow-always" | "ignore" | "deny" | "response"; readonly args?: Readonly<Record<string, unknown>>; readonly scope?: "once" | "always"; readonly reason?: string; readonly text?: string; readonly digest?: string; };
    answer: { readonly approval_id: string; readonly status: "pending" | "approved" | "denied" | "responded" | "expired" | "withdrawn"; readonly decision: "approve" | "approve_always" | "edit" | "reject" | "respond"; readonly decided_by: string; readonly decided_at: string; readonly already?: true; readonly approvals?: number; readonly quorum?: number; readonly tally?: string; };
  };
  'POST /v1/artifacts': {
    params: {  };
    query: { filename?: string; user?: string; };
    body: undefined;
    answer: { readonly id: string; readonly type: string; readonly bytes: number; readonly sha256: string; readonly filename: string | null; readonly user: string | null; readonly created_at: string; };
  };
  'POST /v1/explain/{kind}': {
    params: { kind: "tool" | "shell" | "path" | "url" | "scrub"; };
    query: {  };
    body: Readonly<Record<string, unknown>>;
    answer: { readonly id?: string | number; readonly decision?: "allow" | "ask" | "deny"; readonly step?: string; readonly rule?: string | null; readonly reason?: string; readonly remedy?: string; readonly known?: boolean; readonly terms?: Readonly<Record<string, unknown>>; readonly hooks?: readonly (string)[]; readonly tools?: readonly (string)[]; readonly decisions?: readonly ({ readonly tool: string; readonly decision: "allow" | "ask" | "deny"; readonly step: string; readonly rule: string | null; })[]; readonly category?: string | null; readonly always?: string; readonly command_words?: readonly (readonly (string)[])[]; readonly resolved?: string; readonly code?: string | null; readonly address?: string; readonly text?: string; readonly found?: readonly ({ readonly kind: string; readonly count: number; })[]; };
  };
  'POST /v1/policy/proposals/{id}/take': {
    params: { id: string; };
    query: {  };
    body: Readonly<Record<string, unknown>>;
    answer: { readonly id: string; readonly agent: string; readonly tool: string; readonly adds: { readonly allowlist: string; } | { readonly rule: { readonly tool: string; readonly decision: "allow"; readonly args: Readonly<Record<string, string>>; readonly only_args: readonly (string)[]; readonly agent?: string; }; }; readonly place: "agent" | "tenant" | "settings"; readonly approvals: number; readonly examples: readonly (string)[]; readonly backtest: { readonly since: string; readonly calls: number; readonly truncated: boolean; readonly before: { readonly allow: number; readonly ask: number; readonly deny: number; }; readonly after: { readonly allow: number; readonly ask: number; readonly deny: number; }; readonly differ: number; readonly unreadable: number; } | null; };
  };
  'POST /v1/sessions/{key}/canvas/links': {
    params: { key: string; };
    query: {  };
    body: { readonly user?: string; readonly seconds?: number; };
    answer: { readonly url: string; readonly expires_at: string; };
  };
  'POST /v1/sessions/{key}/messages': {
    params: { key: string; };
    query: { wait?: number; };
    body: { readonly text: string; readonly agent?: string; readonly mode?: "queue" | "steer" | "interrupt" | "collect" | "reject"; readonly attachments?: readonly (string)[]; readonly allowed_tools?: readonly (string)[]; readonly channel?: string; readonly chat_id?: string; readonly user?: string; };
    answer: { readonly session_key: string; readonly turn_id: string; readonly message_id: string; readonly workflow_id: string; readonly ahead: number; readonly mode?: "queue" | "steer" | "interrupt" | "collect" | "reject"; readonly step?: number; readonly duplicate?: true; readonly status?: "queued" | "running" | "waiting_approval" | "completed" | "failed" | "stopped"; readonly text?: string | null; readonly error?: { readonly code: string; readonly message: string; } | null; };
  };
  'POST /v1/sessions/{key}/stop': {
    params: { key: string; };
    query: {  };
    body: { readonly level?: "step" | "now" | "all"; readonly turn_id?: string; readonly reason?: string; };
    answer: { readonly session_key: string; readonly turn_id: string | null; readonly level: "step" | "now" | "all"; };
  };
  'POST /v1/teams/{team}/tasks/{id}/approve': {
    params: { team: string; id: string; };
    query: {  };
    body: { readonly member?: string; readonly token?: string; readonly lease_seconds?: number; readonly text?: string; readonly result?: string; readonly reason?: string; readonly type?: "note" | "blocker"; readonly percent?: number; readonly assignee?: string; readonly subject?: string; readonly description?: string; readonly priority?: number; readonly blocked_by?: readonly (string | number)[]; readonly file?: { readonly name: string; readonly content: string; }; };
    answer: { readonly id: string; readonly number: number; readonly workflow_id: string; readonly status: "pending" | "in_progress" | "in_review" | "blocked" | "completed" | "failed" | "cancelled" | "stale"; readonly owner: string | null; readonly assignee: string | null; readonly percent: number; readonly revision: number; readonly note?: string; readonly judging?: true; readonly lease?: { readonly token: string; readonly fence: number; readonly until: string; }; };
  };
  'POST /v1/teams/{team}/tasks/{id}/assign': {
    params: { team: string; id: string; };
    query: {  };
    body: { readonly member?: string; readonly token?: string; readonly lease_seconds?: number; readonly text?: string; readonly result?: string; readonly reason?: string; readonly type?: "note" | "blocker"; readonly percent?: number; readonly assignee?: string; readonly subject?: string; readonly description?: string; readonly priority?: number; readonly blocked_by?: readonly (string | number)[]; readonly file?: { readonly name: string; readonly content: string; }; };
    answer: { readonly id: string; readonly number: number; readonly workflow_id: string; readonly status: "pending" | "in_progress" | "in_review" | "blocked" | "completed" | "failed" | "cancelled" | "stale"; readonly owner: string | null; readonly assignee: string | null; readonly percent: number; readonly revision: number; readonly note?: string; readonly judging?: true; readonly lease?: { readonly token: string; readonly fence: number; readonly until: string; }; };
  };
  'POST /v1/teams/{team}/tasks/{id}/cancel': {
    params: { team: string; id: string; };
    query: {  };
    body: { readonly member?: string; readonly token?: string; readonly lease_seconds?: number; readonly text?: string; readonly result?: string; readonly reason?: string; readonly type?: "note" | "blocker"; readonly percent?: number; readonly assignee?: string; readonly subject?: string; readonly description?: string; readonly priority?: number; readonly blocked_by?: readonly (string | number)[]; readonly file?: { readonly name: string; readonly content: string; }; };
    answer: { readonly id: string; readonly number: number; readonly workflow_id: string; readonly status: "pending" | "in_progress" | "in_review" | "blocked" | "completed" | "failed" | "cancelled" | "stale"; readonly owner: string | null; readonly assignee: string | null; readonly percent: number; readonly revision: number; readonly note?: string; readonly judging?: true; readonly lease?: { readonly token: string; readonly fence: number; readonly until: string; }; };
  };
  'POST /v1/teams/{team}/tasks/{id}/comment': {
    params: { team: string; id: string; };
    query: {  };
    body: { readonly member?: string; readonly token?: string; readonly lease_seconds?: number; readonly text?: string; readonly result?: string; readonly reason?: string; readonly type?: "note" | "blocker"; readonly percent?: number; readonly assignee?: string; readonly subject?: string; readonly description?: string; readonly priority?: number; readonly blocked_by?: readonly (string | number)[]; readonly file?: { readonly name: string; readonly content: string; }; };
    answer: { readonly id: string; readonly number: number; readonly workflow_id: string; readonly status: "pending" | "in_progress" | "in_review" | "blocked" | "completed" | "failed" | "cancelled" | "stale"; readonly owner: string | null; readonly assignee: string | null; readonly percent: number; readonly revision: number; readonly note?: string; readonly judging?: true; readonly lease?: { readonly token: string; readonly fence: number; readonly until: string; }; };
  };
  'POST /v1/teams/{team}/tasks/{id}/complete': {
    params: { team: string; id: string; };
    query: {  };
    body: { readonly member?: string; readonly token?: string; readonly lease_seconds?: number; readonly text?: string; readonly result?: string; readonly reason?: string; readonly type?: "note" | "blocker"; readonly percent?: number; readonly assignee?: string; readonly subject?: string; readonly description?: string; readonly priority?: number; readonly blocked_by?: readonly (string | number)[]; readonly file?: { readonly name: string; readonly content: string; }; };
    answer: { readonly id: string; readonly number: number; readonly workflow_id: string; readonly status: "pending" | "in_progress" | "in_review" | "blocked" | "completed" | "failed" | "cancelled" | "stale"; readonly owner: string | null; readonly assignee: string | null; readonly percent: number; readonly revision: number; readonly note?: string; readonly judging?: true; readonly lease?: { readonly token: string; readonly fence: number; readonly until: string; }; };
  };
  'POST /v1/teams/{team}/tasks/{id}/reject': {
    params: { team: string; id: string; };
    query: {  };
    body: { readonly member?: string; readonly token?: string; readonly lease_seconds?: number; readonly text?: string; readonly result?: string; readonly reason?: string; readonly type?: "note" | "blocker"; readonly percent?: number; readonly assignee?: string; readonly subject?: string; readonly description?: string; readonly priority?: number; readonly blocked_by?: readonly (string | number)[]; readonly file?: { readonly name: string; readonly content: string; }; };
    answer: { readonly id: string; readonly number: number; readonly workflow_id: string; readonly status: "pending" | "in_progress" | "in_review" | "blocked" | "completed" | "failed" | "cancelled" | "stale"; readonly owner: string | null; readonly assignee: string | null; readonly percent: number; readonly revision: number; readonly note?: string; readonly judging?: true; readonly lease?: { readonly token: string; readonly fence: number; readonly until: string; }; };
  };
  'POST /v1/teams/{team}/tasks/{id}/release': {
    params: { team: string; id: string; };
    query: {  };
    body: { readonly member?: string; readonly token?: string; readonly lease_seconds?: number; readonly text?: string; readonly result?: string; readonly reason?: string; readonly type?: "note" | "blocker"; readonly percent?: number; readonly assignee?: string; readonly subject?: string; readonly description?: string; readonly priority?: number; readonly blocked_by?: readonly (string | number)[]; readonly file?: { readonly name: string; readonly content: string; }; };
    answer: { readonly id: string; readonly number: number; readonly workflow_id: string; readonly status: "pending" | "in_progress" | "in_review" | "blocked" | "completed" | "failed" | "cancelled" | "stale"; readonly owner: string | null; readonly assignee: string | null; readonly percent: number; readonly revision: number; readonly note?: string; readonly judging?: true; readonly lease?: { readonly token: string; readonly fence: number; readonly until: string; }; };
  };
  'POST /v1/teams/{team}/tasks/{id}/retry': {
    params: { team: string; id: string; };
    query: {  };
    body: { readonly member?: string; readonly token?: string; readonly lease_seconds?: number; readonly text?: string; readonly result?: string; readonly reason?: string; readonly type?: "note" | "blocker"; readonly percent?: number; readonly assignee?: string; readonly subject?: string; readonly description?: string; readonly priority?: number; readonly blocked_by?: readonly (string | number)[]; readonly file?: { readonly name: string; readonly content: string; }; };
    answer: { readonly id: string; readonly number: number; readonly workflow_id: string; readonly status: "pending" | "in_progress" | "in_review" | "blocked" | "completed" | "failed" | "cancelled" | "stale"; readonly owner: string | null; readonly assignee: string | null; readonly percent: number; readonly revision: number; readonly note?: string; readonly judging?: true; readonly lease?: { readonly token: string; readonly fence: number; readonly until: string; }; };
  };
}
