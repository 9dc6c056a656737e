/**
 * Answers with the state of a turn as MCP represents it: the result of a tool, or a task (extension
 * io.modelcontextprotocol/tasks).
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { listApprovals } from '#store/approvals/approval-store.ts';
import { findInvokedCall } from '#store/turns/tool-call-store.ts';
import type { TurnRow } from '#store/turns/turn-store.ts';
import { showHidden } from '#domain/text/hidden-text.ts';
import { hasEnded, waitForTurn } from '#api/turn-wait.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { askClient } from './ask-client.ts';
import type { McpCall, McpRequest, Turn } from './mcp-request.ts';
import { reportProgress } from './report-progress.ts';

/** Approvals of one turn that an answer names. */
const MAX_NAMED = 5;
const POLL_MS = 1_000;

/**
 * Waits `seconds` for the turn's end and reports what happens after the event `after`. A turn that still runs is a
 * task, or words that say how to continue.
 */
export async function answerOfTurn(
  call: McpCall,
  turn: Turn,
  after: number,
  seconds: number,
): Promise<CallToolResult> {
  const { deps, caller, signal, takesTasks, elicits } = call;
  const stopReport = reportProgress(call, turn, after);
  let question: CallToolResult | undefined;
  const isDone = async (row: TurnRow): Promise<boolean> => {
    if (elicits && row.status === 'waiting_approval') question = await askClient(call, turn);
    return question !== undefined || hasEnded(row);
  };
  const place = { ...turn, tenant: caller.tenant };
  const row = await waitForTurn(deps, place, { seconds, signal, isDone }).finally(stopReport);
  if (question) return question;
  if (row && hasEnded(row)) return resultOf(call, row);
  if (row && takesTasks) return { content: [], resultType: 'task', ...taskOf(row) };
  return stillGoing(call, turn, row);
}

/** The result of a turn that has ended. */
export async function resultOf(
  { deps, caller }: McpRequest,
  { id, session_key, status, text, error }: TurnRow,
): Promise<CallToolResult> {
  if (error) return errorResult(`${error.code}: ${error.message}`);
  const call = await findInvokedCall(forTenant(deps.pool, caller.tenant), id);
  if (call) {
    const words = call.result ?? call.reason ?? status;
    if (call.ok === true) return textResult(words);
    const code = call.code ?? status;
    // The result of a call that failed begins with its code already.
    return errorResult(words.startsWith(`${code}: `) ? words : `${code}: ${words}`);
  }
  if (status === 'stopped') return errorResult(`The turn ${id} was stopped. ${text ?? ''}`.trimEnd());
  return textResult(text ?? '', `session: ${session_key}\nturn: ${id}`);
}

async function stillGoing(
  { deps, caller }: McpRequest,
  turn: Turn,
  row: TurnRow | undefined,
): Promise<CallToolResult> {
  const approvals = await listApprovals(
    forTenant(deps.pool, caller.tenant),
    caller,
    { status: 'pending', turn: turn.id },
    MAX_NAMED,
    undefined,
  );
  const requests = approvals.map(
    ({ id, summary }) =>
      `Waits for the approval ${id} (resource approval://${id}) of: ${showHidden(summary)}\nA person decides it: \`tempoclaw approvals approve ${id}\`, the web UI of Temporal, or the tool \`decide\` where the key may.`,
  );
  return textResult(
    [
      `The turn has not ended (${row?.status ?? 'queued'}); it goes on.`,
      ...requests,
      `Call \`turn_result\` with {"turn_id":"${turn.id}"} for its result. Do not make the call again: that would be another one.`,
      `session: ${turn.session}\nturn: ${turn.id}`,
    ].join('\n'),
  );
}

export function textResult(...texts: readonly string[]): CallToolResult {
  return { content: texts.map((text) => ({ type: 'text', text })) };
}

export function errorResult(text: string): CallToolResult {
  return { ...textResult(text), isError: true };
}

/** A turn is a task by its own id, so that any process of the API knows it, for as long as its row is kept. */
export function taskOf(row: TurnRow) {
  return {
    taskId: row.id,
    status: statusOf(row),
    ...(row.status === 'waiting_approval' ? { statusMessage: 'waits for an approval' } : {}),
    createdAt: row.created_at.toISOString(),
    lastUpdatedAt: (row.ended_at ?? row.started_at ?? row.created_at).toISOString(),
    ttlMs: null,
    pollIntervalMs: POLL_MS,
  };
}

/** `failed` is for errors of the protocol: a turn that failed is a result that says so. */
function statusOf({ status }: TurnRow): 'working' | 'completed' | 'cancelled' {
  if (status === 'stopped') return 'cancelled';
  return status === 'completed' || status === 'failed' ? 'completed' : 'working';
}
