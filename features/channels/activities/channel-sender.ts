/**
 * Sends to a chat service: it converts posts to the service's wire format and sends them through our egress client, one
 * request at a time.
 */
import type { ChannelCredentials, ChannelPlace, ChannelPost, InboundFile } from '../contract.ts';
import type { ChannelSettings } from '../schema.ts';
import type { EgressClient } from '@tempoclaw/egress';

export interface SendContext {
  /** The egress client, which connects to the service alone. */
  readonly client: EgressClient;
  readonly credentials: ChannelCredentials;
  /** The service's URL, without a slash at its end. */
  readonly baseUrl: string;
  readonly signal: AbortSignal;
}

export interface SentFile {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** Filled in during the work, so that it shows what was done when something fails later. */
export interface ConnectReport {
  account: string | null;
  readonly done: string[];
  readonly todo: string[];
}

export interface ConnectOptions {
  /** The address that the service has to call. */
  readonly address: string | undefined;
  readonly settings: ChannelSettings;
}

export interface TopicOptions {
  readonly iconColor?: number | undefined;
  readonly iconEmoji?: string | undefined;
}

/**
 * Each method makes one request, or a few that may be repeated. @throws ChannelError, and what the egress client throws
 */
export interface ChannelSender {
  /** The service's own address; a setting may name another (such as TELEGRAM_BASE_URL). */
  readonly usualUrl: string;
  /**
   * Splits into messages that the service accepts, in order; the buttons are in the last one. It is pure, so that a
   * retry after a crash continues with the same parts.
   */
  split(post: ChannelPost): readonly ChannelPost[];
  /**
   * Posts one part of `split`; returns its id at the service. If `isOnceByKey`, a repeat with the same `key` within
   * minutes posts nothing.
   */
  send(context: SendContext, place: ChannelPlace, part: ChannelPost, key?: string): Promise<string>;
  readonly isOnceByKey?: true;
  /**
   * Changes the text and buttons of a message, which may already be so. Returns false if it is gone or can no longer be
   * changed.
   */
  edit(context: SendContext, place: ChannelPlace, id: string, part: ChannelPost): Promise<boolean>;
  /** Largest file in bytes that the service accepts. */
  readonly maxBytes: number;
  /** Sends a file; returns its id at the service, as `send` does. */
  sendFile(context: SendContext, place: ChannelPlace, file: SentFile): Promise<string>;
  /** Requests only addresses of the service. A final refusal means that the file is gone, or is not at the service. */
  fetchFile(context: SendContext, file: InboundFile): Promise<Buffer>;
  /** Registers `address` with the service, and reports what somebody else has to do. Safe to repeat. */
  connect(context: SendContext, options: ConnectOptions, report: ConnectReport): Promise<void>;
  typing?(context: SendContext, place: ChannelPlace): Promise<void>;
  /** Returns the new topic's thread id. */
  createTopic?(context: SendContext, chat: string, name: string, options: TopicOptions): Promise<string>;
}
