/**
 * Receives from a chat service: it proves that a request is the service's, and reads what somebody did there. It does
 * no I/O.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { ChannelCredentials, Inbound } from '../contract.ts';

/** A raw request, of which nothing is trusted yet. */
export interface ServiceRequest {
  readonly headers: IncomingHttpHeaders;
  /** The raw bytes, which signatures cover. */
  readonly body: Buffer;
}

/** The answer to the service: JSON, unless `body` is text. */
export interface ServiceReply {
  readonly status: number;
  readonly body?: unknown;
}

/** What a reader may know of its channel. */
export interface ReadChannel {
  readonly key: string;
  /** Settings without credentials. */
  readonly settings: Readonly<Record<string, unknown>>;
}

export interface Reading {
  readonly inbound: readonly Inbound[];
  /** Set when the service requires more than 200 and `{}`: a challenge, a ping, an acknowledgement. */
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
  /**
   * `body` is untrusted: JSON, or text when it is not JSON (Slack's forms). Useless input returns no inbound. @throws
   * Failure InvalidInput for invalid input
   */
  read(body: unknown, channel: ReadChannel, proven: ProvenRequest): Reading;
  /**
   * Answers a press or a command within the response to the service's request. If a service does not support that, it
   * is absent, and the answer is posted.
   */
  answer?(inbound: Inbound, words: string): ServiceReply;
}
