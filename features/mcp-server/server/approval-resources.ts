/** Approvals for an MCP client: pending ones as resources `approval://{id}`, and the tool `decide`. */
import {
  type CallToolResult,
  ResourceNotFoundError,
  type ListResourcesResult,
  type ReadResourceResult,
  type Tool,
} from '@modelcontextprotocol/server';
import { type ApprovalRow, findVisibleApproval, listApprovals } from '#store/approvals/approval-store.ts';
import { Failure } from '#domain/errors.ts';
import { formLines } from '#domain/form.ts';
import { isMessageId } from '#domain/ids.ts';
import { markdownCode } from '#domain/text/markdown.ts';
import { approvalSchema, decisionSchema } from '#domain/schema/approval.ts';
import { idSchema } from '#domain/schema/scalars.ts';
import { requireScope } from '#api/server/auth.ts';
import { decideAs } from '#api/approvals/decide-as.ts';
import { showHidden } from '#domain/text/hidden-text.ts';
import { stemOfKey } from '#api/server/idempotency.ts';
import { readCreatedPage } from '#api/server/pages.ts';
import { showApproval } from '#api/approvals/show-approval.ts';
import { encodeAnswer } from '#api/server/answer.ts';
import { createTemporalLink } from '#api/temporal-links.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { McpCall, McpRequest } from './mcp-request.ts';
import { inputSchemaOf, readArguments } from './own-tool.ts';
import { textResult } from './turn-answer.ts';

const SCHEME = 'approval://';
const PAGE = 50;
const MARKDOWN = 'text/markdown';

const deciding = decisionSchema.safeExtend({ approval_id: idSchema });

export const DECIDE: Tool = {
  name: 'decide',
  title: 'Decide an approval',
  description:
    'Decides a call that waits for a person, in the name of the key that this connection uses. Only for what the person has seen and said: read approval://{id} to them first.',
  inputSchema: inputSchemaOf(deciding),
  annotations: { destructiveHint: true, idempotentHint: true },
};

export async function callDecide(
  call: McpCall,
  args: Readonly<Record<string, unknown>>,
): Promise<CallToolResult> {
  const { deps, caller, key } = call;
  requireScope(caller, 'approve');
  const { approval_id: id, ...body } = readArguments(deciding, args);
  const row = await find(call, id);
  if (!row) throw new Failure('NotFound', 'There is no approval with this id');
  const stem = key === undefined ? undefined : stemOfKey(key, caller, 'decision', id);
  return textResult(JSON.stringify(await decideAs(deps, caller, row, body, stem)));
}

export const APPROVAL_TEMPLATE = {
  uriTemplate: `${SCHEME}{id}`,
  name: 'approval',
  description: 'A call that waits for a person, or did: what would run, why it is asked, until when',
  mimeType: MARKDOWN,
};

/** Pending approvals, newest first. */
export async function listApprovalResources(
  { deps, caller }: McpRequest,
  cursor: string | undefined,
): Promise<ListResourcesResult> {
  const page = await readCreatedPage(
    { limit: PAGE, cursor },
    (limit, after) =>
      listApprovals(forTenant(deps.pool, caller.tenant), caller, { status: 'pending' }, limit, after),
    ({ id, summary, agent_key }) => ({
      uri: `${SCHEME}${id}`,
      name: id,
      title: showHidden(summary),
      description: `Asked for the agent ${agent_key}`,
      mimeType: MARKDOWN,
    }),
  );
  return { resources: page.data, ...(page.next_cursor === null ? {} : { nextCursor: page.next_cursor }) };
}

/** The approval in words for a person, and as `GET /v1/approvals/{id}` returns it. Throws ResourceNotFoundError. */
export async function readApprovalResource(request: McpRequest, uri: string): Promise<ReadResourceResult> {
  const row = uri.startsWith(SCHEME) ? await find(request, uri.slice(SCHEME.length)) : undefined;
  if (!row) throw new ResourceNotFoundError(uri, `There is no resource ${uri}`);
  const shown = encodeAnswer(approvalSchema, showApproval(row, createTemporalLink(request.deps.settings)));
  return {
    contents: [
      { uri, mimeType: MARKDOWN, text: inWords(row) },
      { uri, mimeType: 'application/json', text: JSON.stringify(shown) },
    ],
  };
}

async function find({ deps, caller }: McpRequest, id: string): Promise<ApprovalRow | undefined> {
  return isMessageId(id) ? findVisibleApproval(forTenant(deps.pool, caller.tenant), caller, id) : undefined;
}

/** External text appears as code, with its invisible characters made visible. */
function inWords(row: ApprovalRow): string {
  const facts: readonly (readonly [string, string | null])[] = [
    ['tool', row.tool],
    ['agent', row.agent_key],
    ['asked for', row.user_id],
    ['because', row.reason],
    ['risk', row.risk],
    ['session', row.session_key],
    ['status', row.status],
    ['until', row.expires_at.toISOString()],
    ['digest', row.digest],
  ];
  const args = showHidden(JSON.stringify(row.args, null, 2)).replaceAll(/^/gm, '    ');
  const asks = row.form ? formLines(row.form).map((line) => `- ${markdownCode(showHidden(line))}`) : [];
  return [
    row.form ? '# A question' : '# May this run?',
    markdownCode(showHidden(row.summary)),
    ...facts.flatMap(([name, value]) =>
      value === null ? [] : [`- ${name}: ${markdownCode(showHidden(value))}`],
    ),
    ...asks,
    row.form ? 'The answer, unless you `edit` it:' : 'Arguments (secrets are masked):',
    args,
    'Decide with the tool `decide`, `tempoclaw approvals`, or a link to it.',
  ].join('\n\n');
}
