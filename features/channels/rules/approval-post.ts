/** Formats an approval as a message with buttons, and as that message after the decision. */
import { type ApprovalBasis, approvalFacts } from '#features/approval-links/contract.ts';
import { type ChannelButton, type ChannelPost, pressData } from '../contract.ts';
import { showHidden } from '#domain/text/hidden-text.ts';
import { markdownCode, markdownText } from '#domain/text/markdown.ts';

export interface ShownApproval extends ApprovalBasis {
  readonly id: string;
  readonly status: string;
  readonly decided_by: string | null;
  readonly note: string | null;
  readonly escalated_at: Date | null;
}

/** Characters of arguments, which fill some messages. A call that does not show in full here cannot be allowed here. */
const MAX = 12_000;

/** The delivery that its buttons name, and whether links are possible. */
export interface Asking {
  readonly delivery: string;
  readonly hasLinks: boolean;
}

export function approvalPost(approval: ShownApproval, asking: Asking, now: Date): ChannelPost {
  return { markdown: words(approval, now), buttons: buttonsOf(approval, asking) };
}

/** Replaces a question whose call was edited, if its messages cannot show the new one in full. */
export function editedPost(approval: ShownApproval, asking: Asking): ChannelPost {
  return {
    markdown: `${head(approval)}\n\nThe call was edited since: look at it and decide with ${showCommand(approval)}.`,
    buttons: otherButtons(asking, 'Say more'),
  };
}

/** Words for the one person who decides with the link. */
export function linkWords(link: string | undefined): string {
  return link === undefined
    ? 'There is no link any more: it may be decided.'
    : `Decide here, as yourself; show it to nobody: ${link}`;
}

/** The post after the decision, without buttons. */
export function outcomePost(approval: ShownApproval): ChannelPost {
  const by = approval.decided_by === null ? '' : ` by ${shown(approval.decided_by)}`;
  const note = approval.note === null ? '' : `: ${shown(approval.note)}`;
  const outcome = `**${capital(approval.status)}**${by}${note}`;
  return { markdown: `${outcome}\n\n${head(approval)}`, buttons: [] };
}

function words(approval: ShownApproval, now: Date): string {
  const args = argsOf(approval);
  const call =
    args.length <= MAX
      ? `\`\`\`json\n${args}\n\`\`\``
      : `\`\`\`json\n${args.slice(0, MAX).toWellFormed()}\n\`\`\`\nThis is not the whole call: look at it and decide with ${showCommand(approval)}.`;
  const facts = approvalFacts(approval, now).map(([name, value]) => `- ${name}: ${shown(value)}`);
  const { form } = approval;
  // Everybody in the chat reads it, so the way to the login is a link for its user alone.
  if (form?.login) return [head(approval), shown(form.message), facts.join('\n')].join('\n\n');
  const lines = [
    head(approval),
    call,
    facts.join('\n'),
    ...(form ? [`It asks for an answer: ${showCommand(approval)}`] : []),
    ...(approval.escalated_at === null ? [] : ['Others may decide now as well.']),
  ];
  return lines.join('\n\n');
}

function head({ agent_key, tool, summary }: ShownApproval): string {
  return `**${shown(agent_key)}** asks: ${markdownCode(tool)} ${markdownCode(showHidden(summary))}`;
}

function showCommand({ id }: ShownApproval): string {
  return markdownCode(`tempoclaw approvals show ${id}`);
}

function shown(text: string): string {
  return markdownText(showHidden(text));
}

/** JSON has no line breaks within a text, so nothing in it ends the fence. */
function argsOf({ args }: ShownApproval): string {
  return showHidden(JSON.stringify(args, undefined, 1));
}

function buttonsOf(approval: ShownApproval, asking: Asking): readonly ChannelButton[] {
  const { delivery } = asking;
  const others = otherButtons(asking, approval.form?.login ? 'Log in' : 'Say more');
  if (argsOf(approval).length > MAX || approval.form) return others;
  const always = { label: 'Always', data: pressData(delivery, 'approve_always') };
  return [
    { label: 'Approve', data: pressData(delivery, 'approve') },
    ...('refused' in approval.always ? [] : [always]),
    ...others,
  ];
}

/** A link leads to the page with the whole call, its form, and a field for a reason. */
function otherButtons({ delivery, hasLinks }: Asking, linkLabel: string): readonly ChannelButton[] {
  const reject = { label: 'Reject', data: pressData(delivery, 'reject') };
  return hasLinks ? [reject, { label: linkLabel, data: pressData(delivery, 'link') }] : [reject];
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
