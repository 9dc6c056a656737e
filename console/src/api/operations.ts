/** Made by scripts/generate-console-types.ts from the OpenAPI document: the operations that the console uses. */
export interface Operations {
  'GET /v1/me': {
    params: {  };
    query: {  };
    body: undefined;
    answer: { readonly tenant: string; readonly key: { readonly id: string; readonly name: string; }; readonly user: string | null; readonly scopes: readonly ("read" | "run" | "approve" | "metrics" | "admin")[]; readonly version: string; readonly temporal_ui: string | null; };
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
}
