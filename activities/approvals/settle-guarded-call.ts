/** Ends the approval of a call that a program outside runs, which asked before it ran (features/guard). */
import { randomUUID } from 'node:crypto';
import { alwaysWords, type DecideInput, type SettleApprovalResult } from '#domain/approval/approval.ts';
import { coversTerms } from '#domain/approval/approval-decider.ts';
import { storableJson } from '#domain/text/storable-text.ts';
import type { ReplayClass } from '#domain/tool.ts';
import { guardedTool } from '#policy/guarded-tool.ts';
import type { ApprovalBasis, ApprovalLedger } from '#store/approvals/approval-ledger.ts';
import type { CallDeps } from '../tool-call/call-deps.ts';
import { callDigest } from '../tool-call/call-digest.ts';
import { formPlace } from '../tool-call/call-outside.ts';
import { settleRejected } from './settle-client-call.ts';
import { refused, type Settling } from './settle-form.ts';

interface SettleDeps extends Pick<CallDeps, 'sealer' | 'scrubber' | 'rules'> {
  readonly approvals: Pick<ApprovalLedger, 'settle'>;
}

type GuardedBasis = ApprovalBasis & { readonly guarded: ReplayClass };

/** Characters of all arguments after an edit. */
const MAX_ARGUMENTS = 65_536;
/** Characters of the line that people see. */
const SUMMARY = 120;

export async function settleGuardedCall(
  deps: SettleDeps,
  settled: Settling,
  basis: GuardedBasis,
  { decision, args = {}, text = '' }: DecideInput,
): Promise<SettleApprovalResult> {
  switch (decision) {
    case 'reject':
      return settleRejected(deps, settled);
    case 'respond':
      // The program reads the text from the approval's note, because it has no call among ours.
      return deps.approvals.settle({ ...settled, status: 'responded', note: deps.scrubber.text(text) });
    case 'approve':
      return deps.approvals.settle({ ...settled, status: 'approved' });
    case 'approve_always':
      return settleAlways(deps, settled, basis);
    case 'edit':
      return settleEdit(deps, settled, basis, args);
  }
}

async function settleAlways(
  deps: SettleDeps,
  settled: Settling,
  { always }: GuardedBasis,
): Promise<SettleApprovalResult> {
  if ('refused' in always) return refused('Unprocessable', `${alwaysWords(always)}. Approve it once.`);
  const allow = { id: randomUUID(), pattern: always.pattern };
  return deps.approvals.settle({ ...settled, status: 'approved', allow });
}

/** The rules judge the edited call like the original. Its program checks the arguments when it runs it. */
async function settleEdit(
  deps: SettleDeps,
  settled: Settling,
  basis: GuardedBasis,
  args: Readonly<Record<string, unknown>>,
): Promise<SettleApprovalResult> {
  if (JSON.stringify(args).length > MAX_ARGUMENTS)
    return refused('Unprocessable', `the edited arguments have more than ${MAX_ARGUMENTS} characters`);
  const tool = guardedTool(basis.tool, basis.guarded);
  const verdict = deps.rules.judge({ ...basis, user: basis.requester, tool, args });
  if (verdict.verdict === 'deny')
    return refused('Unprocessable', `the edited call is denied: ${verdict.reason}`);
  if (verdict.verdict === 'ask' && !coversTerms(basis.terms, verdict.terms ?? {}))
    return refused(
      'Unprocessable',
      'the edited call falls under a rule with other approvers; reject it and have it asked anew',
    );
  return deps.approvals.settle({
    ...settled,
    status: 'approved',
    edit: guardedCall(deps, settled, basis.tool, args),
  });
}

/** What rows have of a guarded call: what people may see, and the arguments themselves, sealed, when these differ. */
export function guardedCall(
  { scrubber, sealer }: Pick<CallDeps, 'scrubber' | 'sealer'>,
  { tenant, id }: Pick<Settling, 'tenant' | 'id'>,
  tool: string,
  args: Readonly<Record<string, unknown>>,
) {
  const shown = storableJson(scrubber.args(args));
  const digest = callDigest(tool, args);
  const differs = callDigest(tool, shown) !== digest;
  const sealed = differs ? sealer.seal(JSON.stringify(args), formPlace(tenant, id)) : null;
  return {
    args: shown,
    digest,
    summary: scrubber.preview(`${tool}: ${JSON.stringify(shown)}`, SUMMARY),
    sealed,
  };
}
