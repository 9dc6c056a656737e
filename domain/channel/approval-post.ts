/** An approval as a message with buttons, and as that message when it is decided. */
import { type AskedApproval, approvalFacts } from '../approval-facts.ts';
import { type ChannelButton, type ChannelPost, pressData } from '../channel.ts';
import { showHidden } from '../hidden-text.ts';
import { markdownCode, markdownText } from '../markdown.ts';

export interface ShownApproval extends AskedApproval {
  readonly id: string;
  readonly status: string;
  readonly decided_by: string | null;
  readonly note: string | null;
  readonly escalated_at: Date | null;
}

/** Characters of arguments: some messages. Who cannot see the whole call here cannot allow it here. */
const MOST = 12_000;

/** `delivery` is what its buttons name. */
export function approvalPost(approval: ShownApproval, delivery: string, now: Date): ChannelPost {
  return { markdown: words(approval, now), buttons: buttonsOf(approval, delivery) };
}

/** In place of a question whose call was edited, where its messages cannot show the new one whole. */
export function editedPost(approval: ShownApproval, delivery: string): ChannelPost {
  return {
    markdown: `${head(approval)}\n\nThe call was edited since: look at it and decide with ${showCommand(approval)}.`,
    buttons: [rejectButton(delivery)],
  };
}

/** Without buttons. */
export function outcomePost(approval: ShownApproval): ChannelPost {
  const by = approval.decided_by === null ? '' : ` by ${shown(approval.decided_by)}`;
  const note = approval.note === null ? '' : `: ${shown(approval.note)}`;
  const outcome = `**${capital(approval.status)}**${by}${note}`;
  return { markdown: `${outcome}\n\n${head(approval)}`, buttons: [] };
}

function words(approval: ShownApproval, now: Date): string {
  const args = argsOf(approval);
  const call =
    args.length <= MOST
      ? `\`\`\`json\n${args}\n\`\`\``
      : `\`\`\`json\n${args.slice(0, MOST)}\n\`\`\`\nThis is not the whole call: look at it and decide with ${showCommand(approval)}.`;
  const facts = approvalFacts(approval, now).map(([name, value]) => `- ${name}: ${shown(value)}`);
  const lines = [
    head(approval),
    call,
    facts.join('\n'),
    ...(approval.form ? [`It asks for an answer: ${showCommand(approval)}`] : []),
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

/** JSON breaks no line within a text, so that nothing in it ends the fence. */
function argsOf({ args }: ShownApproval): string {
  return showHidden(JSON.stringify(args, undefined, 1));
}

function buttonsOf(approval: ShownApproval, delivery: string): readonly ChannelButton[] {
  const reject = rejectButton(delivery);
  if (argsOf(approval).length > MOST || approval.form) return [reject];
  const always = { label: 'Always', data: pressData(delivery, 'approve_always') };
  return [
    { label: 'Approve', data: pressData(delivery, 'approve') },
    ...('refused' in approval.always ? [] : [always]),
    reject,
  ];
}

function rejectButton(delivery: string): ChannelButton {
  return { label: 'Reject', data: pressData(delivery, 'reject') };
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
