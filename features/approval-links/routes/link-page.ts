/** Serves links that decide an approval. Any browser can use them without a key. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { hashToken } from '../own-link.ts';
import { type ApprovalLinkRow, findApprovalLink } from '../store.ts';
import { type ApprovalRow, findApproval } from '#store/approvals/approval-store.ts';
import { type CallProgress, findCallProgress } from '#store/turns/tool-call-store.ts';
import { readAnswer } from '#domain/form.ts';
import { FAILURES, Failure, type FailureType } from '#domain/errors.ts';
import { SCOPES } from '#domain/schema/api-key.ts';
import { LINK_DECISIONS } from '../schema.ts';
import { jsonObjectSchema, textSchema } from '#domain/schema/scalars.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { askingPage, isChangeable, loginPage } from '../asking-page.ts';
import { type DecisionBody, sendDecision } from '#api/approvals/decide-as.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { noticePage } from '#api/server/html-page.ts';
import { addPage, type Answered, type FormFields } from '#api/server/page-routes.ts';

const formSchema = z.object({
  decision: z.enum(LINK_DECISIONS),
  digest: z.string().regex(/^[0-9a-f]{64}$/),
  reason: z
    .string()
    .transform((text) => text.trim() || undefined)
    .pipe(textSchema(2_000).optional())
    .optional(),
  args: z.string().optional(),
  fields: z.array(z.tuple([z.string(), z.string()])),
});

const jsonText = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    context.addIssue(error instanceof Error ? error.message : 'it cannot be read');
    return z.NEVER;
  }
});

/** Failures of arguments that the person can correct. */
const UNFIT: ReadonlySet<FailureType> = new Set(['InvalidInput', 'Unprocessable']);

/** Prefix of the name of a field that an MCP server asks for. */
const FIELD = 'field:';

export function addRoutes(app: Api, deps: ApiDeps): void {
  addPage(app, {
    path: '/a/:token',
    show: (request) => showPage(deps, request),
    async submit(request) {
      // The browser returns to the link, which then shows the outcome.
      return (await decideByLink(deps, request)) ?? { again: tokenOf(request) };
    },
  });
}

async function showPage(deps: ApiDeps, request: FastifyRequest): Promise<string> {
  const { link, approval } = await linkOr404(deps, request);
  if (link.used_at) {
    const now =
      approval.status === 'pending'
        ? `It waits for others: ${approval.agreed.length} agreed so far.`
        : await outcomeOf(deps, link.tenant_id, approval);
    return noticePage('Thank you', `You decided: ${link.made ?? 'done'}. ${now}`, approval.summary);
  }
  if (approval.status !== 'pending')
    return noticePage('It is decided', await outcomeOf(deps, link.tenant_id, approval), approval.summary);
  return askingPage(approval, { user: link.user_id, decision: link.decision }, new Date());
}

/** Returns the page again, with everything that was typed, if changed arguments are refused. */
async function decideByLink(deps: ApiDeps, request: FastifyRequest): Promise<Answered | undefined> {
  const { link, approval } = await linkOr404(deps, request);
  const sent = request.body as FormFields;
  const named = sent.flatMap(([name, text]) =>
    name.startsWith(FIELD) ? [[name.slice(FIELD.length), text]] : [],
  );
  const form = formSchema.safeParse({ ...Object.fromEntries(sent), fields: named });
  if (!form.success) throw new Failure('InvalidInput', 'The form was not sent as this page makes it');
  const { decision } = form.data;
  if (link.decision !== null && link.decision !== decision)
    throw new Failure('Forbidden', `This link can only ${link.decision}`);
  if (link.used_at) throw new Failure('Conflict', 'This link was used');
  const { login, server } = approval.form ?? {};
  // Only the login itself decides.
  if (login === 'mcp' && server !== undefined && decision === 'approve')
    return loginPage(server, await loginAddress(deps, request, link, server));
  const sender = {
    by: link.user_id,
    user: link.user_id,
    scopes: SCOPES.filter((scope) => link.scopes.includes(scope)),
    keyId: null,
    via: 'link',
    linkId: link.id,
  } as const;
  try {
    await sendDecision(deps, link.tenant_id, approval, bodyOf(form.data, approval), sender);
    return undefined;
  } catch (error) {
    if (!(decision === 'edit' && isChangeable(approval) && error instanceof Failure && UNFIT.has(error.type)))
      throw error;
    const tried = { args: form.data.args ?? '', problem: error.message };
    const requested = { user: link.user_id, decision: link.decision, tried };
    return { status: FAILURES[error.type].status, page: askingPage(approval, requested, new Date()) };
  }
}

async function loginAddress(
  { beginLogin, settings }: ApiDeps,
  request: FastifyRequest,
  { tenant_id: tenant, user_id: user }: ApprovalLinkRow,
  server: string,
): Promise<string> {
  const base = settings.publicUrl ?? `${request.protocol}://${request.host}`;
  const login = await beginLogin?.({ tenant, server, user }, base);
  if (!login) throw new Failure('NotFound', `This installation has no logins at ${server} any more`);
  return login.url;
}

function bodyOf(
  { decision, digest, reason, args, fields }: z.output<typeof formSchema>,
  { form }: ApprovalRow,
): DecisionBody {
  if (decision === 'reject') return { decision, digest, reason };
  if (form && form.fields.length > 0)
    return { decision: 'edit', args: { ...readAnswer(form, fields) }, digest };
  return decision === 'edit' ? { decision, args: readArgs(args), digest } : { decision, digest };
}

function readArgs(json = ''): Record<string, unknown> {
  const read = jsonText.pipe(jsonObjectSchema).safeParse(json);
  if (read.success) return read.data;
  const why = read.error.issues[0]?.message ?? '';
  throw new Failure('InvalidInput', `the arguments are not an object in JSON: ${why}`);
}

/** A link that never existed, was revoked, or expired unused gets the same words. */
async function linkOr404(
  deps: ApiDeps,
  request: FastifyRequest,
): Promise<{ link: ApprovalLinkRow; approval: ApprovalRow }> {
  const token = tokenOf(request);
  const link = /^[\w-]{43}$/.test(token)
    ? await findApprovalLink(deps.pool, deps.rows, hashToken(token))
    : undefined;
  if (!link || (!link.used_at && (link.revoked_at || link.is_over))) throw new Failure('NotFound', NO_LINK);
  const approval = await findApproval(forTenant(deps.pool, link.tenant_id), link.approval_id);
  if (!approval) throw new Failure('NotFound', NO_LINK);
  return { link, approval };
}

/** The token is also the way back to the page, whatever prefix a proxy adds to the path. */
function tokenOf(request: FastifyRequest): string {
  return (request.params as { token: string }).token;
}

const NO_LINK = 'This link does not exist, was revoked, or has expired. Nothing was decided by it.';

/**
 * What was decided and by whom; for an approved call, also how it ended. It contains nothing of the result, because a
 * used link stays readable.
 */
async function outcomeOf({ pool }: ApiDeps, tenant: string, row: ApprovalRow): Promise<string> {
  const { status, decision, decided_by, decided_at, note, call_id } = row;
  const how = decision === 'edit' ? ' with other arguments' : '';
  const why = status === 'denied' && note ? ` Reason: ${note}` : '';
  const when = decided_at ? ` at ${decided_at.toISOString()}` : '';
  const call = status === 'approved' ? await findCallProgress(forTenant(pool, tenant), call_id) : undefined;
  const after = call ? ` ${progressOf(call)}` : '';
  return `It was ${status}${how} by ${decided_by ?? 'system'}${when}.${why}${after}`;
}

function progressOf({ state, ok, code, ended_at }: CallProgress): string {
  if (state === 'requested') return 'It has not begun yet; open this link again to see what comes of it.';
  if (state === 'running') return 'It runs now; open this link again to see what comes of it.';
  const when = ended_at ? ` at ${ended_at.toISOString()}` : '';
  if (ok) return `It ran, and ended well${when}.`;
  if (code === 'OutcomeUnknown') return `It ended${when}, and whether it took effect is not known.`;
  return `It failed${code === null ? '' : ` with ${code}`}${when}.`;
}
