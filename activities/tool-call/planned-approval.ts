/** What people are asked about a call: what "always" would store, and the terms for the approval's workflow. */
import type { CommandPlace } from '@tempoclaw/shell-judge';
import { type AlwaysOffer, alwaysWords } from '#domain/approval/approval.ts';
import { isBound } from '#domain/approval/approval-decider.ts';
import type { ApprovalTerms } from '#domain/approval/approval-terms.ts';
import { type BoundFile, boundFilesWords } from '#domain/approval/bound-file.ts';
import type { McpForm } from '#domain/form.ts';
import type { PlannedCall } from '#domain/turn/turn-activities.ts';
import { isOfClient } from '#policy/client-tools.ts';
import type { CallRules } from '#policy/call-rules.ts';
import type { Tool } from '#policy/define-tool.ts';
import type { NewCall } from '#store/turns/answer-record.ts';

/** A permanent permission asks nobody again, so nobody would check the files again. */
export const RUNS_FILES = 'it runs files of the workspace, which may be others the next time';

/** People see exactly what is stored, so nothing is stored that they see only in part. */
export function offerOf(
  { rules }: { readonly rules: Pick<CallRules, 'alwaysOffer'> },
  { tool, args, sealed, custom_tool }: Pick<NewCall, 'tool' | 'args' | 'sealed' | 'custom_tool'>,
  place: CommandPlace,
  { quorum }: ApprovalTerms,
  files: readonly BoundFile[],
  called?: Pick<Tool, 'group'>,
): AlwaysOffer {
  if (called && isOfClient(called)) return { refused: 'the sender of the message runs it' };
  if (sealed !== undefined) return { refused: 'it holds a secret' };
  if (files.length > 0) return { refused: RUNS_FILES };
  return rules.alwaysOffer({
    tool,
    args,
    place,
    quorum,
    definition: custom_tool,
  });
}

/** Characters of file names in the web UI; the API returns all. */
const FILES_SHOWN = 2_000;

interface ShownTerms {
  readonly digest: string;
  readonly terms: ApprovalTerms;
  readonly always: AlwaysOffer | null;
  readonly files: readonly BoundFile[];
  readonly form?: McpForm | null;
}

/** The terms for the approval's workflow; who may decide is checked at the decision. */
export function plannedApproval(
  id: string,
  expires: number,
  until: number | null,
  { digest, terms, always, files, form }: ShownTerms,
): NonNullable<PlannedCall['approval']> {
  const { quorum = 1, escalate, remind_seconds, decision_token } = terms;
  const words = boundFilesWords(files);
  return {
    id,
    digest,
    expires,
    until: until ?? undefined,
    quorum: quorum > 1 ? quorum : undefined,
    escalate: escalate?.after_seconds,
    remind: remind_seconds,
    always: always === null ? undefined : alwaysWords(always),
    files: words?.slice(0, FILES_SHOWN),
    token: decision_token,
    bound: isBound(terms) ? true : undefined,
    form: form ? `${form.server}: ${form.message.slice(0, FILES_SHOWN)}` : undefined,
  };
}
