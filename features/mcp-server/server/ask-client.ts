/**
 * Presents an approval as a question to the person at an MCP client (elicitation of MCP 2026-07-28). The question
 * answers the call. The client sends the call again with the person's answer, which decides in the name of the key.
 * Nothing is stored between the two: the state names the turn and what was shown, and gives access to nothing that the
 * key may not reach.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type ApprovalRow, findVisibleApproval, listApprovals } from '#store/approvals/approval-store.ts';
import { boundFilesWords } from '#domain/approval/bound-file.ts';
import { Failure } from '#domain/errors.ts';
import { isMessageId } from '#domain/ids.ts';
import { formLines, formSchema } from '#domain/form.ts';
import { runsAtWords } from '#domain/sandbox.ts';
import { decisionSchema } from '#domain/schema/approval.ts';
import { requireScope } from '#api/server/auth.ts';
import { decideAs } from '#api/approvals/decide-as.ts';
import { reachableTurn } from '#api/found.ts';
import { showHidden } from '#domain/text/hidden-text.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { Answered, McpCall, Turn } from './mcp-request.ts';
import { readArguments } from './own-tool.ts';

/** Characters of a question. A longer one is left to those who see it in full. */
const MAX = 16_000;

const stateSchema = z.strictObject({ turn: z.string(), approval: z.string(), digest: z.string() });
const answerSchema = z.looseObject({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.record(z.string(), z.unknown()).default({}),
});

const DECIDE = {
  type: 'object',
  properties: {
    decision: { type: 'string', title: 'Decision', enum: ['approve', 'reject'] },
    reason: { type: 'string', title: 'Why not', maxLength: 2_000 },
  },
  required: ['decision'],
};

/** An approval that the turn waits for, as a result that asks; undefined when there is none that the key may decide. */
export async function askClient(call: McpCall, turn: Turn): Promise<CallToolResult | undefined> {
  const { deps, caller } = call;
  const filter = { status: 'pending', turn: turn.id, mine: true } as const;
  const [row] = await listApprovals(forTenant(deps.pool, caller.tenant), caller, filter, 1, undefined);
  const message = row ? questionText(row) : '';
  if (!row || message.length > MAX) return undefined;
  const state = { turn: turn.id, approval: row.id, digest: row.digest };
  const params = {
    mode: 'form',
    message,
    requestedSchema: row.form ? formSchema(row.form) : DECIDE,
  };
  return {
    content: [],
    resultType: 'input_required',
    inputRequests: { [row.id]: { method: 'elicitation/create', params } },
    requestState: JSON.stringify(state),
  };
}

function questionText({ form, summary, tool, args, reason, files, terms }: ApprovalRow): string {
  const lines = form
    ? formLines({ ...form, fields: [] })
    : [
        `May this run? ${summary}`,
        ...(reason === null ? [] : [`because: ${reason}`]),
        ...(terms.runs === undefined ? [] : [`runs ${runsAtWords(terms.runs)}`]),
        ...(files.length === 0 ? [] : [`runs files: ${boundFilesWords(files)}`]),
        `${tool} ${JSON.stringify(args, null, 2)}`,
      ];
  return showHidden(lines.join('\n'));
}

/**
 * Decides as the person did; the same answer again is the same decision. Returns the turn to continue with. It also
 * says whether others decide the rest, as when the person postponed the question or more people must agree. Throws as a
 * decision does.
 */
export async function takeAnswer(
  call: McpCall,
  { state, responses }: Answered,
): Promise<Turn & { readonly isAside: boolean }> {
  const { deps, caller } = call;
  // Other keys are not asked, and the answer contains what the turn says.
  requireScope(caller, 'approve');
  requireScope(caller, caller.scopes.has('run') ? 'run' : 'read');
  const { turn: id, approval, digest } = readState(state);
  const turn = isMessageId(id) ? await reachableTurn(deps.pool, caller, id) : undefined;
  const row = isMessageId(approval)
    ? await findVisibleApproval(forTenant(deps.pool, caller.tenant), caller, approval)
    : undefined;
  if (!turn || row?.turn_id !== turn.id)
    throw new Failure('InvalidInput', 'requestState names no question of this key');
  const next = { session: turn.session_key, id: turn.id };
  const input = Object.hasOwn(responses, approval) ? answerSchema.safeParse(responses[approval]) : undefined;
  if (input && !input.success)
    throw new Failure('InvalidInput', `The answer to ${approval} is no result of an elicitation`);
  if (!input || input.data.action === 'cancel') return { ...next, isAside: true };
  if (row.status !== 'pending') return { ...next, isAside: false };
  const body = readArguments(decisionSchema, { ...bodyOf(row, input.data), digest });
  const { status } = await decideAs(deps, caller, row, body);
  return { ...next, isAside: status === 'pending' };
}

function readState(state: string): z.output<typeof stateSchema> {
  try {
    return stateSchema.parse(JSON.parse(state));
  } catch {
    throw new Failure('InvalidInput', 'requestState must be as it was given');
  }
}

function bodyOf({ form }: ApprovalRow, { action, content }: z.output<typeof answerSchema>): object {
  if (action === 'decline') return { decision: 'reject' };
  if (form) return form.fields.length > 0 ? { decision: 'edit', args: content } : { decision: 'approve' };
  const { decision, reason } = content;
  if (decision !== 'approve' && decision !== 'reject')
    throw new Failure('InvalidInput', 'decision must be approve or reject');
  return decision === 'reject' ? { decision, reason: reason || undefined } : { decision };
}
