/** The way out to a chat service: its wire form over a door of ours, one request at a time. */
import type { ChannelCredentials, ChannelPlace, ChannelPost, InboundFile } from '../contract.ts';
import type { ChannelSettings } from '../schema.ts';
import type { EgressClient } from '@tempoclaw/egress';

export interface SendContext {
  /** Opens to the service alone. */
  readonly door: EgressClient;
  readonly credentials: ChannelCredentials;
  /** Of the service, without a slash at its end. */
  readonly baseUrl: string;
  readonly signal: AbortSignal;
}

export interface SentFile {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** Written as it goes, so that what was done is told when something fails after it. */
export interface ConnectReport {
  account: string | null;
  readonly done: string[];
  readonly todo: string[];
}

export interface ConnectOptions {
  /** Where the service has to call. */
  readonly address: string | undefined;
  readonly settings: ChannelSettings;
}

export interface TopicOptions {
  readonly iconColor?: number | undefined;
  readonly iconEmoji?: string | undefined;
}

/** Each method makes one request, or a few that may be repeated. @throws ChannelError, and what the door throws */
export interface ChannelSender {
  /** The service's own address; a setting may name another (TELEGRAM_BASE_URL and its like). */
  readonly usualUrl: string;
  /** In messages that the service takes, in their order: text split, buttons with the last. Pure: what crashed between two goes on by it. */
  split(post: ChannelPost): readonly ChannelPost[];
  /** Posts one part of `split`; its id at the service. Where `isOnceByKey`, a repeat with the same `key` within minutes posts nothing. */
  send(context: SendContext, place: ChannelPlace, part: ChannelPost, key?: string): Promise<string>;
  readonly isOnceByKey?: true;
  /** Gives a message another text and other buttons, which it may have already. False: it is gone, or cannot be changed any more. */
  edit(context: SendContext, place: ChannelPlace, id: string, part: ChannelPost): Promise<boolean>;
  /** Bytes of a file that the service takes. */
  readonly mostBytes: number;
  /** Its id at the service, as `send`. */
  sendFile(context: SendContext, place: ChannelPlace, file: SentFile): Promise<string>;
  /** Asks addresses of the service alone. A final refusal: it is gone, or none of the service's. */
  fetchFile(context: SendContext, file: InboundFile): Promise<Buffer>;
  /** Registers `address` with the service, and says what somebody else has to do. Safe to repeat. */
  connect(context: SendContext, options: ConnectOptions, report: ConnectReport): Promise<void>;
  typing?(context: SendContext, place: ChannelPlace): Promise<void>;
  /** The new topic's thread id. */
  createTopic?(context: SendContext, chat: string, name: string, options: TopicOptions): Promise<string>;
}
