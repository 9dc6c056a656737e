/**
 * Chat channels (IN-4): what comes in from a service, what goes out to one, and which session a chat's messages belong
 * to.
 */
import type { Attachment } from '#domain/files/attachment.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import type { Kept } from '#domain/schema/scalars.ts';
import type { connectedSchema } from './schema.ts';

export const CHANNEL_TYPES = ['telegram', 'slack', 'discord', 'web'] as const;
/** One of these, or a type that another feature adds (`channelTypes` of its manifest). */
export type ChannelType = string;

/** A place in a service, by the service's ids as text. */
export interface ChannelPlace {
  readonly chat: string;
  /** A thread or forum topic of the chat. */
  readonly thread?: string | undefined;
}

/** A person by the service's own id. The name is for people to read and decides nothing. */
export interface ChannelPerson {
  readonly id: string;
  readonly name: string;
}

/** A file of a message, as its service describes it; nothing of that is proven. */
export interface InboundFile {
  /** What the service identifies it by: Telegram's file_id, or an address of the service. */
  readonly source: string;
  readonly name: string | undefined;
  readonly type: string | undefined;
  /** Bytes. */
  readonly size: number | undefined;
}

/** Largest file in bytes that is accepted: as much as Telegram sends to a bot. */
export const INBOUND_FILE_BYTES = 20_000_000;

/** One thing that somebody did in a service. */
export interface Inbound extends ChannelPlace {
  readonly kind: 'message' | 'press' | 'command';
  /** The update's id, which is the same whenever the service sends it again. */
  readonly id: string;
  readonly isGroup: boolean;
  readonly person: ChannelPerson;
  /**
   * The text of a message without the mention of the bot, or the words of a command. It is empty for a pressed button.
   */
  readonly text: string;
  readonly mentionsBot: boolean;
  readonly repliesToBot: boolean;
  /** True if the words are somebody else's. */
  readonly isForwarded?: boolean | undefined;
  readonly files: readonly InboundFile[];
  /** The service's id of the group in which it was sent. */
  readonly album?: string | undefined;
  /** True for a signed call, which has no person: its settings name the user, and its text marks what is external. */
  readonly isCall?: true;
  /** The session that a signed call names; otherwise it is derived from the chat. */
  readonly session?: string | undefined;
  /** For a signed call, the subject of a task. */
  readonly subject?: string | undefined;
  /** For a pressed button, its contents (`ChannelButton.data`), and the id by which Telegram expects the answer. */
  readonly press?: { readonly data: string; readonly answerTo?: string } | undefined;
}

export interface ChannelButton {
  readonly label: string;
  /** Opaque, at most 64 bytes; it returns with the press. A button with `url` opens that instead. */
  readonly data?: string | undefined;
  readonly url?: string | undefined;
}

/** A post in a channel: Markdown as models write it. */
export interface ChannelPost {
  readonly markdown: string;
  readonly buttons?: readonly ChannelButton[] | undefined;
}

/** A message whose files a worker fetches before it is submitted. A row stores it, without secrets. */
export interface WaitingMessage {
  /** The message's id, which is the same for each repeat. */
  readonly id: string;
  readonly session: string;
  readonly text: string;
  readonly context: MessageContext;
  readonly files: readonly InboundFile[];
  /** How many more files there were. */
  readonly left: number;
  /** True if the words are the user's own; all others are data (SC-4). */
  readonly isOwn: boolean;
  /** The id in the markers around external text, and the source of that text. */
  readonly marker: string;
  readonly source: string;
  /** Parts that came so far. Text and files are those of the parts once no further part is expected. */
  readonly album?: { readonly parts: readonly AlbumPart[]; readonly isOver?: true };
}

/** One of several files that were sent together. */
export interface AlbumPart {
  /** The id of its update, a number. */
  readonly id: string;
  readonly isAddressed: boolean;
  readonly text: string;
  readonly files: readonly InboundFile[];
}

/** A post without an event: an answer to a stranger, or a tool's message. A row stores it. */
export interface DirectPost {
  readonly place: ChannelPlace;
  readonly markdown: string;
  /** Files that are sent after the words. */
  readonly files?: readonly Attachment[] | undefined;
  /**
   * Replaces the words with a link by which the user decides. The link is made when it is sent, so that no row contains
   * it.
   */
  readonly link?: { readonly approval: string; readonly user: string } | undefined;
  /** Replaces all of the above: nothing is posted, and a message is received. */
  readonly waiting?: WaitingMessage | undefined;
}

/** The result of registering a channel with its service. */
export type Connected = Kept<typeof connectedSchema>;

/** `address` is what the service has to call, if it is known. Returns undefined if there is no such channel. */
export type ConnectChannel = (
  tenant: string,
  key: string,
  address: string | undefined,
) => Promise<Connected | undefined>;

/** Opened credentials of a channel by their names. */
export type ChannelCredentials = Readonly<Record<string, string>>;

/** Channel types whose service gets posts; clients of the others read over HTTP. */
export const POSTED: ReadonlySet<ChannelType> = new Set(['telegram', 'slack', 'discord']);

/** The events of a conversation that are sent to the service; `turn.started` shows the typing indicator. */
export const CHANNEL_EVENTS: readonly string[] = [
  'turn.started',
  'message.completed',
  'turn.failed',
  'approval.*',
];

/** Seconds that a code is valid. */
export const PAIRING_SECONDS = 3_600;
/** Strangers of a channel with a valid code at once; the newest have them. */
export const MAX_PAIRINGS = 50;

/** The `chat_id` of a session. Handoffs also use it, so that each topic has its own. */
export function chatIdOf({ chat, thread }: ChannelPlace): string {
  return thread === undefined ? chat : `${chat}/${thread}`;
}

export function placeOfChat(chatId: string): ChannelPlace {
  const slash = chatId.indexOf('/');
  return slash < 0 ? { chat: chatId } : { chat: chatId.slice(0, slash), thread: chatId.slice(slash + 1) };
}

/** Whether the bot is addressed: always when nobody else is in the chat. */
export function isAddressed(inbound: Inbound, groups: 'mention' | 'all' | 'none'): boolean {
  if (!inbound.isGroup) return true;
  if (groups === 'none') return false;
  return groups === 'all' || inbound.kind === 'command' || inbound.mentionsBot || inbound.repliesToBot;
}

/**
 * What a button contains: the action and the delivery. `link` sends the presser a private link, for decisions that need
 * more than a press.
 */
const PRESSES = { a: 'approve', w: 'approve_always', r: 'reject', l: 'link' } as const;
export type PressedDecision = (typeof PRESSES)[keyof typeof PRESSES];

export function pressData(delivery: string, decision: PressedDecision): string {
  const letter = Object.entries(PRESSES).find(([, word]) => word === decision)?.[0];
  return `${delivery}.${letter}`;
}

/** Returns undefined for data of no button of ours. */
export function readPress(
  data: string,
): { readonly delivery: string; readonly decision: PressedDecision } | undefined {
  const [, delivery, letter] = /^(msg_[0-9a-f]{32})\.([awrl])$/.exec(data) ?? [];
  return delivery && letter ? { delivery, decision: PRESSES[letter as keyof typeof PRESSES] } : undefined;
}
