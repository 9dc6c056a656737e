/** The way in of a chat service: proves that a request is the service's, and reads what somebody did there. No I/O. */
import type { IncomingHttpHeaders } from 'node:http';
import type { ChannelCredentials, Inbound } from '../contract.ts';

/** As it came, before anything of it is believed. */
export interface ServiceRequest {
  readonly headers: IncomingHttpHeaders;
  /** The raw bytes: signatures are over these. */
  readonly body: Buffer;
}

/** What the service is answered: JSON, unless `body` is text. */
export interface ServiceReply {
  readonly status: number;
  readonly body?: unknown;
}

/** What a reader may know of its channel. */
export interface ReadChannel {
  readonly key: string;
  /** Without credentials. */
  readonly settings: Readonly<Record<string, unknown>>;
}

export interface Reading {
  readonly inbound: readonly Inbound[];
  /** When the service wants more than 200 and `{}`: a challenge, a ping, an acknowledgement. */
  readonly reply?: ServiceReply;
}

/** What proved that the request is the service's. */
export interface ProvenRequest {
  readonly headers: IncomingHttpHeaders;
  readonly credentials: ChannelCredentials;
}

export interface ChannelReader {
  /** False is answered with 401. Compares in constant time; `now` is milliseconds since 1970. Never throws. */
  verify(
    request: ServiceRequest,
    credentials: ChannelCredentials,
    now: number,
    settings: ReadChannel['settings'],
  ): boolean;
  /** `body` is hostile: JSON, or text when it is none (Slack's forms). What is of no use is no inbound; @throws Failure InvalidInput for nonsense. */
  read(body: unknown, channel: ReadChannel, proven: ProvenRequest): Reading;
  /** Answers a press or a command within the response to the service's request; absent where a service cannot: then it is posted. */
  answer?(inbound: Inbound, words: string): ServiceReply;
}
