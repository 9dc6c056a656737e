/** An approval as a message with buttons, and as that message when it is decided. */
import { type AlwaysOffer, alwaysWords } from '../approval.ts';
import { type ChannelButton, type ChannelPost, pressData } from '../channel.ts';
import { markdownCode, markdownText } from '../markdown.ts';

export interface ShownApproval {
  readonly id: string;
  readonly agent_key: string;
  readonly tool: string;
  readonly summary: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly reason: string | null;
  readonly risk: string | null;
  readonly status: string;
  readonly decided_by: string | null;
  readonly note: string | null;
  readonly terms: { readonly quorum?: number | undefined };
  readonly agreed: readonly string[];
  readonly escalated_at: Date | null;
  readonly expires_at: Date;
  readonly always: AlwaysOffer;
  readonly form: unknown;
}

/** Characters of arguments: some messages. Who cannot see the whole call here cannot allow it here. */
const MOST = 12_000;

/** `delivery` is what its buttons name. */
export function approvalPost(approval: ShownApproval, delivery: string): ChannelPost {
  return { markdown: words(approval), buttons: buttonsOf(approval, delivery) };
}

/** Without buttons when it is over. */
export function outcomePost(approval: ShownApproval, delivery: string): ChannelPost {
  if (approval.status === 'pending') return approvalPost(approval, delivery);
  const by = approval.decided_by === null ? '' : ` by ${markdownText(approval.decided_by)}`;
  const note = approval.note === null ? '' : `: ${markdownText(approval.note)}`;
  const outcome = `**${capital(approval.status)}**${by}${note}`;
  return { markdown: `${outcome}\n\n${head(approval)}`, buttons: [] };
}

function words(approval: ShownApproval): string {
  const { reason, risk, terms, agreed, escalated_at, expires_at, id } = approval;
  const args = argsOf(approval);
  const call =
    args.length <= MOST
      ? `\`\`\`json\n${args}\n\`\`\``
      : `\`\`\`json\n${args.slice(0, MOST)}\n\`\`\`\nThis is not the whole call: look at it and decide with \`tempoclaw approvals show ${id}\`.`;
  const lines = [
    head(approval),
    call,
    ...(reason === null ? [] : [`Why it is asked: ${markdownText(reason)}`]),
    ...(risk === null ? [] : [`Risk: ${markdownText(risk)}`]),
    ...(approval.form ? [`It asks for an answer: \`tempoclaw approvals show ${id}\``] : []),
    ...((terms.quorum ?? 1) > 1
      ? [
          `${agreed.length} of ${terms.quorum} agree${agreed.length > 0 ? `: ${agreed.map(markdownText).join(', ')}` : ''}`,
        ]
      : []),
    ...(escalated_at === null ? [] : ['Others may decide now as well.']),
    ...('refused' in approval.always
      ? []
      : [`Always would allow: ${markdownCode(alwaysWords(approval.always))}`]),
    `Until ${expires_at.toISOString().slice(0, 16).replace('T', ' ')} UTC`,
  ];
  return lines.join('\n\n');
}

function head({ agent_key, tool, summary }: ShownApproval): string {
  return `**${markdownText(agent_key)}** asks: ${markdownCode(tool)} ${markdownCode(summary)}`;
}

/** JSON breaks no line within a text, so that nothing in it ends the fence. */
function argsOf({ args }: ShownApproval): string {
  return JSON.stringify(args, undefined, 1);
}

function buttonsOf(approval: ShownApproval, delivery: string): readonly ChannelButton[] {
  const reject = { label: 'Reject', data: pressData(delivery, 'reject') };
  if (argsOf(approval).length > MOST || approval.form) return [reject];
  const always = { label: 'Always', data: pressData(delivery, 'approve_always') };
  return [
    { label: 'Approve', data: pressData(delivery, 'approve') },
    ...('refused' in approval.always ? [] : [always]),
    reject,
  ];
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
