/** Asks people again about an approved call whose files have changed since; it then waits as before (AP-4). */
import { alwaysWords } from '#domain/approval/approval.ts';
import { MAX_ASKS } from '#domain/approval/bound-file.ts';
import { storableText } from '#domain/text/storable-text.ts';
import { toolError, type ToolResult } from '#domain/tool.ts';
import type { PlannedCall } from '#domain/turn/turn-activities.ts';
import type { FilesChanged } from './perform-tool.ts';
import { plannedApproval, RUNS_FILES } from './planned-approval.ts';
import type { RepeatedApproval, NewAsk } from '#store/approvals/approval-questions.ts';
import type { RunnableCall } from './claimed-call.ts';

/** Greatest number of names in a reason; the approval contains all. */
const MAX_NAMES = 5;

/** Suffix of the id of an approval that is not the first of its call. */
const AGAIN = /:again-(\d+)$/;

/** Returns a result in its place when people were asked so often that one should investigate. */
export function newAsk(
  claim: RunnableCall,
  { changed, files, digest }: FilesChanged,
  seconds: number,
): NewAsk | ToolResult {
  const { approval } = claim;
  const asks = 1 + Number(AGAIN.exec(approval ?? '')?.[1] ?? 0);
  const names = `${changed.slice(0, MAX_NAMES).join(', ')}${changed.length > MAX_NAMES ? ', …' : ''}`;
  const have = changed.length > 1 ? 'have' : 'has';
  if (!approval || asks >= MAX_ASKS)
    return toolError(
      'ApprovalDenied',
      `${names} ${have} changed since it was approved, ${asks} times in a row; the call has not run and is not asked about again`,
    );
  const always = { refused: RUNS_FILES };
  return {
    id: `${approval.replace(AGAIN, '')}:again-${asks}`,
    digest,
    files,
    reason: storableText(`${names} ${have} changed since the call was approved`),
    always,
    words: alwaysWords(always),
    expires: claim.terms?.expires_seconds ?? seconds,
  };
}

export function plannedAgain({
  approval,
  expires,
  until,
  digest,
  terms,
  always,
  files,
  form,
}: RepeatedApproval): NonNullable<PlannedCall['approval']> {
  return plannedApproval(approval, expires, until, { digest, terms: terms ?? {}, always, files, form });
}
