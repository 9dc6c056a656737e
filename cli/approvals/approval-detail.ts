/** Shows one approval to a person who decides: what would run, for whom and why, its state, and what happens next. */
import { formLines } from '#domain/form.ts';
import { alwaysLine, decideCommands } from './approval-words.ts';
import { indent } from '#domain/resource/command.ts';
import { fitted, type Output, printFields } from '../output.ts';
import { agoWords, oneLine, printable } from '../text.ts';
import type { ApprovalDetail } from '../wire.ts';

const WHERE: Readonly<Record<string, string>> = {
  off: 'on the host, unboxed',
  preferred: 'in a box where one can be made, else on the host, unboxed',
  required: 'in a box',
};

export function printApproval(out: Output, approval: ApprovalDetail): void {
  const { links, terms } = approval;
  const now = Date.now();
  out.line(fitted(out, out.paint('bold', oneLine(approval.summary || approval.tool, 400))));
  const mode = String(approval.sandbox?.['mode'] ?? 'off');
  printFields(out, {
    approval: approval.id,
    status: statusWords(approval, now),
    because: approval.reason,
    risk: approval.risk,
    agent: approval.agent,
    session: `${approval.session_key}, ${approval.turn_id}`,
    subagent:
      approval.subagent && `${approval.subagent.label} of session ${approval.subagent.parent_session}`,
    delegation:
      approval.delegation && `${approval.delegation.label} of session ${approval.delegation.parent_session}`,
    for: approval.user,
    runs: approval.tool === 'exec' ? (WHERE[mode] ?? mode) : undefined,
    always: alwaysLine(approval),
    deciders: decidersOf(terms),
    agreed: approval.tally && `${approval.tally}${named(approval.approved_by)}`,
    temporal: links.temporal,
  });
  printCall(out, approval);
  if (approval.decisions.length > 0)
    block(out, 'decisions', approval.decisions.map(decisionWords).join('\n'));
  out.line();
  for (const line of nextLines(approval)) out.line(fitted(out, line));
}

function printCall(out: Output, { form, args }: ApprovalDetail): void {
  if (form) block(out, 'question', formLines(form).join('\n'));
  const { command, ...others } = args;
  if (typeof command === 'string') block(out, 'command', command);
  if (typeof command !== 'string' || Object.keys(others).length > 0)
    block(out, 'arguments', JSON.stringify(typeof command === 'string' ? others : args, null, 2));
}

/** Prints the text as it is: where a long line ends shows what belongs together. */
function block(out: Output, name: string, text: string): void {
  out.line(`\n${out.paint('dim', name)}\n${indent(printable(text))}`);
}

function statusWords(approval: ApprovalDetail, now: number): string {
  const { status, decided_by: by, decided_at: at, expires_at: expires } = approval;
  if (status === 'pending')
    return `pending, asked ${agoWords(approval.created_at, now)}, expires ${agoWords(expires, now)}`;
  return `${status}${by ? ` by ${by}` : ''}${at ? ` ${agoWords(at, now)}` : ''}`;
}

function decidersOf({
  approvers,
  quorum,
  exclude_requester: others,
}: ApprovalDetail['terms']): string | undefined {
  const who = [
    ...(approvers?.users ?? []),
    ...(approvers?.scopes ?? []).map((scope) => `keys with ${scope}`),
  ];
  const words = [
    who.length > 0 ? who.join(', ') : '',
    quorum !== undefined && quorum > 1 ? `${quorum} of them must agree` : '',
    others ? 'not who asked' : '',
  ].filter(Boolean);
  return words.length > 0 ? words.join('; ') : undefined;
}

function named(users: readonly string[]): string {
  return users.length > 0 ? `: ${users.join(', ')}` : '';
}

function decisionWords(one: ApprovalDetail['decisions'][number]): string {
  const note = one.note ? `: ${oneLine(one.note, 300)}` : '';
  const mark = [one.via, one.proven ? '' : 'not proven', one.counts ? '' : 'does not count'].filter(Boolean);
  return `${one.at}  ${one.decision} by ${oneLine(one.by, 80)} (${mark.join(', ')})${note}`;
}

function nextLines({ id, status, expires_at: expires, tool, turn_id: turn, form }: ApprovalDetail): string[] {
  if (form && status === 'pending')
    return [
      `Answer: npx tempoclaw approvals approve ${id} --args '{…}', without --args as it is shown; rejected, the server is told so and ${tool} goes on.`,
    ];
  if (status === 'pending')
    return [
      `Approved, ${tool} runs and the turn goes on; rejected, the model is told. Undecided at ${expires}, it counts as rejected.`,
      `  ${decideCommands(id)}`,
    ];
  if (status === 'approved') return [`It was allowed to run; how it went: npx tempoclaw turns show ${turn}`];
  if (status === 'responded') return ['It did not run: the model read the answer instead.'];
  if (status === 'withdrawn') return ['It did not run: its turn was stopped or has ended.'];
  return ['It did not run: the model was told.'];
}
