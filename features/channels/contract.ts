/** Chat channels (IN-4): what comes in from a service, what goes out to one, and which session a chat's messages belong to. */
import type { Attachment } from '#domain/artifact.ts';
import type { MessageContext } from '#domain/turn.ts';

export const CHANNEL_TYPES = ['telegram', 'slack', 'discord', 'web', 'webhook'] as const;
export type ChannelType = (typeof CHANNEL_TYPES)[number];

/** Where in a service something is said: ids of the service, as text. */
export interface ChannelPlace {
  readonly chat: string;
  /** A thread or forum topic of the chat. */
  readonly thread?: string | undefined;
}

/** Whoever speaks, by the service's own id; the name is for people to read and decides nothing. */
export interface ChannelPerson {
  readonly id: string;
  readonly name: string;
}

/** A file that came with a message, as its service tells of it: nothing of it is proven. */
export interface InboundFile {
  /** By what the service gives it out: Telegram's file_id, else an address of the service. */
  readonly source: string;
  readonly name: string | undefined;
  readonly type: string | undefined;
  /** Bytes. */
  readonly size: number | undefined;
}

/** Bytes of one that is taken: as much as Telegram gives a bot. */
export const INBOUND_FILE_BYTES = 20_000_000;

/** One thing that somebody did in a service. */
export interface Inbound extends ChannelPlace {
  readonly kind: 'message' | 'press' | 'command';
  /** Of the update: the same whenever the service sends it again. */
  readonly id: string;
  readonly isGroup: boolean;
  readonly person: ChannelPerson;
  /** Of a message without the mention of the bot; of a command its words; empty for a press. */
  readonly text: string;
  readonly mentionsBot: boolean;
  readonly repliesToBot: boolean;
  /** Somebody else's words. */
  readonly isForwarded?: boolean | undefined;
  readonly files: readonly InboundFile[];
  /** What it was sent together with, by the service's id. */
  readonly album?: string | undefined;
  /** The session that a signed call names; else it follows from the chat. */
  readonly session?: string | undefined;
  /** Of a signed call: the words of a task. */
  readonly subject?: string | undefined;
  /** Of a press: what the button holds (`ChannelButton.data`), and by what Telegram knows the press when it is answered. */
  readonly press?: { readonly data: string; readonly answerTo?: string } | undefined;
}

export interface ChannelButton {
  readonly label: string;
  /** Opaque, at most 64 bytes: it comes back with the press. A button with `url` opens that instead. */
  readonly data?: string | undefined;
  readonly url?: string | undefined;
}

/** What is said in a channel: Markdown as models write it. */
export interface ChannelPost {
  readonly markdown: string;
  readonly buttons?: readonly ChannelButton[] | undefined;
}

/** A message whose files a worker fetches before it is submitted. A row keeps it, without secrets. */
export interface WaitingMessage {
  /** Of the message: the same for each repeat. */
  readonly id: string;
  readonly session: string;
  readonly text: string;
  readonly context: MessageContext;
  readonly files: readonly InboundFile[];
  /** How many more there were. */
  readonly left: number;
  /** The words are the user's own; all others are data (SC-4). */
  readonly isOwn: boolean;
  /** Of the markers around what is from outside, and where that is from. */
  readonly marker: string;
  readonly source: string;
  /** Parts that came so far; text and files are those of the parts once no further one is waited for. */
  readonly album?: { readonly parts: readonly AlbumPart[]; readonly isOver?: true };
}

/** One of several files that were sent together. */
export interface AlbumPart {
  /** Of its update, a number. */
  readonly id: string;
  readonly isAddressed: boolean;
  readonly text: string;
  readonly files: readonly InboundFile[];
}

/** What is said without an event: an answer to a stranger, or a tool's message. A row keeps it. */
export interface DirectPost {
  readonly place: ChannelPlace;
  readonly markdown: string;
  /** Sent after the words. */
  readonly files?: readonly Attachment[] | undefined;
  /** In place of the words: a link by which the user decides, made when it is said, so that no row has it. */
  readonly link?: { readonly approval: string; readonly user: string } | undefined;
  /** In place of all that: nothing is said, a message is taken in. */
  readonly waiting?: WaitingMessage | undefined;
}

/** What came of registering a channel with its service. */
export interface Connected {
  /** As whom it speaks there, by the service's word. */
  readonly account: string | null;
  readonly done: readonly string[];
  /** What is missing still, in words. */
  readonly todo: readonly string[];
}

/** `address` is where the service has to call, where one is known. Undefined: there is no such channel. */
export type ConnectChannel = (
  tenant: string,
  key: string,
  address: string | undefined,
) => Promise<Connected | undefined>;

/** Opened credentials of a channel by their names: those of CREDENTIALS of its type. */
export type ChannelCredentials = Readonly<Record<string, string>>;

/** Which of a channel's settings are sealed and never shown again; `secret://NAME` may stand for a value. */
export const CREDENTIALS: Readonly<Record<ChannelType, readonly string[]>> = {
  // What @BotFather gave, and what setWebhook was given as `secret_token`.
  telegram: ['token', 'secret_token'],
  // The bot's token (xoxb-…), and the app's signing secret.
  slack: ['token', 'signing_secret'],
  // The public key is no secret, but belongs to them: 64 hex digits.
  discord: ['token', 'public_key'],
  web: [],
  // Of the signature of each request.
  webhook: ['secret'],
};

/** Those whose service is told what happens: the others ask for it over HTTP. */
export const POSTED: ReadonlySet<ChannelType> = new Set(['telegram', 'slack', 'discord']);

/** What the service is told of a conversation; `turn.started` shows that somebody writes. */
export const CHANNEL_EVENTS: readonly string[] = [
  'turn.started',
  'message.completed',
  'turn.failed',
  'approval.*',
];

/** A code is good for so long. */
export const PAIRING_SECONDS = 3_600;
/** Strangers who have one at once, of a channel: the newest. */
export const MAX_PAIRINGS = 50;

/** What a session's `chat_id` says: handoffs go by it too, so that each topic has its own. */
export function chatIdOf({ chat, thread }: ChannelPlace): string {
  return thread === undefined ? chat : `${chat}/${thread}`;
}

export function placeOfChat(chatId: string): ChannelPlace {
  const slash = chatId.indexOf('/');
  return slash < 0 ? { chat: chatId } : { chat: chatId.slice(0, slash), thread: chatId.slice(slash + 1) };
}

/** Whether the bot is meant: always when nobody else is there. */
export function isAddressed(inbound: Inbound, groups: 'mention' | 'all' | 'none'): boolean {
  if (!inbound.isGroup) return true;
  if (groups === 'none') return false;
  return groups === 'all' || inbound.kind === 'command' || inbound.mentionsBot || inbound.repliesToBot;
}

/** Of a button: what is pressed of which delivery. `link`: whoever presses it is told, alone, where it is decided with more than a press. */
const PRESSES = { a: 'approve', w: 'approve_always', r: 'reject', l: 'link' } as const;
export type PressedDecision = (typeof PRESSES)[keyof typeof PRESSES];

export function pressData(delivery: string, decision: PressedDecision): string {
  const letter = Object.entries(PRESSES).find(([, word]) => word === decision)?.[0];
  return `${delivery}.${letter}`;
}

/** Undefined for what no button of ours holds. */
export function readPress(
  data: string,
): { readonly delivery: string; readonly decision: PressedDecision } | undefined {
  const [, delivery, letter] = /^(msg_[0-9a-f]{32})\.([awrl])$/.exec(data) ?? [];
  return delivery && letter ? { delivery, decision: PRESSES[letter as keyof typeof PRESSES] } : undefined;
}
