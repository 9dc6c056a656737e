/** What an approval's workflow shows: its state, the receipts of decisions, and its details in the web UI. */
import { ApplicationFailure } from '@temporalio/workflow';
import {
  type ApprovalCarryOver,
  type ApprovalInput,
  type ApprovalState,
  type CountedDecision,
  lateProblem,
  type SettleApprovalResult,
} from '#domain/approval/approval.ts';
import type { DecisionReceipt } from '#domain/schema/approval.ts';
import { markdownCode, markdownText } from '#domain/text/markdown.ts';

export type Settled = Extract<SettleApprovalResult, { kind: 'settled' }>;

interface ShownApproval extends ApprovalCarryOver {
  readonly input: ApprovalInput;
  /** Milliseconds since 1970. */
  readonly deadline: number;
  readonly end?: Settled;
}

export function stateOf(progress: ShownApproval): ApprovalState {
  const { input, end } = progress;
  return {
    approval_id: input.approval_id,
    status: end?.status ?? 'pending',
    decision: end?.decision ?? null,
    decided_by: end?.by ?? null,
    decided_at: end?.at ?? null,
    expires_at: new Date(progress.deadline).toISOString(),
    digest: progress.digest,
    refused: progress.refused,
    last_refused: progress.last_refused,
    ...(input.quorum === undefined ? {} : { approvals: progress.approvals, quorum: input.quorum }),
    escalated: progress.opened ? (true as const) : undefined,
    token_required: input.token,
  };
}

export function countedReceipt(approval_id: string, counted: CountedDecision): DecisionReceipt {
  const { decision, by, at, approvals, quorum, already } = counted;
  return {
    approval_id,
    status: 'pending',
    decision,
    decided_by: by,
    decided_at: at,
    approvals,
    quorum,
    tally: `${approvals} of ${quorum}`,
    already: already || undefined,
  };
}

export function lateDecision(id: string, result: Settled): ApplicationFailure {
  const { type, message } = lateProblem(id, result);
  if (type !== 'AlreadyDecided') return ApplicationFailure.nonRetryable(message, type);
  const { status, by, at } = result;
  return ApplicationFailure.nonRetryable(message, type, { status, by, at });
}

export function waitingDetails({
  input,
  deadline,
  summary,
  approvals,
  opened,
  refused,
  last_refused: last,
}: ShownApproval): string {
  return [
    `Waits for a decision until ${new Date(deadline).toISOString()}`,
    '',
    `**${markdownCode(summary)}**`,
    '',
    ...(input.quorum === undefined ? [] : [`- agreed: ${approvals} of ${input.quorum}`]),
    ...(opened ? ['- escalated: others may decide as well'] : []),
    ...(last
      ? [`- refused: ${refused}, the last ${markdownText(`${last.what} by ${last.by}: ${last.problem}`)}`]
      : []),
    `- session: \`${input.session_key}\``,
    `- turn: \`${input.turn_id}\``,
    ...(input.form === undefined ? [] : [`- an MCP server asks: ${markdownCode(input.form)}`]),
    ...(input.files === undefined ? [] : [`- runs: ${markdownCode(input.files)}`]),
    ...(input.always === undefined ? [] : [`- \`approve_always\`: ${markdownCode(input.always)}`]),
    ...(input.token ? [DECIDE_WITH_TOKEN] : [input.form === undefined ? DECIDE : ANSWER]),
  ].join('\n');
}

const DECIDE =
  '- decide: update or signal `decide` with `{"decision":"approve"}` or `{"decision":"reject","reason":"…"}`';
const ANSWER =
  '- answer: update or signal `decide` with `{"decision":"edit","args":{…}}`, `{"decision":"approve"}` or `{"decision":"reject"}`';
const DECIDE_WITH_TOKEN =
  '- decide: update or signal `decide` with `{"decision":"approve","token":"…"}`; `tempoclaw approvals token ID` makes the token';
