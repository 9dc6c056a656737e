/**
 * Mails about approvals: which events are mailed to whom, and in which words. They are plain text, so that nothing in
 * them runs or is loaded.
 */
import type { ApprovalStatus } from '#domain/approval/approval.ts';
import { type ApprovalBasis, approvalFacts, timeWords } from '#features/approval-links/contract.ts';
import { cutText } from '#domain/text/cut-text.ts';
import { showHidden } from '#domain/text/hidden-text.ts';
import { formLines } from '#domain/form.ts';
import { NOTIFY_WORDS } from '#features/webhooks-out/contract.ts';

export interface MailedApproval extends ApprovalBasis {
  readonly id: string;
  readonly status: ApprovalStatus;
  readonly decision: string | null;
  readonly decided_by: string | null;
  readonly decided_at: Date | null;
  readonly note: string | null;
}

/** A webhook's delivery of an event of an approval. */
export interface MailBasis {
  readonly event: string;
  /** The session whose feed has the event. */
  readonly session: string;
  /** Limits the mails to these; null means all. */
  readonly scope: { readonly session_key: string | null; readonly agent_key: string | null };
  /** Why the reader may not decide it now. */
  readonly decider: string | undefined;
  /** A mail that asks about it has been sent. */
  readonly wasRequested: boolean;
}

/** `silent` is the reason why nothing is sent. */
export type MailPlan = 'ask' | 'tell' | { readonly silent: string };

/** While it is pending, each mail asks, so that the newest mail has everything. Those who were asked get its end. */
export function planMail(approval: MailedApproval, basis: MailBasis): MailPlan {
  const { event, session, scope, decider, wasRequested } = basis;
  const isOwn =
    [null, approval.session_key].includes(scope.session_key) &&
    [null, approval.agent_key].includes(scope.agent_key);
  // The feeds of those it works for have the event as well.
  if (isOwn && session !== approval.session_key) return { silent: 'not sent: its own session tells of it' };
  if (approval.terms.client_tool) return { silent: 'not sent: a program answers it' };
  if (approval.status === 'pending')
    return decider === undefined ? 'ask' : { silent: `not sent: the reader may not decide it: ${decider}` };
  if (event !== 'approval.decided') return { silent: `not sent: it is ${approval.status} by now` };
  return wasRequested ? 'tell' : { silent: 'not sent: no mail has asked it' };
}

export interface MailText {
  readonly subject: string;
  readonly text: string;
}

/** If `link` is undefined, there is no address for one. */
export function askingMail(
  approval: MailedApproval,
  { event, user, link, now }: { event: string; user: string; link: string | undefined; now: Date },
): MailText {
  const { id, tool, args, form } = approval;
  const facts = approvalFacts(approval, now).map(([name, value]) => `${name}: ${value}`);
  const way =
    link === undefined
      ? `npx tempoclaw approvals show ${id}`
      : `${link}\n\nOpening it decides nothing; the page has the buttons. Whoever has it decides as ${inline(user)}, once: forward it to nobody.`;
  return mailOf(approval, [
    `${leadOf(event, approval)} You decide as ${inline(user)}:\n\n${way}`,
    'The lines behind bars are what the agent and its tools say, with secrets masked.',
    quoted(form ? formLines(form).join('\n') : approval.summary),
    ...(form ? [] : [`${tool} with these arguments:\n${quoted(JSON.stringify(args, null, 2))}`]),
    quoted(facts.join('\n')),
  ]);
}

function leadOf(event: string, { terms, agreed }: MailedApproval): string {
  if (event === 'approval.voted')
    return `${agreed.length} of ${terms.quorum ?? 1} have agreed; it waits for more.`;
  if (event === 'approval.escalated') return 'Nobody has decided it in time; others may decide it as well.';
  return event === 'approval.reminded' ? 'It still waits for a decision.' : 'A call waits for a decision.';
}

export function outcomeMail(approval: MailedApproval): MailText {
  const { status, decided_by: by, decided_at: at, note } = approval;
  return mailOf(approval, [
    `It is ${status}${by ? ` by ${inline(by)}` : ''}${at ? ` since ${timeWords(at)}` : ''}. Nothing is left to do.`,
    ...(note ? [`What was said:\n${quoted(note)}`] : []),
    `It was about:\n${quoted(approval.summary)}`,
  ]);
}

export function testMail(): MailText {
  return { subject: 'A test of TempoClaw', text: `${NOTIFY_WORDS}\n` };
}

/** The subject is the same for all mails of one thread, because some programs need that to show them as one. */
function mailOf({ id, summary, form }: MailedApproval, parts: readonly string[]): MailText {
  const what = inline(form ? form.message : summary);
  const text = cutText(parts.join('\n\n'), MAX_TEXT, `npx tempoclaw approvals show ${id}`).text;
  return { subject: `Approval: ${Array.from(what).slice(0, 120).join('')}`, text: `${text}\n` };
}

/** Bytes; servers accept at least ten times as much. */
const MAX_TEXT = 200_000;

function inline(text: string): string {
  return showHidden(text).replace(/\s+/g, ' ');
}

/** Prefixes the lines, so that none can look like one of ours. */
function quoted(text: string): string {
  return showHidden(text).replace(/^/gm, '| ');
}
