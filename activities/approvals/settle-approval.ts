/** Records once how an approval ended, and the result of a call that will not run (AP-1 … AP-6). */
import { randomUUID } from 'node:crypto';
import {
  alwaysWords,
  type DecideInput,
  isAsSettled,
  lateProblem,
  type RefusedRequest,
  type SettleApprovalInput,
  type SettleApprovalResult,
} from '#domain/approval/approval.ts';
import {
  coversTerms,
  type Decider,
  neededGroups,
  requestProblem,
} from '#domain/approval/approval-decider.ts';
import { personOf } from '#domain/person.ts';
import { BUDGET_ASK } from '#domain/budget/budget.ts';
import { askSummary, editedAsk } from '#domain/budget/ask-for-more.ts';
import { failingAs, recordFailure } from '../activity-failure.ts';
import { type Guards, guardsUntil } from '../guards.ts';
import { callDigest, canonical } from '../tool-call/call-digest.ts';
import type { Catalog } from '#policy/catalog.ts';
import type { AgentCatalogs } from '#policy/agent-catalogs.ts';
import { editedCall } from '../tool-call/edited-call.ts';
import type { CallDeps } from '../tool-call/call-deps.ts';
import type { Tool } from '#policy/define-tool.ts';
import { type ForAnyTenant, forTenant } from '#store/secrets/scrubber.ts';
import type { ApprovalBasis, ApprovalLedger } from '#store/approvals/approval-ledger.ts';
import type { SettleRecord } from '#store/approvals/settle-record.ts';
import { decisionPlace } from '#store/approvals/approval-store.ts';
import type { PathProblem } from './edited-path.ts';
import { readDecider } from './read-decider.ts';
import { settleClientCall, settleRejected } from './settle-client-call.ts';
import { settleGuardedCall } from './settle-guarded-call.ts';
import { refused, settleForm, type Settling } from './settle-form.ts';
import { settleUndecided, withdrawnBy } from './settle-undecided.ts';
import { useTokens, type UseTokensDeps } from './use-tokens.ts';

export interface SettleApprovalDeps extends Omit<CallDeps, 'sandbox'>, UseTokensDeps {
  readonly approvals: ApprovalLedger;
  readonly catalogs: AgentCatalogs;
  readonly guards: Pick<Guards, 'ofCall'>;
  readonly pathProblem: PathProblem;
}

export function createSettleApproval(
  parts: ForAnyTenant<SettleApprovalDeps>,
): (input: SettleApprovalInput) => Promise<SettleApprovalResult> {
  return failingAs(recordFailure, async (input) =>
    settleApproval(await forTenant<SettleApprovalDeps>(parts, input.tenant), input),
  );
}

async function settleApproval(
  deps: SettleApprovalDeps,
  input: SettleApprovalInput,
): Promise<SettleApprovalResult> {
  const { tenant, approval_id: id, outcome, key, message, decision: sent, unread } = input;
  const tokens = await useTokens(deps, input.tokens ?? [], message);
  if (unread) return refused('InvalidInput', unread.problem, await note(deps, input, unread));
  if (!sent) return settleUndecided(deps, input);
  const basis = await deps.approvals.basis(tenant, id, key, message);
  if (!basis) return refused('InvalidInput', `approval ${id} does not exist`);
  const { who, problem } = readDecider(input, sent, tokens.get(sent.token ?? ''), basis);
  if (outcome !== 'decided') return noteLate(deps, input, sent, who, await settleUndecided(deps, input));
  const result = problem
    ? refused(problem.type, problem.message)
    : await answer(deps, input, sent, basis, who);
  if (result.kind !== 'refused') return noteLate(deps, input, sent, who, result);
  // The API answers its own sender.
  if (basis.proof) return result;
  const refusal = { what: sent.decision, by: who.by, problem: result.message };
  return refused(result.type, result.message, await note(deps, input, refusal));
}

/** A signal gets no answer, so a late one is recorded. */
async function noteLate(
  deps: SettleApprovalDeps,
  input: SettleApprovalInput,
  { decision: what }: Sent,
  { by }: Decider,
  result: SettleApprovalResult,
): Promise<SettleApprovalResult> {
  if (!input.signal || result.kind !== 'settled') return result;
  const hasDecided = result.won && input.outcome === 'decided';
  if (hasDecided || isAsSettled(what, result)) return result;
  const { message: problem } = lateProblem(input.approval_id, result);
  return { ...result, noted: await note(deps, input, { what, by, problem }) };
}

function note(
  { approvals, scrubber }: SettleApprovalDeps,
  { tenant, approval_id: id, key, refused: before }: SettleApprovalInput,
  { what, by, problem }: Omit<RefusedRequest, 'at'>,
): Promise<RefusedRequest | undefined> {
  const shown = {
    what: scrubber.text(what),
    by: scrubber.text(by),
    problem: scrubber.preview(problem, MAX_PROBLEM),
  };
  return approvals.noteRefusal({ ...shown, tenant, id, key, before });
}

/** Greatest number of characters of a problem. */
const MAX_PROBLEM = 500;

type Sent = NonNullable<SettleApprovalInput['decision']>;

async function answer(
  deps: SettleApprovalDeps,
  { tenant, approval_id: id, key }: SettleApprovalInput,
  sent: Sent,
  basis: ApprovalBasis,
  who: Decider,
): Promise<SettleApprovalResult> {
  const sealedArgs = basis.proof?.sealed_args;
  const decision = sealedArgs
    ? { ...sent, args: JSON.parse(deps.sealer.open(sealedArgs, decisionPlace(tenant, id))) }
    : sent;
  const reason = decision.reason === undefined ? undefined : deps.scrubber.text(decision.reason);
  const verb = decision.decision;
  const isStandby = verb === 'withdraw' || verb === 'escalate';
  const settled = { tenant, id, by: who.by, key, note: reason };
  const voted = { ...settled, ...(isStandby ? {} : { decision: verb, vote: voteOf(who, basis) }) };
  // It was settled before, perhaps by this attempt: every caller gets the outcome in the row.
  if (basis.status !== 'pending') return deps.approvals.settle({ ...voted, status: 'denied' });
  const refusal = refusalOf(id, decision, basis, who);
  if (refusal) return refusal;
  if (verb === 'withdraw') return deps.approvals.settle({ ...settled, ...withdrawnBy(settled) });
  if (verb === 'escalate') {
    const note = { tenant, approval_id: id, what: 'escalated', count: 1, by: who.by } as const;
    return { kind: 'escalated', opened: await deps.approvals.note(note) };
  }
  return settleDecision(deps, voted, basis, { ...decision, decision: verb });
}

/** Undefined when the decision is permitted; otherwise the refusal. */
function refusalOf(
  id: string,
  decision: Sent,
  basis: ApprovalBasis,
  who: Decider,
): SettleApprovalResult | undefined {
  const problem = requestProblem(id, decision, basis, who);
  if (problem) return refused(problem.type, problem.message);
  const approves = decision.decision === 'approve' || decision.decision === 'approve_always';
  if (approves && decision.args && !isAsShown(decision.args, basis))
    return refused(
      'Unprocessable',
      `approval ${id}: args are not those of the call, which runs as it is shown; to run others, decide edit`,
    );
  return undefined;
}

/** Agent Inbox's `accept` contains what it accepts, wrapped with the tool's name. */
function isAsShown(edited: Readonly<Record<string, unknown>>, { tool, args }: ApprovalBasis): boolean {
  const shown = canonical(args);
  return canonical(edited) === shown || (edited['action'] === tool && canonical(edited['args']) === shown);
}

function voteOf(who: Decider, basis: ApprovalBasis): NonNullable<SettleRecord['vote']> {
  const { proof } = basis;
  return {
    groups: neededGroups(basis, who),
    via: proof?.via ?? 'temporal',
    person: who.user === null ? undefined : personOf(who.user),
    api_key_id: proof?.api_key_id ?? undefined,
  };
}

async function settleDecision(
  deps: SettleApprovalDeps,
  settled: Settling,
  basis: ApprovalBasis,
  decision: DecideInput,
): Promise<SettleApprovalResult> {
  if (basis.tool === BUDGET_ASK) return settleBudget(deps, settled, basis, decision);
  if (basis.terms.client_tool) return settleClientCall(deps, settled, basis, decision);
  const { guarded } = basis.terms;
  if (guarded) return settleGuardedCall(deps, settled, { ...basis, guarded }, decision);
  if (basis.form) return settleForm(deps, settled, { ...basis, form: basis.form }, decision);
  switch (decision.decision) {
    case 'reject':
      return settleRejected(deps, settled);
    case 'respond': {
      const text = `${settled.by} answered instead of running the call: ${deps.scrubber.text(decision.text ?? '')}`;
      return deps.approvals.settle({ ...settled, status: 'responded', call: { ok: true, text } });
    }
    case 'approve':
      return deps.approvals.settle({ ...settled, status: 'approved' });
    case 'approve_always':
    case 'edit':
      return settleChange(deps, settled, basis, decision);
  }
}

/**
 * A question for more budget is not a call: only the amount can be edited, and it can neither be allowed permanently
 * nor answered (DU-7).
 */
async function settleBudget(
  deps: SettleApprovalDeps,
  settled: Settling,
  basis: ApprovalBasis,
  { decision, args = {} }: DecideInput,
): Promise<SettleApprovalResult> {
  switch (decision) {
    case 'reject':
      return deps.approvals.settle({ ...settled, status: 'denied' });
    case 'approve':
      return deps.approvals.settle({ ...settled, status: 'approved' });
    case 'edit': {
      const ask = editedAsk(basis.args, args);
      if (!ask) return refused('Unprocessable', 'only `more` can be changed, to an amount above 0');
      const digest = callDigest(BUDGET_ASK, { ...ask });
      const edit = { args: { ...ask }, digest, summary: askSummary(ask), sealed: null };
      return deps.approvals.settle({ ...settled, status: 'approved', edit });
    }
    case 'approve_always':
    case 'respond':
      return refused('Unprocessable', `a question for more budget cannot be decided by ${decision}`);
  }
}

/** A decision on other calls or arguments refers to the tool as it was shown. */
async function settleChange(
  deps: SettleApprovalDeps,
  settled: Settling,
  basis: ApprovalBasis,
  { decision, args = {} }: DecideInput,
): Promise<SettleApprovalResult> {
  const catalog = await deps.catalogs.of(settled.tenant, basis.agent.key);
  const definition = catalog.find(basis.tool)?.tool.definition;
  if (definition?.id !== basis.custom_tool?.id || definition?.revision !== basis.custom_tool?.revision)
    return refused(
      'Unprocessable',
      `${basis.tool} was changed after this was asked, so that the call will not run; reject it`,
    );
  return decision === 'edit'
    ? settleEdit({ ...deps, catalog }, settled, basis, args)
    : settleAlways(deps, settled, basis, definition);
}

async function settleAlways(
  deps: SettleApprovalDeps,
  settled: Settling,
  basis: ApprovalBasis,
  definition: Tool['definition'],
): Promise<SettleApprovalResult> {
  const shown = basis.always;
  if ('refused' in shown) return refused('Unprocessable', `${alwaysWords(shown)}. Approve it once.`);
  const { tool, args, agent } = basis;
  const place = await deps.placeOf(agent.sandbox ?? null);
  const now = deps.rules.alwaysOffer({ tool, args, place, definition });
  if ('refused' in now || now.pattern !== shown.pattern)
    return refused(
      'Unprocessable',
      `it would not allow any more what was shown (${shown.shown}), but: ${alwaysWords(now)}. Approve it once.`,
    );
  return deps.approvals.settle({
    ...settled,
    status: 'approved',
    allow: { id: randomUUID(), pattern: shown.pattern },
  });
}

/**
 * AP-3: an edited call must pass the schema and the rules like the original. Values are not coerced here as they are
 * for models.
 */
async function settleEdit(
  deps: SettleApprovalDeps & { readonly catalog: Catalog },
  settled: Settling,
  basis: ApprovalBasis,
  edited: Readonly<Record<string, unknown>>,
): Promise<SettleApprovalResult> {
  const read = deps.catalog.parse(basis.tool, edited);
  if (!read.ok) return refused('Unprocessable', `the edited arguments are refused: ${read.message}`);
  if (read.tool.name !== basis.tool)
    return refused(
      'Unprocessable',
      `the edited arguments are refused: they make it a call of ${read.tool.name}`,
    );
  const guessed = Object.keys(edited).find(
    (name) => typeof edited[name] === 'number' && typeof read.args[name] === 'string',
  );
  if (guessed !== undefined)
    return refused(
      'Unprocessable',
      `the edited arguments are refused: ${guessed}: must be text, not a number`,
    );
  const { agent, tenant_policy, context, allowlist, used } = basis;
  const verdict = deps.rules.judge({
    agent,
    tenant_policy,
    context,
    allowlist,
    used,
    user: basis.requester,
    tool: read.tool,
    args: read.args,
  });
  if (verdict.verdict === 'deny')
    return refused('Unprocessable', `the edited call is denied: ${verdict.reason}`);
  if (verdict.verdict === 'ask' && !coversTerms(basis.terms, verdict.terms ?? {}))
    return refused(
      'Unprocessable',
      'the edited call falls under a rule with other approvers; reject it and have it asked anew',
    );
  const path = await deps.pathProblem({ ...basis, tenant: settled.tenant, tool: read.tool, args: read.args });
  if (path !== undefined) return refused('Unprocessable', `the edited arguments are refused: ${path}`);
  // The call runs exactly as the person agreed to it: a hook may refuse it, but not change it.
  const hooked = await deps.guards.ofCall(
    { ...basis, tenant: settled.tenant, user: basis.requester },
    read,
    // Hooks end by their own limits, and so does this.
    { signal: new AbortController().signal, until: guardsUntil() },
  );
  if (hooked?.decision === 'deny' || hooked?.input)
    return refused(
      'Unprocessable',
      `the edited call is denied: ${hooked.reason ?? 'a hook would change it'}`,
    );
  const edit = await editedCall(deps, settled.tenant, basis, read);
  return deps.approvals.settle({ ...settled, status: 'approved', edit });
}
